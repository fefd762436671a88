"""What a translation unit costs: parse and analysis in ms, and how two processes scale.

Run ``python benchmarks/parse_cost.py [PATH]`` (default: samples/cuda). CPU time is printed beside
wall time, because only the former means something on a machine that is busy with other work.
"""

from __future__ import annotations

import multiprocessing
import statistics
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from hipify_tile.analyzer.analyze import analyze_unit
from hipify_tile.analyzer.clang_parse import parse
from hipify_tile.analyzer.model import CompileUnit
from hipify_tile.cache import default_directory
from hipify_tile.project import discover

LIMIT_MS = 150.0
REPEATS = 3


def timed(work, unit: CompileUnit) -> tuple[float, float]:
    """Return (CPU, wall) milliseconds of the best of some runs."""
    best = (float("inf"), float("inf"))
    for _ in range(REPEATS):
        cpu, wall = time.process_time(), time.perf_counter()
        work(unit)
        pair = ((time.process_time() - cpu) * 1e3, (time.perf_counter() - wall) * 1e3)
        best = min(best, pair)
    return best


def pool_seconds(units: list[CompileUnit], jobs: int) -> float:
    """Return the wall time of analysing ``units`` in ``jobs`` warm processes."""
    context = multiprocessing.get_context("spawn")
    work = partial(analyze_unit, cache=default_directory())
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        list(pool.map(work, units[: 2 * jobs]))
        started = time.perf_counter()
        list(pool.map(work, units))
        return time.perf_counter() - started


def main() -> int:
    """Print the figures; exit status 1 when the median parse is over the limit."""
    root = Path(sys.argv[1] if len(sys.argv) > 1 else "samples/cuda")
    units = [u for u in discover([root]).units if u.language == "cuda"]
    cache = default_directory()
    parsing, analysis = [], []
    print(f"{'unit':44} {'parse cpu':>10} {'wall':>7} {'analyse cpu':>12} {'wall':>7}   ms")
    for unit in units:
        parse(unit, cache_dir=cache)
        parsing.append(timed(partial(parse, cache_dir=cache), unit))
        analysis.append(timed(partial(analyze_unit, cache=cache), unit))
        (pc, pw), (ac, aw) = parsing[-1], analysis[-1]
        print(f"{unit.path[-44:]:44} {pc:10.0f} {pw:7.0f} {ac:12.0f} {aw:7.0f}")
    median = statistics.median(cpu for cpu, _ in parsing)
    print(f"parse, warm: median {median:.0f} ms, max {max(c for c, _ in parsing):.0f} ms of CPU")
    print(f"analysis:    median {statistics.median(c for c, _ in analysis):.0f} ms of CPU")
    one, two = pool_seconds(units, 1), pool_seconds(units, 2)
    print(f"{len(units)} units: -j1 {one:.2f} s, -j2 {two:.2f} s, {one / two:.2f} times as fast")
    return 0 if median <= LIMIT_MS else 1


if __name__ == "__main__":
    raise SystemExit(main())
