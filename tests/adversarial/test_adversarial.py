"""Rewrites against originals where drawn inputs hardly go: each folder holds sources and launches.

``case.toml``: a ``[[run]]`` names a ``kernel``, a ``grid`` and ``block``, ``scalars`` (one launch
each) and ``profiles`` of the memory's contents. Every level that is emitted must leave the bytes
that the original leaves. ``verify = true`` also asks for the verdict ``verified``.
"""

from __future__ import annotations

import itertools
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hipify_tile.analyzer.analyze import analyze_unit
from hipify_tile.analyzer.model import CompileUnit, KernelFact, UnitAnalysis
from hipify_tile.ir.simt import Kernel
from hipify_tile.rewriter.model import Level
from hipify_tile.rewriter.pipeline import emit_levels
from hipify_tile.verify.cases import Case, Launch, Memory
from hipify_tile.verify.compare import compare
from hipify_tile.verify.contents import draw
from hipify_tile.verify.coverage import instrument
from hipify_tile.verify.executors import Original
from hipify_tile.verify.isolate import Lost, isolated
from hipify_tile.verify.judge import Limits
from hipify_tile.verify.model import Outcome
from hipify_tile.verify.oracle import OracleLibrary, build_oracle
from hipify_tile.verify.rewrites import Rewritten
from hipify_tile.verify.runner import verify_kernels

HERE = Path(__file__).parent
ELEMENTS = 1 << 12
LEVELS = (Level.TILE, Level.LOOP)


def _case(kernel: Kernel, run: dict[str, Any], scalars: dict[str, Any], profile: str) -> Case:
    rng = np.random.default_rng(len(kernel.name))
    memory = {
        p.name: Memory(draw(p.dtype, ELEMENTS, profile, rng), run.get("origin", 0))
        for p in kernel.params
        if p.pointer
    }
    values = {
        b.symbol: draw(b.dtype, int(np.prod(b.shape)) if b.shape else 1, profile, rng)
        for b in kernel.buffers
        if b.symbol
    }
    grid, block = run.get("grid", [2, 1, 1]), run.get("block", [64, 1, 1])
    launch = Launch("", tuple(grid), tuple(block), run.get("shared", 0), scalars, {}, {})
    return Case(launch, profile, memory, values)


def _problems(
    fact: KernelFact, built: OracleLibrary, runs: list[dict[str, Any]], scratch: Path
) -> list[str]:
    kernel = fact.kernel
    assert kernel is not None
    loaded = built.load()
    original = Original(kernel, loaded, loaded.entries[fact.id])
    emissions = [r.emission for r in emit_levels(kernel, levels=LEVELS) if r.emission]
    assert emissions, fact.id
    rewrites = [Rewritten(kernel, emission, scratch) for emission in emissions]
    problems = []
    for run in runs:
        for scalars, profile in itertools.product(
            run.get("scalars", [{}]), run.get("profiles", ["exact"])
        ):
            case = _case(kernel, run, scalars, profile)
            want = original.run(case)
            assert want.ok, f"{case}: {want.reason}"
            fixed = {n: want.globals[n] for n in loaded.constants & case.globals.keys()}
            case.globals.update(fixed)
            for emission, rewritten in zip(emissions, rewrites, strict=True):
                got = rewritten.run(case)
                if not got.ok:
                    problems.append(f"{emission.level} {case}: {got.reason}")
                    continue
                result = compare({**want.memory, **want.globals}, {**got.memory, **got.globals})
                if result.difference is not None:
                    problems.append(f"{emission.level} {case}: {result.difference}")
    return problems


def _outcomes(analysis: UnitAnalysis) -> dict[str, set[Outcome]]:
    emitted = {
        f.id: emit_levels(f.kernel, levels=(Level.LOOP,)) for f in analysis.kernels if f.kernel
    }
    verdicts = verify_kernels(analysis, emitted, limits=Limits(seconds=10))
    return {name: {v.outcome for v in levels.values()} for name, levels in verdicts.items()}


@pytest.mark.parametrize("path", sorted(HERE.glob("*/main.cu")), ids=lambda p: p.parent.name)
def test_rewrites_do_what_the_original_does(path: Path, tmp_path: Path) -> None:
    wanted = tomllib.loads((path.parent / "case.toml").read_text(encoding="utf-8"))
    analysis = analyze_unit(CompileUnit(str(path), str(path.parent), (), str(path.parent)))
    runs: dict[str, list[dict[str, Any]]] = {}
    for run in wanted["run"]:
        runs.setdefault(run["kernel"], []).append(run)
    facts = [f for f in analysis.kernels if f.kernel is not None]
    assert {f.name for f in facts} == set(runs)
    built = build_oracle(analysis, facts, tmp_path, instrument=instrument(tmp_path))
    assert isinstance(built, OracleLibrary), built
    for fact in facts:
        found = isolated(lambda f=fact: _problems(f, built, runs[f.name], tmp_path), 120)
        assert not isinstance(found, Lost), found
        assert not found, "\n".join(found)
    if wanted.get("verify"):
        assert all(o == {Outcome.VERIFIED} for o in _outcomes(analysis).values())
