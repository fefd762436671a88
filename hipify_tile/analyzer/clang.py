"""What ``clang.cindex`` 18 lacks, and the questions the analyzer asks of a cursor.

Operator kinds, constant evaluation, initialisers, pretty-printed declarations, the parts of control
statements, template arguments and exact source spans. It decides nothing about CUDA and parses
nothing: see ``clang_parse.py`` for how a translation unit is made.
"""

from __future__ import annotations

import ctypes
import os
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from clang import cindex
from clang.cindex import Cursor, CursorKind, TypeKind

from hipify_tile.ir.span import Span

# CXBinaryOperatorKind and CXUnaryOperatorKind of libclang 18, from index 0 (no operator).
_BINARY = (
    "", ".*", "->*", "*", "/", "%", "+", "-", "<<", ">>", "<=>", "<", ">", "<=", ">=", "==", "!=",
    "&", "^", "|", "&&", "||", "=", "*=", "/=", "%=", "+=", "-=", "<<=", ">>=", "&=", "^=", "|=",
    ",",
)  # fmt: skip
_UNARY = (
    "", "post++", "post--", "++", "--", "&", "*", "+", "-", "~", "!",
    "__real", "__imag", "__extension__", "co_await",
)  # fmt: skip

_EVAL_INT, _EVAL_FLOAT = 1, 2


@cache
def library() -> Any:
    """Return libclang with the functions declared that ``clang.cindex`` does not declare.

    Raises ``cindex.LibclangError`` when the shared library cannot be loaded.
    """
    lib = cindex.conf.lib
    pointer, integer = ctypes.c_void_p, ctypes.c_int
    signatures: tuple[tuple[str, list[Any], Any], ...] = (
        ("clang_getCursorBinaryOperatorKind", [Cursor], integer),
        ("clang_getCursorUnaryOperatorKind", [Cursor], integer),
        ("clang_Cursor_Evaluate", [Cursor], pointer),
        ("clang_EvalResult_getKind", [pointer], integer),
        ("clang_EvalResult_isUnsignedInt", [pointer], ctypes.c_uint),
        ("clang_EvalResult_getAsLongLong", [pointer], ctypes.c_longlong),
        ("clang_EvalResult_getAsUnsigned", [pointer], ctypes.c_ulonglong),
        ("clang_EvalResult_getAsDouble", [pointer], ctypes.c_double),
        ("clang_EvalResult_dispose", [pointer], None),
        ("clang_Cursor_getVarDeclInitializer", [Cursor], Cursor),
        ("clang_Cursor_hasVarDeclGlobalStorage", [Cursor], integer),
        ("clang_getCursorPrintingPolicy", [Cursor], pointer),
        ("clang_getCursorPrettyPrinted", [Cursor, pointer], cindex._CXString),
        ("clang_getCString", [cindex._CXString], ctypes.c_char_p),
        ("clang_getDiagnosticSpelling", [cindex.Diagnostic], cindex._CXString),
        ("clang_PrintingPolicy_dispose", [pointer], None),
        ("clang_getSpecializedCursorTemplate", [Cursor], Cursor),
        ("clang_Cursor_getNumTemplateArguments", [Cursor], integer),
        ("clang_Cursor_getTemplateArgumentKind", [Cursor, ctypes.c_uint], integer),
        ("clang_getFileLocation", _LOCATION_ARGUMENTS, None),
        ("clang_getSkippedRanges", [cindex.TranslationUnit, cindex.File], _RangeListPointer),
        ("clang_disposeSourceRangeList", [_RangeListPointer], None),
    )
    # A CDLL of our own: the prototypes of cindex's functions carry checks that raise here.
    own = ctypes.CDLL(lib._name)
    for name, arguments, result in signatures:
        function = getattr(own, name)
        function.argtypes = arguments
        function.restype = result
    return own


class _RangeList(ctypes.Structure):  # type: ignore[misc,unused-ignore]
    _fields_ = (("count", ctypes.c_uint), ("ranges", ctypes.POINTER(cindex.SourceRange)))


_RangeListPointer = ctypes.POINTER(_RangeList)
_LOCATION_ARGUMENTS: list[Any] = [
    cindex.SourceLocation,
    ctypes.POINTER(ctypes.c_void_p),
    ctypes.POINTER(ctypes.c_uint),
    ctypes.POINTER(ctypes.c_uint),
    ctypes.POINTER(ctypes.c_uint),
]


