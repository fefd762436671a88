"""C expressions → values and places, with every implicit conversion made explicit."""

from __future__ import annotations

from typing import Any

from clang.cindex import CursorKind

from hipify_tile.analyzer import clang
from hipify_tile.analyzer.importing.canonicalize import fold_cast, simplify
from hipify_tile.analyzer.importing.memory import Memory, as_expr, element_index
from hipify_tile.analyzer.importing.refusal import Refusal
from hipify_tile.analyzer.importing.types import (
    ArrayType,
    ClosureType,
    CType,
    PointerType,
    RecordType,
    VoidType,
    promote,
    size_of,
    usual_conversion,
)
from hipify_tile.analyzer.importing.values import (
    ArrayValue,
    BitcastPlace,
    MemoryPlace,
    MemoryPointer,
    NullPointer,
    Place,
    PlacePointer,
    PointerPlace,
    RecordPlace,
    RecordValue,
    ScalarPlace,
    Value,
    ValuePlace,
    VoidValue,
)
from hipify_tile.ir.expr import (
    Binary,
    BinaryOp,
    Compare,
    CompareOp,
    Const,
    Expr,
    Index,
    IndexKind,
    Logical,
    LogicalOp,
    Select,
    Unary,
    UnaryOp,
)
from hipify_tile.ir.stmt import Assign, If, Stmt
from hipify_tile.ir.types import BOOL, F64, I32, I64, U32, U64, ScalarType

K = CursorKind
_INDEX = {k.value: k for k in IndexKind}
_CASTS = frozenset(
    {
        K.CSTYLE_CAST_EXPR,
        K.CXX_STATIC_CAST_EXPR,
        K.CXX_FUNCTIONAL_CAST_EXPR,
        K.CXX_REINTERPRET_CAST_EXPR,
        K.CXX_CONST_CAST_EXPR,
    }
)
_LITERALS = frozenset(
    {K.INTEGER_LITERAL, K.FLOATING_LITERAL, K.CHARACTER_LITERAL, K.CXX_BOOL_LITERAL_EXPR}
)
_COMPARE = {str(op): op for op in CompareOp}
_BINARY = {str(op): op for op in BinaryOp}


def operands(cursor: Any) -> list[Any]:
    """Return the expression children of ``cursor`` (type and template references dropped)."""
    return [c for c in cursor.get_children() if c.kind.is_expression()]


