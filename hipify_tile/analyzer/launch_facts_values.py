"""Host expressions as ``Expr`` over launch symbols.

``int blocks = (n + t - 1) / t; k<<<blocks, t>>>`` gives ``(main:n + 255) / 256`` when ``t`` is
constant. Only pure integer and float arithmetic is understood; a variable with one definition is
folded through, a parameter is followed one level into its only call, anything else that is a scalar
variable becomes a symbol, and any other expression is None. Not used for device code.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from clang.cindex import CursorKind, TypeKind

from hipify_tile.analyzer.clang import (
    binary_op,
    evaluate,
    is_global_storage,
    unary_op,
    unwrap,
    var_init,
)
from hipify_tile.analyzer.importing.canonicalize import fold_cast, simplify
from hipify_tile.analyzer.importing.refusal import Refusal
from hipify_tile.analyzer.importing.types import TypeTable
from hipify_tile.analyzer.inventory import Inventory
from hipify_tile.analyzer.inventory_functions import Function, key
from hipify_tile.ir.arithmetic import wrap
from hipify_tile.ir.expr import (
    Binary,
    BinaryOp,
    Call,
    Compare,
    CompareOp,
    Const,
    Expr,
    Logical,
    LogicalOp,
    Select,
    Unary,
    UnaryOp,
    Var,
)
from hipify_tile.ir.types import BOOL, U32, Kind, ScalarType

Triple = tuple[Expr | None, Expr | None, Expr | None]
_UNKNOWN: Triple = (None, None, None)
_CASTS = (
    CursorKind.CSTYLE_CAST_EXPR, CursorKind.CXX_STATIC_CAST_EXPR,
    CursorKind.CXX_FUNCTIONAL_CAST_EXPR,
)  # fmt: skip
_BINARY = {op.value: op for op in BinaryOp}
_COMPARE = {op.value: op for op in CompareOp}
_LOGICAL = {op.value: op for op in LogicalOp}
_UNARY = {"-": UnaryOp.NEG, "~": UnaryOp.BITNOT, "!": UnaryOp.NOT}
_FLOAT_CALLS = {
    "ceil": "ceil", "ceilf": "ceil", "floor": "floor", "floorf": "floor", "sqrt": "sqrt",
    "sqrtf": "sqrt", "round": "round", "roundf": "round", "log2": "log2", "log2f": "log2",
}  # fmt: skip
_DEPTH = 24


@dataclass(slots=True)
class Scope:
    """A function whose variables are in view, with its parameters bound when it was followed."""

    function: Function
    bindings: dict[tuple[int, int], tuple[Any, Scope]] = field(default_factory=dict)
    followed: int = 0


class HostValues:
    """Evaluates host expressions of one unit; ``hints`` collects what its symbols start with,
    ``settled`` those that get one value only.
    """

    def __init__(self, inventory: Inventory) -> None:
        """Evaluate in the context of ``inventory``."""
        self._inventory = inventory
        self._types = TypeTable()
        self._symbols: dict[tuple[int, int], str] = {}
        self._taken: set[str] = set()
        self._depth = 0
        self.hints: dict[str, int | float] = {}
        self.settled: set[str] = set()

    def scope(self, function: Function) -> Scope:
        """Return the scope of a launch in ``function``."""
        scope = Scope(function)
        self._follow_caller(scope)
        return scope

    def scalar(self, cursor: Any | None, scope: Scope) -> Expr | None:
        """Return an arithmetic expression's value, None if it is not understood."""
        if cursor is None or self._depth > _DEPTH:
            return None
        self._depth += 1
        try:
            value = self._scalar(cursor, scope)
        finally:
            self._depth -= 1
        return simplify(value) if value is not None else None

    def dim3(self, cursor: Any | None, scope: Scope) -> Triple:
        """Return the components of a ``dim3`` (or integer) expression."""
        if cursor is None or self._depth > _DEPTH:
            return _UNKNOWN
        self._depth += 1
        try:
            return self._dim3(cursor, scope)
        finally:
            self._depth -= 1

    def _type(self, cursor: Any) -> ScalarType | None:
        try:
            type_ = self._types.of(cursor.type)
        except Refusal:
            return None
        return type_ if isinstance(type_, ScalarType) else None

    def _scalar(self, cursor: Any, scope: Scope) -> Expr | None:
        type_ = self._type(cursor)
        if type_ is None:
            return None
        kind = cursor.kind
        # A variable that happens to start as a constant must stay a symbol.
        if kind.is_expression() and not _mentions_variable(cursor):
            value = evaluate(cursor)
            if value is not None:
                return _constant(value, type_)
        if kind in (CursorKind.UNEXPOSED_EXPR, CursorKind.PAREN_EXPR, *_CASTS):
            inner = [c for c in cursor.get_children() if c.kind.is_expression()]
            operand = self._scalar(inner[-1], scope) if inner else None
            return fold_cast(operand, type_) if operand is not None else None
        if kind == CursorKind.DECL_REF_EXPR:
            return self._variable(cursor.referenced, type_, scope)
        if kind in (CursorKind.BINARY_OPERATOR, CursorKind.UNARY_OPERATOR):
            return self._operation(cursor, type_, scope)
        if kind == CursorKind.CONDITIONAL_OPERATOR:
            parts = [self._scalar(c, scope) for c in cursor.get_children()]
            cond, then, orelse = parts if len(parts) == 3 else (None, None, None)
            if cond is None or then is None or orelse is None:
                return None
            return Select(
                fold_cast(cond, BOOL), fold_cast(then, type_), fold_cast(orelse, type_), type_
            )
        if kind == CursorKind.CALL_EXPR:
            return self._call(cursor, type_, scope)
        if kind == CursorKind.MEMBER_REF_EXPR:
            return self._member(cursor, type_, scope)
        return None

    def _operation(self, cursor: Any, type_: ScalarType, scope: Scope) -> Expr | None:
        parts = [self._scalar(c, scope) for c in cursor.get_children()]
        if any(p is None for p in parts):
            return None
        operands = [p for p in parts if p is not None]
        if cursor.kind == CursorKind.UNARY_OPERATOR:
            op = unary_op(cursor)
            if op == "+" and operands:
                return fold_cast(operands[0], type_)
            if op not in _UNARY or not operands:
                return None
            target = BOOL if op == "!" else type_
            return Unary(_UNARY[op], fold_cast(operands[0], target), target)
        op = binary_op(cursor)
        if len(operands) != 2:
            return None
        lhs, rhs = operands
        if op in _BINARY:
            return Binary(_BINARY[op], fold_cast(lhs, type_), fold_cast(rhs, type_), type_)
        if op in _COMPARE and lhs.type == rhs.type:
            return Compare(_COMPARE[op], lhs, rhs)
        if op in _LOGICAL:
            return Logical(_LOGICAL[op], fold_cast(lhs, BOOL), fold_cast(rhs, BOOL))
        return None

    def _call(self, cursor: Any, type_: ScalarType, scope: Scope) -> Expr | None:
        name = cursor.spelling
        target = cursor.referenced
        arguments = list(cursor.get_arguments())
        if name in ("size", "length") and not arguments:
            return self._size(cursor, type_, scope)
        if name in ("min", "max") and len(arguments) == 2:
            values = [self._scalar(a, scope) for a in arguments]
            if values[0] is None or values[1] is None:
                return None
            lhs, rhs = (fold_cast(v, type_) for v in values if v is not None)
            order = CompareOp.LT if name == "min" else CompareOp.GT
            # Like std::min and std::max: the first operand unless the second is strictly beyond.
            return Select(Compare(order, rhs, lhs), rhs, lhs, type_)
        if name in _FLOAT_CALLS and len(arguments) == 1 and type_.is_float:
            value = self._scalar(arguments[0], scope)
            return Call(_FLOAT_CALLS[name], (fold_cast(value, type_),), type_) if value else None
        inner = self._enter(target, arguments, scope)
        if inner is None:
            return None
        result, inner_scope = inner
        value = self.scalar(result, inner_scope)
        return fold_cast(value, type_) if value is not None else None

    def _enter(self, target: Any, arguments: list[Any], scope: Scope) -> tuple[Any, Scope] | None:
        """Open a user function that is one return statement: its result and its scope."""
        function = self._inventory.definition(target.get_usr()) if target is not None else None
        if function is None:
            return None
        statements = list(function.body.get_children())
        if len(statements) != 1 or statements[0].kind != CursorKind.RETURN_STMT:
            return None
        result = next(iter(statements[0].get_children()), None)
        parameters = list(function.cursor.get_arguments())
        if result is None or len(parameters) != len(arguments):
            return None
        bindings = {key(p): (a, scope) for p, a in zip(parameters, arguments, strict=True)}
        return result, Scope(function, bindings, followed=2)

    def _size(self, cursor: Any, type_: ScalarType, scope: Scope) -> Expr | None:
        """Return a symbol for ``v.size()``: the same object has one."""
        callee = next(iter(cursor.get_children()), None)
        owner = next(iter(callee.get_children()), None) if callee is not None else None
        owner = unwrap(owner) if owner is not None else None
        if owner is None or owner.kind != CursorKind.DECL_REF_EXPR or owner.referenced is None:
            return None
        return self._symbol(owner.referenced, type_, scope, suffix=f".{cursor.spelling}()")

    def _member(self, cursor: Any, type_: ScalarType, scope: Scope) -> Expr | None:
        owner = next(iter(cursor.get_children()), None)
        if owner is not None and _is_dim3(owner) and cursor.spelling in ("x", "y", "z"):
            part = self.dim3(owner, scope)["xyz".index(cursor.spelling)]
            return fold_cast(part, type_) if part is not None else None
        base = unwrap(owner) if owner is not None else None
        if base is not None and base.kind == CursorKind.DECL_REF_EXPR and base.referenced:
            field = _field_init(base.referenced, cursor)
            return self._symbol(base.referenced, type_, scope, field, suffix=f".{cursor.spelling}")
        if base is None or base.kind == CursorKind.CXX_THIS_EXPR:
            return self._symbol(cursor.referenced, type_, scope)
        return None

    def _variable(self, decl: Any | None, type_: ScalarType, scope: Scope) -> Expr | None:
        if decl is None:
            return None
        if decl.kind == CursorKind.ENUM_CONSTANT_DECL:
            return _constant(decl.enum_value, type_)
        if decl.kind == CursorKind.PARM_DECL:
            bound = scope.bindings.get(key(decl))
            if bound is not None and key(decl) not in scope.function.assignments:
                value = self.scalar(bound[0], bound[1])
                if value is not None:
                    return fold_cast(value, type_)
            return self._symbol(decl, type_, scope)
        if decl.kind != CursorKind.VAR_DECL:
            return None
        constant = evaluate(decl)
        if constant is not None and _is_const(decl):
            return _constant(constant, type_)
        definition = self.definition(decl, scope)
        if definition is not None and _mentions_variable(definition):
            value = self.scalar(definition, scope)
            if value is not None:
                return fold_cast(value, type_)
        symbol = self._symbol(decl, type_, scope, definition or var_init(decl))
        if definition is not None and isinstance(symbol, Var):
            self.settled.add(symbol.name)
        return symbol

    def definition(self, decl: Any, scope: Scope) -> Any | None:
        """Return the only expression that a variable ever gets, None if there are more or none."""
        changes = self._changes(decl, scope)
        init = var_init(decl)
        if init is not None:
            return init if not changes else None
        return changes[0] if len(changes) == 1 else None

    def _changes(self, decl: Any, scope: Scope) -> list[Any | None]:
        place = key(decl)
        if not is_global_storage(decl):
            return scope.function.assignments.get(place, [])
        every = self._inventory.functions.values()
        return [v for f in every for v in f.assignments.get(place, [])]

    def _symbol(
        self, decl: Any, type_: ScalarType, scope: Scope, init: Any = None, *, suffix: str = ""
    ) -> Expr:
        base = self.name(decl, scope)
        name = base + suffix
        hint = _hint(init) if init is not None else None
        if hint is not None:
            self.hints[name] = hint
        return Var(name, type_)

    def name(self, decl: Any, scope: Scope) -> str:
        """Return the launch symbol of a host variable, unique in the unit."""
        place = key(decl)
        if place not in self._symbols:
            owner = "" if _is_global(decl) else scope.function.cursor.spelling
            base = f"{owner}:{decl.spelling}"
            name, count = base, 1
            while name in self._taken:
                count += 1
                name = f"{base}#{count}"
            self._taken.add(name)
            self._symbols[place] = name
        return self._symbols[place]

    def _follow_caller(self, scope: Scope) -> None:
        """Bind the parameters of a function that is called from exactly one place."""
        calls = self._inventory.calls.get(scope.function.usr, [])
        if scope.followed >= 1 or len(calls) != 1 or calls[0].function.usr == scope.function.usr:
            return
        caller = Scope(calls[0].function, followed=scope.followed + 1)
        parameters = list(scope.function.cursor.get_arguments())
        arguments = list(calls[0].cursor.get_arguments())
        for parameter, argument in zip(parameters, arguments, strict=False):
            scope.bindings[key(parameter)] = (argument, caller)

    def _dim3(self, cursor: Any, scope: Scope) -> Triple:
        if not _is_dim3(cursor):
            value = self.scalar(cursor, scope)
            one = Const(1, U32)
            return (fold_cast(value, U32), one, one) if value is not None else (None, one, one)
        inner = _strip(cursor)
        if inner.kind == CursorKind.CALL_EXPR:
            arguments = list(inner.get_arguments())
            if inner.spelling == "dim3":
                if len(arguments) == 1 and _is_dim3(arguments[0]):
                    return self.dim3(arguments[0], scope)
                return self._components(arguments, scope)
            opened = self._enter(inner.referenced, arguments, scope)
            return self.dim3(*opened) if opened is not None else _UNKNOWN
        if inner.kind == CursorKind.INIT_LIST_EXPR:
            return self._components(list(inner.get_children()), scope)
        if inner.kind == CursorKind.DECL_REF_EXPR and inner.referenced is not None:
            return self._dim3_variable(inner.referenced, scope)
        return _UNKNOWN

    def _components(self, parts: list[Any], scope: Scope) -> Triple:
        values: list[Expr | None] = [Const(1, U32)] * 3
        for i, part in enumerate(parts[:3]):
            value = self.scalar(part, scope)
            values[i] = fold_cast(value, U32) if value is not None else None
        return values[0], values[1], values[2]

    def _dim3_variable(self, decl: Any, scope: Scope) -> Triple:
        if decl.kind == CursorKind.PARM_DECL:
            bound = scope.bindings.get(key(decl))
            if bound is None or key(decl) in scope.function.assignments:
                return _UNKNOWN
            return self.dim3(bound[0], bound[1])
        if decl.kind != CursorKind.VAR_DECL:
            return _UNKNOWN
        base = self.definition(decl, scope)
        values = self.dim3(base, scope) if base is not None else _UNKNOWN
        if base is None and not self._changes(decl, scope):
            one = Const(1, U32)
            values = (one, one, one)
        members = self._member_changes(decl, scope)
        if not members:
            return values
        parts = list(values)
        for axis, assigned in members.items():
            value = self.scalar(assigned, scope) if assigned is not None else None
            parts["xyz".index(axis)] = fold_cast(value, U32) if value is not None else None
        return parts[0], parts[1], parts[2]

    def _member_changes(self, decl: Any, scope: Scope) -> dict[str, Any | None]:
        """Return what ``decl.x = …`` assigns; None for a component that is assigned twice."""
        found: dict[str, Any | None] = {}
        for axis, value in scope.function.member_assignments.get(key(decl), []):
            found[axis] = None if axis in found else value
        return found