def binary_op(cursor: Any) -> str:
    """Return the built-in binary operator of ``cursor``, as C spells it, or "".

    Assignments (``=``, ``+=`` …) and ``,`` are included. Overloaded operators are calls, not these.
    """
    kind: int = library().clang_getCursorBinaryOperatorKind(cursor)
    return _BINARY[kind] if kind < len(_BINARY) else ""


def unary_op(cursor: Any) -> str:
    """Return the built-in unary operator of ``cursor`` or ""; postfix: ``post++``, ``post--``."""
    kind: int = library().clang_getCursorUnaryOperatorKind(cursor)
    return _UNARY[kind] if kind < len(_UNARY) else ""


def has_side_effects(cursor: Any) -> bool:
    """Whether ``cursor`` holds an assignment, an increment, or a call that folding could drop."""
    calls = drops = False
    for node in (cursor, *walk(cursor)):
        op = binary_op(node)
        if (op.endswith("=") and op not in ("==", "!=", "<=", ">=")) or unary_op(node)[-2:] in (
            "++",
            "--",
        ):
            return True
        calls = calls or node.kind == CursorKind.CALL_EXPR
        drops = drops or op in (",", "&&", "||") or node.kind == CursorKind.CONDITIONAL_OPERATOR
    return calls and drops


def evaluate(cursor: Any) -> int | float | None:
    """Fold ``cursor`` (an expression, or a constant variable's declaration) to its exact value.

    Booleans and characters are integers. None when it is no compile-time constant, is dependent, or
    holds a side effect that folding would drop.
    """
    if cursor.kind.is_expression() and has_side_effects(cursor):
        return None
    lib = library()
    result = lib.clang_Cursor_Evaluate(cursor)
    if not result:
        return None
    try:
        kind = lib.clang_EvalResult_getKind(result)
        if kind == _EVAL_INT:
            unsigned = lib.clang_EvalResult_isUnsignedInt(result)
            read = (
                "clang_EvalResult_getAsUnsigned" if unsigned else "clang_EvalResult_getAsLongLong"
            )
            return int(getattr(lib, read)(result))
        if kind == _EVAL_FLOAT:
            return float(lib.clang_EvalResult_getAsDouble(result))
        return None
    finally:
        lib.clang_EvalResult_dispose(result)


def _owned(cursor: Any, parent: Any) -> Any | None:
    """Give a cursor that a function of ours returned the translation unit it needs to live."""
    if cursor.kind.is_invalid():
        return None
    cursor._tu = parent._tu
    return cursor


def var_init(cursor: Any) -> Any | None:
    """Return the initialiser of a VAR_DECL, None without one.

    The implicit constructor call of an uninitialised record variable counts as none.
    """
    init = _owned(library().clang_Cursor_getVarDeclInitializer(cursor), cursor)
    if init is None:
        return None
    if init.kind == CursorKind.CALL_EXPR and not any(init.get_children()):
        start, end = init.extent.start.offset, init.extent.end.offset
        name = cursor.location.offset
        if start == name and end <= name + len(cursor.spelling.encode()):
            return None
    return init


def is_global_storage(cursor: Any) -> bool:
    """Whether a VAR_DECL has static storage duration."""
    return bool(library().clang_Cursor_hasVarDeclGlobalStorage(cursor) == 1)


def pretty(cursor: Any) -> str:
    """Return a declaration as macro-free, template-free C++ text ("" for anything else)."""
    lib = library()
    policy = lib.clang_getCursorPrintingPolicy(cursor)
    try:
        return _text(lib.clang_getCursorPrettyPrinted(cursor, policy))
    finally:
        lib.clang_PrintingPolicy_dispose(policy)


def _text(string: Any) -> str:
    # cindex decodes strictly and raises on Latin-1 literals.
    raw: bytes | None = library().clang_getCString(string)
    return (raw or b"").decode("utf-8", "replace")


def diagnostic_text(item: Any) -> str:
    """Return the text of a libclang diagnostic, whatever bytes it quotes."""
    return _text(library().clang_getDiagnosticSpelling(item))


def specialized_template(cursor: Any) -> Any | None:
    """Return the template that ``cursor`` is an instance of, or None."""
    return _owned(library().clang_getSpecializedCursorTemplate(cursor), cursor)


def template_argument_count(cursor: Any) -> int:
    """Return the number of template arguments of a function specialisation (0 if it is none)."""
    return max(0, int(library().clang_Cursor_getNumTemplateArguments(cursor)))


def template_argument_kind(cursor: Any, index: int) -> int:
    """Return CXTemplateArgumentKind: 1 type, 2 declaration, 3 nullptr, 4 integral, 8 pack …"""
    return int(library().clang_Cursor_getTemplateArgumentKind(cursor, index))


