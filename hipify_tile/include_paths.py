"""Lexical include graph of a project without a compile database, and guessed include folders.

A folder is guessed when a header that is otherwise not found has one possible place in the project.
Guesses never hide a system header: angle includes search them last. Inactive branches are followed
too, so the
graph may reach more than a parse does.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice, pairwise
from pathlib import Path

from hipify_tile.analyzer.inventory_text import Include, include_folders, includes
from hipify_tile.compat import include_dir

_INDEX_LIMIT = 20000


class IncludeGraph:
    """Resolves include directives of project files by the rules of ``-I`` and quotes."""

    def __init__(
        self,
        read: Callable[[Path], bytes | None],
        root: Path,
        walk: Callable[[Path], Iterator[Path]],
    ) -> None:
        """Index the files under ``root`` on first need."""
        self._read = read
        self._root = root
        self._walk = walk
        self._by_name: dict[str, list[Path]] | None = None
        self._directives: dict[Path, tuple[Include, ...]] = {}

    def reachable(self, file: Path, args: tuple[str, ...]) -> set[Path]:
        """Return the project files that ``file`` includes, directly or not, and itself."""
        folders = include_folders(args)
        seen = {file}
        pending = [file, *(Path(f) for f in forced_includes(args))]
        while pending:
            current = pending.pop()
            for directive in self._includes(current):
                target = _resolve(directive, current.parent, folders)
                if target is not None and target not in seen:
                    seen.add(target)
                    pending.append(target)
        return seen

    def guess(self, file: Path, args: tuple[str, ...]) -> tuple[str, ...]:
        """Return arguments that make the project's own headers found from ``file``."""
        folders = include_folders(args)
        guessed: list[str] = []
        quoted: list[str] = []
        for standard in (self._root, self._root / "include"):
            if standard.is_dir() and str(standard) not in folders:
                guessed.append(str(standard))
                quoted.append(str(standard))
        seen = {file}
        pending = [file]
        while pending:
            current = pending.pop()
            for directive in self._includes(current):
                target = _resolve(directive, current.parent, [*folders, *guessed])
                if target is None:
                    known = _is_system_header(directive.name)
                    folder = None if known else self._only_folder(directive.name)
                    if folder is None:
                        continue
                    guessed.append(folder)
                    if directive.quoted:
                        quoted.append(folder)
                    target = Path(os.path.normpath(os.path.join(folder, directive.name)))
                if target not in seen:
                    seen.add(target)
                    pending.append(target)
        quote_args = (word for folder in quoted for word in ("-iquote", folder))
        angle_args = (word for folder in guessed for word in ("-idirafter", folder))
        return (*quote_args, *angle_args)

    def _includes(self, file: Path) -> tuple[Include, ...]:
        if file not in self._directives:
            text = self._read(file)
            self._directives[file] = tuple(includes(text)) if text is not None else ()
        return self._directives[file]

    def _only_folder(self, name: str) -> str | None:
        if os.path.isabs(name) or name.startswith(".."):
            return None
        if self._by_name is None:
            self._by_name = {}
            for path in islice(self._walk(self._root), _INDEX_LIMIT):
                self._by_name.setdefault(path.name, []).append(path)
        suffix = "/" + os.path.normpath(name)
        matches = {
            str(p)[: -len(suffix)]
            for p in self._by_name.get(os.path.basename(name), ())
            if str(p).endswith(suffix)
        }
        return matches.pop() if len(matches) == 1 else None


def forced_includes(args: tuple[str, ...]) -> list[str]:
    """Return the files of ``-include`` arguments."""
    return [value for flag, value in pairwise(args) if flag == "-include"]


@cache
def _is_system_header(name: str) -> bool:
    system = (include_dir(), include_dir() / "builtin", Path("/usr/include"))
    standard = (*system, *Path("/usr/include/c++").glob("*"))
    return any((folder / name).is_file() for folder in standard)


def _resolve(directive: Include, folder: Path, folders: list[str]) -> Path | None:
    if not directive.quoted and _is_system_header(directive.name):
        return None
    places = [str(folder), *folders] if directive.quoted else folders
    for place in places:
        path = os.path.normpath(os.path.join(place, directive.name))
        if os.path.isfile(path):
            return Path(path)
    return None
