"""How a translation unit is parsed: arguments, precompiled prelude, system headers, errors.

CUDA is parsed without a toolkit, against the project's own headers, as host compilation with
``__CUDA_ARCH__`` defined: the device's view of the preprocessor and the host's view of launches at
once. Missing headers do not stop a parse; whom an error concerns is decided elsewhere.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from clang import cindex
from clang.cindex import Index, TranslationUnit

from hipify_tile.analyzer.clang import diagnostic_text, file_line, file_offset
from hipify_tile.analyzer.inventory_text import include_folders, includes, joined
from hipify_tile.analyzer.model import CompileUnit
from hipify_tile.compat import include_dir
from hipify_tile.diagnostics.model import Diagnostic, Label
from hipify_tile.diagnostics.registry import diagnostic
from hipify_tile.ir.span import Span

_KEEP_GOING = 0x200
_RECORD_MACROS = TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD
_PRELUDE = "tm_cuda_prelude.h"
_PCH_LIMIT = 48
_EARLY = "specialization"
_CLASHES = ("ambiguous", "redefinition", "redeclar", "conflict", "different kind", _EARLY)
# Without the first, every unit instantiates what the prelude leaves pending (100 ms). The key of a
# precompiled header holds the contents of its sources, so a new time stamp on them means nothing.
_PCH_ARGS = ("-fpch-instantiate-templates", "-Xclang", "-fno-validate-pch")

# Headers that CUDA programs include most, precompiled for units that include one of them.
_STANDARD = (
    "algorithm", "array", "chrono", "cstdint", "fstream", "functional", "iomanip", "iostream",
    "limits", "map", "memory", "numeric", "random", "sstream", "string", "utility", "vector",
)  # fmt: skip


class ParseFailed(RuntimeError):
    """libclang returned no translation unit at all."""


@dataclass(frozen=True, slots=True)
class SystemHeaders:
    """Arguments that make libclang find libstdc++; ``found`` is false when nothing does."""

    args: tuple[str, ...]
    found: bool


@dataclass(frozen=True, slots=True)
class ParsedUnit:
    """A translation unit with the bytes of its main file and the findings of the parse.

    ``errors`` hold every error with its position, in source order. ``tu`` is the libclang object.
    """

    unit: CompileUnit
    tu: Any
    source: bytes
    errors: tuple[Diagnostic, ...]
    system_headers: bool


@cache
def _index() -> Any:
    # Declarations of the precompiled prelude are not listed at top level: walking them is slow.
    return Index.create(excludeDecls=True)


@cache
def toolkit_digest() -> str:
    """Return a digest of everything that decides what the prelude means: headers and libclang."""
    digest = hashlib.sha256()
    root = include_dir()
    for path in sorted(p for p in root.rglob("*") if p.is_file()):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    library = Path(cindex.conf.lib._name)
    digest.update(f"{cindex.conf.get_filename()}:{library.stat().st_size}".encode())
    return digest.hexdigest()


@lru_cache(maxsize=8)
def system_headers(gcc_root: str = "/usr/lib/gcc") -> SystemHeaders:
    """Find a C++ standard library: the driver's choice, else another installed gcc's."""
    candidates: list[tuple[str, ...]] = [()]
    with suppress(OSError):
        installed = [d for triple in Path(gcc_root).iterdir() for d in triple.iterdir()]
        newest_first = sorted(installed, key=lambda d: _version(d.name), reverse=True)
        candidates += [(f"--gcc-install-dir={d}",) for d in newest_first]
    for args in candidates:
        if _finds_headers(args):
            return SystemHeaders(args, found=True)
    return SystemHeaders(("-nostdinc", "-nostdinc++"), found=False)


def _version(name: str) -> tuple[int, ...]:
    return tuple(int(part) for part in name.split(".") if part.isdigit())


def _finds_headers(args: tuple[str, ...]) -> bool:
    probe = "#if !__has_include(<type_traits>) || !__has_include(<math.h>)\n#error none\n#endif\n"
    options = ["-x", "c++", "-std=c++17", *args]
    try:
        tu = _index().parse("tm_probe.cpp", args=options, unsaved_files=[("tm_probe.cpp", probe)])
    except cindex.TranslationUnitLoadError:
        return False
    return not any(d.severity >= cindex.Diagnostic.Error for d in tu.diagnostics)


def base_args(headers: SystemHeaders) -> list[str]:
    """Return the arguments of every parse, without the prelude."""
    include = include_dir()
    return [
        "-x", "cuda", "--cuda-host-only", "-nocudainc", "-nocudalib", "--cuda-path=/nonexistent",
        "-std=c++17", "-ferror-limit=0", "-w", "-Wno-register", "-D__CUDA_ARCH__=800",
        "-Xclang", "-fcuda-allow-variadic-functions",
        "-resource-dir", str(include / "none"),
        "-Xclang", "-internal-isystem", "-Xclang", str(include / "builtin"),
        *headers.args,
    ]  # fmt: skip


def parse(unit: CompileUnit, *, cache_dir: Path | None) -> ParsedUnit:
    """Parse ``unit``.

    ``cache_dir`` holds precompiled preludes (None: never precompile). Raises ``OSError`` when the
    file cannot be read and ``ParseFailed`` when libclang gives up.
    """
    source = Path(unit.path).read_bytes()
    headers = system_headers()
    shim = ("-isystem", str(include_dir()))
    args = [*base_args(headers), *_safe_user_args(unit.args)]
    respelled = list(_respelled(unit, source))
    best: ParsedUnit | None = None
    for group, attempt in _preludes(unit, source, headers, cache_dir):
        try:
            tu = _index().parse(
                unit.path,
                args=[*args, *shim, *attempt],
                unsaved_files=respelled,
                options=_KEEP_GOING | _RECORD_MACROS,
            )
        except cindex.TranslationUnitLoadError:
            _discard(attempt)
            continue
        errors = tuple(_errors(tu))
        if best is None or len(errors) < len(best.errors):
            best = ParsedUnit(unit, tu, source, errors, headers.found)
        if not any(_may_be_ours(e, group) for e in errors):
            break
    if best is None:
        raise ParseFailed(unit.path)
    return best


def _respelled(unit: CompileUnit, source: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the unit's own files that clang has to read in another spelling, offsets kept."""
    folders = [Path(unit.directory, folder) for folder in include_folders(unit.args)]
    pending, seen = [(Path(unit.path), source)], {unit.path}
    while pending:
        path, text = pending.pop()
        changed = joined(text)
        if changed != text:
            yield str(path), changed
        for include in includes(text):
            for folder in (path.parent, *folders) if include.quoted else ():
                name = os.path.normpath(folder / include.name)
                if name not in seen and Path(name).is_file():
                    seen.add(name)
                    pending.append((Path(name), Path(name).read_bytes()))
                    break


