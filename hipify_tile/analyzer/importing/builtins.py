"""Calls into CUDA's and the C++ library's headers: barriers, atomics, math, refusals."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from hipify_tile.analyzer.importing.canonicalize import fold_cast
from hipify_tile.analyzer.importing.conversions import K
from hipify_tile.analyzer.importing.expressions import Expressions
from hipify_tile.analyzer.importing.memory import as_expr
from hipify_tile.analyzer.importing.types import PointerType, RecordType
from hipify_tile.analyzer.importing.values import (
    MemoryPlace,
    MemoryPointer,
    Place,
    RecordValue,
    Value,
    ValuePlace,
    VoidValue,
)
from hipify_tile.ir.expr import (
    Binary,
    BinaryOp,
    Bitcast,
    Call,
    Compare,
    CompareOp,
    Const,
    Expr,
    Select,
)
from hipify_tile.ir.intrinsics import CUDA_SPELLINGS
from hipify_tile.ir.stmt import AtomicOp, AtomicRMW, Barrier
from hipify_tile.ir.types import BOOL, F32, F64, I32, I64, U32, U64, Kind, ScalarType

_ATOMICS = {
    "atomicAdd": AtomicOp.ADD,
    "atomicSub": AtomicOp.SUB,
    "atomicExch": AtomicOp.EXCH,
    "atomicMin": AtomicOp.MIN,
    "atomicMax": AtomicOp.MAX,
    "atomicInc": AtomicOp.INC,
    "atomicDec": AtomicOp.DEC,
    "atomicCAS": AtomicOp.CAS,
    "atomicAnd": AtomicOp.AND,
    "atomicOr": AtomicOp.OR,
    "atomicXor": AtomicOp.XOR,
}
_NOTHING = frozenset(
    {"__threadfence", "__threadfence_block", "__threadfence_system", "__builtin_assume"}
)
_LOADS = frozenset({"__ldg", "__ldcg", "__ldca", "__ldcs", "__ldlu", "__ldcv"})
_STORES = frozenset({"__stcg", "__stcs", "__stwb", "__stwt"})
_ROUNDED = {"add": BinaryOp.ADD, "sub": BinaryOp.SUB, "mul": BinaryOp.MUL, "div": BinaryOp.DIV}
_BITS: dict[str, tuple[ScalarType, ScalarType]] = {
    "__float_as_int": (F32, I32),
    "__float_as_uint": (F32, U32),
    "__int_as_float": (I32, F32),
    "__uint_as_float": (U32, F32),
    "__double_as_longlong": (F64, I64),
    "__longlong_as_double": (I64, F64),
}
_CONVERSIONS = re.compile(
    r"__(float|double|int|uint|ll|ull)2(float|double|int|uint|ll|ull)(_rn|_rz|_rd|_ru)?$"
)
_CONVERTED = {"float": F32, "double": F64, "int": I32, "uint": U32, "ll": I64, "ull": U64}
_ROUND_TO_INT = {"_rn": "nearbyint", "_rz": "trunc", "_rd": "floor", "_ru": "ceil"}
_REFUSED: tuple[tuple[str, str], ...] = (
    (r"__syncthreads_(count|and|or)|__syncwarp|__shfl|__ballot|__any|__all|__activemask", "TM1105"),
    (r"__reduce_\w+_sync|__match_|__lane_id|__barrier_sync", "TM1105"),
    (r"tex[123]D|tex\w*fetch|surf[123]D|__tex", "TM1107"),
    (r"v?f?printf|puts|putchar|__assert|assert|__assertfail|__trap|__brkpt|abort|exit", "TM1108"),
    (r"malloc|free|calloc|cudaMalloc|cudaFree|operator (new|delete)|cudaDevice", "TM1110"),
)


class Builtins(Expressions):
    """Functions whose meaning the importer knows."""

    def builtin(self, cursor: Any, callee: Any, wanted: bool) -> Value | Place | None:
        """Import a call of a known function; None when ``callee`` is not known."""
        name = callee.spelling
        arguments = list(cursor.get_arguments())
        if name == "__syncthreads" or (name == "__barrier_sync" and self._is_zero(arguments[0])):
            self.emit(Barrier(self.span_of(cursor)))
            return VoidValue()
        if name in _NOTHING:
            return VoidValue()
        atomic = re.fullmatch(r"(atomic[A-Z]\w*?)(_block|_system)?", name)
        if atomic and atomic[1] in _ATOMICS:
            return self._atomic(cursor, _ATOMICS[atomic[1]], arguments, wanted)
        if name in _LOADS:
            pointer = self.rvalue(arguments[0])
            return self.load(self.dereference(pointer, self.ctype(cursor)), self.span_of(cursor))
        if name in _STORES:
            return self._hinted_store(cursor, arguments)
        if self._namespace(callee) == "cooperative_groups":
            raise self.refuse(cursor, "TM1109")
        for pattern, code in _REFUSED:
            if re.match(pattern, name):
                raise self.refuse(cursor, code)
        if name in ("__builtin_expect",):
            return self.rvalue(arguments[0])
        if re.match(r"__builtin_(huge_val|inf|nan|nans)[fl]?$", name):
            return self._constant(cursor)
        if name.startswith("make_") and isinstance(self.ctype(cursor), RecordType):
            return self._make_vector(cursor, arguments)
        if self._namespace(callee) == "std" and name in ("min", "max") and len(arguments) == 2:
            return self._std_minmax(cursor, name, arguments)
        if name in ("move", "forward") and self._namespace(callee) == "std":
            return self.lvalue(arguments[0])
        if name in ("swap",) and len(arguments) == 2:
            return self._swap(cursor, arguments)
        if name in ("sincos", "sincosf", "__sincosf"):
            return self._sincos(cursor, arguments, fast=name.startswith("__"))
        return self._operation(cursor, name, callee, arguments)

    def _is_zero(self, cursor: Any) -> bool:
        value = as_expr(self.rvalue(cursor))
        return isinstance(value, Const) and value.value == 0

    def _namespace(self, callee: Any) -> str:
        parent = callee.semantic_parent
        while parent is not None and parent.kind == K.NAMESPACE:
            if not parent.spelling.startswith("_"):
                return str(parent.spelling)
            parent = parent.semantic_parent
        return ""

    def values(self, arguments: list[Any]) -> list[Value]:
        """Evaluate call arguments left to right."""
        result: list[Value] = []
        for argument in arguments:
            mark = len(self.out)
            value = self.rvalue(argument)
            if len(self.out) > mark:
                result = self._protect_all(result, mark)
            result.append(value)
        return result

    def _protect_all(self, values: list[Value], mark: int) -> list[Value]:
        kept = []
        for value in values:
            before = len(self.out)
            kept.append(value if self.stable_value(value) else self.snapshot(value, at=mark))
            mark += len(self.out) - before
        return kept

    def _atomic(self, cursor: Any, op: AtomicOp, arguments: list[Any], wanted: bool) -> Value:
        pointer, *rest = self.values(arguments)
        type_ = self.ctype(cursor)
        if not isinstance(type_, ScalarType):
            raise self.refuse(cursor, "TM1104", "this atomic's type is not supported")
        if not isinstance(pointer, MemoryPointer):
            raise self.refuse(cursor, "TM1004", "an atomic on a local variable")
        place = self.dereference(pointer, type_)
        assert isinstance(place, MemoryPlace)
        buffer, indices = self.element(place.address, type_)
        converted = tuple(fold_cast(as_expr(v), type_) for v in rest)
        result = self.local("old", type_, fixed=True) if wanted else None
        span = self.span_of(cursor)
        name = result.name if result else None
        self.emit(AtomicRMW(op, buffer, indices, converted, name, span))
        return result if result else VoidValue()

    def _hinted_store(self, cursor: Any, arguments: list[Any]) -> Value:
        pointer, value = self.values(arguments)
        type_ = self.ctype(arguments[0])
        if not isinstance(type_, PointerType):
            raise self.refuse(cursor, "TM1004")
        place = self.dereference(pointer, type_.pointee)
        self.store(place, self.convert(value, type_.pointee), self.span_of(cursor))
        return VoidValue()

    def _make_vector(self, cursor: Any, arguments: list[Any]) -> Value:
        type_ = self.ctype(cursor)
        assert isinstance(type_, RecordType)
        if len(arguments) != len(type_.fields):
            raise self.refuse(cursor, "TM1104")
        values = self.values(arguments)
        return RecordValue(
            type_,
            {f.name: self.convert(v, f.type) for f, v in zip(type_.fields, values, strict=True)},
        )

    def _std_minmax(self, cursor: Any, name: str, arguments: list[Any]) -> Place:
        type_ = self.ctype(cursor)
        if not isinstance(type_, ScalarType):
            raise self.refuse(cursor, "TM1104")
        places: list[Place] = []
        for argument in arguments:
            places.append(self.lvalue(argument))
        mark = len(self.out)
        a, b = (self.convert(self.load(p), type_) for p in places)
        assert len(self.out) == mark
        a_expr, b_expr = as_expr(self.snapshot(a)), as_expr(self.snapshot(b))
        # std::min is (b < a) ? b : a and std::max is (a < b) ? b : a, also for NaN.
        left, right = (b_expr, a_expr) if name == "min" else (a_expr, b_expr)
        cond = Compare(CompareOp.LT, left, right, BOOL, self.span_of(cursor))
        return ValuePlace(Select(cond, b_expr, a_expr, type_, self.span_of(cursor)), type_)

    def _swap(self, cursor: Any, arguments: list[Any]) -> Value:
        a, b = (self.fixed_place(self.lvalue(x)) for x in arguments)
        old = self.snapshot(self.load(a))
        self.store(a, self.load(b), self.span_of(cursor))
        self.store(b, old, self.span_of(cursor))
        return VoidValue()

    def _sincos(self, cursor: Any, arguments: list[Any], fast: bool) -> Value:
        x, sin_pointer, cos_pointer = self.values(arguments)
        type_ = F64 if cursor.spelling == "sincos" else F32
        prefix = "fast_" if fast else ""
        angle = as_expr(self.snapshot(self.convert(x, type_)))
        for pointer, name in ((sin_pointer, "sin"), (cos_pointer, "cos")):
            value = Call(prefix + name, (angle,), type_, self.span_of(cursor))
            self.store(self.dereference(pointer, type_), value, self.span_of(cursor))
        return VoidValue()

    def _operation(self, cursor: Any, name: str, callee: Any, arguments: list[Any]) -> Value | None:
        """Return the value of a pure function of scalars."""
        build = self._builder(cursor, name, callee)
        if build is None:
            return None
        values = [as_expr(v) for v in self.values(arguments)]
        return self.convert(build(values), self.ctype(cursor))

    def _builder(self, cursor: Any, name: str, callee: Any) -> Callable[[list[Expr]], Expr] | None:
        span = self.span_of(cursor)
        if name in _BITS:
            source, target = _BITS[name]
            return lambda v: Bitcast(fold_cast(v[0], source), target, span)
        if m := re.fullmatch(r"__(f|d)(add|sub|mul|div)_rn", name):
            type_ = F32 if m[1] == "f" else F64
            op = _ROUNDED[m[2]]
            return lambda v: Binary(op, fold_cast(v[0], type_), fold_cast(v[1], type_), type_, span)
        if m := re.fullmatch(r"__(f|d)rcp_rn", name):
            type_ = F32 if m[1] == "f" else F64
            one = Const(1.0, type_)
            return lambda v: Binary(BinaryOp.DIV, one, fold_cast(v[0], type_), type_, span)
        if name == "__frsqrt_rn":
            return lambda v: fold_cast(
                Binary(
                    BinaryOp.DIV,
                    Const(1.0, F64),
                    Call("sqrt", (fold_cast(fold_cast(v[0], F32), F64),), F64, span),
                    F64,
                    span,
                ),
                F32,
            )
        if m := _CONVERSIONS.fullmatch(name):
            return self._conversion(m, span)
        if name == "__hiloint2double":
            return lambda v: _pack_double(v[0], v[1])
        if name in ("__double2hiint", "__double2loint"):
            shift = 32 if name == "__double2hiint" else 0
            return lambda v: _half_of_double(v[0], shift)
        return self._intrinsic(cursor, name, callee, span)

    def _conversion(self, m: re.Match[str], span: Any) -> Callable[[list[Expr]], Expr] | None:
        source, target, mode = _CONVERTED[m[1]], _CONVERTED[m[2]], m[3]
        if source.is_float and target.is_integer:
            if mode is None:
                return None
            rounding = _ROUND_TO_INT[mode]
            return lambda v: self._saturating(
                Call(rounding, (fold_cast(fold_cast(v[0], source), F64),), F64, span), target
            )
        if target.is_float and mode in ("_rz", "_rd", "_ru"):
            return None
        return lambda v: fold_cast(fold_cast(v[0], source), target)

    def _saturating(self, rounded: Expr, target: ScalarType) -> Expr:
        """Convert an integral double as the hardware does: clamped, NaN to a fixed value."""
        value = self.copy(rounded, "rounded")
        low = -(1 << (target.bits - 1)) if target.kind is Kind.INT else 0
        high = low + (1 << target.bits) - 1
        nan = 0 if target.bits < 64 else low if target.kind is Kind.INT else 1 << 63

        def choose(op: CompareOp, bound: Expr, result: int, orelse: Expr) -> Expr:
            cond = Compare(op, value, bound, BOOL)
            return Select(cond, Const(result, target), orelse, target)

        expr: Expr = fold_cast(value, target)
        expr = choose(CompareOp.GE, Const(float(high), F64), high, expr)
        expr = choose(CompareOp.LE, Const(float(low), F64), low, expr)
        return choose(CompareOp.NE, value, nan, expr)

    def _intrinsic(
        self, cursor: Any, name: str, callee: Any, span: Any
    ) -> Callable[[list[Expr]], Expr] | None:
        spelled = name.removeprefix("__builtin_") if name.startswith("__builtin_") else name
        if spelled not in CUDA_SPELLINGS:
            return self._fabs_like(spelled, callee, span)
        row, type_ = CUDA_SPELLINGS[spelled]
        if type_ is None:
            found = self._operand_type(callee, spelled, row.types)
            if found is None:
                return self._fabs_like(spelled, callee, span)
            type_ = found
        chosen = type_

        def build(values: list[Expr]) -> Expr:
            if len(values) != row.arity:
                raise self.refuse(cursor, "TM1104")
            arguments = tuple(
                fold_cast(v, row.operand_type(i, chosen)) for i, v in enumerate(values)
            )
            return Call(row.name, arguments, row.result_type(chosen), span)

        return build

    def _operand_type(
        self, callee: Any, name: str, allowed: tuple[ScalarType, ...]
    ) -> ScalarType | None:
        """Choose the instance of an overloaded intrinsic from the types the call converts to."""
        result = self.types.of(callee.result_type)
        parameters = [self.types.of(t) for t in callee.type.get_canonical().argument_types()]
        if F64 in allowed and F32 in allowed:
            # std::pow(double, int) and the like promote: the result tells, or the operands.
            if result in (F32, F64):
                return result
            floats = [p for p in parameters if p in (F32, F64)]
            if floats:
                return F64 if F64 in floats else F32
            return None
        if not isinstance(result, ScalarType) or not parameters:
            return None
        if result in allowed and not name.startswith(("__popc", "__clz", "__ffs")):
            return result
        first = parameters[0]
        if isinstance(first, ScalarType) and first.is_integer:
            wide = U64 if first.bits == 64 else U32
            return wide if wide in allowed else None
        return None

    def _fabs_like(self, name: str, callee: Any, span: Any) -> Callable[[list[Expr]], Expr] | None:
        """``min max abs`` of floats are ``fmin fmax fabs``."""
        result = self.types.of(callee.result_type)
        floats = {"min": "fmin", "max": "fmax", "abs": "fabs"}
        if name in floats and isinstance(result, ScalarType) and result in (F32, F64):
            chosen = floats[name]
            return lambda v: Call(chosen, tuple(fold_cast(x, result) for x in v), result, span)
        return None


def _pack_double(high: Expr, low: Expr) -> Expr:
    top = Binary(BinaryOp.SHL, fold_cast(fold_cast(high, U32), U64), Const(32, U64), U64)
    return Bitcast(Binary(BinaryOp.OR, top, fold_cast(fold_cast(low, U32), U64), U64), F64)


def _half_of_double(value: Expr, shift: int) -> Expr:
    bits: Expr = Bitcast(value, U64)
    if shift:
        bits = Binary(BinaryOp.SHR, bits, Const(shift, U64), U64)
    return fold_cast(fold_cast(bits, U32), I32)
