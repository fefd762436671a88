"""Names of a kernel instance: qualified name, template arguments, C++ spelling, mangled name.

``k<T, 16>`` instantiated for float is spelled ``ns::k<float, 16>``: an expression that names the
instance at the end of its own translation unit. An instance that no expression can name there (its
arguments are a lambda or a local type) is spelled "".
"""

from __future__ import annotations

import ctypes
import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from clang.cindex import CursorKind, TypeKind

from hipify_tile.analyzer.clang import (
    specialized_template,
    template_argument_count,
    template_argument_kind,
)

_STUB = "__device_stub__"
_TYPE, _INTEGRAL = 1, 4
_ANONYMOUS = "(anonymous namespace)::"
_SCOPES = (
    CursorKind.NAMESPACE, CursorKind.STRUCT_DECL, CursorKind.CLASS_DECL, CursorKind.CLASS_TEMPLATE,
)  # fmt: skip
_LOCAL = (
    CursorKind.FUNCTION_DECL, CursorKind.CXX_METHOD, CursorKind.CONSTRUCTOR,
    CursorKind.FUNCTION_TEMPLATE, CursorKind.LAMBDA_EXPR,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class InstanceNames:
    """How an instance is called.

    ``qualified`` has no template arguments; ``template_args`` are their C++ texts; ``signature``
    is the parameter type list, which tells overloads apart.
    """

    name: str
    qualified: str
    template_args: tuple[str, ...]
    spelling: str
    mangled: str
    signature: str


def names(cursor: Any, *, overloaded: bool) -> InstanceNames:
    """Name the kernel instance at ``cursor``; ``overloaded`` if others share its name."""
    qualified = qualified_name(cursor)
    mangled = mangled_name(cursor)
    arguments = _template_arguments(cursor, mangled)
    nameable = arguments is not None and not any(_unspeakable(a) for a in arguments)
    texts = tuple(a.replace(_ANONYMOUS, "") for a in arguments or ())
    spelling = ""
    if nameable and not _has_local_argument(cursor):
        spelling = qualified.replace(_ANONYMOUS, "") + (f"<{', '.join(texts)}>" if texts else "")
        if overloaded:
            types = ", ".join(t.get_canonical().spelling for t in cursor.type.argument_types())
            types = types.replace(_ANONYMOUS, "")
            # Dereferenced: like any name of a function, it can have `&` in front.
            spelling = f"*static_cast<void (*)({types})>({spelling})"
    signature = ", ".join(t.spelling for t in cursor.type.argument_types())
    return InstanceNames(
        cursor.spelling, qualified.replace(_ANONYMOUS, ""), texts, spelling, mangled, signature
    )


def qualified_name(cursor: Any) -> str:
    """Return a declaration's name with its namespaces and classes; anonymous ones are marked."""
    parts = [cursor.spelling]
    scope = cursor.semantic_parent
    while scope is not None and scope.kind in _SCOPES:
        # A class template's instance prints its arguments in its display name.
        name = scope.displayname if scope.kind != CursorKind.NAMESPACE else scope.spelling
        parts.append(name or "(anonymous namespace)")
        scope = scope.semantic_parent
    return "::".join(reversed(parts))


def mangled_name(cursor: Any) -> str:
    """Return the name that device code and cudaLaunchKernel know the kernel by.

    ``_Z16__device_stub__kIfEvPT_`` → ``_Z1kIfEvPT_``: libclang gives the host stub's name.
    """
    mangled: str = cursor.mangled_name
    if mangled.startswith(_STUB):
        return mangled.removeprefix(_STUB)
    name = cursor.spelling
    stub = f"{len(_STUB) + len(name)}{_STUB}{name}"
    return mangled.replace(stub, f"{len(name)}{name}", 1)


def demangle(mangled: str) -> str:
    """Return a mangled name as C++ text, "" where the C++ runtime library is missing."""
    function = _demangler()
    if function is None:
        return ""
    status = ctypes.c_int()
    pointer = function(mangled.encode(), None, None, ctypes.byref(status))
    if not pointer or status.value != 0:
        return ""
    try:
        text = ctypes.string_at(pointer)
    finally:
        ctypes.CDLL(None).free(ctypes.c_void_p(pointer))
    return text.decode()


@cache
def _demangler() -> Any | None:
    try:
        library = ctypes.CDLL("libstdc++.so.6")
    except OSError:
        return None
    function = library.__cxa_demangle
    function.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    function.restype = ctypes.c_void_p
    return function


def _template_arguments(cursor: Any, mangled: str) -> tuple[str, ...] | None:
    count = template_argument_count(cursor)
    if not count:
        return ()
    template = specialized_template(cursor)
    kinds = [template_argument_kind(cursor, i) for i in range(count)]
    if any(kind not in (_TYPE, _INTEGRAL) for kind in kinds):
        # Packs, templates and pointers are not in libclang 18's interface.
        return _demangled_arguments(mangled)
    parameters = [] if template is None else _parameters(template)
    texts = []
    for i, kind in enumerate(kinds):
        if kind == _TYPE:
            texts.append(str(cursor.get_template_argument_type(i).get_canonical().spelling))
        else:
            declared = parameters[i].type if i < len(parameters) else None
            texts.append(_integral(cursor, i, declared))
    return tuple(texts)


def _parameters(template: Any) -> list[Any]:
    kinds = (
        CursorKind.TEMPLATE_TYPE_PARAMETER,
        CursorKind.TEMPLATE_NON_TYPE_PARAMETER,
        CursorKind.TEMPLATE_TEMPLATE_PARAMETER,
    )
    return [c for c in template.get_children() if c.kind in kinds]


def _integral(cursor: Any, index: int, declared: Any | None) -> str:
    value = int(cursor.get_template_argument_value(index))
    canonical = declared.get_canonical() if declared is not None else None
    if canonical is None:
        return str(value)
    if canonical.kind == TypeKind.BOOL:
        return "true" if value else "false"
    if canonical.kind == TypeKind.ENUM:
        return f"({canonical.spelling}){value}"
    unsigned = (TypeKind.UINT, TypeKind.ULONG, TypeKind.ULONGLONG, TypeKind.USHORT, TypeKind.UCHAR)
    if canonical.kind in unsigned:
        return str(int(cursor.get_template_argument_unsigned_value(index)))
    return str(value)


def _demangled_arguments(mangled: str) -> tuple[str, ...] | None:
    text = demangle(mangled)
    start = text.find("<")
    if start < 0:
        return None
    arguments: list[str] = []
    depth = 0
    current = start + 1
    for i in range(start, len(text)):
        char = text[i]
        if char in "<([{":
            depth += 1
        elif char in ">)]}":
            depth -= 1
        if (char == "," and depth == 1) or (char == ">" and depth == 0):
            # A function is demangled with its type, which is no C++: `&(f(int))`.
            item = text[current:i].strip()
            arguments.append(re.sub(r"&\(([\w:]+)\(.*\)\)", r"&\1", item))
            current = i + 1
        if depth == 0:
            return tuple(arguments)
    return None


def _unspeakable(text: str) -> bool:
    plain = text.replace(_ANONYMOUS, "")
    return any(
        mark in plain for mark in ("(lambda", "{lambda", "(unnamed", "(anonymous", "'lambda")
    )


def _has_local_argument(cursor: Any) -> bool:
    for i in range(template_argument_count(cursor)):
        if template_argument_kind(cursor, i) != _TYPE:
            continue
        type_ = cursor.get_template_argument_type(i)
        while type_.kind in (TypeKind.POINTER, TypeKind.LVALUEREFERENCE, TypeKind.RVALUEREFERENCE):
            type_ = type_.get_pointee()
        parent = type_.get_canonical().get_declaration().semantic_parent
        if parent is not None and parent.kind in _LOCAL:
            return True
    return False