class Expressions(Memory):
    """Evaluation of expressions; calls and declarations are added by subclasses."""

    def call(self, cursor: Any, wanted: bool) -> Value | Place:
        """Import a call; a Place when it returns a reference."""
        raise NotImplementedError

    def variable(self, cursor: Any, declaration: Any) -> Place:
        """Return the place of the variable that ``cursor`` refers to."""
        raise NotImplementedError

    def rvalue(self, cursor: Any) -> Value:
        """Return the value of an expression; its side effects are emitted."""
        with self.located(cursor):
            return self._rvalue(cursor)

    def scalar(self, cursor: Any) -> Expr:
        """Return the value of a scalar expression."""
        with self.located(cursor):
            return as_expr(self._rvalue(cursor))

    def condition(self, cursor: Any) -> Expr:
        """Return a condition as a ``bool`` expression."""
        with self.located(cursor):
            return simplify(as_expr(self.convert(self._rvalue(cursor), BOOL)))

    def discard(self, cursor: Any) -> None:
        """Import an expression for its side effects alone."""
        with self.located(cursor):
            kind = cursor.kind
            if kind == K.PAREN_EXPR or (kind == K.UNEXPOSED_EXPR and len(operands(cursor)) == 1):
                self.discard(operands(cursor)[0])
            elif kind in _CASTS and isinstance(self.types.of(cursor.type), VoidType):
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

    def _conditional_statement(self, cursor: Any) -> None:
        cond_cursor, then_cursor, else_cursor = operands(cursor)
        cond = self.condition(cond_cursor)
        with self.captured() as then:
            self.discard(then_cursor)
        with self.captured() as orelse:
            self.discard(else_cursor)
        self.branch(cond, then, orelse, cursor)

    def branch(self, cond: Expr, then: list[Stmt], orelse: list[Stmt], cursor: Any) -> None:
        """Emit an ``if``, dropping it when both branches are empty."""
        if then or orelse:
            self.emit(If(cond, tuple(then), tuple(orelse), self.span_of(cursor)))

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
        if kind in _CASTS:
            return self._explicit_cast(cursor)
        if kind == K.CALL_EXPR:
            result = self.call(cursor, wanted=True)
            return self.load(result) if _is_place(result) else result  # type: ignore
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

    def closure(self, cursor: Any) -> Value:
        """Import a lambda expression."""
        raise NotImplementedError

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
        # T() and the members that an initialiser list leaves out.
        tokens = [t.spelling for t in cursor.get_tokens()]
        return not tokens or tokens[-2:] == ["(", ")"] or tokens[-2:] == ["{", "}"]

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

    def is_system(self, declaration: Any) -> bool:
        """Whether a declaration comes from our headers or the C++ library."""
        # Clang places a builtin's declaration where it is used first.
        builtin = declaration.spelling.startswith("__builtin_")
        return builtin or bool(declaration.location.is_in_system_header)

    # -- conversions

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
                if isinstance(pointee, RecordType) and isinstance(place, RecordPlace):
                    return PlacePointer(place, pointee)  # to a base class, whose fields come first
                raise Refusal("TM1005")
            case NullPointer():
                return value
            case Const() if value.value == 0:
                return NullPointer()
            case _:
                raise Refusal("TM1004", "a number is converted to a pointer")

    def _explicit_cast(self, cursor: Any) -> Value:
        inner = operands(cursor)
        type_ = self.ctype(cursor)
        if not inner:
            return zero(type_) if isinstance(type_, ScalarType) else self.default_value(type_)
        if isinstance(type_, RecordType | ClosureType | PointerType | VoidType | ScalarType):
            if clang_is_lvalue_cast(cursor):
                return self.load(self.lvalue(cursor))
            return self.convert(self.rvalue(inner[-1]), type_)
        raise self.refuse(cursor, "TM1002")

    # -- operators

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

    def new_place(self, base: str, type_: CType, cursor: Any) -> Place:
        """Declare a local object of ``type_``, its value undefined."""
        raise NotImplementedError

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

    def init_list(self, cursor: Any, type_: CType) -> Value:
        """Return the value of ``{a, b, …}`` for an object of ``type_``; the rest is zero."""
        items = operands(cursor)
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

    def has_defaults(self, cursor: Any) -> bool:
        """Whether default-initialising the record type of ``cursor`` runs code."""
        raise NotImplementedError

    def _member_types(self, type_: CType, count: int) -> list[CType]:
        match type_:
            case RecordType():
                return [f.type for f in type_.fields]
            case ArrayType():
                return [type_.element] * count
            case _:
                return [type_]

    # -- places

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
            if _is_place(result):
                return result  # type: ignore[return-value]
            return self.temporary(result, cursor)  # type: ignore[arg-type]
        if kind == K.UNEXPOSED_EXPR and len(operands(cursor)) == 1:
            inner = operands(cursor)[0]
            if self._same_object(inner, cursor):
                return self.lvalue(inner)
        if kind in _CASTS and clang_is_lvalue_cast(cursor):
            return self._cast_place(cursor)
        return self.temporary(self.rvalue(cursor), cursor)

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

    # -- assignment

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


def zero(type_: ScalarType) -> Const:
    """Return the zero of ``type_``."""
    if type_ == BOOL:
        return Const(False, type_)
    return Const(0.0 if type_.is_float else 0, type_)


def clang_is_lvalue_cast(cursor: Any) -> bool:
    """Whether an explicit cast is to an lvalue reference (``reinterpret_cast<T&>(x)``)."""
    tokens = [t.spelling for t in cursor.get_tokens()]
    if cursor.kind == K.CSTYLE_CAST_EXPR or tokens[:1] == ["("]:
        depth_end = tokens.index(")") if ")" in tokens else 0
        return depth_end > 0 and tokens[depth_end - 1] == "&"
    if ">" not in tokens or not tokens or not tokens[0].endswith("_cast"):
        return False
    depth = 0
    for i, token in enumerate(tokens):
        depth += token.count("<") - token.count(">")
        if depth == 0 and i > 0:
            return tokens[i - 1] == "&"
    return False


def _is_place(item: Value | Place) -> bool:
    return isinstance(
        item, ScalarPlace | MemoryPlace | RecordPlace | PointerPlace | ValuePlace | BitcastPlace
    )


def _wide(value: int) -> ScalarType:
    return U64 if value > 2**63 - 1 else I64
