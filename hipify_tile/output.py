"""The output tree: what migrating writes, compared with what is there.

``src/gemm.cu`` → ``out/src/gemm_cu.py`` with one factory a kernel, and ``out/manifest.json``. The
tree belongs to the tool only as far as its manifest says: a file that the tool did not write, or
that somebody edited since, is never overwritten. Host code and build files are not rewritten here.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hipify_tile.diagnostics.paths import base_directory, relative_to
from hipify_tile.report.model import KernelReport, Report, Verdict

MANIFEST = "manifest.json"
_GENERATOR = "tile-migrate"

Compose = Callable[[str, Sequence[KernelReport]], tuple[str, dict[str, str]]]
"""(source, kernels) → the module's text and the name of each kernel's factory by kernel id."""


class OutputRefused(Exception):
    """Files in the way that the tool must not overwrite; ``paths`` are relative to the tree."""

    def __init__(self, out: Path, paths: Sequence[str]) -> None:
        super().__init__(f"{out} holds files that tile-migrate did not write: {', '.join(paths)}")
        self.paths = tuple(paths)


@dataclass(frozen=True, slots=True)
class Changes:
    """How a planned tree differs from the one on disk; all paths are relative to it."""

    create: tuple[str, ...]
    update: tuple[str, ...]
    delete: tuple[str, ...]
    foreign: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.create or self.update or self.delete or self.foreign)


def plan(report: Report, compose: Compose, out: Path, *, unverified: bool) -> dict[str, bytes]:
    """Return the files of the tree at ``out`` by relative path, the manifest included.

    ``compose`` gets the kernels of one source file, whose path is relative to the root. Kernels
    that were not verified are left out unless ``unverified``.
    """
    base = base_directory(report.root)
    by_source: dict[str, list[KernelReport]] = {}
    for kernel in report.kernels:
        wanted = kernel.verdict is Verdict.VERIFIED or (
            unverified and kernel.verdict is Verdict.UNVERIFIED
        )
        if wanted and kernel.emission is not None:
            by_source.setdefault(relative_to(kernel.file, base), []).append(kernel)
    names = module_paths(sorted(by_source))
    files: dict[str, bytes] = {}
    rows: list[dict[str, Any]] = []
    for source in sorted(by_source):
        text, factories = compose(source, by_source[source])
        files[names[source]] = text.encode("utf-8", "replace")
        rows += [_row(k, source, names[source], factories[k.id]) for k in by_source[source]]
    written = {row["id"] for row in rows}
    rows += [
        _row(k, relative_to(k.file, base), None, None)
        for k in report.kernels
        if k.id not in written
    ]
    files[MANIFEST] = _manifest(report, os.path.relpath(base, out), files, rows)
    return files


def module_paths(sources: Sequence[str]) -> dict[str, str]:
    """Map each relative source path to its module's path, all different on any file system."""
    plain = {source: _module_path(source) for source in sources}
    claims: dict[str, list[str]] = {}
    for source, path in plain.items():
        claims.setdefault(path.casefold(), []).append(source)
    for rivals in claims.values():
        if len(rivals) > 1:
            for source in rivals:
                tag = hashlib.sha256(source.encode("utf-8", "surrogateescape")).hexdigest()[:8]
                plain[source] = plain[source].removesuffix(".py") + f"_{tag}.py"
    return plain


def _module_path(source: str) -> str:
    parts = source.split("/")
    if source.startswith("/") or ".." in parts:
        parts = ["external", parts[-1]]
    stem, dot, suffix = parts[-1].rpartition(".")
    name = re.sub(r"\W", "_", f"{stem}_{suffix}" if dot else suffix)
    folders = [re.sub(r"[^\w.-]", "_", part) for part in parts[:-1]]
    return "/".join((*folders, f"_{name}.py" if name[0].isdigit() else f"{name}.py"))


def _row(
    kernel: KernelReport, source: str, file: str | None, factory: str | None
) -> dict[str, Any]:
    return {
        "id": kernel.id,
        "source": source,
        "mangled": kernel.mangled,
        "verdict": kernel.verdict.value,
        "level": kernel.level.value if kernel.level else None,
        "file": file,
        "factory": factory,
    }


def _manifest(
    report: Report, root: str, files: dict[str, bytes], rows: list[dict[str, Any]]
) -> bytes:
    data = {
        "generator": _GENERATOR,
        "schema": 1,
        "version": report.tool.version,
        "tilelang": report.tool.tilelang,
        "root": root,
        "kernels": rows,
        "files": {path: _digest(raw) for path, raw in sorted(files.items())},
    }
    return (json.dumps(data, indent=2, ensure_ascii=False) + "\n").encode(
        "utf-8", "backslashreplace"
    )


