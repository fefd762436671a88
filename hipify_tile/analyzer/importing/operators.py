"""Operators: arithmetic, comparison, short-circuit, conditional, assignment, increment."""

from __future__ import annotations

from typing import Any

from hipify_tile.analyzer import clang
from hipify_tile.analyzer.importing.canonicalize import fold_cast, simplify
from hipify_tile.analyzer.importing.conversions import Conversions, operands
from hipify_tile.analyzer.importing.indexing import element_index
from hipify_tile.analyzer.importing.memory import as_expr
from hipify_tile.analyzer.importing.types import (
    PointerType,
    VoidType,
    promote,
    size_of,
    usual_conversion,
)
from hipify_tile.analyzer.importing.values import (
    BitcastPlace,
    MemoryPlace,
    MemoryPointer,
    NullPointer,
    Place,
    PlacePointer,
    Value,
    VoidValue,
)
from hipify_tile.ir.expr import (
    Binary,
    BinaryOp,
    Compare,
    CompareOp,
    Const,
    Expr,
    Logical,
    LogicalOp,
    Select,
    Unary,
    UnaryOp,
)
from hipify_tile.ir.stmt import Assign, If
from hipify_tile.ir.types import BOOL, I32, I64, ScalarType

_COMPARE = {str(op): op for op in CompareOp}
_BINARY = {str(op): op for op in BinaryOp}


