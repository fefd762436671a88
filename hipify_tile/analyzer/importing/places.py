"""Lvalues: variables, members, elements, dereferences, casts to references."""

from __future__ import annotations

from typing import Any

from hipify_tile.analyzer import clang
from hipify_tile.analyzer.importing.canonicalize import simplify
from hipify_tile.analyzer.importing.conversions import K, operands
from hipify_tile.analyzer.importing.memory import as_expr
from hipify_tile.analyzer.importing.operators import Operators
from hipify_tile.analyzer.importing.types import (
    ArrayType,
    PointerType,
    RecordType,
)
from hipify_tile.analyzer.importing.values import (
    ArrayValue,
    BitcastPlace,
    MemoryPlace,
    Place,
    RecordPlace,
    RecordValue,
    ScalarPlace,
    Value,
    ValuePlace,
)
from hipify_tile.ir.expr import (
    Const,
    Expr,
    Index,
    IndexKind,
)
from hipify_tile.ir.types import U32, ScalarType

_INDEX = {k.value: k for k in IndexKind}
CASTS = frozenset(
    {
        K.CSTYLE_CAST_EXPR,
        K.CXX_STATIC_CAST_EXPR,
        K.CXX_FUNCTIONAL_CAST_EXPR,
        K.CXX_REINTERPRET_CAST_EXPR,
        K.CXX_CONST_CAST_EXPR,
    }
)


