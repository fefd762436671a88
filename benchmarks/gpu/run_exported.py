"""Run an exported folder on a GPU: originals and ``simt`` rewrites, both compiled by nvcc.

``python benchmarks/gpu/run_exported.py gpu-export`` needs nvcc, CuPy and NumPy only. Every launch
runs both kernels on equal inputs and compares all memory bit for bit (built without contraction of
a*b+c, which the compiler is free to apply to one text and not to the other); where atomic
additions of floats make the original's own result depend on the order, to a relative 1e-4. Times
come from builds with nvcc's defaults: the median over repeated launches by events. Prints one line
a kernel with time ratio rewrite/original, and exits with 1 if any result differs.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import cupy
import numpy as np

Json = dict[str, Any]
REPEATS = 15
LAUNCHES = 20


def compile_all(root: Path, manifest: Json) -> dict[tuple[str, bool], Path | str]:
    """Compile each text twice; map (text, exact) to a cubin or the compiler's message."""
    texts = {f"original/{e['source']}" for e in manifest["kernels"]}
    texts |= {case["simt"] for e in manifest["kernels"] for case in e["cases"]}

    def build(job: tuple[str, bool]) -> Path | str:
        text, exact = job
        out = root / "build" / f"{text.replace('/', '_')}.{'exact' if exact else 'fast'}.cubin"
        out.parent.mkdir(exist_ok=True)
        flags = ["-fmad=false"] if exact else []
        command = ["nvcc", "-std=c++17", "-O3", "-arch=sm_90a", "-w", f"-I{root}/include", *flags]
        done = subprocess.run(
            [*command, "-cubin", "-o", str(out), str(root / text)],
            capture_output=True,
            text=True,
            check=False,
        )
        return out if done.returncode == 0 else done.stderr[:400]

    jobs = [(text, exact) for text in sorted(texts) for exact in (True, False)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(jobs, pool.map(build, jobs), strict=True))


def contents(case: Json, k: int, stored: Any, rng: np.random.Generator) -> dict[str, Any]:
    """Return host arrays of every owning leaf and every symbol."""
    wanted = {n: (m["dtype"], m["size"]) for n, m in case["memory"].items() if not m["alias"]}
    wanted |= {f"symbol {n}": (dtype, size) for n, (dtype, size) in case["symbols"].items()}
    if not case["random"]:
        return {
            name: stored[f"{k}:{name}"] if size else np.empty(0, dtype)
            for name, (dtype, size) in wanted.items()
        }
    out = {}
    for name, (dtype, size) in wanted.items():
        if np.dtype(dtype).kind == "f":
            out[name] = rng.uniform(0.25, 2.0, size).astype(dtype)
        elif dtype == "bool":
            out[name] = rng.integers(0, 2, size).astype(dtype)
        else:
            out[name] = rng.integers(0, 100, size).astype(dtype)
    return out


class Launch:
    """One kernel with device memory of its own."""

    def __init__(
        self, function: Any, module: Any, case: Json, arguments: list[Json], shared: int, host: Json
    ) -> None:
        self.function, self.case, self.shared = function, case, shared
        if shared > 48 * 1024:
            function.max_dynamic_shared_size_bytes = shared
        self.host = host
        self.device = {n: cupy.asarray(a) for n, a in host.items() if not n.startswith("symbol ")}
        self.symbols: dict[str, Any] = {}
        for name, (dtype, size) in case["symbols"].items():
            passed = any(a.get("symbol") == name for a in arguments)
            array = host[f"symbol {name}"]
            if passed:
                self.symbols[name] = cupy.asarray(array)
            else:
                pointer = module.get_global(name)
                view = cupy.ndarray((size,), dtype, pointer)
                view.set(array)
                self.symbols[name] = view
        self.arguments = tuple(self.value(a) for a in arguments)

    def address(self, leaf: str) -> int:
        memory = self.case["memory"][leaf]
        if memory["alias"]:
            return self.address(memory["alias"]) + int(memory["alias_offset"])
        array = self.device[leaf]
        return int(array.data.ptr) + int(memory["origin"]) * array.itemsize

    def value(self, argument: Json) -> Any:
        if "pointer" in argument:
            return np.uint64(self.address(argument["pointer"]))
        if "symbol" in argument:
            return np.uint64(self.symbols[argument["symbol"]].data.ptr)
        raw = bytearray.fromhex(argument["bytes"])
        for offset, leaf in argument.get("pointers", []):
            raw[offset : offset + 8] = self.address(leaf).to_bytes(8, "little")
        simple = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
        if len(raw) in simple:
            return np.frombuffer(bytes(raw), simple[len(raw)])[0]
        return np.frombuffer(bytes(raw), np.dtype([("raw", np.uint8, (len(raw),))]))[0]

    def __call__(self) -> None:
        grid, block = tuple(self.case["grid"]), tuple(self.case["block"])
        self.function(grid, block, self.arguments, shared_mem=self.shared)

    def result(self) -> dict[str, Any]:
        cupy.cuda.runtime.deviceSynchronize()
        found = {n: cupy.asnumpy(a) for n, a in self.device.items()}
        return found | {f"symbol {n}": cupy.asnumpy(a) for n, a in self.symbols.items()}

    def microseconds(self) -> float:
        """Return the median time of a launch; memory is not reset in between."""
        samples = []
        for _ in range(REPEATS):
            start, stop = cupy.cuda.Event(), cupy.cuda.Event()
            start.record()
            for _ in range(LAUNCHES):
                self()
            stop.record()
            stop.synchronize()
            samples.append(cupy.cuda.get_elapsed_time(start, stop) * 1e3 / LAUNCHES)
        return statistics.median(samples)


