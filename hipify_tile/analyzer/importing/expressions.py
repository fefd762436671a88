"""C expressions → values and places, with every implicit conversion made explicit."""

from __future__ import annotations

from typing import Any

from hipify_tile.analyzer import clang
from hipify_tile.analyzer.importing.conversions import K, operands, zero
from hipify_tile.analyzer.importing.places import CASTS, Places, is_lvalue_cast
from hipify_tile.analyzer.importing.types import (
    ArrayType,
    ClosureType,
    CType,
    PointerType,
    RecordType,
    VoidType,
)
from hipify_tile.analyzer.importing.values import (
    ArrayValue,
    NullPointer,
    Place,
    PlacePointer,
    RecordValue,
    Value,
)
from hipify_tile.ir.types import ScalarType

_LITERALS = frozenset(
    {K.INTEGER_LITERAL, K.FLOATING_LITERAL, K.CHARACTER_LITERAL, K.CXX_BOOL_LITERAL_EXPR}
)


class Expressions(Places):
    """Evaluation of rvalues; calls and declarations are added by subclasses."""

    def rvalue(self, cursor: Any) -> Value:
        """Return the value of an expression; its side effects are emitted."""
        with self.located(cursor):
            return self._rvalue(cursor)

    def discard(self, cursor: Any) -> None:
        """Import an expression for its side effects alone."""
        with self.located(cursor):
            kind = cursor.kind
            if kind == K.PAREN_EXPR or (kind == K.UNEXPOSED_EXPR and len(operands(cursor)) == 1):
                self.discard(operands(cursor)[0])
            elif kind in CASTS and isinstance(self.types.of(cursor.type), VoidType):
                self.discard(operands(cursor)[-1])
            elif kind == K.CALL_EXPR:
                self.call(cursor, wanted=False)
            elif kind == K.CONDITIONAL_OPERATOR:
                self._conditional_statement(cursor)
            elif kind == K.BINARY_OPERATOR and clang.binary_op(cursor) == ",":
                for item in operands(cursor):
                    self.discard(item)
            elif kind == K.UNARY_OPERATOR and clang.unary_op(cursor)[-2:] in ("++", "--"):
                self._increment(cursor, wanted=False)
            elif kind == K.BINARY_OPERATOR and clang.binary_op(cursor) in ("&&", "||"):
                self._short_circuit(cursor)
            elif self._is_lvalue(cursor):
                self.lvalue(cursor)
            else:
                self._rvalue(cursor)

    def _rvalue(self, cursor: Any) -> Value:
        kind = cursor.kind
        if kind in _LITERALS:
            return self._constant(cursor)
        if kind == K.UNEXPOSED_EXPR:
            return self._unexposed(cursor)
        if kind == K.PAREN_EXPR:
            return self.rvalue(operands(cursor)[0])
        if kind in (K.DECL_REF_EXPR, K.MEMBER_REF_EXPR, K.ARRAY_SUBSCRIPT_EXPR):
            return self._read(cursor)
        if kind == K.UNARY_OPERATOR:
            return self._unary(cursor)
        if kind == K.BINARY_OPERATOR:
            return self._binary(cursor)
        if kind == K.COMPOUND_ASSIGNMENT_OPERATOR:
            return self.load(self._compound_assignment(cursor))
        if kind == K.CONDITIONAL_OPERATOR:
            return self._conditional(cursor)
        if kind in CASTS:
            return self._explicit_cast(cursor)
        if kind == K.CALL_EXPR:
            result = self.call(cursor, wanted=True)
            return self.load(result) if isinstance(result, Place) else result
        if kind == K.INIT_LIST_EXPR:
            return self.init_list(cursor, self.ctype(cursor))
        if kind in (K.CXX_UNARY_EXPR, K.SIZE_OF_PACK_EXPR):
            return self._constant(cursor)
        if kind in (K.CXX_NULL_PTR_LITERAL_EXPR, K.GNU_NULL_EXPR):
            return NullPointer()
        if kind == K.CXX_THIS_EXPR:
            if self.frame.this is None:
                raise self.refuse(cursor, "TM1002")
            return PlacePointer(self.frame.this, self._pointee(cursor))
        if kind == K.LAMBDA_EXPR:
            return self.closure(cursor)
        if kind in (K.CXX_NEW_EXPR, K.CXX_DELETE_EXPR):
            raise self.refuse(cursor, "TM1110")
        if kind == K.STRING_LITERAL:
            raise self.refuse(cursor, "TM1002", "string literals are not supported")
        raise self.refuse(cursor, "TM1002")

    def _unexposed(self, cursor: Any) -> Value:
        inner = operands(cursor)
        type_ = self.ctype(cursor)
        if len(inner) == 1:
            return self.convert(self.rvalue(inner[0]), type_)
        if not inner:
            value = clang.evaluate(cursor)
            if value is not None and isinstance(type_, ScalarType):
                return self.constant(value, type_, cursor)
            if isinstance(type_, ScalarType) and self._is_empty_init(cursor):
                return zero(type_)
        raise self.refuse(cursor, "TM1002")

    def _is_empty_init(self, cursor: Any) -> bool:
        # T() and T{}
        tokens = [t.spelling for t in cursor.get_tokens()]
        return tokens[-2:] in (["(", ")"], ["{", "}"])

    def _read(self, cursor: Any) -> Value:
        if cursor.kind == K.DECL_REF_EXPR:
            folded = self._named_constant(cursor)
            if folded is not None:
                return folded
        if cursor.kind == K.MEMBER_REF_EXPR:
            index = self._builtin_index(cursor)
            if index is not None:
                return index
        return self.load(self.lvalue(cursor), self.span_of(cursor))

    def _explicit_cast(self, cursor: Any) -> Value:
        inner = operands(cursor)
        type_ = self.ctype(cursor)
        if not inner:
            return zero(type_) if isinstance(type_, ScalarType) else self.default_value(type_)
        if isinstance(type_, RecordType | ClosureType | PointerType | VoidType | ScalarType):
            if not isinstance(type_, VoidType) and is_lvalue_cast(cursor):
                return self.load(self.lvalue(cursor))
            return self.convert(self.rvalue(inner[-1]), type_)
        raise self.refuse(cursor, "TM1002")

    def init_list(self, cursor: Any, type_: CType) -> Value:
        """Return the value of ``{a, b, …}`` for an object of ``type_``; the rest is zero."""
        items = operands(cursor)
        if any(c.kind == K.MEMBER_REF for item in items for c in item.get_children()):
            raise self.refuse(cursor, "TM1002", "designated initialisers are not supported")
        if isinstance(type_, ScalarType) and len(items) > 1:
            raise self.refuse(cursor, "TM1002", "this initialiser list is not supported")
        values: list[Value] = []
        kinds = self._member_types(type_, len(items))
        for item, member in zip(items, kinds, strict=False):
            mark = len(self.out)
            if item.kind == K.INIT_LIST_EXPR:
                value = self.init_list(item, member)
            elif isinstance(member, ArrayType):
                raise self.refuse(item, "TM1002")
            else:
                value = self.convert(self.rvalue(item), member)
            values = [self.protect(v, mark) for v in values]
            values.append(value)
        match type_:
            case RecordType():
                if len(items) > len(type_.fields):
                    raise self.refuse(cursor, "TM1002")
                if len(items) < len(type_.fields) and self.has_defaults(cursor):
                    raise self.refuse(cursor, "TM1002", "default member initialisers are mixed in")
                fields = {f.name: v for f, v in zip(type_.fields, values, strict=False)}
                for f in type_.fields[len(values) :]:
                    fields[f.name] = self.default_value(f.type)
                return RecordValue(type_, fields)
            case ArrayType():
                return ArrayValue(type_, tuple(values))
            case ScalarType():
                return values[0] if values else zero(type_)
            case _:
                raise self.refuse(cursor, "TM1002")

    def _member_types(self, type_: CType, count: int) -> list[CType]:
        match type_:
            case RecordType():
                return [f.type for f in type_.fields]
            case ArrayType():
                return [type_.element] * count
            case _:
                return [type_]
