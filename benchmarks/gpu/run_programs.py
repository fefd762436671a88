"""Run programs that ``tile-migrate build --target cuda`` made, in every mode, on a GPU.

``python benchmarks/gpu/run_programs.py gpu-run --json out.json`` needs a driver and nothing else.
The folder holds executables with their ``.kernels.json``. ``NAME.exact`` is built with
``-- -fmad=false``: kept and migrated results are compared bit for bit, by mode check too.
``NAME.fast`` is built as nvcc does by default and is timed. ``NAME.planted`` has a wrong migrated
kernel, which mode check has to find. Prints one line a program; exits with 1 if any program fails,
prints something else in another mode, or any launch differs.

``settings.json`` of the folder gives programs, by name: ``arguments`` of their exact builds,
``large``, of their fast builds, ``racing``, kernels whose result depends on the order of threads,
and ``rtol``, the tolerance of mode check where atomic additions of floats make the sum do so.
Where ncu is installed, fast builds are also run under it: GPU time a launch, kept and migrated.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Json = dict[str, Any]
SECONDS = 120
REPEATS = 5
# Times, and addresses, which a program may print.
_UNSTABLE = re.compile(r"\d+(?:\.\d+)?(?:e[-+]?\d+)?\s*(?:ns|us|ms|s|GB/s|GFLOP/s)\b|0x[0-9a-f]+")


@dataclass(frozen=True, slots=True)
class Ran:
    """One run: exit status, output, seconds and the events that the launch seam wrote."""

    status: int
    out: str
    err: str
    seconds: float
    trace: list[Json] = field(default_factory=list)
    checks: list[Json] = field(default_factory=list)

    @property
    def stable(self) -> str:
        return _UNSTABLE.sub("#", self.out)

    def by_kind(self) -> dict[str, dict[str, int]]:
        rows = (e for e in self.trace if e["event"] == "kernel")
        return {e["kernel"]: e["ran"] | _refused(e) for e in rows}


def _refused(event: Json) -> dict[str, int]:
    return {f"{kind} not applicable": n for kind, n in event["not_applicable"].items()}


def run(app: Path, arguments: list[str], **switches: str) -> Ran:
    """Run ``app`` with ``TILE_MIGRATE_<switch>`` set."""
    with tempfile.TemporaryDirectory() as scratch:
        trace, checks = Path(scratch) / "trace", Path(scratch) / "checks"
        own = {f"TILE_MIGRATE_{k}": v for k, v in switches.items()}
        own |= {"TILE_MIGRATE_TRACE": str(trace), "TILE_MIGRATE_CHECK_REPORT": str(checks)}
        started = time.perf_counter()
        try:
            done = subprocess.run(
                [str(app), *arguments],
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
                timeout=SECONDS,
                cwd=scratch,
                env={**os.environ, **own},
            )
        except subprocess.TimeoutExpired:
            return Ran(-1, "", f"longer than {SECONDS} s", SECONDS)
        seconds = time.perf_counter() - started
        return Ran(
            done.returncode, done.stdout, done.stderr, seconds, _lines(trace), _lines(checks)
        )


def _lines(path: Path) -> list[Json]:
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def halves(app: Path) -> list[str]:
    """Two values of TILE_MIGRATE_KERNELS that keep every other migrated kernel."""
    manifest = json.loads(Path(f"{app}.kernels.json").read_text(encoding="utf-8"))
    names = sorted({k["mangled"] for k in manifest["kernels"] if k["state"] == "migrated"})
    return [",".join(f"{n}=kept" for n in part) for part in (names[::2], names[1::2]) if part]


def compare(app: Path, settings: Json) -> Json:
    """Run every mode of an exact build; ``problems`` is empty if all agree."""
    problems: list[str] = []
    arguments = settings.get("arguments", [])
    runs = {mode: run(app, arguments, MODE=mode) for mode in ("kept", "migrated")}
    runs["check"] = run(app, arguments, MODE="check", CHECK_RTOL=settings.get("rtol", "0"))
    runs["simt"] = run(app, arguments, KERNELS="*=simt")
    for number, chosen in enumerate(halves(app)):
        runs[f"half {number + 1}"] = run(app, arguments, KERNELS=chosen)
    for mode, ran in runs.items():
        if ran.status != runs["kept"].status or ran.status:
            problems.append(f"{mode}: status {ran.status}: {ran.err[-300:]}{ran.out[-300:]}")
        elif ran.stable != runs["kept"].stable:
            problems.append(f"{mode}: prints something else: {ran.out[-300:]}")
    checks = [e for e in runs["check"].checks if e["event"] == "summary"]
    different = [e for e in runs["check"].checks if e["event"] != "summary"]
    racing = settings.get("racing", [])
    different = [e for e in different if _plain(e["kernel"]) not in racing]
    problems += [f"check: {e['kernel']} launch {e['launch']}: {e}" for e in different[:3]]
    return {
        "app": app.name,
        "problems": problems,
        "output": runs["kept"].out[-400:],
        "kernels": {mode: ran.by_kind() for mode, ran in runs.items()},
        "seconds": {mode: ran.seconds for mode, ran in runs.items()},
        "checked": {
            e["kernel"]: {
                k: e[k] for k in ("launches", "equal", "different", "unchecked", "reason")
            }
            for e in checks
        },
    }


def _plain(signature: str) -> str:
    return signature.split("<")[0].split("::")[-1]


def kernel_times(app: Path, arguments: list[str], mode: str) -> list[tuple[str, float]]:
    """Name and GPU time (ns) of each launch, in order; empty where ncu is missing or fails."""
    if shutil.which("ncu") is None:
        return []
    command = ["ncu", "--csv", "--page", "raw", "--metrics", "gpu__time_duration.sum"]
    done = subprocess.run(
        [*command, "--clock-control", "none", str(app), *arguments],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        timeout=SECONDS,
        env={**os.environ, "TILE_MIGRATE_MODE": mode},
    )
    lines = done.stdout.splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        return []
    rows = list(csv.DictReader(lines[start:]))
    units = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9, "nsecond": 1.0, "usecond": 1e3}
    scale = units.get(rows[0]["gpu__time_duration.sum"], 1.0) if rows else 1.0
    return [
        (row["Kernel Name"], float(row["gpu__time_duration.sum"].replace(",", "")) * scale)
        for row in rows[1:]
    ]


def paired(kept: list[tuple[str, float]], migrated: list[tuple[str, float]]) -> Json:
    """Median times by kernel: launches of one run and the other correspond in order."""
    if len(kept) != len(migrated):
        return {"launches": [len(kept), len(migrated)]}
    times: dict[str, tuple[list[float], list[float]]] = {}
    for (name, old), (_, new) in zip(kept, migrated, strict=True):
        pair = times.setdefault(name.split("(")[0], ([], []))
        pair[0].append(old)
        pair[1].append(new)
    medians = {k: [statistics.median(t) for t in pair] for k, pair in times.items()}
    return {k: {"kept": a, "migrated": b, "ratio": b / a} for k, (a, b) in medians.items()}


def measure(app: Path, arguments: list[str]) -> Json:
    """Time whole runs of a default build, the median of ``REPEATS``, and its kernels."""
    out: Json = {"app": app.name, "arguments": arguments}
    traces = {mode: kernel_times(app, arguments, mode) for mode in ("kept", "migrated")}
    out["kernels"] = paired(traces["kept"], traces["migrated"])
    for mode in ("kept", "migrated"):
        times = [run(app, arguments, MODE=mode).seconds for _ in range(REPEATS)]
        out[mode] = statistics.median(times)
    out["ratio"] = out["migrated"] / out["kept"]
    return out


def line_of(row: Json) -> str:
    checked = row["checked"].values()
    launches = {
        k: sum(e[k] for e in checked) for k in ("launches", "equal", "different", "unchecked")
    }
    ran = row["kernels"]["migrated"].values()
    new = sum(1 for kinds in ran if kinds.get("tile") or kinds.get("simt"))
    verdict = "ok     " if not row["problems"] else "PROBLEM"
    return (
        f"{verdict} {row['app']:28} {new} of {len(ran)} kernels migrated; check: "
        f"{launches['launches']} launches, {launches['equal']} equal, "
        f"{launches['different']} different, {launches['unchecked']} not checked"
    )


def found_in(folder: Path, part: str, kind: str) -> list[Path]:
    return [path for path in folder.glob(f"*.{kind}") if part in path.name]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    folder = options.folder.resolve()
    file = folder / "settings.json"
    settings = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    result: Json = {"compared": [], "timed": []}
    failed, ratios = 0, list[float]()
    for app in sorted(found_in(folder, options.only, "exact")):
        row = compare(app, settings.get(app.stem, {}))
        result["compared"].append(row)
        failed += bool(row["problems"])
        print(line_of(row), flush=True)
        for problem in row["problems"]:
            print(f"        {problem}", flush=True)
    for app in sorted(found_in(folder, options.only, "planted")):
        kept, check = run(app, [], MODE="kept"), run(app, [], MODE="check")
        found = sorted({e["kernel"] for e in check.checks if e["event"] == "difference"})
        same = kept.stable == check.stable
        failed += not found or not same
        result.setdefault("planted", []).append({"app": app.name, "found": found, "same": same})
        print(f"{'ok     ' if found and same else 'PROBLEM'} {app.name:28} check names {found}")
        print(f"        {check.err.splitlines()[0] if check.err else ''}", flush=True)
    for app in sorted(found_in(folder, options.only, "fast")):
        row = measure(app, settings.get(app.stem, {}).get("large", []))
        result["timed"].append(row)
        print(f"time    {app.name:28} kept {row['kept']:.3f} s, migrated {row['migrated']:.3f} s, "
              f"x{row['ratio']:.2f}", flush=True)  # fmt: skip
        for name, pair in row["kernels"].items():
            if isinstance(pair, dict):
                print(
                    f"        {name:36} {pair['kept'] / 1e3:10.2f} us "
                    f"{pair['migrated'] / 1e3:10.2f} us "
                    f"x{pair['ratio']:.2f}"
                )
            ratios += [pair["ratio"]] if isinstance(pair, dict) else []
    if ratios:
        print(
            f"{len(ratios)} kernels timed, geometric mean x{statistics.geometric_mean(ratios):.3f}"
        )
    if options.json:
        options.json.write_text(json.dumps(result, indent=1))
    print(f"{len(result['compared'])} programs compared, {failed} with problems")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
