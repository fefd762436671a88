"""Merging units: variants of a kernel, missing headers first; rows that can be told apart."""

import io
from dataclasses import replace

import pytest
from reports import KERNEL, SPAN, kernel, merged, unit
from rich.console import Console

from hipify_tile.analyzer.model import CompileUnit, FileStatus, KernelFact, UnitAnalysis
from hipify_tile.cli import progress
from hipify_tile.diagnostics.registry import diagnostic
from hipify_tile.driver import Options, Stages, run_project
from hipify_tile.project import Project
from hipify_tile.report.terminal import print_report
from hipify_tile.report.verdict import kernel_report
from hipify_tile.rewriter.model import Emission, Level, LevelResult, Target
from hipify_tile.verify.model import Outcome


def test_equal_kernels_of_two_includers_are_one_row():
    assert len(merged(unit("/s/a.cu", kernel()), unit("/s/b.cu", kernel())).kernels) == 1


def test_variants_that_differ_in_text_or_only_in_verdict_say_which():
    other = merged(unit("/s/a.cu", kernel()), unit("/s/b.cu", kernel("def k(): 1")))
    assert [d.headline for d in other.diagnostics if d.code == "TM0008"] == [
        "a header's kernel differs between includers"
    ] * 2
    judged = merged(unit("/s/a.cu", kernel()), unit("/s/b.cu", kernel(outcome=Outcome.UNVERIFIED)))
    found = [d for d in judged.diagnostics if d.code == "TM0008"]
    assert {d.headline for d in found} == {
        "a header's kernel has other verdicts in other includers"
    }
    assert {d.notes[0] for d in found} == {
        "k as a.cu sees it: verified", "k as b.cu sees it: unverified",
    }  # fmt: skip


def test_variants_of_units_of_one_file_name_have_ids_of_their_own():
    paths = ("/s/x/k.cu", "/s/y/k.cu", "/s/y/l.cu")
    units = [unit(path, kernel(f"def k(): {n}")) for n, path in enumerate(paths)]
    report = merged(*units, unit("/s/again.cu", kernel("def k(): 1")))
    assert {k.id: k.units for k in report.kernels} == {
        "k.cuh:k@x/k.cu": ("/s/x/k.cu",),
        "k.cuh:k@y/k.cu": ("/s/y/k.cu", "/s/again.cu"),
        "k.cuh:k@y/l.cu": ("/s/y/l.cu",),
    }


def test_missing_header_comes_before_what_it_may_have_caused():
    missing = diagnostic("TM0001", SPAN, headline="header 'x.h' was not found")
    follows = tuple(diagnostic(code, SPAN, help="old") for code in ("TM1201", "TM1202"))
    report = merged(unit("/s/a.cu", diagnostics=(missing, *follows)), unit("/s/b.cu", kernel()))
    assert {d.help for d in report.diagnostics if d.code in ("TM1201", "TM1202")} == {
        "first settle TM0001 (header 'x.h' was not found): it may be the cause"
    }
    assert "next      tile-migrate /s -- -I FOLDER" in shown(report)
    alone = merged(unit("/s/a.cu", diagnostics=follows))
    assert {d.help for d in alone.diagnostics} == {"old"}


def shown(report, width=80):
    stream = io.StringIO()
    print_report(report, Console(file=stream, width=width, highlight=False), base="/s", verbose=1)
    return stream.getvalue()


@pytest.mark.parametrize("name", ["k", "transpose_with_padding", "a_name_" * 9])
def test_rows_of_template_instances_can_be_told_apart_at_80_columns(name):
    arguments = [
        ("float", "32", "8"), ("float", "32", "16"), ("double", "32", "16"), ("float", "8", "16"),
        ("std::pair<unsigned long long, unsigned long long>", "32", "16"),
        ("std::pair<unsigned long long, unsigned short int>", "32", "16"),
    ]  # fmt: skip
    text = shown(merged(unit("/s/a.cu", *(kernel(arguments=a, name=name) for a in arguments))))
    lines = text.split("\n\n")[1].splitlines()[2:]
    assert max(map(len, text.splitlines())) <= 80
    rows = []
    for line in lines:  # a row starts where there is an outcome; the others continue a name
        start = "verified" in line
        rows = [*rows, line] if start else [*rows[:-1], rows[-1] + line]
    assert len(rows) == len(set(rows)) == len(arguments)


def test_variants_of_one_kernel_can_be_told_apart():
    report = merged(unit("/s/a.cu", kernel()), unit("/s/b.cu", kernel("def k(): 1")))
    assert "k@a.cu" in shown(report) and "k@b.cu" in shown(report)


def found_nothing(unit):
    status = FileStatus(unit.path, "parsed", 1.0)
    return UnitAnalysis(unit, (status,), (), (), (), (), (unit.path,), ())


def test_progress_counts_headers_after_sources_and_never_backwards():
    units = tuple(CompileUnit(f"/s/{n}.cu", "/s") for n in range(3))
    headers = (CompileUnit("/s/k.cuh", "/s"),)
    calls = []
    run_project(
        Project("/s", units, headers, ()), Options(), Stages(analyze=found_nothing),
        lambda done, total, report: calls.append((done, total)),
    )  # fmt: skip
    assert calls == [(1, 3), (2, 3), (3, 3), (4, 4)]


def test_progress_knows_its_total_before_the_first_file(monkeypatch):
    import rich.progress

    totals = []
    real = rich.progress.Progress.add_task

    def noting(self, *args, **given):
        totals.append(given["total"])
        return real(self, *args, **given)

    monkeypatch.setattr(rich.progress.Progress, "add_task", noting)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with progress.bar(quiet=False, label="verify", total=7) as advance:
        assert advance is not None
    assert totals == [7]


def test_kernel_without_a_reason_is_our_bug():
    bare = replace(KERNEL, name="bare")
    fact = KernelFact("a.cu:bare", "", "bare", "bare", "bare", "", (), "", SPAN, "", bare)
    assert [d.code for d in kernel_report(fact, ()).diagnostics] == ["TM9001"]
    emission = Emission(Level.LOOP, "k", "", (), "", (), (), (Target.CPU,))
    executed = kernel_report(fact, (LevelResult(Level.LOOP, emission),), {})
    assert [d.code for d in executed.diagnostics] == ["TM5008"]