def walk(cursor: Any) -> Iterator[Any]:
    """Yield the descendants of ``cursor``, parents first, without ``cursor`` itself."""
    stack = list(cursor.get_children())[::-1]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(list(node.get_children())[::-1])


def has_attribute(cursor: Any, *kinds: Any) -> bool:
    """Whether a declaration carries an attribute of one of ``kinds`` (CUDAGLOBAL_ATTR …)."""
    return any(child.kind in kinds for child in cursor.get_children())


def unwrap(cursor: Any) -> Any:
    """Skip parentheses and implicit nodes (UNEXPOSED_EXPR) with a single child.

    Implicit conversions are skipped too: not for use where the value's type matters.
    """
    while cursor.kind in (CursorKind.UNEXPOSED_EXPR, CursorKind.PAREN_EXPR):
        inner = [c for c in cursor.get_children() if c.kind.is_expression()]
        if len(inner) != 1:
            return cursor
        cursor = inner[0]
    return cursor


def statement(cursor: Any) -> Any:
    """Skip the wrapper of a statement with attributes or a loop pragma (``#pragma unroll``)."""
    while cursor.kind == CursorKind.UNEXPOSED_STMT:
        inner = [c for c in cursor.get_children() if not c.kind.is_attribute()]
        if len(inner) != 1:
            return cursor
        cursor = inner[0]
    return cursor


@dataclass(frozen=True, slots=True)
class ForParts:
    """The parts of a FOR_STMT; a part that the source leaves out is None."""

    init: Any | None
    cond: Any | None
    inc: Any | None
    body: Any


def for_parts(cursor: Any) -> ForParts | None:
    """Tell the parts of a FOR_STMT apart, which libclang lists without marking absent ones.

    A condition is the child of type ``bool`` (C++ converts it), which also holds inside macros;
    what this leaves open is read from the positions of the two semicolons. None when a condition
    declares a variable, or when the parts cannot be told apart (a dependent loop in a macro).
    """
    *head, body = list(cursor.get_children())
    if any(part.kind == CursorKind.VAR_DECL for part in head):
        return None
    if len(head) == 3:
        return ForParts(head[0], head[1], head[2], body)
    if not head:
        return ForParts(None, None, None, body)
    conds = [i for i, part in enumerate(head) if _is_bool(part)]
    if len(conds) == 1 and (len(head) == 1 or head[1 - conds[0]].kind == CursorKind.DECL_STMT):
        before, after = head[: conds[0]], head[conds[0] + 1 :]
        only = before[0] if before else None
        return ForParts(only, head[conds[0]], after[0] if after else None, body)
    if len(conds) == 1:
        if conds[0] == 0:
            return ForParts(None, head[0], head[1], body)
        return ForParts(head[0], head[1], None, body)
    if not conds and len(head) == 2 and not _is_dependent(head[1]):
        return ForParts(head[0], None, head[1], body)
    if not conds and len(head) == 1 and head[0].kind == CursorKind.DECL_STMT:
        return ForParts(head[0], None, None, body)
    return _for_parts_by_position(cursor, head, body)


def _for_parts_by_position(cursor: Any, head: list[Any], body: Any) -> ForParts | None:
    semicolons: list[int] = []
    depth = 0
    for token in cursor.get_tokens():
        depth += (token.spelling in "([{") - (token.spelling in ")]}") if token.spelling else 0
        if token.spelling == ";" and depth == 1:
            semicolons.append(token.extent.start.offset)
        if depth == 0 and semicolons:
            break
    if len(semicolons) != 2:
        return None
    parts: list[Any | None] = [None, None, None]
    for part in head:
        place = bisect_right(semicolons, part.extent.start.offset)
        if parts[place] is not None:
            return None
        parts[place] = part
    return ForParts(parts[0], parts[1], parts[2], body)


def _is_bool(cursor: Any) -> bool:
    return bool(cursor.kind.is_expression() and cursor.type.get_canonical().kind == TypeKind.BOOL)


def _is_dependent(cursor: Any) -> bool:
    return bool(cursor.type.get_canonical().kind == TypeKind.DEPENDENT)


@dataclass(frozen=True, slots=True)
class IfParts:
    """The parts of an IF_STMT; ``init`` is a DECL_STMT or condition variable before it, or None."""

    init: Any | None
    cond: Any
    then: Any
    orelse: Any | None


