"""Functions of a translation unit, with what their bodies change and name."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from clang.cindex import CursorKind

from hipify_tile.analyzer.clang import binary_op, unwrap

Key = tuple[int, int]


def key(cursor: Any) -> Key:
    """Return an identity of a declaration within its translation unit."""
    return (cursor.hash, cursor.location.offset)


@dataclass(slots=True)
class Function:
    """A function with a body: a plain one, a template as written, or one specialisation.

    ``assignments`` maps each variable that the body changes to the expressions assigned to it; an
    entry None is a change that is no plain assignment (``++``, ``&v``, a reference argument).
    ``member_assignments`` does so for single fields (``grid.x = …``), with the field's name.
    ``uses`` are the declarations of user files that the body names; ``names`` are overloaded names
    that only instantiation resolves.
    """

    cursor: Any
    usr: str
    body: Any
    kernel: bool
    device: bool
    dependent: bool
    assignments: dict[Key, list[Any | None]] = field(default_factory=dict)
    member_assignments: dict[Key, list[tuple[str, Any | None]]] = field(default_factory=dict)
    uses: dict[str, Any] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    allocations: list[Any] = field(default_factory=list)


def record_assignment(node: Any, function: Function) -> None:
    """Note what a binary operator assigns."""
    op = binary_op(node)
    if not op.endswith("=") or op in ("==", "!=", "<=", ">="):
        return
    sides = list(node.get_children())
    if len(sides) == 2:
        _note(function, sides[0], sides[1] if op == "=" else None)


def record_change(node: Any, function: Function) -> None:
    """Note that the operand of ``++``, ``--`` or ``&`` may change."""
    for child in node.get_children():
        _note(function, child, None)


def record_reference_arguments(node: Any, target: Any, function: Function) -> None:
    """Note the variables that a call of ``target`` takes by reference."""
    types = list(target.type.argument_types()) if target.type.kind.name.startswith("FUNC") else []
    for argument, type_ in zip(node.get_arguments(), types, strict=False):
        if argument is None or argument.kind != CursorKind.DECL_REF_EXPR:
            continue
        if type_.kind.name.endswith("REFERENCE") and not type_.get_pointee().is_const_qualified():
            _note(function, argument, None)


def _note(function: Function, lvalue: Any, value: Any | None) -> None:
    target = unwrap(lvalue)
    if target.kind == CursorKind.DECL_REF_EXPR and target.referenced is not None:
        function.assignments.setdefault(key(target.referenced), []).append(value)
    elif target.kind == CursorKind.MEMBER_REF_EXPR:
        owner = next(iter(target.get_children()), None)
        owner = unwrap(owner) if owner is not None else None
        if owner is not None and owner.kind == CursorKind.DECL_REF_EXPR and owner.referenced:
            entry = (target.spelling, value)
            function.member_assignments.setdefault(key(owner.referenced), []).append(entry)
        elif target.referenced is not None:
            function.assignments.setdefault(key(target.referenced), []).append(value)