class Places(Operators):
    """Evaluation of lvalues."""

    def lvalue(self, cursor: Any) -> Place:
        """Return the place of an lvalue; a temporary's value is a place that never changes."""
        with self.located(cursor):
            return self._lvalue(cursor)

    def _lvalue(self, cursor: Any) -> Place:
        kind = cursor.kind
        if kind == K.PAREN_EXPR:
            return self.lvalue(operands(cursor)[0])
        if kind == K.DECL_REF_EXPR:
            return self._declared(cursor)
        if kind == K.MEMBER_REF_EXPR:
            return self._member_place(cursor)
        if kind == K.ARRAY_SUBSCRIPT_EXPR:
            return self._element_place(cursor)
        if kind == K.UNARY_OPERATOR and clang.unary_op(cursor) == "*":
            pointer = self.rvalue(operands(cursor)[0])
            return self.dereference(pointer, self.ctype(cursor))
        if kind == K.UNARY_OPERATOR and clang.unary_op(cursor) in ("++", "--"):
            place = self.fixed_place(self.lvalue(operands(cursor)[0]))
            self._increment(cursor, wanted=False)
            return place
        if kind == K.BINARY_OPERATOR and clang.binary_op(cursor) == "=":
            return self._assignment(cursor)
        if kind == K.BINARY_OPERATOR and clang.binary_op(cursor) == ",":
            lhs, rhs = operands(cursor)
            self.discard(lhs)
            return self.lvalue(rhs)
        if kind == K.COMPOUND_ASSIGNMENT_OPERATOR:
            return self._compound_assignment(cursor)
        if kind == K.CALL_EXPR:
            result = self.call(cursor, wanted=True)
            if isinstance(result, Place):
                return result
            return self.temporary(result, cursor)
        if kind == K.UNEXPOSED_EXPR and len(operands(cursor)) == 1:
            inner = operands(cursor)[0]
            if self._same_object(inner, cursor):
                return self.lvalue(inner)
        if kind in CASTS and is_lvalue_cast(cursor):
            return self._cast_place(cursor)
        if kind == K.CONDITIONAL_OPERATOR and self._is_lvalue(operands(cursor)[1]):
            raise self.refuse(cursor, "TM1002", "a reference chosen at run time is not supported")
        return self.temporary(self.rvalue(cursor), cursor)

    def _is_lvalue(self, cursor: Any) -> bool:
        kind = cursor.kind
        if kind in (K.DECL_REF_EXPR, K.MEMBER_REF_EXPR, K.ARRAY_SUBSCRIPT_EXPR):
            return True
        if kind == K.UNARY_OPERATOR:
            return clang.unary_op(cursor) in ("*", "++", "--")
        if kind == K.COMPOUND_ASSIGNMENT_OPERATOR:
            return True
        if kind == K.BINARY_OPERATOR:
            return clang.binary_op(cursor) == "="
        if kind == K.PAREN_EXPR:
            return self._is_lvalue(operands(cursor)[0])
        return False

    def _same_object(self, inner: Any, outer: Any) -> bool:
        a, b = self.ctype(inner), self.ctype(outer)
        return a == b or (isinstance(a, RecordType) and isinstance(b, RecordType))

    def _cast_place(self, cursor: Any) -> Place:
        place = self.lvalue(operands(cursor)[-1])
        type_ = self.ctype(cursor)
        if isinstance(place, MemoryPlace):
            if place.type == type_:
                return place
            return MemoryPlace(place.address, type_)
        if isinstance(place, ScalarPlace) and isinstance(type_, ScalarType):
            if place.type == type_:
                return place
            if place.type.bits == type_.bits:
                return BitcastPlace(place, type_)
        if isinstance(place, RecordPlace) and place.type == type_:
            return place
        raise self.refuse(cursor, "TM1005")

    def temporary(self, value: Value, cursor: Any) -> Place:
        """Return a place that holds ``value`` for as long as anyone refers to it."""
        type_ = self.ctype(cursor)
        return ValuePlace(self.snapshot(value), type_)

    def _declared(self, cursor: Any) -> Place:
        declaration = cursor.referenced
        if declaration is None:
            return self.temporary(self._constant(cursor), cursor)
        if cursor.spelling in _INDEX and self.is_system(declaration):
            type_ = self.ctype(cursor)
            if not isinstance(type_, RecordType):
                raise self.refuse(cursor, "TM1002")
            fields: dict[str, Value] = {
                f.name: Index(_INDEX[cursor.spelling], i, U32, self.span_of(cursor))
                for i, f in enumerate(type_.fields)
            }
            return ValuePlace(RecordValue(type_, fields), type_)
        if declaration.kind in (K.VAR_DECL, K.PARM_DECL):
            folded = self._named_constant(cursor)
            if folded is not None:
                return ValuePlace(folded, folded.type)
            return self.variable(cursor, declaration)
        if declaration.kind in (K.FUNCTION_DECL, K.CXX_METHOD):
            raise self.refuse(cursor, "TM1102")
        folded = self._named_constant(cursor)
        if folded is not None:
            return ValuePlace(folded, folded.type)
        raise self.refuse(cursor, "TM1002")

    def _named_constant(self, cursor: Any) -> Expr | None:
        declaration = cursor.referenced
        type_ = self.ctype(cursor)
        if not isinstance(type_, ScalarType):
            return None
        if declaration is None or declaration.kind == K.TEMPLATE_NON_TYPE_PARAMETER:
            inner = operands(cursor)
            if len(inner) == 1:
                return as_expr(self.convert(self.rvalue(inner[0]), type_))
            return self._constant(cursor)
        if declaration.kind == K.ENUM_CONSTANT_DECL:
            return self.constant(declaration.enum_value, type_, cursor)
        if declaration.kind != K.VAR_DECL:
            return None
        if declaration.spelling == "warpSize":
            return Const(32, type_, self.span_of(cursor))
        if not declaration.type.is_const_qualified() or clang.has_attribute(
            declaration, K.CUDACONSTANT_ATTR, K.CUDADEVICE_ATTR, K.CUDASHARED_ATTR
        ):
            return None
        value = clang.evaluate(declaration)
        if value is None:
            return None
        if isinstance(value, float) and not type_.is_float:
            return None
        return self.constant(value, type_, cursor)

    def _builtin_index(self, cursor: Any) -> Expr | None:
        inner = operands(cursor)
        if len(inner) != 1:
            return None
        base = clang.unwrap(inner[0])
        if base.kind != K.DECL_REF_EXPR or base.spelling not in _INDEX:
            return None
        if base.referenced is None or base.referenced.kind != K.VAR_DECL:
            return None
        if not self.is_system(base.referenced):
            return None
        return Index(_INDEX[base.spelling], "xyz".index(cursor.spelling), U32, self.span_of(cursor))

    def _member_place(self, cursor: Any) -> Place:
        index = self._builtin_index(cursor)
        if index is not None:
            return ValuePlace(index, index.type)
        declaration = cursor.referenced
        if declaration is not None and declaration.kind == K.VAR_DECL:
            return self._declared(cursor)
        inner = operands(cursor)
        if not inner:
            if self.frame.this is None:
                raise self.refuse(cursor, "TM1002")
            return self.member(self.frame.this, cursor.spelling, cursor)
        base = self.ctype(inner[0])
        if isinstance(base, PointerType):
            place = self.dereference(self.rvalue(inner[0]), base.pointee)
        else:
            place = self.lvalue(inner[0])
        return self.member(place, cursor.spelling, cursor)

    def member(self, place: Place, name: str, cursor: Any) -> Place:
        """Return the place of field ``name`` of a record."""
        match place:
            case RecordPlace() if name in place.fields:
                return place.fields[name]
            case MemoryPlace(address=address, type=RecordType() as type_):
                f = type_.field(name)
                if f is None:  # a record whose layout was not known when it was named
                    owner = cursor.referenced.semantic_parent.type
                    known = self.types.of(owner)
                    f = known.field(name) if isinstance(known, RecordType) else None
                if f is not None:
                    return MemoryPlace(address.offset(f.offset), f.type)
            case ValuePlace(value=RecordValue() as value) if name in value.fields:
                item = value.fields[name]
                f = value.type.field(name)
                assert f is not None
                return ValuePlace(item, f.type)
        raise self.refuse(cursor, "TM1002", f"member {name} is not supported")

    def _element_place(self, cursor: Any) -> Place:
        base_cursor, index_cursor = operands(cursor)
        if isinstance(self.ctype(index_cursor), PointerType | ArrayType):
            base_cursor, index_cursor = index_cursor, base_cursor
        base = self.rvalue(base_cursor)
        mark = len(self.out)
        index = self.scalar(index_cursor)
        base = self.protect(base, mark)
        if isinstance(base, ArrayValue):
            index = simplify(index)
            if isinstance(index, Const) and 0 <= int(index.value) < len(base.elements):
                return ValuePlace(base.elements[int(index.value)], self.ctype(cursor))
            raise self.refuse(cursor, "TM1002", "an array value is indexed by a variable")
        return self.subscript(base, simplify(index), self.ctype(cursor))


def is_lvalue_cast(cursor: Any) -> bool:
    """Whether an explicit cast is to an lvalue reference (``reinterpret_cast<T&>(x)``).

    Any other cast of an lvalue holds an implicit load of it, which this one does not.
    """
    inner = operands(cursor)[-1]
    while inner.kind == K.PAREN_EXPR:
        inner = operands(inner)[0]
    if inner.kind in (K.DECL_REF_EXPR, K.MEMBER_REF_EXPR):
        declaration = inner.referenced
        return declaration is not None and declaration.kind in (
            K.VAR_DECL,
            K.PARM_DECL,
            K.FIELD_DECL,
        )
    if inner.kind == K.UNARY_OPERATOR:
        return clang.unary_op(inner) == "*"
    return bool(inner.kind == K.ARRAY_SUBSCRIPT_EXPR)
