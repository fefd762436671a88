"""Import of the kernels of a CUDA text or file, for tests."""

from pathlib import Path

from clang.cindex import CursorKind

from hipify_tile.analyzer import clang
from hipify_tile.analyzer.clang_parse import parse
from hipify_tile.analyzer.importing import import_kernel
from hipify_tile.analyzer.model import CompileUnit


def kernels_of(path: Path, cache_dir: Path | None = None):
    """Yield (cursor, ImportResult) of every kernel instance that the file names, in order."""
    unit = parse(CompileUnit(str(path), str(path.parent)), cache_dir=cache_dir)
    assert [e.headline for e in unit.errors] == []
    top = list(unit.tu.cursor.get_children())
    spans = clang.Spans(top)
    seen = set()
    for cursor in _candidates(top):
        has_body = any(c.kind == CursorKind.COMPOUND_STMT for c in cursor.get_children())
        if has_body and cursor.get_usr() not in seen:
            seen.add(cursor.get_usr())
            yield cursor, import_kernel(cursor, spans)


def _candidates(top):
    for declaration in top:
        if declaration.location.is_in_system_header or declaration.kind.is_preprocessing():
            continue
        for node in (declaration, *clang.walk(declaration)):
            found = node.referenced if node.kind == CursorKind.DECL_REF_EXPR else node
            if (
                found is not None
                and found.kind == CursorKind.FUNCTION_DECL
                and clang.has_attribute(found, CursorKind.CUDAGLOBAL_ATTR)
            ):
                yield found
