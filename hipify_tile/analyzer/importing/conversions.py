"""Literals, conversions and truth values; what the parts of expression import ask of each other."""

from __future__ import annotations

from typing import Any

from clang.cindex import CursorKind

from hipify_tile.analyzer import clang
from hipify_tile.analyzer.importing.canonicalize import fold_cast, simplify
from hipify_tile.analyzer.importing.memory import Memory, as_expr
from hipify_tile.analyzer.importing.refusal import Refusal
from hipify_tile.analyzer.importing.types import (
    ArrayType,
    CType,
    PointerType,
    RecordType,
    VoidType,
    size_of,
)
from hipify_tile.analyzer.importing.values import (
    ArrayValue,
    BitcastPlace,
    MemoryPointer,
    NullPointer,
    Place,
    PlacePointer,
    RecordPlace,
    RecordValue,
    ScalarPlace,
    Value,
    VoidValue,
)
from hipify_tile.ir.expr import (
    Const,
    Expr,
)
from hipify_tile.ir.stmt import If, Stmt
from hipify_tile.ir.types import BOOL, F64, I64, U64, ScalarType

K = CursorKind


class Conversions(Memory):
    """C's conversions, and the questions that the classes further down answer."""

    def call(self, cursor: Any, wanted: bool) -> Value | Place:
        """Import a call; a Place when it returns a reference."""
        raise NotImplementedError

    def variable(self, cursor: Any, declaration: Any) -> Place:
        """Return the place of the variable that ``cursor`` refers to."""
        raise NotImplementedError

    def closure(self, cursor: Any) -> Value:
        """Import a lambda expression."""
        raise NotImplementedError

    def new_place(self, base: str, type_: CType, cursor: Any) -> Place:
        """Declare a local object of ``type_``, its value undefined."""
        raise NotImplementedError

    def has_defaults(self, cursor: Any) -> bool:
        """Whether default-initialising the record type of ``cursor`` runs code."""
        raise NotImplementedError

    def rvalue(self, cursor: Any) -> Value:
        """Return the value of an expression; its side effects are emitted."""
        raise NotImplementedError

    def lvalue(self, cursor: Any) -> Place:
        """Return the place of an lvalue; a temporary's value is a place that never changes."""
        raise NotImplementedError

    def discard(self, cursor: Any) -> None:
        """Import an expression for its side effects alone."""
        raise NotImplementedError

    def scalar(self, cursor: Any) -> Expr:
        """Return the value of a scalar expression."""
        with self.located(cursor):
            return as_expr(self.rvalue(cursor))

    def condition(self, cursor: Any) -> Expr:
        """Return a condition as a ``bool`` expression."""
        with self.located(cursor):
            return simplify(as_expr(self.convert(self.rvalue(cursor), BOOL)))

    def _pointee(self, cursor: Any) -> CType:
        type_ = self.ctype(cursor)
        if not isinstance(type_, PointerType):
            raise self.refuse(cursor, "TM1004")
        return type_.pointee

    def _constant(self, cursor: Any) -> Expr:
        type_ = self.ctype(cursor)
        value = clang.evaluate(cursor)
        if value is None or not isinstance(type_, ScalarType):
            raise self.refuse(cursor, "TM1002", "this constant has no known value")
        return self.constant(value, type_, cursor)

    def constant(self, value: int | float, type_: ScalarType, cursor: Any) -> Const:
        """Return ``value`` as a literal of ``type_``."""
        span = self.span_of(cursor)
        if isinstance(value, float):
            folded = fold_cast(Const(value, F64, span), type_)
        else:
            folded = fold_cast(Const(value, _wide(value), span), type_)
        if not isinstance(folded, Const):
            raise self.refuse(cursor, "TM1002", "this constant has no known value")
        return folded

    def is_system(self, declaration: Any) -> bool:
        """Whether a declaration comes from our headers or the C++ library."""
        # Clang places a builtin's declaration where it is used first.
        builtin = declaration.spelling.startswith("__builtin_")
        return builtin or bool(declaration.location.is_in_system_header)

    def convert(self, value: Value, type_: CType) -> Value:
        """Return ``value`` converted to ``type_`` as C converts it."""
        match type_:
            case ScalarType():
                expr = as_expr(value)
                if expr.type == type_:
                    return expr
                return fold_cast(expr, type_)
            case PointerType():
                return self._convert_pointer(value, type_)
            case VoidType():
                return VoidValue()
            case _:
                return value

    def _convert_pointer(self, value: Value, type_: PointerType) -> Value:
        pointee = type_.pointee
        match value:
            case MemoryPointer():
                if value.pointee == pointee:
                    return value
                address = value.address
                if isinstance(pointee, VoidType) or size_of(pointee) != size_of(value.pointee):
                    address = address.offset(0)
                return MemoryPointer(address, pointee)
            case PlacePointer(place=place):
                if value.pointee == pointee or isinstance(pointee, VoidType):
                    return value
                if (
                    isinstance(place, ScalarPlace)
                    and isinstance(pointee, ScalarType)
                    and place.type.bits == pointee.bits
                ):
                    if place.type == pointee:
                        return PlacePointer(place, pointee)
                    return PlacePointer(BitcastPlace(place, pointee), pointee)
                if isinstance(place, BitcastPlace) and isinstance(place.place, ScalarPlace):
                    return self._convert_pointer(PlacePointer(place.place, place.place.type), type_)
                if (
                    isinstance(pointee, RecordType)
                    and isinstance(place, RecordPlace)
                    and place.type.fields[: len(pointee.fields)] == pointee.fields
                ):
                    return PlacePointer(place, pointee)  # to a base class, whose fields come first
                raise Refusal("TM1005")
            case NullPointer():
                return value
            case Const() if value.value == 0:
                return NullPointer()
            case _:
                raise Refusal("TM1004", "a number is converted to a pointer")

    def default_value(self, type_: CType) -> Value:
        """Return the value of ``T{}``: zeros."""
        match type_:
            case ScalarType():
                return zero(type_)
            case RecordType():
                return RecordValue(
                    type_, {f.name: self.default_value(f.type) for f in type_.fields}
                )
            case ArrayType(count=int() as count) if count <= 64:
                return ArrayValue(
                    type_, tuple(self.default_value(type_.element) for _ in range(count))
                )
            case PointerType():
                return NullPointer()
            case _:
                raise Refusal("TM1002", "this value initialisation is not supported")

    def branch(self, cond: Expr, then: list[Stmt], orelse: list[Stmt], cursor: Any) -> None:
        """Emit an ``if``, dropping it when both branches are empty."""
        if then or orelse:
            self.emit(If(cond, tuple(then), tuple(orelse), self.span_of(cursor)))


def operands(cursor: Any) -> list[Any]:
    """Return the expression children of ``cursor`` (type and template references dropped)."""
    return [c for c in cursor.get_children() if c.kind.is_expression()]


def zero(type_: ScalarType) -> Const:
    """Return the zero of ``type_``."""
    if type_ == BOOL:
        return Const(False, type_)
    return Const(0.0 if type_.is_float else 0, type_)


def _wide(value: int) -> ScalarType:
    return U64 if value > 2**63 - 1 else I64