def if_parts(cursor: Any) -> IfParts | None:
    """Tell the parts of an IF_STMT apart; None with both an init and a condition variable."""
    parts = list(cursor.get_children())
    init = None
    if parts and parts[0].kind in (CursorKind.DECL_STMT, CursorKind.VAR_DECL):
        init = parts.pop(0)
    if len(parts) not in (2, 3) or not parts[0].kind.is_expression():
        return None
    return IfParts(init, parts[0], parts[1], parts[2] if len(parts) == 3 else None)


@lru_cache(maxsize=4096)
def plain_path(name: str) -> str:
    """Return ``a/b/../c.h`` as ``a/c.h`` where that is the same file (no link is in the way)."""
    short = os.path.normpath(name)
    if short == name or not (os.path.exists(short) and os.path.exists(name)):
        return name
    return short if os.path.samefile(short, name) else name


def expansion_file(location: Any) -> int:
    """Identify the file of ``location`` within its unit, 0 for none: its name costs far more."""
    handle = ctypes.c_void_p()
    library().clang_getInstantiationLocation(location, ctypes.byref(handle), None, None, None)
    return handle.value or 0


def file_offset(location: Any) -> tuple[str, int]:
    """Return file and byte offset of ``location``; for a macro argument, where it is written."""
    found = _file_location(location)
    if found is None:
        return "", 0
    name = plain_path(location.file.name) if location.file else ""
    return name, found[2]


def file_line(location: Any) -> tuple[int, int]:
    """Return 1-based line and byte column of ``location``; a macro argument's own position."""
    line, column, _ = _file_location(location) or (0, 0, 0)
    return line, column


def _file_location(location: Any) -> tuple[int, int, int] | None:
    """Line, column and offset; None where ``location`` is in no file."""
    handle, offset = ctypes.c_void_p(), ctypes.c_uint()
    line, column = ctypes.c_uint(), ctypes.c_uint()
    library().clang_getFileLocation(
        location,
        ctypes.byref(handle),
        ctypes.byref(line),
        ctypes.byref(column),
        ctypes.byref(offset),
    )
    return (line.value, column.value, offset.value) if handle.value else None


class Spans:
    """Exact spans of the cursors of one translation unit."""

    def __init__(self, top: Iterable[Any]) -> None:
        """Index the macro invocations among ``top``, the unit's top-level cursors.

        The unit must have been parsed with a detailed preprocessing record.
        """
        ranges: dict[str, list[tuple[int, int]]] = {}
        for cursor in top:
            if cursor.kind != CursorKind.MACRO_INSTANTIATION:
                continue
            extent = cursor.extent
            name = plain_path(extent.start.file.name) if extent.start.file else ""
            ranges.setdefault(name, []).append((extent.start.offset, extent.end.offset))
        self._macros = {name: _outermost(items) for name, items in ranges.items()}

    def macro_at(self, file: str, start: int, end: int) -> tuple[int, int] | None:
        """Return the outermost macro invocation of ``file`` that holds bytes [start, end)."""
        starts = self._macros.get(file, [])
        place = bisect_right(starts, (start, 1 << 62)) - 1
        if place >= 0 and starts[place][0] <= start and end <= starts[place][1]:
            return starts[place]
        return None

    def __call__(self, cursor: Any) -> Span:
        """Return the span of ``cursor``.

        A macro argument has its own position. A node made by a macro's body has the whole
        invocation and ``in_macro``.
        """
        extent = cursor.extent
        file, start = file_offset(extent.start)
        _, end = file_offset(extent.end)
        first, last = extent.start.offset, extent.end.offset
        # Both ends have to be a macro's argument for the text between them to be the construct's.
        if start != first and end != last and start < end:
            return Span(file, *file_line(extent.start), start, end)
        macro = self.macro_at(file, first, max(first, last))
        line, column = extent.start.line, extent.start.column
        if macro is not None:
            return Span(file, line, column, macro[0], macro[1], in_macro=True)
        return Span(file, line, column, first, max(first, last))


def _outermost(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    kept: list[tuple[int, int]] = []
    for start, end in sorted(ranges, key=lambda r: (r[0], -r[1])):
        if not kept or end > kept[-1][1]:
            kept.append((start, end))
    return kept


def skipped_ranges(tu: Any, file: str) -> tuple[tuple[int, int], ...]:
    """Return the byte ranges of ``file`` that the preprocessor left out."""
    lib = library()
    pointer = lib.clang_getSkippedRanges(tu, tu.get_file(file))
    try:
        items = pointer.contents
        return tuple(
            (items.ranges[i].start.offset, items.ranges[i].end.offset) for i in range(items.count)
        )
    finally:
        lib.clang_disposeSourceRangeList(pointer)
