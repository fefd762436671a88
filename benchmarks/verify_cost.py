"""Seconds that each stage of a verification takes, for every file of a tree.

``python benchmarks/verify_cost.py samples/cuda`` prints one line a file: parsing and import,
emission of all levels, the reference build, lowering of level ``loop`` to C with its compilation,
and all of ``verify_kernels`` (which builds and lowers again). One process, no cache.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from hipify_tile.analyzer.analyze import analyze_unit
from hipify_tile.project import discover
from hipify_tile.rewriter.model import Level
from hipify_tile.rewriter.pipeline import emit_levels
from hipify_tile.verify.lowering import LoweringError, compile_c, lower
from hipify_tile.verify.oracle import build_oracle
from hipify_tile.verify.runner import verify_kernels

T = TypeVar("T")


def timed(function: Callable[[], T]) -> tuple[T, float]:
    start = time.perf_counter()
    result = function()
    return result, time.perf_counter() - start


def main() -> int:
    import tilelang  # noqa: F401  (its import is not part of any stage)

    columns = ("parse", "emit", "reference", "lower", "verify")
    print(f"{'file':40} {'kernels':>7} " + " ".join(f"{c:>9}" for c in columns))
    totals = dict.fromkeys(columns, 0.0)
    kernels = 0
    for unit in discover([Path(sys.argv[1])]).units:
        spent = {}
        analysis, spent["parse"] = timed(lambda unit=unit: analyze_unit(unit))  # type: ignore[misc]
        facts = [f for f in analysis.kernels if f.kernel is not None]
        emitted, spent["emit"] = timed(
            lambda facts=facts: {f.id: emit_levels(f.kernel) for f in facts}  # type: ignore[misc]
        )
        with tempfile.TemporaryDirectory() as scratch:
            cache = Path(scratch)
            _, spent["reference"] = timed(
                lambda a=analysis, f=facts, c=cache: build_oracle(a, f, c)  # type: ignore[misc]
            )
            start = time.perf_counter()
            for result in (r for results in emitted.values() for r in results):
                if result.level is Level.LOOP and result.emission is not None:
                    try:
                        compile_c(lower(result.emission, "c", {"shared_bytes": 1024}), cache)
                    except LoweringError as error:
                        print(f"  not lowered: {error.diagnostic.notes}")
            spent["lower"] = time.perf_counter() - start
        _, spent["verify"] = timed(
            lambda a=analysis, e=emitted: verify_kernels(a, e)  # type: ignore[misc]
        )
        kernels += len(facts)
        for column in columns:
            totals[column] += spent[column]
        name = "/".join(Path(unit.path).parts[-2:])
        print(f"{name:40} {len(facts):7} " + " ".join(f"{spent[c]:9.2f}" for c in columns))
    print(f"{'all':40} {kernels:7} " + " ".join(f"{totals[c]:9.2f}" for c in columns))
    return 0


if __name__ == "__main__":
    sys.exit(main())