def differing(a: Json, b: Json, tolerance: float) -> str:
    """Return the name of a buffer that differs, or nothing."""
    for name, x in a.items():
        y = b[name]
        if x.dtype.kind == "f":
            same = (x == y) | (np.isnan(x) & np.isnan(y))
            if tolerance:
                with np.errstate(all="ignore"):
                    same |= np.abs(x - y) <= tolerance * np.maximum(np.abs(x), np.abs(y))
        else:
            same = x == y
        if not same.all():
            first = int(np.argmin(same))
            return f"{name}[{first}]: {x[first]} and {y[first]}, {int((~same).sum())} differ"
    return ""


def pair(root: Path, entry: Json, k: int, built: Json, exact: bool) -> tuple[Launch, Launch]:
    """Return original and rewrite of case ``k``, each with its own memory and equal contents."""
    case = entry["cases"][k]
    texts = (f"original/{entry['source']}", case["simt"])
    for text in texts:
        if isinstance(built[(text, exact)], str):
            raise RuntimeError(f"{text}: {built[(text, exact)]}")
    stored = np.load(root / entry["data"])
    launches = []
    for text, name, arguments, shared in (
        (texts[0], entry["mangled"], case["original_arguments"], case["shared"]),
        (texts[1], case["simt_entry"], case["simt_arguments"], case["simt_shared"]),
    ):
        host = contents(case, k, stored, np.random.default_rng(7))
        module = cupy.RawModule(path=str(built[(text, exact)]))
        function = module.get_function(name)
        launches.append(Launch(function, module, case, arguments, shared, host))
    return launches[0], launches[1]


def measure(root: Path, entry: Json, built: Json) -> tuple[str, float | None]:
    """Compare every case and time the last; return a printed line and the ratio."""
    tolerance = 1e-4 if entry["float_atomics"] else 0.0
    for k in range(len(entry["cases"])):
        original, rewrite = pair(root, entry, k, built, exact=True)
        original()
        rewrite()
        problem = differing(original.result(), rewrite.result(), tolerance)
        if problem:
            label = entry["cases"][k]["label"]
            return f"DIFFERS  {entry['id']}  {problem}  at {label}", None
    original, rewrite = pair(root, entry, len(entry["cases"]) - 1, built, exact=False)
    original.microseconds()
    before, after = original.microseconds(), rewrite.microseconds()
    how = "equal to 1e-4" if tolerance else "equal"
    size = "" if entry["cases"][-1]["random"] else "  (small launch)"
    text = f"{before:9.2f} us {after:9.2f} us  x{after / before:5.2f}"
    return f"{how:8} {text}  {len(entry['cases'])} launches  {entry['id']}{size}", after / before


def main() -> int:
    root = Path(sys.argv[1]).resolve()
    manifest = json.loads((root / "manifest.json").read_text(encoding="utf-8"))
    name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    print(f"{name}; columns: result, original, rewrite, rewrite/original")
    built = compile_all(root, manifest)
    failures, ratios = 0, []
    for entry in manifest["kernels"]:
        if not entry["cases"]:
            print(f"no case  {entry['id']}")
            continue
        try:
            line, ratio = measure(root, entry, built)
        except (RuntimeError, cupy.cuda.driver.CUDADriverError) as error:
            line, ratio = f"FAILED   {entry['id']}: {str(error)[:300]}", None
        print(line, flush=True)
        if ratio is None:
            failures += 1
        else:
            ratios.append(ratio)
    if ratios:
        mean = statistics.geometric_mean(ratios)
        print(f"{len(ratios)} kernels equal, {failures} not; geometric mean ratio {mean:.3f}")
    for line in manifest["skipped"]:
        print(f"not exported: {line}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
