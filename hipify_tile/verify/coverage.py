"""How much of the original the cases executed, from gcc's arc counters.

The reference build is instrumented (``--coverage``), so this measures the user's own code and not
our reading of it. A basic block of the kernel that no case entered means that nothing is known of
it. Branches that always went the same way are listed, as a weaker doubt.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hipify_tile.analyzer.model import KernelFact
from hipify_tile.ir.expr import walk
from hipify_tile.ir.simt import Kernel
from hipify_tile.ir.span import Span
from hipify_tile.ir.stmt import exprs, walk_stmts
from hipify_tile.verify.oracle import Instrument


@dataclass(frozen=True, slots=True)
class Coverage:
    """``unreached`` and ``one_sided`` are line numbers with their files; ``lines`` is how many
    were executed.
    """

    lines: int
    unreached: tuple[tuple[str, int], ...]
    one_sided: tuple[tuple[str, int], ...]


class CoverageError(RuntimeError):
    """gcov is missing or its answer cannot be read."""


_HOOKS = """\
extern "C" {
void __gcov_dump(void);
void __gcov_reset(void);
__attribute__((visibility("default"))) void tm_coverage_dump(void) {
  __gcov_dump();
  __gcov_reset();
}
}
"""


def instrument(cache: Path) -> Instrument:
    """Return what makes a reference build readable by ``Meter``.

    Counters for every arc, notes in ``cache/coverage``.
    """
    notes = cache / "coverage"
    notes.mkdir(parents=True, exist_ok=True)
    flags = (
        "--coverage",
        "-fno-early-inlining",  # a function's lines are counted as its own, not as its caller's
        "-dumpdir",
        f"{notes}/",
    )
    # The build makes every symbol weak, and a weak reference pulls nothing out of an archive.
    needed = ("__gcov_init", "__gcov_exit", "__gcov_merge_add", "__gcov_dump", "__gcov_reset")
    pull = [f"-Wl,-u,{name}" for name in needed]
    return Instrument(flags, (*pull, "-lgcov"), _HOOKS)


class Meter:
    """Reads the counters of a reference build that this process has loaded and run."""

    def __init__(self, cache: Path, library: Path, fact: KernelFact, kernel: Kernel) -> None:
        self._notes = cache / "coverage"
        self._data = Path(tempfile.mkdtemp(prefix="counters-", dir=cache))
        self._library = library
        self._mangled = fact.mangled
        self._relevant = relevant_lines(kernel)

    def measure(self) -> Coverage:
        """Coverage by everything this process ran so far; raises CoverageError.

        The counters register with libgcov when the library is loaded: theirs is the one kind of
        constructor that the reference build keeps.
        """
        os.environ["GCOV_PREFIX"] = str(self._data)
        ctypes.CDLL(str(self._library)).tm_coverage_dump()
        data = sorted(self._data.rglob("*.gcda"))
        for path in data:
            note = path.with_suffix(".gcno")
            if not note.exists():
                shutil.copy(self._notes / note.name, note)
        return measure(data, self._mangled, self._relevant)


def measure(data: Sequence[Path], mangled: str, relevant: frozenset[tuple[str, int]]) -> Coverage:
    """Read the counters in ``data`` (``.gcda`` files) for one kernel.

    Every line of the function ``mangled`` counts, and the lines in ``relevant`` of each other
    function that was entered (inlined ``__device__`` functions): an instance of a template does
    not stand for another one. A line that only functions have which nothing entered is unreached.
    """
    gcov = shutil.which("gcov")
    if gcov is None:
        raise CoverageError("gcov was not found")
    originals = _Originals(f for f, _ in relevant)
    lines = frozenset((os.path.realpath(f), line) for f, line in relevant)
    files = [(report, file) for report in _reports(gcov, data) for file in report["files"]]
    functions = [f for _, file in files for f in file["functions"]]
    mine = _named(mangled, {f["name"] for f in functions})
    entered = mine | {f["name"] for f in functions if f["execution_count"] > 0}
    found: dict[tuple[str, int], tuple[bool, bool]] = {}
    idle: set[tuple[str, int]] = set()
    for report, file in files:
        path = originals.of(os.path.join(report["current_working_directory"], file["file"]))
        for line in file["lines"]:
            key = (path, int(line["line_number"]))
            function = line.get("function_name")
            if function not in mine and key not in lines:
                continue
            if function in entered:
                full = line["count"] > 0 and not line["unexecuted_block"]
                both = all(b["count"] > 0 or b["throw"] for b in line["branches"])
                was = found.get(key, (True, True))
                found[key] = (was[0] and full, was[1] and both)
            else:
                idle.add(key)
    if not mine:
        raise CoverageError(f"no counters for {mangled}")
    return Coverage(
        sum(full for full, _ in found.values()),
        tuple(sorted({k for k, (full, _) in found.items() if not full} | idle - found.keys())),
        tuple(sorted(k for k, (full, both) in found.items() if full and not both)),
    )


class _Originals:
    """Which file of the project a path in the counters means: the reference build has copies of
    them at ``…/overlay/absolute/path``.
    """

    def __init__(self, files: Iterable[str]) -> None:
        self._known = frozenset(map(os.path.realpath, files))

    def of(self, path: str) -> str:
        """The original of ``path``, or ``path`` itself."""
        real = os.path.realpath(path)
        tails = (real[m.end() :] for m in re.finditer("/overlay(?=/)", real))
        candidates = (os.path.realpath(tail) for tail in tails)
        return next((c for c in candidates if c in self._known), real)


def _reports(gcov: str, data: Sequence[Path]) -> Iterator[dict[str, Any]]:
    """What ``gcov`` says about each file of counters; raises CoverageError."""
    for path in data:
        answer = subprocess.run(
            [gcov, "-b", "-j", "--stdout", path.name],
            cwd=path.parent,
            capture_output=True,
            check=False,
        )
        for text in answer.stdout.splitlines():
            try:
                yield json.loads(text)
            except json.JSONDecodeError as error:
                raise CoverageError(f"gcov: {error}") from error


def _named(mangled: str, functions: Collection[str]) -> frozenset[str]:
    """The symbols of ``functions`` that are ``mangled`` up to how internal linkage is marked.

    A static instance of a template: ``_ZL1kILi1EEvPi`` to clang, ``_Z1kILi1EEvPi`` to gcc. Both
    demangle to the same name, which in one translation unit is one function's.
    """
    if mangled in functions:
        return frozenset({mangled})
    demangle = shutil.which("c++filt")
    if demangle is None:
        return frozenset()
    symbols = [mangled, *sorted(functions)]
    answer = subprocess.run(
        [demangle], input="\n".join(symbols), capture_output=True, check=False, text=True
    )
    plain = answer.stdout.splitlines()
    if answer.returncode or len(plain) != len(symbols):
        return frozenset()
    return frozenset(s for s, p in zip(symbols[1:], plain[1:], strict=True) if p == plain[0])


def relevant_lines(kernel: Kernel) -> frozenset[tuple[str, int]]:
    """Return (file, line) of every statement and expression of ``kernel``."""
    spans: list[Span | None] = []
    for stmt in walk_stmts(kernel.body):
        spans.append(getattr(stmt, "span", None))
        for top in exprs(stmt):
            spans.extend(node.span for node in walk(top))
    return frozenset((s.file, s.line) for s in spans if s is not None)
