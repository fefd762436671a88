"""The configuration: ``[tool.tile-migrate]`` of pyproject.toml, or a tile-migrate.toml.

Reads and validates; command-line options are laid over it by the CLI. A key that does not exist is
an error that names the nearest one that does.
"""

from __future__ import annotations

import difflib
import fnmatch
import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hipify_tile.diagnostics.model import Diagnostic
from hipify_tile.diagnostics.registry import diagnostic
from hipify_tile.ir.span import Span

FILE_NAME = "tile-migrate.toml"
TARGETS = ("cuda", "hip", "metal", "webgpu", "cpu", "ascend")


@dataclass(frozen=True, slots=True)
class VerifyLimits:
    """Limits of one kernel's verification.

    ``inputs`` is the number of input sets aimed at, ``time_limit`` the seconds of CPU time for
    finding them and executing the original on them.
    """

    inputs: int = 12
    time_limit: float = 20.0


@dataclass(frozen=True, slots=True)
class Config:
    """All settings; ``file`` is where they were read ("" for the defaults), ``root`` its folder.

    ``exclude`` are glob patterns of paths relative to ``root``. ``keep`` and ``only`` are glob
    patterns of kernel names. ``jobs`` 0 means one per core, ``target`` "" any. ``out`` is relative
    to ``root``. ``ignore`` maps path patterns to the diagnostic codes ignored there.
    """

    root: str = ""
    file: str = ""
    exclude: tuple[str, ...] = ()
    clang_args: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    jobs: int = 0
    cache_dir: str = ""
    seed: int = 0
    target: str = ""
    out: str = "out"
    ignore: tuple[tuple[str, tuple[str, ...]], ...] = ()
    verify: VerifyLimits = field(default_factory=VerifyLimits)

    def excludes(self, path: Path) -> bool:
        """Whether an exclude pattern matches ``path``, one of its folders, or its name."""
        try:
            relative = path.relative_to(self.root).as_posix()
        except ValueError:
            relative = path.as_posix().lstrip("/")
        parts = relative.split("/")
        prefixes = ["/".join(parts[: i + 1]) for i in range(len(parts))]
        return any(
            fnmatch.fnmatch(candidate, pattern.rstrip("/"))
            for pattern in self.exclude
            for candidate in (*prefixes, *parts)
        )

    def ignored_codes(self, path: Path) -> frozenset[str]:
        """Return the diagnostic codes that are ignored in the file ``path``."""
        try:
            relative = path.relative_to(self.root).as_posix()
        except ValueError:
            relative = path.as_posix()
        return frozenset(
            code
            for pattern, codes in self.ignore
            if fnmatch.fnmatch(relative, pattern) or fnmatch.fnmatch(path.name, pattern)
            for code in codes
        )


class _Invalid(ValueError):
    """A value of the wrong type or range; the text says what is expected."""


def _texts(value: object) -> tuple[str, ...]:
    if isinstance(value, list) and all(isinstance(v, str) for v in value):
        return tuple(value)
    raise _Invalid("a list of strings")


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    raise _Invalid("a string")


def _target(value: object) -> str:
    if isinstance(value, str) and value in ("", *TARGETS):
        return value
    raise _Invalid("one of " + ", ".join(TARGETS))


