"""Discovery: from paths on the command line to the translation units to analyse.

Finds CUDA sources, host sources that call CUDA libraries, and headers with kernels; takes flags
from a compile database or guesses include folders. It parses nothing: classification is lexical.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from hipify_tile.analyzer import inventory_text
from hipify_tile.analyzer.model import CompileUnit
from hipify_tile.compile_commands import Command, find_database, read_database, translate
from hipify_tile.config import Config
from hipify_tile.diagnostics.model import Diagnostic
from hipify_tile.diagnostics.registry import diagnostic
from hipify_tile.include_paths import IncludeGraph
from hipify_tile.ir.span import Span

_CUDA = (".cu", ".cu.cc", ".cu.cpp", ".cu.cxx")
_CUDA_HEADER = (".cuh", ".cu.h", ".cu.hpp")
_HEADER = (".h", ".hpp", ".hh", ".hxx", ".inl")
_HOST = (".c", ".cc", ".cpp", ".cxx")
_SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__", "CMakeFiles"})
_PROJECT_MARKS = (".git", "CMakeLists.txt", "Makefile", "setup.py", "pyproject.toml")


@dataclass(frozen=True, slots=True)
class Project:
    """What to analyse.

    ``root`` is the folder that reports are relative to. ``headers`` are units for headers with
    kernels that a source seems to include: analysed on their own only when no unit turns out to
    have read them.
    """

    root: str
    units: tuple[CompileUnit, ...]
    headers: tuple[CompileUnit, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


def discover(
    paths: Sequence[Path],
    config: Config | None = None,
    *,
    database: Path | None = None,
    clang_args: Sequence[str] = (),
) -> Project:
    """Find the translation units under ``paths`` (files and folders).

    ``database`` is a compile_commands.json or its folder; without it one is looked for near each
    path. ``clang_args`` are appended to every unit's arguments after those of ``config``. Problems
    come back as diagnostics: TM0003 (unreadable), TM0005 (dropped flags), TM0006 (bad database),
    TM0009 (nothing found).
    """
    settings = config or Config(root=str(Path.cwd()))
    finder = _Finder(settings, database, (*settings.clang_args, *clang_args))
    return finder.run([Path(os.path.abspath(p)) for p in paths])


def walk_files(top: Path) -> Iterator[Path]:
    """Yield the regular files under ``top`` in sorted order, following links without looping.

    Hidden folders and build trees (with a CMakeCache.txt) are left out.
    """
    seen: set[str] = set()

    def visit(folder: str) -> Iterator[Path]:
        real = os.path.realpath(folder)
        if real in seen:
            return
        seen.add(real)
        try:
            entries = sorted(os.scandir(folder), key=lambda e: e.name)
        except OSError:
            return
        if any(e.name == "CMakeCache.txt" for e in entries):
            return
        for entry in entries:
            if entry.is_dir():
                if not entry.name.startswith(".") and entry.name not in _SKIPPED_FOLDERS:
                    yield from visit(entry.path)
            elif entry.is_file():
                yield Path(entry.path)

    yield from visit(str(top))


class _Finder:
    def __init__(self, config: Config, database: Path | None, extra: tuple[str, ...]) -> None:
        self.config = config
        self.database = database
        self.extra = extra
        self.problems: list[Diagnostic] = []
        self.texts: dict[Path, bytes | None] = {}
        self.commands: dict[Path, dict[str, Command]] = {}

    def run(self, paths: list[Path]) -> Project:
        files: dict[Path, bool] = {}
        for path in paths:
            if path.is_dir():
                for file in walk_files(path):
                    if not self.config.excludes(file):
                        files.setdefault(file, False)
            elif path.is_file():
                files[path] = True
            else:
                self.unreadable(path, "there is no such file or folder")
        root = _common_root(paths)
        units, headers = self.classify(files, root)
        self.note_dropped(units)
        if not units and not self.problems:
            searched = ", ".join(os.path.relpath(p) for p in paths)
            self.problems.append(
                diagnostic(
                    "TM0009",
                    headline=f"no CUDA source was found in {searched}" if paths else "",
                    help="name a folder with .cu files",
                )
            )
        return Project(str(root), tuple(units), tuple(headers), tuple(self.problems))

    def classify(
        self, files: dict[Path, bool], root: Path
    ) -> tuple[list[CompileUnit], list[CompileUnit]]:
        sources: list[tuple[Path, str, Command | None]] = []
        headers: list[Path] = []
        for file, named in files.items():
            command = self.command(file)
            kind = self.kind(file, command, named)
            if kind in ("cuda", "c", "c++"):
                sources.append((file, kind, command))
            elif kind == "header":
                headers.append(file)
        graph = IncludeGraph(self.read, _search_root(root), walk_files)
        units: list[CompileUnit] = []
        reached: set[Path] = set()
        for file, kind, command in sources:
            unit = self.unit(file, kind, command, root, graph)
            units.append(unit)
            if kind == "cuda":
                reached |= graph.reachable(file, unit.args)
        second: list[CompileUnit] = []
        for file in headers:
            unit = self.unit(file, "cuda", self.command(file), root, graph)
            # A header named on the command line is wanted for itself.
            if file in reached and not files[file]:
                second.append(unit)
            else:
                units.append(unit)
                reached |= graph.reachable(file, unit.args) - {file}
        return units, second

    def kind(self, file: Path, command: Command | None, named: bool) -> str:
        name = file.name
        if not name.endswith((*_CUDA, *_CUDA_HEADER, *_HEADER, *_HOST)) and not named:
            return ""
        text = self.read(file)
        if text is None:
            if named or name.endswith((*_CUDA, *_CUDA_HEADER)):
                self.unreadable(file, "the file is binary, not UTF-8 named, or cannot be opened")
            return ""
        if name.endswith(_CUDA):
            return "cuda"
        blanked = inventory_text.blank(text)
        if name.endswith((*_CUDA_HEADER, *_HEADER)):
            if inventory_text.has_kernels(blanked):
                return "header"
            mentions = inventory_text.mentions_library(blanked)
            return "c++" if mentions and not inventory_text.has_device_code(blanked) else ""
        if command is not None and translate(command).cuda:
            return "cuda"
        if inventory_text.has_device_code(blanked):
            return "cuda"
        if inventory_text.mentions_library(blanked):
            return "c" if name.endswith(".c") else "c++"
        return ""

    def unit(
        self, file: Path, kind: str, command: Command | None, root: Path, graph: IncludeGraph
    ) -> CompileUnit:
        directory = str(file.parent)
        unit_args: tuple[str, ...] = ()
        unit_dropped: tuple[str, ...] = ()
        if command is not None:
            translation = translate(command)
            directory = command.directory
            unit_args, unit_dropped = translation.args, translation.dropped
        # Paths on our own command line are relative to where it was typed.
        own = translate(Command(str(file), os.getcwd(), ("clang", *self.extra)))
        unit_args = (*unit_args, *own.args)
        if command is None:
            unit_args = (*unit_args, *graph.guess(file, unit_args))
        return CompileUnit(
            path=str(file),
            directory=directory,
            args=unit_args,
            root=str(root),
            language=kind,
            dropped=(*unit_dropped, *own.dropped),
        )

    def command(self, file: Path) -> Command | None:
        return self.commands_for(file.parent).get(os.path.realpath(file))

    def commands_for(self, folder: Path) -> dict[str, Command]:
        if self.database is not None:
            database = self.database
            if database.is_dir():
                database = database / "compile_commands.json"
            return self.load(database)
        if folder not in self.commands:
            found = find_database(folder)
            self.commands[folder] = self.load(found) if found is not None else {}
        return self.commands[folder]

    def load(self, database: Path) -> dict[str, Command]:
        if database not in self.commands:
            table: dict[str, Command] = {}
            try:
                for command in read_database(database):
                    table.setdefault(os.path.realpath(command.file), command)
            except (OSError, ValueError) as error:
                span = Span(str(database), 1, 1, 0, 0)
                headline = "the compile database cannot be read"
                self.problems.append(
                    diagnostic("TM0006", span, headline=headline, notes=(str(error),))
                )
            self.commands[database] = table
        return self.commands[database]

    def read(self, file: Path) -> bytes | None:
        """Return a file's bytes; None when it is binary, unreadable or badly named."""
        if file not in self.texts:
            try:
                str(file).encode()
                data: bytes | None = file.read_bytes()
            except (OSError, UnicodeEncodeError):
                data = None
            if data is not None and inventory_text.is_binary(data):
                data = None
            self.texts[file] = data
        return self.texts[file]

    def unreadable(self, file: Path, note: str) -> None:
        span = Span(str(file), 1, 1, 0, 0)
        self.problems.append(diagnostic("TM0003", span, notes=(note,)))

    def note_dropped(self, units: Iterable[CompileUnit]) -> None:
        counts: Counter[str] = Counter()
        first: dict[str, str] = {}
        for unit in units:
            for flag in dict.fromkeys(unit.dropped):
                counts[flag] += 1
                first.setdefault(flag, unit.path)
        for flag, count in counts.items():
            headline = f"flag {flag} was dropped ({count} file{'s' if count > 1 else ''})"
            span = Span(first[flag], 1, 1, 0, 0)
            self.problems.append(diagnostic("TM0005", span, headline=headline))


def _common_root(paths: list[Path]) -> Path:
    folders = [str(p if p.is_dir() else p.parent) for p in paths]
    return Path(os.path.commonpath(folders)) if folders else Path.cwd()


def _search_root(root: Path) -> Path:
    """Return the folder whose headers may be meant: the project around ``root``, if near."""
    for candidate in (root, *list(root.parents)[:3]):
        if any((candidate / mark).exists() for mark in _PROJECT_MARKS):
            return candidate
    return root
