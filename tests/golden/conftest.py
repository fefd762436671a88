"""Each ``input.expected.<kind>`` beside an ``input.cu`` is a test: what the pipeline prints of it.

Kinds: ``simt`` (kernels after import), ``loop`` (nests after distributing barriers), ``raised``
(nests with their named operation, or why there is none), and ``simt.py``, ``loop.py``, ``tile.py``
(the emitted module of the first kernel). ``--update-golden`` rewrites the files that exist; make an
empty one to begin.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from hipify_tile.analyzer.analyze import analyze_unit
from hipify_tile.analyzer.model import CompileUnit
from hipify_tile.ir.loop import Nest
from hipify_tile.ir.printer import print_ir
from hipify_tile.ir.simt import Kernel
from hipify_tile.ir.verify import violations
from hipify_tile.passes import Refusal
from hipify_tile.rewriter.model import Level
from hipify_tile.rewriter.pipeline import LOOP, emit_levels
from hipify_tile.rewriter.raise_.raising import raise_kernel

_MARK = "input.expected."


@cache
def kernels(source: Path) -> tuple[Kernel, ...]:
    """Import the kernels of ``source``; each must have been imported."""
    folder = str(source.parent)
    analysis = analyze_unit(CompileUnit(path=str(source), directory=folder, root=folder))
    refused = [d for fact in analysis.kernels if fact.kernel is None for d in fact.diagnostics]
    assert not refused, refused
    return tuple(fact.kernel for fact in analysis.kernels if fact.kernel is not None)


def _simt(kernel: Kernel) -> str:
    assert not violations(kernel)
    return print_ir(kernel)


def _loop(kernel: Kernel) -> str:
    try:
        return print_ir(LOOP.run(kernel))
    except Refusal as refusal:
        return "".join(f"refused: {d.code} {d.headline}\n" for d in refusal.diagnostics)


def _raised(kernel: Kernel) -> str:
    nest = raise_kernel(kernel)
    return print_ir(nest) if isinstance(nest, Nest) else f"not raised: {nest.reason}\n"


def _module(level: Level) -> Callable[[Kernel], str]:
    def text(kernel: Kernel) -> str:
        span = kernel.span
        root = str(Path(span.file).parent) if span else ""
        (result,) = emit_levels(kernel, levels=(level,), root=root)
        return result.emission.source if result.emission else "# not emitted\n"

    return text


PRINTERS: dict[str, Callable[[Kernel], str]] = {
    "simt": _simt,
    "loop": _loop,
    "raised": _raised,
    "simt.py": _module(Level.SIMT),
    "loop.py": _module(Level.LOOP),
    "tile.py": _module(Level.TILE),
}


class GoldenFile(pytest.File):
    """An expected file."""

    def collect(self) -> Iterator[pytest.Item]:
        name = self.path.name.removeprefix(_MARK)
        yield Golden.from_parent(self, name=name)


class Golden(pytest.Item):
    """Print the input and compare."""

    def runtest(self) -> None:
        printer = PRINTERS[self.name]
        found = kernels(self.path.parent / "input.cu")
        shown = found[:1] if self.name.endswith(".py") else found
        text = "\n".join(printer(kernel) for kernel in shown)
        if self.config.getoption("--update-golden"):
            self.path.write_text(text, encoding="utf-8")
        expected = self.path.read_text(encoding="utf-8")
        if text != expected:
            lines = difflib.unified_diff(
                expected.splitlines(), text.splitlines(), "expected", "printed", lineterm=""
            )
            raise AssertionError("\n".join(lines))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> str:
        if isinstance(excinfo.value, AssertionError):
            return str(excinfo.value)
        return str(super().repr_failure(excinfo))

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None, f"{self.path.parent.name}: {self.name}"


def pytest_collect_file(parent: pytest.Collector, file_path: Path) -> pytest.Collector | None:
    if file_path.name.startswith(_MARK):
        return GoldenFile.from_parent(parent, path=file_path)
    return None