def _may_be_ours(error: Diagnostic, group: tuple[str, ...]) -> bool:
    """Whether an error may come from what the precompiled prelude does and the prelude does not.

    It includes the standard headers in ``group``, with whose declarations others clash, and it
    instantiates templates before the unit can specialise them. Parsing again costs what parsing
    costs, minutes with a framework's headers.
    """
    words = _CLASHES if group else (_EARLY,)
    if error.code != "TM0002" or not any(w in note for note in error.notes[:1] for w in words):
        return False
    places = [label.span.file for label in error.labels]
    return not group or not places or any("/c++/" in place for place in places)


def _preludes(
    unit: CompileUnit, source: bytes, headers: SystemHeaders, cache_dir: Path | None
) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    """Yield the ways to put the prelude in front of a unit, fastest first.

    Each comes with the standard headers that are precompiled with it.
    """
    if cache_dir is not None:
        standard = _standard_headers(source) if headers.found else ()
        for group in dict.fromkeys((standard, ())):
            pch = _precompiled(cache_dir, unit.args, headers, group)
            if pch is not None:
                yield group, [*_PCH_ARGS, "-include-pch", str(pch)]
    yield (), ["-include", _PRELUDE]


def _safe_user_args(args: tuple[str, ...]) -> list[str]:
    # The device view needs its own value whatever the build says.
    return [a for a in args if not a.startswith("-D__CUDA_ARCH__")]


def _standard_headers(source: bytes) -> tuple[str, ...]:
    wanted = {i.name for i in includes(source) if not i.quoted}
    return _STANDARD if wanted.intersection(_STANDARD) else ()


