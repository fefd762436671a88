"""The verdict rules: what a kernel may be called, and what its matrix may show."""

import pytest

from hipify_tile.analyzer.model import KernelFact
from hipify_tile.diagnostics.model import Severity
from hipify_tile.diagnostics.registry import diagnostic
from hipify_tile.ir.simt import Kernel
from hipify_tile.ir.span import Span
from hipify_tile.report.model import Verdict
from hipify_tile.report.verdict import kernel_report
from hipify_tile.rewriter.model import Emission, Level, LevelResult, Target
from hipify_tile.verify.model import Outcome, Verification

SPAN = Span("/s/a.cu", 1, 1, 0, 1)
KERNEL = Kernel("k", "k", (), (), (), (), ())
ON = {
    Level.TILE: (Target.CPU,),
    Level.LOOP: (Target.CPU, Target.CUDA),
    Level.SIMT: (Target.CUDA, Target.HIP),
}


def fact(**changes):
    values = {
        "id": "a.cu:k", "usr": "k", "name": "k", "qualified": "k", "spelling": "k", "mangled": "k",
        "template_args": (), "instance_of": "", "span": SPAN, "cuda_source": "k", "kernel": KERNEL,
    }  # fmt: skip
    return KernelFact(**{**values, **changes})


def emitted(*levels):
    return tuple(
        LevelResult(
            level,
            Emission(level, "k", "", (), "def k(): ...", (), (), ON[level])
            if level in levels
            else None,
            () if level in levels else (diagnostic("TM2001", SPAN),),
        )
        for level in Level
    )


def ran(outcome, code=""):
    found = (diagnostic(code, SPAN),) if code else ()
    return Verification(outcome, 3, diagnostics=found)


OK, NO, UNKNOWN = (
    ran(Outcome.VERIFIED), ran(Outcome.MISMATCH, "TM5001"), ran(Outcome.UNVERIFIED, "TM5003"),
)  # fmt: skip
ALL = tuple(Level)


@pytest.mark.parametrize(
    ("executed", "verdict", "level"),
    [
        ({Level.TILE: OK, Level.LOOP: OK, Level.SIMT: OK}, Verdict.VERIFIED, Level.TILE),
        ({Level.TILE: NO, Level.LOOP: OK, Level.SIMT: OK}, Verdict.VERIFIED, Level.LOOP),
        ({Level.TILE: UNKNOWN, Level.LOOP: OK}, Verdict.VERIFIED, Level.LOOP),
        ({Level.TILE: NO, Level.LOOP: UNKNOWN}, Verdict.KEPT, None),
        ({Level.TILE: NO, Level.LOOP: NO, Level.SIMT: NO}, Verdict.KEPT, None),
        ({Level.TILE: UNKNOWN, Level.LOOP: UNKNOWN}, Verdict.UNVERIFIED, Level.TILE),
        ({}, Verdict.UNVERIFIED, Level.TILE),
        (None, Verdict.UNVERIFIED, Level.TILE),
    ],
)
def test_verdict_is_the_highest_verified_level_or_none(executed, verdict, level):
    report = kernel_report(fact(), emitted(*ALL), executed)
    assert (report.verdict, report.level) == (verdict, level)


def test_a_wrong_level_is_shown_nowhere_and_stays_an_error():
    report = kernel_report(fact(), emitted(*ALL), {Level.TILE: NO, Level.LOOP: OK})
    assert dict(report.targets)[Target.CPU] == "loop"
    wrong = next(d for d in report.diagnostics if d.code == "TM5001")
    assert wrong.severity is Severity.ERROR


def test_a_verified_level_goes_before_a_higher_one_that_is_not():
    report = kernel_report(fact(), emitted(*ALL), {Level.TILE: UNKNOWN, Level.LOOP: OK})
    assert dict(report.targets)[Target.CPU] == "loop"
    assert dict(report.targets)[Target.HIP] == "simt"
    assert report.executed == (Target.CPU,)


def test_on_a_gpu_a_program_of_one_thread_a_block_comes_last():
    executed = {Level.TILE: UNKNOWN, Level.LOOP: OK, Level.SIMT: OK}
    report = kernel_report(fact(), emitted(*ALL), executed)
    assert dict(report.targets)[Target.CUDA] == "simt"
    assert (report.level, dict(report.targets)[Target.CPU]) == (Level.LOOP, "loop")
    asked = kernel_report(fact(), emitted(*ALL), executed, target=Target.CUDA)
    assert asked.level is Level.SIMT


def test_what_stops_another_level_costs_a_verified_kernel_nothing():
    report = kernel_report(fact(), emitted(Level.SIMT), {Level.SIMT: OK})
    assert report.verdict is Verdict.VERIFIED
    assert {d.severity for d in report.diagnostics} == {Severity.NOTE}
    assert dict(report.targets) == {
        Target.CUDA: "simt", Target.HIP: "simt", Target.METAL: None,
        Target.WEBGPU: None, Target.CPU: None, Target.ASCEND: None,
    }  # fmt: skip
    assert report.executed == (Target.CUDA,)


def test_only_the_executed_level_gets_the_mark():
    report = kernel_report(fact(), emitted(*ALL), {Level.TILE: OK, Level.LOOP: OK})
    assert dict(report.targets)[Target.CUDA] == "loop"
    assert report.executed == (Target.CPU,)


def test_refused_and_unparsed():
    refused = (diagnostic("TM1106", SPAN),)
    kept = kernel_report(fact(kernel=None, diagnostics=refused))
    assert (kept.verdict, kept.level) == (Verdict.KEPT, None)
    assert dict(kept.targets)[Target.CUDA] == "kept"
    unread = kernel_report(fact(kernel=None, unparsed=True))
    assert unread.verdict is Verdict.UNPARSED
    assert set(dict(unread.targets).values()) == {None}


def test_not_executed_is_said_once():
    report = kernel_report(fact(), emitted(Level.LOOP))
    assert [d.code for d in report.diagnostics].count("TM5008") == 1
    assert all(d.kernel == "a.cu:k" for d in report.diagnostics)
