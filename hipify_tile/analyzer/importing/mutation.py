"""Which variables of a function can change after their initialisation.

Conservative: a use that is not plainly a read counts as a change. The increment of a ``for`` does
not count for its own number, since nothing in the body outlives it.
"""

from __future__ import annotations

from typing import Any

from clang.cindex import CursorKind, TypeKind

from hipify_tile.analyzer import clang

K = CursorKind
_VARIABLES = (K.VAR_DECL, K.PARM_DECL)


def changing_variables(function: Any) -> dict[int, bool]:
    """Return, by cursor hash, the variables of ``function`` that may change."""
    found: dict[int, bool] = {}
    for child in function.get_children():
        _scan(child, (), found)
    return found


def returns_of(body: Any) -> list[Any]:
    """Return the return statements of a function's body, those of nested lambdas left out."""
    found: list[Any] = []
    stack = [body]
    while stack:
        node = stack.pop()
        if node.kind == K.RETURN_STMT:
            found.append(node)
        elif node.kind != K.LAMBDA_EXPR:
            stack += list(node.get_children())
    return found


def _scan(node: Any, parents: tuple[Any, ...], found: dict[int, bool]) -> None:
    if node.kind == K.DECL_REF_EXPR:
        declaration = node.referenced
        if (
            declaration is not None
            and declaration.kind in _VARIABLES
            and not _is_read(node, parents)
        ):
            found[declaration.hash] = True
        return
    skip = None
    if node.kind == K.FOR_STMT:
        parts = clang.for_parts(node)
        if parts is not None and parts.inc is not None:
            skip = parts.inc
            _scan_increment(parts, found)
    if node.kind == K.CXX_FOR_RANGE_STMT:
        for child in node.get_children():
            if child.kind == K.VAR_DECL:
                found[child.hash] = True
    chain = (*parents, node)
    for child in node.get_children():
        if skip is None or child != skip:
            _scan(child, chain, found)


def _scan_increment(parts: Any, found: dict[int, bool]) -> None:
    own: set[int] = set()
    if parts.init is not None:
        own = {
            n.hash
            for n in (parts.init, *clang.walk(parts.init))
            if n.kind == K.VAR_DECL
            and n.type.get_canonical().kind not in (TypeKind.POINTER, TypeKind.RECORD)
        }
    changed: dict[int, bool] = {}
    _scan(parts.inc, (), changed)
    found |= {key: True for key in changed if key not in own}


def _is_read(node: Any, parents: tuple[Any, ...]) -> bool:
    child = node
    for parent in reversed(parents):
        kind = parent.kind
        if kind == K.UNEXPOSED_EXPR:
            return True
        if kind in (K.PAREN_EXPR, K.MEMBER_REF_EXPR):
            child = parent
            continue
        if kind == K.CALL_EXPR:
            return _binds_const(parent, child)
        if kind == K.VAR_DECL:
            pointee = parent.type.get_canonical()
            return not (
                pointee.kind in (TypeKind.LVALUEREFERENCE, TypeKind.RVALUEREFERENCE)
                and not pointee.get_pointee().is_const_qualified()
            )
        return False
    return False


def _binds_const(call: Any, argument: Any) -> bool:
    callee = call.referenced
    if callee is None:
        return False
    if callee.kind == K.CONSTRUCTOR:
        return bool(callee.is_copy_constructor())
    arguments = list(call.get_arguments())
    parameters = list(callee.type.get_canonical().argument_types())
    if callee.kind != K.FUNCTION_DECL or len(arguments) < len(parameters):
        return False
    for given, type_ in zip(arguments, parameters, strict=False):
        if given == argument:
            referent = type_.get_pointee()
            return bool(type_.kind == TypeKind.LVALUEREFERENCE and referent.is_const_qualified())
    return False