def _strip(cursor: Any) -> Any:
    """Skip implicit nodes and casts around a class-type expression."""
    skip = (CursorKind.UNEXPOSED_EXPR, CursorKind.PAREN_EXPR, *_CASTS)
    while cursor.kind in skip:
        inner = [c for c in cursor.get_children() if c.kind.is_expression()]
        if len(inner) != 1:
            return cursor
        cursor = inner[0]
    return cursor


def _is_dim3(cursor: Any) -> bool:
    return str(cursor.type.get_canonical().get_declaration().spelling) in ("dim3", "uint3")


def _is_const(decl: Any) -> bool:
    return bool(decl.type.is_const_qualified())


def _is_global(decl: Any) -> bool:
    parent = decl.semantic_parent
    return parent is not None and parent.kind in (
        CursorKind.TRANSLATION_UNIT,
        CursorKind.NAMESPACE,
    )


def _any_node(cursor: Any, test: Callable[[Any], bool]) -> bool:
    return test(cursor) or any(_any_node(c, test) for c in cursor.get_children())


def _mentions_variable(cursor: Any) -> bool:
    """Whether an expression reads a variable that is not a constant, or calls something."""

    def test(node: Any) -> bool:
        if node.kind in (CursorKind.CALL_EXPR, CursorKind.MEMBER_REF_EXPR):
            return True
        if node.kind != CursorKind.DECL_REF_EXPR:
            return False
        target = node.referenced
        if target is None:
            return False
        if target.kind == CursorKind.PARM_DECL:
            return True
        if target.kind != CursorKind.VAR_DECL:
            return False
        return not _is_const(target) or evaluate(target) is None

    return _any_node(cursor, test)