def _precompiled(
    cache_dir: Path, unit_args: tuple[str, ...], headers: SystemHeaders, group: tuple[str, ...]
) -> Path | None:
    """Return a precompiled prelude for these macros and this dialect; None if it cannot be made."""
    dialect = tuple(_macro_args(unit_args))
    return _precompile(str(cache_dir), dialect, headers, group)


def _macro_args(args: tuple[str, ...]) -> Iterator[str]:
    it = iter(_safe_user_args(args))
    for arg in it:
        if arg in ("-D", "-U"):
            yield arg + next(it, "")
        elif arg.startswith(("-D", "-U", "-std=")):
            yield arg


@lru_cache(maxsize=64)
def _precompile(
    cache_dir: str, dialect: tuple[str, ...], headers: SystemHeaders, group: tuple[str, ...]
) -> Path | None:
    args = [*base_args(headers), *_PCH_ARGS, *dialect, "-isystem", str(include_dir())]
    key = hashlib.sha256(
        "\0".join((toolkit_digest(), _gcc_identity(), *args, "", *group)).encode()
    ).hexdigest()[:32]
    folder = Path(cache_dir) / "pch"
    target = folder / f"{key}.pch"
    if target.exists():
        return target
    header = folder / f"{key}.h"
    text = f'#include "{_PRELUDE}"\n' + "".join(f"#include <{name}>\n" for name in group)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not header.exists():
            _write_atomically(header, text.encode())
        tu = _index().parse(str(header), args=args, options=TranslationUnit.PARSE_INCOMPLETE)
        if any(d.severity >= cindex.Diagnostic.Error for d in tu.diagnostics):
            return None
        temporary = folder / f"{key}.{os.getpid()}.tmp"
        tu.save(str(temporary))
        os.replace(temporary, target)
        _prune(folder, target)
    except (OSError, cindex.TranslationUnitLoadError, cindex.TranslationUnitSaveError):
        return None
    return target


def _discard(attempt: list[str]) -> None:
    """Remove a precompiled header that libclang does not accept (damaged, or half deleted)."""
    if "-include-pch" in attempt:
        Path(attempt[-1]).unlink(missing_ok=True)
        _precompile.cache_clear()


def _gcc_identity() -> str:
    """Return what changes when the system's C++ headers change."""
    parts = []
    for folder in sorted(Path("/usr/include/c++").glob("*")):
        parts.append(f"{folder}:{folder.stat().st_mtime_ns}")
    return ";".join(parts)


def _write_atomically(path: Path, data: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(handle, "wb") as stream:
        stream.write(data)
    os.replace(name, path)


def _prune(folder: Path, keep: Path) -> None:
    files = sorted(folder.glob("*.pch"), key=lambda p: p.stat().st_mtime)
    for old in files[:-_PCH_LIMIT]:
        if old != keep:
            old.unlink(missing_ok=True)


def _errors(tu: Any) -> Iterator[Diagnostic]:
    """Yield the errors of a parse as TM0001 and TM0002, each once."""
    seen: set[tuple[str, int, str]] = set()
    for item in tu.diagnostics:
        if item.severity < cindex.Diagnostic.Error:
            continue
        file, offset = file_offset(item.location)
        line, column = file_line(item.location)
        text = diagnostic_text(item)
        if (file, offset, text) in seen:
            continue
        seen.add((file, offset, text))
        span = Span(file, line, column, offset, offset + 1) if file else None
        if text.endswith(" file not found"):
            name = text.removesuffix(" file not found").strip("'")
            yield diagnostic(
                "TM0001",
                span,
                headline=f"header '{name}' was not found"[:59],
                help=f"pass the folder that holds {name}: -- -I FOLDER",
            )
        else:
            labels = tuple(_labels(item))
            yield diagnostic("TM0002", span, headline=text[:59], notes=(text,), labels=labels)


def _labels(item: Any) -> Iterator[Label]:
    """Yield the notes of an error: for one inside a template, where that is instantiated."""
    for child in item.children:
        file, offset = file_offset(child.location)
        if file:
            line, column = file_line(child.location)
            yield Label(Span(file, line, column, offset, offset + 1), diagnostic_text(child))