def _natural(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise _Invalid("a whole number, zero or more")


def _positive(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    raise _Invalid("a whole number above zero")


def _seconds(value: object) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
        return float(value)
    raise _Invalid("a number of seconds above zero")


def _ignore(value: object) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if not isinstance(value, dict):
        raise _Invalid("a table of path patterns")
    table = tuple((str(pattern), _texts(codes)) for pattern, codes in value.items())
    if not all(re.fullmatch(r"TM\d{4}", code) for _, codes in table for code in codes):
        raise _Invalid("lists of codes such as TM2002")
    return table


_KEYS: dict[str, tuple[str, Callable[[object], object]]] = {
    "exclude": ("exclude", _texts),
    "clang-args": ("clang_args", _texts),
    "keep": ("keep", _texts),
    "only": ("only", _texts),
    "jobs": ("jobs", _natural),
    "cache-dir": ("cache_dir", _text),
    "seed": ("seed", _natural),
    "target": ("target", _target),
    "out": ("out", _text),
    "per-file-ignores": ("ignore", _ignore),
}
_VERIFY_KEYS: dict[str, tuple[str, Callable[[object], object]]] = {
    "inputs": ("inputs", _positive),
    "time-limit": ("time_limit", _seconds),
}


def load(start: Path, explicit: Path | None = None) -> tuple[Config, tuple[Diagnostic, ...]]:
    """Read ``explicit``, else the nearest configuration in ``start`` or a folder above it.

    Problems are returned as TM0006 diagnostics beside the settings that are valid.
    """
    file = explicit or find(start)
    if file is None:
        return Config(root=str(start.resolve())), ()
    file = file.resolve()
    try:
        source = file.read_bytes()
        document = tomllib.loads(source.decode())
    except OSError as error:
        return _failed(start, file, f"cannot read the file: {error.strerror}")
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        return _failed(start, file, f"not valid TOML: {error}")
    table: object = document
    if file.name == "pyproject.toml":
        table = document.get("tool", {}).get("tile-migrate", {})
    if not isinstance(table, dict):
        return _failed(start, file, "tool.tile-migrate is not a table")
    problems: list[Diagnostic] = []
    verify_table = table.pop("verify", {})
    reader = _Reader(file, source, problems)
    values = reader.read(table, _KEYS, (*_KEYS, "verify"))
    if isinstance(verify_table, dict):
        limits = VerifyLimits(**reader.read(verify_table, _VERIFY_KEYS, tuple(_VERIFY_KEYS)))
    else:
        limits = VerifyLimits()
        reader.report("verify", "`verify` has to be a table")
    return Config(root=str(file.parent), file=str(file), verify=limits, **values), tuple(problems)


def find(start: Path) -> Path | None:
    """Return the nearest file with a configuration, from ``start`` upwards."""
    start = start.resolve()
    for folder in (start, *start.parents):
        own = folder / FILE_NAME
        if own.is_file():
            return own
        project = folder / "pyproject.toml"
        if project.is_file() and b"tool.tile-migrate" in project.read_bytes():
            return project
    return None


def _failed(start: Path, file: Path, note: str) -> tuple[Config, tuple[Diagnostic, ...]]:
    span = Span(str(file), 1, 1, 0, 0)
    return Config(root=str(start.resolve())), (diagnostic("TM0006", span, notes=(note,)),)


@dataclass(frozen=True, slots=True)
class _Reader:
    file: Path
    source: bytes
    problems: list[Diagnostic]

    def read(
        self,
        table: dict[str, Any],
        keys: dict[str, tuple[str, Callable[[object], object]]],
        known: tuple[str, ...],
    ) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for key, value in table.items():
            if key not in keys:
                near = difflib.get_close_matches(key.lower().replace("_", "-"), known, 1, 0.5)
                help = f"write `{near[0]}`" if near else "valid keys: " + ", ".join(known)
                self.report(key, f"there is no setting `{key}`", help)
                continue
            name, convert = keys[key]
            try:
                values[name] = convert(value)
            except _Invalid as expected:
                self.report(key, f"`{key}` has to be {expected}")
        return values

    def report(self, key: str, headline: str, help: str = "") -> None:
        match = re.search(rb"^[ \t\[]*[\"']?" + re.escape(key.encode()), self.source, re.MULTILINE)
        start = match.end() - len(key.encode()) if match else 0
        line = self.source.count(b"\n", 0, start) + 1
        column = start - (self.source.rfind(b"\n", 0, start) + 1) + 1
        span = Span(
            str(self.file), line, column, start, start + (len(key.encode()) if match else 0)
        )
        self.problems.append(diagnostic("TM0006", span, headline=headline, help=help))
