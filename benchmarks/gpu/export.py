"""Write the emitted ``simt`` kernels of the samples, and how to launch them, to one folder.

``python benchmarks/gpu/export.py samples/cuda gpu-export`` needs no GPU. The folder holds, for each
kernel instance, the original source, the CUDA text that TileLang makes of the emission, launches
with their arguments (small ones that the CPU reference runs within bounds, and a large one for
timing) and the TileLang headers that the texts include. ``run_exported.py`` executes it on a
machine with nvcc, CuPy and a GPU, without this package or TileLang.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from hipify_tile.analyzer.analyze import analyze_unit
from hipify_tile.analyzer.model import KernelFact, LaunchFact, UnitAnalysis
from hipify_tile.ir.simt import Kernel
from hipify_tile.project import discover
from hipify_tile.rewriter.model import ArgumentRole, Emission, Level
from hipify_tile.rewriter.pipeline import emit_levels
from hipify_tile.verify.cases import Case, Launch, Memory, numpy_dtype
from hipify_tile.verify.coverage import instrument
from hipify_tile.verify.executors import Original, packed, scalar_bytes
from hipify_tile.verify.inputs import CaseSearch
from hipify_tile.verify.lowering import Lowered, LoweringError, lower, tilelang_include
from hipify_tile.verify.oracle import OracleFailure, build_oracle
from hipify_tile.verify.roles import Roles, roles_of
from hipify_tile.verify.shapes import LaunchSource

Json = dict[str, Any]
FITTED_CASES = 3
ATTEMPTS = 40
MAX_THREADS = 1 << 22
MAX_BYTES = 1 << 28
SCALES = (64, 32, 16, 8, 4, 2, 1)


def fitted_cases(
    fact: KernelFact, kernel: Kernel, facts: Sequence[LaunchFact], original: Original, roles: Roles
) -> list[Case]:
    """Return small launches on which the original stays in bounds, without special values."""
    found: list[Case] = []
    for attempt, case in enumerate(CaseSearch(kernel, roles, facts, original, seed=1)):
        if case is not None and case.profile != "special":
            found.append(case)
        if len(found) == FITTED_CASES or attempt == ATTEMPTS:
            return found
    return found


def timing_launch(kernel: Kernel, facts: Sequence[LaunchFact], roles: Roles) -> Launch | None:
    """Scale a launch site's sizes up.

    None where extents or scalars are unknown (they would not fit each other), or data steers
    accesses.
    """
    if roles.index_of:
        return None
    scalars = {p.argument for p in kernel.params if not p.pointer}
    facts = [f for f in facts if all(f.arguments[k] is not None for k in scalars)]
    rng = np.random.default_rng(0)
    for scale in SCALES:
        for fact in facts:
            hints = tuple((n, v * scale if v >= 32 else v) for n, v in fact.hints)
            scaled = replace(fact, hints=hints)
            source = LaunchSource(kernel, roles, [scaled], rng, max_threads=MAX_THREADS)
            launch = next(iter(source))
            known = all(launch.extents.get(p.name) for p in kernel.params if p.pointer)
            sizes = [e or 0 for e in launch.extents.values()]
            if launch.real and known and sum(sizes) * 8 <= MAX_BYTES:
                return launch
    return None


def case_of_launch(kernel: Kernel, launch: Launch) -> Case:
    """Return a case whose buffers have their extents but no contents."""
    memory = {}
    owners: dict[str, str] = {}
    for p in kernel.params:
        if p.pointer:
            root = launch.roots.get(p.name) or p.name
            owner = owners.setdefault(root, p.name)
            size = launch.extents[p.name] or 0
            dtype = numpy_dtype(p.dtype)
            if owner == p.name:
                memory[p.name] = Memory(np.broadcast_to(np.zeros((), dtype), (size,)))
            else:
                memory[p.name] = Memory(np.empty(0, dtype), 0, owner, 0)
    symbols = {
        b.symbol: np.zeros(b.shape or (1,), numpy_dtype(b.dtype)).reshape(-1)
        for b in kernel.buffers
        if b.symbol
    }
    return Case(launch, "random", memory, symbols)


def original_arguments(kernel: Kernel, case: Case) -> list[Json]:
    """Return the CUDA arguments as bytes, with the places that pointers go to."""
    values = packed(kernel, case, {p.name: 0 for p in kernel.params if p.pointer})
    return [
        {
            "bytes": raw.hex(),
            "pointers": [
                [p.offset, p.name] for p in kernel.params if p.pointer and p.argument == k
            ],
        }
        for k, raw in enumerate(values)
    ]


def simt_arguments(kernel: Kernel, emission: Emission, lowered: Lowered, case: Case) -> list[Json]:
    """Return the arguments of the lowered function in its order."""
    from hipify_tile.ir.types import BY_NAME

    known = {a.name: a for a in emission.arguments}
    lengths = {name: a for a in emission.arguments for name in a.extents}
    out: list[Json] = []
    for p in lowered.parameters:
        argument = known.get(p.name)
        if argument is None:
            owner = lengths[p.name]
            memory = case.memory.get(owner.source)
            data = case.globals[owner.source] if memory is None else memory.data
            if memory is not None and memory.alias:
                data = case.memory[memory.alias].data
            out.append({"bytes": scalar_bytes(data.size, BY_NAME[p.dtype]).hex()})
            continue
        match argument.role:
            case ArgumentRole.BUFFER:
                out.append({"pointer": argument.source})
            case ArgumentRole.GLOBAL:
                out.append({"symbol": argument.source})
            case ArgumentRole.GRID:
                value = case.launch.grid[argument.axis]
                out.append({"bytes": scalar_bytes(value, BY_NAME[p.dtype]).hex()})
            case ArgumentRole.BLOCK:
                value = case.launch.block[argument.axis]
                out.append({"bytes": scalar_bytes(value, BY_NAME[p.dtype]).hex()})
            case ArgumentRole.SCALAR:
                leaf = next(x for x in kernel.params if x.name == argument.source)
                raw = scalar_bytes(case.launch.scalars[leaf.name], leaf.dtype)
                out.append({"bytes": raw.hex()})
    return out


class Exporter:
    """Collects kernels into ``out``; ``skipped`` says which have none and why."""

    def __init__(self, samples: Path, out: Path) -> None:
        self.samples = samples
        self.out = out
        self.entries: list[Json] = []
        self.skipped: list[str] = []
        (out / "simt").mkdir(parents=True)

    def unit(self, analysis: UnitAnalysis) -> None:
        """Export the kernels of one translation unit."""
        facts = [f for f in analysis.kernels if f.kernel is not None]
        self.skipped += [f"{f.id}: kept" for f in analysis.kernels if f.kernel is None]
        with tempfile.TemporaryDirectory() as scratch:
            cache = Path(scratch)
            checks = instrument(cache)  # traps on an index beyond a static array
            built = build_oracle(analysis, facts, cache, instrument=checks) if facts else None
            if isinstance(built, OracleFailure):
                self.skipped += [f"{f.id}: {built.message}" for f in facts]
                return
            loaded = built.load() if built else None
            for fact in facts:
                assert fact.kernel is not None and loaded is not None
                entry = loaded.entries.get(fact.id)
                if entry is None:
                    self.skipped.append(f"{fact.id}: no reference build")
                    continue
                launches = [x for x in analysis.launches if x.kernel_usr == fact.usr]
                try:
                    self.kernel(analysis, fact, launches, Original(fact.kernel, loaded, entry))
                except LoweringError as error:
                    notes = " ".join(error.diagnostic.notes)
                    self.skipped.append(f"{fact.id}: {error.diagnostic.code} {notes}")

    def kernel(
        self,
        analysis: UnitAnalysis,
        fact: KernelFact,
        launches: Sequence[LaunchFact],
        original: Original,
    ) -> None:
        """Export one kernel instance with its cases."""
        kernel = fact.kernel
        assert kernel is not None
        (result,) = emit_levels(kernel, levels=(Level.SIMT,))
        if result.emission is None:
            self.skipped.append(f"{fact.id}: no simt level")
            return
        roles = roles_of(kernel)
        cases = fitted_cases(fact, kernel, launches, original, roles)
        timing = timing_launch(kernel, launches, roles)
        if timing is not None:
            cases.append(case_of_launch(kernel, timing))
        number = len(self.entries)
        entry: Json = {
            "id": fact.id,
            "mangled": fact.mangled,
            "source": str(Path(analysis.unit.path).relative_to(self.samples)),
            "float_atomics": bool(roles.float_atomics),
            "written": sorted(roles.written),
            "cases": [],
        }
        arrays: dict[str, np.ndarray[Any, Any]] = {}
        texts: dict[tuple[object, ...], tuple[Lowered, str]] = {}
        for k, case in enumerate(cases):
            key = (case.launch.block, case.launch.shared_bytes)
            if key not in texts:
                options = {
                    "block": case.launch.block,
                    "shared_bytes": case.launch.shared_bytes,
                    "arch": "sm_90",
                }
                lowered = lower(result.emission, "cuda", options)
                name = f"simt/k{number:02d}_{len(texts)}.cu"
                (self.out / name).write_text(lowered.source, encoding="utf-8")
                texts[key] = (lowered, name)
            lowered, name = texts[key]
            dynamic = lowered.dynamic_shared.strip()
            entry["cases"].append(
                {
                    "label": str(case),
                    "grid": case.launch.grid,
                    "block": case.launch.block,
                    "shared": case.launch.shared_bytes,
                    "simt": name,
                    "simt_entry": lowered.entry,
                    "simt_shared": int(dynamic) if dynamic.isdigit() else case.launch.shared_bytes,
                    "random": case.profile == "random",
                    "memory": {
                        leaf: {
                            "dtype": m.data.dtype.name,
                            "size": m.data.size,
                            "origin": m.origin,
                            "alias": m.alias,
                            "alias_offset": m.alias_offset,
                        }
                        for leaf, m in case.memory.items()
                    },
                    "symbols": {n: [a.dtype.name, a.size] for n, a in case.globals.items()},
                    "original_arguments": original_arguments(kernel, case),
                    "simt_arguments": simt_arguments(kernel, result.emission, lowered, case),
                }
            )
            if case.profile != "random":
                arrays |= {f"{k}:{leaf}": m.data for leaf, m in case.memory.items() if m.data.size}
                arrays |= {f"{k}:symbol {n}": a for n, a in case.globals.items()}
        np.savez_compressed(self.out / f"k{number:02d}.npz", **arrays)  # type: ignore[arg-type]
        entry["data"] = f"k{number:02d}.npz"
        self.entries.append(entry)

    def finish(self) -> None:
        """Copy sources and headers and write the manifest."""
        shutil.copytree(self.samples, self.out / "original")
        copy_headers(sorted((self.out / "simt").glob("*.cu")), self.out / "include")
        manifest = {"kernels": self.entries, "skipped": self.skipped}
        (self.out / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")


def copy_headers(texts: Sequence[Path], to: Path) -> None:
    """Copy what the texts include from TileLang's folders, as the compiler lists it."""
    source = tilelang_include()
    roots = (source, source.parent / "3rdparty" / "cutlass" / "include")
    includes = [f"-I{root}" for root in roots]
    seen: set[str] = set()
    for text in texts:
        lines = frozenset(x for x in text.read_text().splitlines() if x.startswith("#include"))
        if str(sorted(lines)) in seen:
            continue
        seen.add(str(sorted(lines)))
        listed = subprocess.run(
            ["nvcc", "-std=c++17", "-arch=sm_90a", *includes, "-M", str(text)],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for word in listed.replace("\\\n", " ").split():
            for root in roots:
                if Path(word).is_relative_to(root):
                    target = to / Path(word).relative_to(root)
                    target.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(word, target)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("samples", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    exporter = Exporter(options.samples.resolve(), options.out)
    for unit in discover([options.samples]).units:
        exporter.unit(analyze_unit(unit))
    exporter.finish()
    cases = sum(len(e["cases"]) for e in exporter.entries)
    print(f"{len(exporter.entries)} kernels with {cases} launches in {options.out}")
    for line in exporter.skipped:
        print(f"not exported: {line}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