class Operators(Conversions):
    """Built-in operators; overloaded ones are calls."""

    def _unary(self, cursor: Any) -> Value:
        op = clang.unary_op(cursor)
        inner = operands(cursor)[-1]
        if op[-2:] in ("++", "--"):
            return self._increment(cursor, wanted=True)
        if op == "&":
            return self._address_of(cursor, inner)
        if op == "*":
            return self.load(self.lvalue(cursor), self.span_of(cursor))
        if op == "__extension__":
            return self.rvalue(inner)
        type_ = self.ctype(cursor)
        if op == "+":
            return self.convert(self.rvalue(inner), type_)
        if op == "!":
            value = as_expr(self.convert(self.rvalue(inner), BOOL))
            negated = Unary(UnaryOp.NOT, value, BOOL, self.span_of(cursor))
            return self.convert(negated, type_)
        if op in ("-", "~") and isinstance(type_, ScalarType):
            value = as_expr(self.convert(self.rvalue(inner), type_))
            return Unary(UnaryOp(op), value, type_, self.span_of(cursor))
        raise self.refuse(cursor, "TM1002", f"operator {op or '?'} is not supported")

    def _address_of(self, cursor: Any, inner: Any) -> Value:
        pointee = self._pointee(cursor)
        place = self.lvalue(inner)
        if isinstance(place, MemoryPlace):
            return MemoryPointer(place.address, pointee)
        return PlacePointer(place, pointee)

    def _increment(self, cursor: Any, *, wanted: bool) -> Value:
        op = clang.unary_op(cursor)
        place = self.fixed_place(self.lvalue(operands(cursor)[0]))
        old = self.load(place)
        post = op.startswith("post")
        if post and wanted:
            old = self._frozen(old)
        step = BinaryOp.ADD if op.endswith("++") else BinaryOp.SUB
        type_ = self.ctype(cursor)
        span = self.span_of(cursor)
        if isinstance(type_, PointerType):
            index = Const(1 if step is BinaryOp.ADD else -1, I64)
            self.store(place, self.advance(old, index, type_.pointee), span)
        elif isinstance(type_, ScalarType):
            wide = promote(type_)
            one = as_expr(self.convert(Const(1, I32), wide))
            value = Binary(step, fold_cast(as_expr(old), wide), one, wide, span)
            self.store(place, fold_cast(value, type_), span)
        else:
            raise self.refuse(cursor, "TM1002")
        if not wanted:
            return VoidValue()
        return old if post else self.load(place)

    def _frozen(self, value: Value) -> Value:
        """Copy what ``value`` reads into fresh locals, whatever happens next."""
        return value if self.stable_value(value) else self.snapshot(value)

    def fixed_place(self, place: Place) -> Place:
        """Return ``place`` with its address computed once."""
        if isinstance(place, MemoryPlace):
            pointer = self.snapshot(MemoryPointer(place.address, place.type), "at")
            assert isinstance(pointer, MemoryPointer)
            return MemoryPlace(pointer.address, place.type)
        if isinstance(place, BitcastPlace):
            return BitcastPlace(self.fixed_place(place.place), place.type)
        return place

    def _binary(self, cursor: Any) -> Value:
        op = clang.binary_op(cursor)
        lhs, rhs = operands(cursor)
        if op == "=":
            return self._assigned_value(cursor)
        if op == ",":
            self.discard(lhs)
            return self.rvalue(rhs)
        if op in ("&&", "||"):
            return self.convert(self._short_circuit(cursor), self.ctype(cursor))
        a = self.rvalue(lhs)
        mark = len(self.out)
        b = self.rvalue(rhs)
        a = self.protect(a, mark)
        type_ = self.ctype(cursor)
        span = self.span_of(cursor)
        pointers = (MemoryPointer, PlacePointer, NullPointer)
        if isinstance(a, pointers) or isinstance(b, pointers):
            return self._pointer_operation(cursor, op, a, b)
        left, right = as_expr(a), as_expr(b)
        if op in _COMPARE:
            if left.type != right.type:
                raise self.refuse(cursor, "TM1002", "operands of a comparison differ in type")
            return self.convert(Compare(_COMPARE[op], left, right, BOOL, span), type_)
        if op in _BINARY and isinstance(type_, ScalarType):
            return self.arithmetic(_BINARY[op], left, right, type_, cursor)
        raise self.refuse(cursor, "TM1002", f"operator {op or '?'} is not supported")

    def arithmetic(
        self, op: BinaryOp, left: Expr, right: Expr, type_: ScalarType, cursor: Any
    ) -> Expr:
        """Return ``left op right`` in ``type_``; a shift count is brought to that type."""
        if op in (BinaryOp.SHL, BinaryOp.SHR):
            right = fold_cast(right, type_)
        if left.type != type_ or right.type != type_:
            raise self.refuse(cursor, "TM1002", "operands differ from the operation in type")
        return Binary(op, left, right, type_, self.span_of(cursor))

    def _pointer_operation(self, cursor: Any, op: str, a: Value, b: Value) -> Value:
        type_ = self.ctype(cursor)
        span = self.span_of(cursor)
        if isinstance(type_, PointerType) and op in ("+", "-"):
            pointer, number = (a, b) if isinstance(a, MemoryPointer | PlacePointer) else (b, a)
            index = as_expr(number)
            if op == "-":
                wide = fold_cast(index, I64)
                index = simplify(Unary(UnaryOp.NEG, wide, I64, span))
            return self.advance(pointer, index, type_.pointee)
        if (
            isinstance(a, MemoryPointer)
            and isinstance(b, MemoryPointer)
            and a.address.storage == b.address.storage
            and (op == "-" or op in _COMPARE)
        ):
            width = size_of(a.pointee)
            left, right = (self.pointer_index(p, width) for p in (a, b))
            if op == "-":
                return self.convert(Binary(BinaryOp.SUB, left, right, I64, span), type_)
            return self.convert(Compare(_COMPARE[op], left, right, BOOL, span), type_)
        raise self.refuse(cursor, "TM1004", "pointers of unknown buffers are compared")

    def pointer_index(self, pointer: MemoryPointer, width: int) -> Expr:
        """Return a pointer's offset in its storage, in elements of ``width`` bytes, as int64."""
        address = pointer.address
        if len(self.storages[address.storage].shape) > 1:
            self.storages[address.storage].flat = True
        return fold_cast(element_index(address, width), I64)

    def _short_circuit(self, cursor: Any) -> Expr:
        lhs, rhs = operands(cursor)
        op = LogicalOp(clang.binary_op(cursor))
        span = self.span_of(cursor)
        a = self.condition(lhs)
        with self.captured() as effects:
            b = self.condition(rhs)
        if not effects:
            return Logical(op, a, b, BOOL, span)
        result = self.local("c", BOOL)
        self.emit(Assign(result.name, a, span))
        taken: Expr = result
        if op is LogicalOp.OR:
            taken = Unary(UnaryOp.NOT, result, BOOL)
        effects.append(Assign(result.name, b, span))
        self.emit(If(taken, tuple(effects), (), span))
        return result

    def _conditional(self, cursor: Any) -> Value:
        cond_cursor, then_cursor, else_cursor = operands(cursor)
        type_ = self.ctype(cursor)
        cond = self.condition(cond_cursor)
        if isinstance(cond, Const):
            return self.convert(self.rvalue(then_cursor if cond.value else else_cursor), type_)
        with self.captured() as then:
            a = self.convert(self.rvalue(then_cursor), type_)
        with self.captured() as orelse:
            b = self.convert(self.rvalue(else_cursor), type_)
        span = self.span_of(cursor)
        if not then and not orelse and isinstance(type_, ScalarType):
            return Select(cond, as_expr(a), as_expr(b), type_, span)
        if isinstance(type_, VoidType):
            self.branch(cond, then, orelse, cursor)
            return VoidValue()
        place = self.new_place("sel", type_, cursor)
        for value, statements in ((a, then), (b, orelse)):
            self.out, saved = statements, self.out
            self.store(place, value, span)
            self.out = saved
        self.branch(cond, then, orelse, cursor)
        return self.load(place)

    def _conditional_statement(self, cursor: Any) -> None:
        cond_cursor, then_cursor, else_cursor = operands(cursor)
        cond = self.condition(cond_cursor)
        with self.captured() as then:
            self.discard(then_cursor)
        with self.captured() as orelse:
            self.discard(else_cursor)
        self.branch(cond, then, orelse, cursor)

    def _assignment(self, cursor: Any) -> Place:
        lhs, rhs = operands(cursor)
        # C++17: the right operand is sequenced before the left one.
        value = self.rvalue(rhs)
        mark = len(self.out)
        place = self.lvalue(lhs)
        value = self.protect(value, mark)
        value = self.convert(value, self.ctype(lhs))
        self.store(place, value, self.span_of(cursor))
        return place

    def _assigned_value(self, cursor: Any) -> Value:
        """Import an assignment whose value is used again."""
        lhs, rhs = operands(cursor)
        value = self.rvalue(rhs)
        mark = len(self.out)
        place = self.lvalue(lhs)
        value = self.convert(self.protect(value, mark), self.ctype(lhs))
        value = self.snapshot(value)
        self.store(place, value, self.span_of(cursor))
        return value

    def _compound_assignment(self, cursor: Any) -> Place:
        lhs, rhs = operands(cursor)
        op = clang.binary_op(cursor)[:-1]
        value = self.rvalue(rhs)
        mark = len(self.out)
        place = self.lvalue(lhs)
        value = self.protect(value, mark)
        type_ = self.ctype(lhs)
        span = self.span_of(cursor)
        if isinstance(place, MemoryPlace):
            place = self.fixed_place(place)
        old = self.load(place, self.span_of(lhs))
        if isinstance(type_, PointerType) and op in ("+", "-"):
            index = as_expr(value)
            if op == "-":
                index = simplify(Unary(UnaryOp.NEG, fold_cast(index, I64), I64, span))
            self.store(place, self.advance(old, index, type_.pointee), span)
            return place
        if not isinstance(type_, ScalarType) or op not in _BINARY:
            raise self.refuse(cursor, "TM1002", f"operator {op}= is not supported")
        right = as_expr(value)
        shift = op in ("<<", ">>")
        wide = promote(type_) if shift else usual_conversion(type_, right.type)
        result = self.arithmetic(
            _BINARY[op], fold_cast(as_expr(old), wide), fold_cast(right, wide), wide, cursor
        )
        self.store(place, fold_cast(result, type_), span)
        return place