def _constant(value: float, type_: ScalarType) -> Const:
    if type_.is_float:
        return Const(float(value), type_)
    if type_.kind is Kind.BOOL:
        return Const(bool(value), type_)
    return Const(wrap(int(value), type_), type_)


def _field_init(decl: Any, member: Any) -> Any | None:
    """Return what `S s = {1, 2}` or a default gives a field of ``s``."""
    target = member.referenced
    if decl.kind != CursorKind.VAR_DECL or target is None:
        return None
    init = var_init(decl)
    if init is not None and init.kind == CursorKind.INIT_LIST_EXPR:
        names = [f.spelling for f in decl.type.get_canonical().get_fields()]
        values = list(init.get_children())
        if target.spelling in names and names.index(target.spelling) < len(values):
            return values[names.index(target.spelling)]
    defaults = [c for c in target.get_children() if c.kind.is_expression()]
    return defaults[-1] if defaults else None


def _hint(init: Any) -> int | float | None:
    """Return the value that a symbol starts with; of ``argc > 1 ? atoi(…) : 1024`` it is 1024."""
    value = evaluate(init)
    if value is not None:
        return value
    inner = unwrap(init)
    if inner.kind == CursorKind.CONDITIONAL_OPERATOR:
        for arm in list(inner.get_children())[1:]:
            found = _hint(arm)
            if found is not None:
                return found
    return None


def is_pointer(cursor: Any) -> bool:
    """Whether an expression is a pointer (or an array that decays to one)."""
    kind = cursor.type.get_canonical().kind
    return bool(kind in (TypeKind.POINTER, TypeKind.CONSTANTARRAY, TypeKind.INCOMPLETEARRAY))
