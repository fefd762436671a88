"""On-disk cache of whole translation units.

An entry is found by unit (path, arguments, options, tool) and is valid while every project file
that the unit read has the same content and the folders it searches list the same names, so a
header that appears later is noticed. Entries are written to a temporary file and renamed. A
damaged entry is a miss. It does not cache across machines: the key holds absolute paths.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from hipify_tile.analyzer.model import CompileUnit
from hipify_tile.compat import user_cache_dir

T = TypeVar("T")

_FORMAT = b"tile-migrate cache 1\n"
_DAMAGED = (OSError, pickle.UnpicklingError, EOFError, AttributeError, ImportError, ValueError,
            TypeError, IndexError, KeyError)  # fmt: skip


def default_directory() -> Path:
    """Return ``$TILE_MIGRATE_CACHE``, else ``tile-migrate`` in the user's cache folder."""
    return user_cache_dir()


def tool_fingerprint(extra: Iterable[str] = ()) -> str:
    """Return a digest of the tool's own files (size and time) and ``extra`` version texts."""
    digest = hashlib.sha256()
    package = Path(__file__).parent
    roots = {os.path.realpath(package), os.path.realpath(package / "compat")}
    for root in sorted(roots):
        for folder, folders, names in os.walk(root):
            folders[:] = sorted(d for d in folders if d != "__pycache__")
            for name in sorted(names):
                if name.endswith((".py", ".h", ".hpp", ".cuh", ".cpp", ".c", ".so")):
                    info = os.stat(os.path.join(folder, name))
                    digest.update(f"{name}:{info.st_size}:{info.st_mtime_ns}\n".encode())
    for text in extra:
        digest.update(text.encode() + b"\n")
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class _Entry:
    files: tuple[tuple[str, str], ...]
    folders: tuple[tuple[str, str], ...]
    payload: bytes


@dataclass(frozen=True, slots=True)
class Cache:
    """Entries under ``directory`` for one tool ``fingerprint``."""

    directory: Path
    fingerprint: str

    def load(self, unit: CompileUnit, stage: str, kind: type[T]) -> T | None:
        """Return the stored value of ``stage`` for ``unit``, None if missing, stale or damaged."""
        try:
            raw = self._path(unit, stage).read_bytes()
            if not raw.startswith(_FORMAT):
                return None
            entry = pickle.loads(raw[len(_FORMAT) :])
            if not isinstance(entry, _Entry) or not _fresh(entry):
                return None
            value = pickle.loads(entry.payload)
        except _DAMAGED:
            return None
        return value if isinstance(value, kind) else None

    def store(self, unit: CompileUnit, stage: str, files: Iterable[str], value: object) -> None:
        """Store ``value``, valid while ``files`` and the folders around them do not change."""
        names = tuple(dict.fromkeys((unit.path, *files)))
        entry = _Entry(
            files=tuple((name, _file_digest(name)) for name in names),
            folders=tuple((d, _folder_digest(d)) for d in _folders(unit, names)),
            payload=pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL),
        )
        path = self._path(unit, stage)
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
        with os.fdopen(handle, "wb") as stream:
            stream.write(_FORMAT + pickle.dumps(entry, protocol=pickle.HIGHEST_PROTOCOL))
        os.replace(temporary, path)

    def _path(self, unit: CompileUnit, stage: str) -> Path:
        text = "\0".join(
            (unit.path, unit.directory, unit.root, unit.language, *unit.args, self.fingerprint)
        )
        return (
            self.directory
            / "units"
            / f"{hashlib.sha256(text.encode('utf-8', 'surrogateescape')).hexdigest()}.{stage}"
        )


def _fresh(entry: _Entry) -> bool:
    return all(_file_digest(name) == value for name, value in entry.files) and all(
        _folder_digest(name) == value for name, value in entry.folders
    )


def _file_digest(path: str) -> str:
    try:
        with open(path, "rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError:
        return "missing"


def _folder_digest(path: str) -> str:
    try:
        names = sorted(entry.name for entry in os.scandir(path) if not entry.name.startswith("."))
    except OSError:
        return "missing"
    return hashlib.sha256("\0".join(names).encode("utf-8", "surrogateescape")).hexdigest()


def _folders(unit: CompileUnit, files: Iterable[str]) -> tuple[str, ...]:
    found = [os.path.dirname(name) for name in files]
    takes_path = ("-I", "-isystem", "-iquote", "-idirafter")
    args = iter(unit.args)
    for arg in args:
        for flag in takes_path:
            if arg == flag:
                found.append(os.path.join(unit.directory, next(args, "")))
            elif arg.startswith(flag):
                found.append(os.path.join(unit.directory, arg[len(flag) :]))
    return tuple(dict.fromkeys(found))