def compare(files: dict[str, bytes], out: Path) -> Changes:
    """Compare planned ``files`` with the tree at ``out``."""
    owned = _owned(out)
    create: list[str] = []
    update: list[str] = []
    foreign: list[str] = []
    for path, wanted in files.items():
        raw = _read(out / path)
        if raw is None:
            create.append(path)
        elif raw != wanted:
            mine = path == MANIFEST and _read_manifest(out) is not None
            (update if mine or owned.get(path) == _digest(raw) else foreign).append(path)
    gone = sorted(set(owned) - set(files))
    delete = [p for p in gone if (raw := _read(out / p)) is not None and _digest(raw) == owned[p]]
    return Changes(tuple(create), tuple(update), tuple(delete), tuple(foreign))


def forgotten(files: dict[str, bytes], out: Path, *, partial: bool) -> tuple[str, ...]:
    """Return the ids of kernels in the tree at ``out`` that ``files`` would lose unjudged.

    A kernel of a source that was judged again is no loss, nor is one whose source is gone.
    ``partial`` says that the run judged only a selection of the kernels of each source.
    """
    before = _read_manifest(out)
    now = json.loads(files[MANIFEST])
    judged = set() if partial else {row["source"] for row in _rows(now).values()}
    kept = {(now["root"], key) for key, row in _rows(now).items() if row["file"]}
    root = str(before.get("root", "")) if before else ""
    return tuple(
        sorted(
            key
            for key, row in _rows(before).items()
            if row["file"]
            and (root, key) not in kept
            and (root != now["root"] or row.get("source") not in judged)
            and (out / root / row.get("source", "")).is_file()
        )
    )


def _rows(manifest: dict[str, Any] | None) -> dict[str, dict[str, Any]]:
    rows = manifest.get("kernels", []) if manifest else []
    return {str(row["id"]): row for row in rows if isinstance(row, dict) and "id" in row}


def write(files: dict[str, bytes], out: Path) -> Changes:
    """Make the tree at ``out`` equal to ``files``; raises OutputRefused and then writes nothing.

    Everything is written to a temporary sibling first and renamed; the manifest comes last.
    """
    changes = compare(files, out)
    if changes.foreign:
        raise OutputRefused(out, changes.foreign)
    if not changes:
        return changes
    out.parent.mkdir(parents=True, exist_ok=True)
    staged = Path(tempfile.mkdtemp(dir=out.parent, prefix=f".{out.name}-"))
    try:
        pending = [p for p in (*changes.create, *changes.update) if p != MANIFEST]
        pending += [p for p in (MANIFEST,) if p in (*changes.create, *changes.update)]
        for path in pending:
            (staged / path).parent.mkdir(parents=True, exist_ok=True)
            (staged / path).write_bytes(files[path])
        for path in pending:
            (out / path).parent.mkdir(parents=True, exist_ok=True)
            os.replace(staged / path, out / path)
        for path in changes.delete:
            (out / path).unlink()
    finally:
        shutil.rmtree(staged, ignore_errors=True)
    return changes


def diff(files: dict[str, bytes], out: Path, shown: str) -> str:
    """Return a unified diff from the tree at ``out`` to ``files``; ``shown`` names the tree."""
    changes = compare(files, out)
    name = shown.strip("/")
    parts: list[str] = []
    touched = (*changes.create, *changes.update, *changes.foreign, *changes.delete)
    for path in sorted(touched):
        old = _read(out / path) or b""
        new = files.get(path, b"")
        parts += difflib.unified_diff(
            old.decode("utf-8", "replace").splitlines(keepends=True),
            new.decode("utf-8", "replace").splitlines(keepends=True),
            "/dev/null" if path in changes.create else f"a/{name}/{path}",
            "/dev/null" if path in changes.delete else f"b/{name}/{path}",
        )
    return "".join(parts)


def _owned(out: Path) -> dict[str, str]:
    data = _read_manifest(out)
    files = data.get("files") if data else None
    return {str(k): str(v) for k, v in files.items()} if isinstance(files, dict) else {}


def _read_manifest(out: Path) -> dict[str, Any] | None:
    raw = _read(out / MANIFEST)
    if raw is None:
        return None
    try:
        data = json.loads(raw)
    except ValueError:
        return None
    ours = isinstance(data, dict) and data.get("generator") == _GENERATOR
    return data if ours else None


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _digest(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()
