"""Verification must reject wrong rewrites: mutants of what we emit for the samples."""

from __future__ import annotations

import importlib
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
SAMPLES = HERE.parents[1] / "samples" / "cuda"
PER_KERNEL = 24


def _run(job: tuple[Path, Path]):
    sys.path.insert(0, str(HERE))
    return importlib.import_module("harness").run_unit(*job, PER_KERNEL)


@pytest.mark.slow
def test_wrong_rewrites_are_rejected(tmp_path):
    sys.path.insert(0, str(HERE))
    harness = importlib.import_module("harness")
    mains = sorted(SAMPLES.glob("*/main.cu"))
    jobs = [(p, tmp_path / p.parent.name) for p in mains if "refused" not in str(p)]
    total = harness.Tally()
    with ProcessPoolExecutor(2) as pool:
        for tally in pool.map(_run, jobs):
            total += tally
    wrong = total.rejected + len(total.survivors)
    print(f"\n{wrong} wrong mutants, {total.rejected} rejected; {total.invalid} do not lower,")
    print(f"{total.identical} lower to the same source, {len(total.equivalent)} are equivalent")
    for text in total.survivors:
        print("survivor:", text)
    for text in total.equivalent:
        print("equivalent:", text)
    assert wrong >= 300
    assert total.rejected >= 0.98 * wrong
