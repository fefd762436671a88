"""Verification must reject wrong rewrites: mutants of what is emitted for the samples."""

from __future__ import annotations

import importlib
import logging
import multiprocessing
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from hipify_tile.verify.lowering import precompiled_headers

HERE = Path(__file__).resolve().parent
SAMPLES = HERE.parents[1] / "samples" / "cuda"
FATES = ("rejected", "survivor", "equivalent", "identical", "invalid")


def _harness():
    if str(HERE) not in sys.path:
        sys.path.insert(0, str(HERE))
    return importlib.import_module("harness")


def _run(job):
    import tilelang  # noqa: F401  (sets up its logger)

    logging.getLogger("tilelang").setLevel(logging.CRITICAL + 1)
    *where, quota = job
    harness = _harness()
    return harness.run_unit(*where, harness.Quota(**quota))


def _table(tried) -> str:
    counts = Counter((t.operator, t.fate) for t in tried)
    every = Counter(t.fate for t in tried)
    lines = [f"{'mutants':22}" + "".join(f"{f:>12}" for f in FATES)]
    for operator in sorted({t.operator for t in tried}):
        lines.append(f"{operator:22}" + "".join(f"{counts[operator, f]:12}" for f in FATES))
    lines.append(f"{'all':22}" + "".join(f"{every[f]:12}" for f in FATES))
    for fate in ("survivor", "equivalent"):
        for t in tried:
            if t.fate == fate:
                lines.append(f"{fate}: {t.kernel} {t.level}, {t.operator}: {t.diff} [{t.why}]")
    return "\n".join(lines)


def _check(folder, capsys, **quota) -> None:
    """Mutate the kernels of the samples; print the table, and demand that 98 of 100 are rejected
    of at least 300.
    """
    _harness()  # The answers' classes must be known here before the first one arrives.
    headers = precompiled_headers(folder, "g++")
    # The last samples take longest; the first ones are short and fill up the end.
    mains = [p for p in sorted(SAMPLES.glob("*/*.cu"), reverse=True) if "refused" not in str(p)]
    jobs = [(p, folder / f"{p.parent.name}-{p.stem}", headers, quota) for p in mains]
    tried = []
    left_out = []
    with ProcessPoolExecutor(2, multiprocessing.get_context("fork")) as pool:
        for some, others in pool.map(_run, jobs):
            tried += some
            left_out += others
    rejected = sum(t.fate == "rejected" for t in tried)
    wrong = rejected + sum(t.fate == "survivor" for t in tried)
    kernels = {t.kernel for t in tried if t.fate == "rejected"}
    with capsys.disabled():
        print(f"\n{_table(tried)}\n{rejected} of {wrong} wrong mutants of {len(kernels)} kernels")
        print("\n".join(f"left out: {text}" for text in left_out))
    assert len(kernels) >= 20
    assert wrong >= 300
    assert rejected >= 0.98 * wrong


@pytest.mark.slow
def test_wrong_rewrites_are_rejected(tmp_path, capsys):
    _check(tmp_path, capsys)


@pytest.mark.full
def test_more_wrong_rewrites_are_rejected(tmp_path, capsys):
    _check(tmp_path, capsys, loop=10, barriers=2, nodes=1100)
