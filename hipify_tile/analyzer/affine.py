"""Affine access analysis: integer expressions as polynomials over axes and symbols.

``row * K + k`` becomes ``{row·K: 1, k: 1}``: linear in the axes ``row`` and ``k`` with the symbolic
coefficient ``K``. The polynomial is over the mathematical integers, C arithmetic is modulo
``2**bits``; the two agree only where the value fits. Nothing is assumed silently: each place
where they must agree is an *obligation* (a polynomial and the type that must hold it), and
``obligation_conditions`` turns obligations into run-time conditions over parameters. Inside one
type no condition is needed, because ``+ - *`` commute with the wrap-around.

Does not handle: division, remainder, right shifts, bitwise operators, loads, floats (no form:
None).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

from hipify_tile.ir.expr import (
    Binary,
    BinaryOp,
    Call,
    Cast,
    Compare,
    CompareOp,
    Const,
    Expr,
    Unary,
    UnaryOp,
    Var,
)
from hipify_tile.ir.stmt import Axis
from hipify_tile.ir.types import F64, Kind, ScalarType

Monomial = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Polynomial:
    """A sum of integer multiples of products of names; ``terms`` sorted, no zero coefficients."""

    terms: tuple[tuple[Monomial, int], ...] = ()

    @staticmethod
    def of(terms: Mapping[Monomial, int]) -> Polynomial:
        """Normalise a mapping of monomials (sorted names) to coefficients."""
        return Polynomial(tuple(sorted((m, c) for m, c in terms.items() if c)))

    @staticmethod
    def constant(value: int) -> Polynomial:
        """The polynomial ``value``."""
        return Polynomial.of({(): value})

    @staticmethod
    def name(name: str) -> Polynomial:
        """The polynomial ``name``."""
        return Polynomial.of({(name,): 1})

    def __add__(self, other: Polynomial) -> Polynomial:
        terms = dict(self.terms)
        for monomial, coefficient in other.terms:
            terms[monomial] = terms.get(monomial, 0) + coefficient
        return Polynomial.of(terms)

    def __neg__(self) -> Polynomial:
        return Polynomial(tuple((m, -c) for m, c in self.terms))

    def __sub__(self, other: Polynomial) -> Polynomial:
        return self + -other

    def __mul__(self, other: Polynomial) -> Polynomial:
        terms: dict[Monomial, int] = {}
        for m1, c1 in self.terms:
            for m2, c2 in other.terms:
                monomial = tuple(sorted((*m1, *m2)))
                terms[monomial] = terms.get(monomial, 0) + c1 * c2
        return Polynomial.of(terms)

    def names(self) -> set[str]:
        """All names that occur."""
        return {name for monomial, _ in self.terms for name in monomial}

    def coefficient(self, name: str) -> Polynomial | None:
        """The factor of ``name``; None if the polynomial is not linear in it."""
        terms: dict[Monomial, int] = {}
        for monomial, coefficient in self.terms:
            match monomial.count(name):
                case 0:
                    continue
                case 1:
                    rest = list(monomial)
                    rest.remove(name)
                    terms[tuple(rest)] = coefficient
                case _:
                    return None
        return Polynomial.of(terms)

    def divide(self, divisor: Polynomial) -> Polynomial | None:
        """The exact quotient by a one-term ``divisor``; None where there is none."""
        if len(divisor.terms) != 1:
            return Polynomial.constant(1) if self == divisor else None
        ((by, factor),) = divisor.terms
        terms: dict[Monomial, int] = {}
        for monomial, coefficient in self.terms:
            rest = list(monomial)
            for name in by:
                if name not in rest:
                    return None
                rest.remove(name)
            if coefficient % factor:
                return None
            terms[tuple(rest)] = coefficient // factor
        return Polynomial.of(terms)

    @property
    def value(self) -> int | None:
        """The value of a constant polynomial, else None."""
        if not self.terms:
            return 0
        return self.terms[0][1] if self.terms[0][0] == () and len(self.terms) == 1 else None


ONE = Polynomial.constant(1)


@dataclass(frozen=True, slots=True)
class Obligation:
    """``value`` must lie in the range of ``type`` for C arithmetic to agree with the polynomial."""

    value: Polynomial
    type: ScalarType


@dataclass(frozen=True, slots=True)
class Form:
    """A polynomial that equals an expression wherever all ``obligations`` hold."""

    value: Polynomial
    obligations: tuple[Obligation, ...] = ()


def integer_form(expr: Expr) -> Form | None:
    """Return the form of an integer expression, with the obligation of its own type; or None."""
    form = _form(expr)
    if form is None:
        return None
    match expr:
        case Const() | Var():
            return form
        case _:
            return Form(form.value, (*form.obligations, Obligation(form.value, expr.type)))


def _form(expr: Expr) -> Form | None:
    if not expr.type.is_integer:
        return None
    match expr:
        case Const():
            return Form(Polynomial.constant(int(expr.value)))
        case Var():
            return Form(Polynomial.name(expr.name))
        case Cast():
            widens = expr.type.bits > expr.operand.type.bits
            return integer_form(expr.operand) if widens else _form(expr.operand)
        case Unary(op=UnaryOp.NEG):
            operand = _form(expr.operand)
            return None if operand is None else Form(-operand.value, operand.obligations)
        case Binary(op=BinaryOp.SHL, rhs=Const(value=count)):
            lhs = _form(expr.lhs)
            if lhs is None or not 0 <= int(count) < expr.type.bits:
                return None
            return Form(lhs.value * Polynomial.constant(1 << int(count)), lhs.obligations)
        case Binary(op=BinaryOp.ADD | BinaryOp.SUB | BinaryOp.MUL):
            left, right = _form(expr.lhs), _form(expr.rhs)
            if left is None or right is None:
                return None
            match expr.op:
                case BinaryOp.ADD:
                    value = left.value + right.value
                case BinaryOp.SUB:
                    value = left.value - right.value
                case _:
                    value = left.value * right.value
            return Form(value, (*left.obligations, *right.obligations))
        case _:
            return None


def upper_bounds(extent: Expr) -> tuple[Form, ...]:
    """The forms that an axis of this ``extent`` stays below (the arguments of a ``min``)."""
    match extent:
        case Call(name="min"):
            return tuple(form for arg in extent.args for form in upper_bounds(arg))
        case _:
            form = integer_form(extent)
            return () if form is None else (form,)


@dataclass(frozen=True, slots=True)
class Dimension:
    """One dimension of a delinearised access: its axis and the distance between its steps."""

    axis: str
    stride: Polynomial


@dataclass(frozen=True, slots=True)
class Delinearized:
    """``offset + Σ stride · axis`` as a multi-dimensional access, outermost dimension first.

    ``pitches`` are ``(axis, pitch)``: the access is injective over the axes if the extent of each
    such axis is at most its pitch and all ``strides`` are positive.
    """

    dimensions: tuple[Dimension, ...]
    pitches: tuple[tuple[str, Polynomial], ...]
    offset: Polynomial


def delinearize(access: Polynomial, axes: Iterable[str]) -> Delinearized | None:
    """``row*N + col`` over (row, col) → dimensions (row, stride N), (col, stride 1), pitch col ≤ N.

    None when an axis does not occur, occurs non-linearly or with a coefficient that holds another
    axis, or when the strides do not divide one another.
    """
    names = list(axes)
    strides: dict[str, Polynomial] = {}
    for name in names:
        stride = access.coefficient(name)
        if stride is None or not stride.terms or stride.names() & set(names):
            return None
        strides[name] = stride
    ordered = sorted(names, key=lambda n: _weight(strides[n]))
    pitches: list[tuple[str, Polynomial]] = []
    for inner, outer in pairwise(ordered):
        pitch = strides[outer].divide(strides[inner])
        if pitch is None or pitch == ONE:
            return None
        pitches.append((inner, pitch))
    offset = access
    for name in names:
        offset = offset - strides[name] * Polynomial.name(name)
    dimensions = tuple(Dimension(n, strides[n]) for n in reversed(ordered))
    return Delinearized(dimensions, tuple(reversed(pitches)), offset)


def _weight(stride: Polynomial) -> tuple[int, int]:
    """Order strides by degree, then by size: ``1 < 4 < N < N·H``."""
    degree = max(len(monomial) for monomial, _ in stride.terms)
    return degree, max(abs(coefficient) for _, coefficient in stride.terms)


def real_expr(value: Polynomial, types: Mapping[str, ScalarType]) -> Expr:
    """``value`` as a float64 expression over parameters: no wrap-around in a condition."""
    total: Expr | None = None
    for monomial, coefficient in value.terms:
        product: Expr = Const(float(coefficient), F64)
        for name in monomial:
            factor = Cast(Var(name, types[name]), F64)
            product = factor if product == Const(1.0, F64) else _f64(BinaryOp.MUL, product, factor)
        total = product if total is None else _f64(BinaryOp.ADD, total, product)
    return Const(0.0, F64) if total is None else total


def at_most(value: Expr, limit: Expr) -> Compare:
    """The condition ``value <= limit`` on float64 operands."""
    return Compare(CompareOp.LE, value, limit)


def obligation_conditions(
    obligations: Iterable[Obligation], axes: Iterable[Axis], types: Mapping[str, ScalarType]
) -> tuple[Expr, ...] | None:
    """Conditions on parameters under which every obligation holds at every point of ``axes``.

    Each axis ranges over ``0 … extent-1``. Symbolic factors of an axis must be non-negative,
    which is itself a condition. None if a value is not linear in an axis or names something
    unknown.
    """
    extents = {axis.var.name: axis.extent for axis in axes}
    conditions: dict[Expr, None] = {}
    for obligation in dict.fromkeys(obligations):
        if _held_by_own_type(obligation, types):
            continue
        bounds = _interval(obligation.value, extents, types, conditions)
        if bounds is None:
            return None
        low, high = bounds
        minimum, maximum = type_range(obligation.type)
        for condition in (
            at_most(Const(float(minimum), F64), low),
            at_most(high, Const(float(maximum), F64)),
        ):
            if not _trivial(condition):
                conditions[condition] = None
    return tuple(conditions)


def _held_by_own_type(obligation: Obligation, types: Mapping[str, ScalarType]) -> bool:
    match obligation.value.terms:
        case (((name,), 1),) if name in types:
            low, high = type_range(types[name])
            minimum, maximum = type_range(obligation.type)
            return minimum <= low and high <= maximum
        case _:
            return False


def type_range(dtype: ScalarType) -> tuple[int, int]:
    """Range of an integer type, cut to the 53 bits that a double holds: conditions use doubles."""
    bits = min(dtype.bits, 53)
    if dtype.kind is Kind.UINT:
        return 0, (1 << bits) - 1
    return -(1 << (bits - 1)), (1 << (bits - 1)) - 1


def _interval(
    value: Polynomial,
    extents: Mapping[str, Expr],
    types: Mapping[str, ScalarType],
    conditions: dict[Expr, None],
) -> tuple[Expr, Expr] | None:
    low: Expr = Const(0.0, F64)
    high: Expr = Const(0.0, F64)
    zero = Const(0.0, F64)
    for monomial, coefficient in value.terms:
        axes = [name for name in monomial if name in extents]
        symbols = tuple(name for name in monomial if name not in extents)
        if len(set(axes)) != len(axes) or any(s not in types for s in symbols):
            return None
        factor = real_expr(Polynomial.of({symbols: abs(coefficient)}), types)
        if not axes:
            exact = factor if coefficient > 0 else _f64(BinaryOp.SUB, zero, factor)
            low, high = _f64(BinaryOp.ADD, low, exact), _f64(BinaryOp.ADD, high, exact)
            continue
        for symbol in symbols:
            conditions[at_most(zero, Cast(Var(symbol, types[symbol]), F64))] = None
        reach = factor
        for axis in axes:
            last = _f64(BinaryOp.SUB, Cast(extents[axis], F64), Const(1.0, F64))
            reach = _f64(BinaryOp.MUL, reach, last)
        if coefficient > 0:
            high = _f64(BinaryOp.ADD, high, reach)
        else:
            low = _f64(BinaryOp.SUB, low, reach)
    return low, high


def _f64(op: BinaryOp, lhs: Expr, rhs: Expr) -> Expr:
    if op is not BinaryOp.MUL and rhs == Const(0.0, F64):
        return lhs
    if op is BinaryOp.ADD and lhs == Const(0.0, F64):
        return rhs
    if isinstance(lhs, Const) and isinstance(rhs, Const):
        a, b = float(lhs.value), float(rhs.value)
        match op:
            case BinaryOp.ADD:
                return Const(a + b, F64)
            case BinaryOp.SUB:
                return Const(a - b, F64)
            case BinaryOp.MUL:
                return Const(a * b, F64)
    return Binary(op, lhs, rhs, F64)


def _trivial(condition: Compare) -> bool:
    return (
        isinstance(condition.lhs, Const)
        and isinstance(condition.rhs, Const)
        and float(condition.lhs.value) <= float(condition.rhs.value)
    )
