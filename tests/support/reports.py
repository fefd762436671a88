"""Reports of kernels that were never analysed."""

from __future__ import annotations

from hipify_tile.analyzer.model import FileStatus, KernelFact
from hipify_tile.diagnostics.model import Diagnostic
from hipify_tile.diagnostics.registry import diagnostic
from hipify_tile.ir.simt import Kernel
from hipify_tile.ir.span import Span
from hipify_tile.report.assemble import assemble
from hipify_tile.report.model import KernelReport, Report, Tool, UnitReport
from hipify_tile.report.verdict import kernel_report
from hipify_tile.rewriter.model import Emission, Level, LevelResult, Target
from hipify_tile.verify.model import Outcome, Verification

SPAN = Span("/s/k.cuh", 3, 1, 0, 1)
TOOL = Tool("tile-migrate", "0", "0", "0")
KERNEL = Kernel("k", "k", (), (), (), (), ())


def kernel(
    text: str = "def k(): ...",
    outcome: Outcome = Outcome.VERIFIED,
    arguments: tuple[str, ...] = (),
    name: str = "k",
) -> KernelReport:
    """A kernel at level loop, its emission of this text."""
    emission = Emission(Level.LOOP, "k", text, (), text, (), (), (Target.CPU,))
    why = () if outcome is Outcome.VERIFIED else (diagnostic("TM5007", SPAN),)
    shown = f"k.cuh:{name}" + (f"<{', '.join(arguments)}>" if arguments else "")
    fact = KernelFact(shown, name, name, name, name, name, arguments, "", SPAN, "k", KERNEL)
    verdicts = {Level.LOOP: Verification(outcome, 5, diagnostics=why)}
    return kernel_report(fact, (LevelResult(Level.LOOP, emission),), verdicts)


def unit(path: str, *kernels: KernelReport, diagnostics: tuple[Diagnostic, ...] = ()) -> UnitReport:
    """A unit with these kernels and nothing else."""
    return UnitReport(path, (FileStatus(path, "parsed", 1.0),), kernels, (), (), diagnostics, ())


def merged(*units: UnitReport) -> Report:
    """The report of the units."""
    return assemble(units, tool=TOOL, root="/s")
