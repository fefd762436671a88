"""Speed of migrated kernels on a CPU, against hand-written OpenMP C++ and against kept kernels.

Builds ``cpu_kernels/kernels.cu`` twice with ``tile-migrate build`` (migrated, kept), links both
with ``cpu_kernels/peers.cpp`` and times all three in turn in one process. A ratio is OpenMP's
median time by that of migrated kernels: above 1 the migrated kernel is faster. What kernels compute
is compared: kept and migrated bit for bit, OpenMP within the tolerance that ``main.cpp`` states.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from hipify_tile.build.objects import FLAGS
from hipify_tile.compat import include_dir, library_path

HERE = Path(__file__).parent / "cpu_kernels"
RESULTS = Path(__file__).parent / "results"
# Sums of peers stay unfused, so that both sides do the same arithmetic.
PEER_FLAGS = ("-std=c++17", "-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math")


def build(folder: Path, machine: str, keep: Path | None) -> Path:
    """Return the benchmark's executable; raises ``CalledProcessError``."""
    for variant in ("kept", "migrated"):
        command = [sys.executable, "-m", "hipify_tile", "build", str(HERE / "kernels.cu")]
        command += ["-o", str(folder / f"lib{variant}.so"), "--mode", variant]
        command += ["--keep-dir", str(keep)] if keep is not None and variant == "migrated" else []
        command += ["--", "-shared", f"-DVARIANT={variant}", "-O3", machine]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        if variant == "migrated" and done.stdout.count("+kept") != done.stdout.count("_kernel:"):
            raise SystemExit(done.stdout)
    runtime = library_path("cudart").parent
    flags = [*PEER_FLAGS, machine, f"-I{include_dir()}", f"-I{HERE}"]
    for name, more in (("peers", ["-fopenmp"]), ("main", [])):
        source, made = HERE / f"{name}.cpp", folder / f"{name}.o"
        subprocess.run(["g++", *flags, *more, "-c", str(source), "-o", str(made)], check=True)
    link = ["g++", "-fopenmp", str(folder / "main.o"), str(folder / "peers.o"), f"-L{folder}"]
    link += ["-lkept", "-lmigrated", f"-L{runtime}", "-ltm_cudart"]
    link += [f"-Wl,-rpath,{folder}", f"-Wl,-rpath,{runtime}", "-o", str(folder / "bench")]
    subprocess.run(link, check=True)
    return folder / "bench"


def table(rows: list[dict[str, object]]) -> tuple[list[str], list[float]]:
    """Return lines to print, and the ratios."""
    lines = [f"{'kernel':<15}{'kept ms':>10}{'migrated':>10}{'OpenMP':>10}{'ratio':>8}"]
    ratios = []
    for row in rows:
        kept, migrated, openmp = (
            statistics.median(values) if isinstance(values := row[k], list) and values else math.nan
            for k in ("kept", "migrated", "openmp")
        )
        ratios.append(openmp / migrated)
        lines.append(
            f"{row['kernel']:<15}{kept:>10.2f}{migrated:>10.2f}{openmp:>10.2f}{ratios[-1]:>8.2f}"
        )
    mean = math.exp(statistics.mean(map(math.log, ratios)))
    lines.append(f"geometric mean {mean:.2f}, minimum {min(ratios):.2f}")
    return lines, ratios


def main() -> None:
    """Build, run, compare, print; 1 where a kernel computes something else."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall", help="cpu: all threads")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--kept-rounds", type=int, default=3)
    parser.add_argument("--march", default="native")
    parser.add_argument("--divide", type=int, default=1, help="the sizes of the problems")
    parser.add_argument("--write", action="store_true", help=f"below {RESULTS.name}/")
    parser.add_argument("kernels", nargs="*")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        bench = build(Path(name), f"-march={given.march}", None)
        environment = {
            **os.environ,
            "OMP_NUM_THREADS": str(given.threads),
            "TILE_MIGRATE_THREADS": str(given.threads),
            "OMP_WAIT_POLICY": "passive",
        }
        numbers = (given.rounds, given.kept_rounds, given.divide)
        command = [str(bench), given.clock, *map(str, numbers), *given.kernels]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    wrong = [
        row["kernel"]
        for row in rows
        if row["migrated_difference"] or row["openmp_difference"] > row["openmp_tolerance"]
    ]
    lines, _ = table(rows)
    version = subprocess.run(["g++", "--version"], capture_output=True, text=True, check=True)
    about = {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "compiler": version.stdout.splitlines()[0],
        "machine": f"{platform.machine()}, {os.cpu_count()} processors",
        "threads": given.threads,
        "clock": given.clock,
        "march": given.march,
        "object_flags": " ".join(FLAGS),
        "peer_flags": " ".join(PEER_FLAGS),
    }
    text = "\n".join([*lines, "", *(f"{key}: {value}" for key, value in about.items())])
    print(text)
    if given.write:
        RESULTS.mkdir(exist_ok=True)
        stem = f"cpu_kernels-{given.clock}-{given.threads}"
        (RESULTS / f"{stem}.txt").write_text(text + "\n", encoding="utf-8")
        data = json.dumps({**about, "kernels": rows}, indent=1)
        (RESULTS / f"{stem}.json").write_text(data + "\n", encoding="utf-8")
    if wrong:
        raise SystemExit(f"wrong results: {', '.join(wrong)}")


if __name__ == "__main__":
    main()
