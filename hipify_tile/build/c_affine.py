"""What an expression of TileLang's C output is in one variable: a base plus a step, and its type.

int32 arithmetic wraps (the objects are compiled with ``-fwrapv``): a step is exact modulo 2^32, and
``checks`` names the int32 values that must be shown not to wrap where 64 bits are computed instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from hipify_tile.build.c_tree import (
    Address,
    Binary,
    C,
    Call,
    Cast,
    Index,
    Name,
    Number,
    Pun,
    Select,
    Unary,
    mentioned,
    text,
    walk,
)

INT32, INT64 = "int32_t", "int64_t"
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
_SMALL = frozenset(("bool", "int8_t", "uint8_t", "int16_t", "uint16_t"))


@dataclass(frozen=True, slots=True)
class Linear:
    """``base + step * (var - start)``: the step, and values below that must not wrap."""

    step: int | C
    checks: tuple[C, ...] = ()


def number(expr: C) -> int | None:
    """The value of an integer literal, signed or cast."""
    match expr:
        case Number(text=value) if value.isdigit():
            return int(value)
        case Unary(op="-", operand=operand):
            found = number(operand)
            return None if found is None else -found
        case Cast(type="int32_t" | "int64_t", operand=operand):
            return number(operand)
        case _:
            return None


def literal(value: int) -> C:
    """The expression for an int32 value."""
    return Number(str(value)) if value >= 0 else Unary("-", Number(str(-value)))


def type_of(expr: C, types: Mapping[str, str]) -> str:
    """The C type of ``expr``, "" where it is not known."""
    match expr:
        case Number(text=value):
            if value.isdigit():
                return INT32 if int(value) < 2**31 else INT64
            return "float" if value.endswith("f") else "double"
        case Name(name=name):
            return types.get(name, "")
        case Index(array=array):
            return types.get(array, "")
        case Cast(type=type_) | Pun(type=type_):
            return type_
        case Unary(op="!"):
            return INT32
        case Unary(operand=operand):
            return _promoted(type_of(operand, types))
        case Binary(op=op) if op in COMPARISONS or op in ("&&", "||"):
            return INT32
        case Binary(op="<<" | ">>", lhs=lhs):
            return _promoted(type_of(lhs, types))
        case Binary(lhs=lhs, rhs=rhs) | Select(then=lhs, orelse=rhs):
            return _common(type_of(lhs, types), type_of(rhs, types))
        case _:
            return ""


def _promoted(type_: str) -> str:
    return INT32 if type_ in _SMALL else type_


def _common(a: str, b: str) -> str:
    a, b = _promoted(a), _promoted(b)
    if a == b:
        return a
    if {a, b} == {INT32, INT64} or {a, b} == {"uint32_t", INT64}:
        return INT64
    if {a, b} == {INT32, "uint32_t"}:
        return "uint32_t"
    return ""


def is_invariant(expr: C, changing: AbstractSet[str]) -> bool:
    """Whether the value is the same while no name of ``changing`` is written, without memory."""
    return all(map(_is_pure, walk(expr))) and not mentioned(expr) & changing


def _is_pure(expr: C) -> bool:
    """Whether evaluating ``expr`` itself, maybe earlier and once too often, does no harm."""
    match expr:
        case Index() | Call() | Pun() | Address():
            return False
        case Binary(op="/" | "%", rhs=rhs):
            divisor = number(rhs)
            return divisor is not None and divisor > 0
        case _:
            return True


def linear(
    expr: C, var: str, types: Mapping[str, str], changing: AbstractSet[str]
) -> Linear | None:
    """``expr`` as a linear function of ``var`` where the names in ``changing`` vary; else None."""
    if type_of(expr, types) not in (INT32, INT64):
        return None
    if var not in mentioned(expr):
        return Linear(0) if is_invariant(expr, changing) else None
    match expr:
        case Name():
            return Linear(1)
        case Unary(op="-", operand=operand):
            found = linear(operand, var, types, changing)
            return found and Linear(_times(-1, found.step), found.checks)
        case Cast(type=type_, operand=operand):
            inner = type_of(operand, types)
            found = linear(operand, var, types, changing)
            if found is None or ((type_ == INT32) != (inner == INT32) and type_ != INT64):
                return None
            widened = type_ == INT64 and inner == INT32 and operand != Name(var)
            return Linear(found.step, (*found.checks, operand) if widened else found.checks)
        case Binary(op="+" | "-" as op, lhs=lhs, rhs=rhs):
            return _sum(expr, op, lhs, rhs, var, types, changing)
        case Binary(op="*", lhs=lhs, rhs=rhs):
            if var in mentioned(lhs) and var in mentioned(rhs):
                return None
            factor, other = (rhs, lhs) if var in mentioned(lhs) else (lhs, rhs)
            found = linear(other, var, types, changing)
            if found is None or not is_invariant(factor, changing):
                return None
            checks = (*found.checks, *_widened(expr, (other,), var, types))
            known = number(factor)
            return Linear(_times(factor if known is None else known, found.step), checks)
        case _:
            return None


def _sum(
    expr: C,
    op: str,
    lhs: C,
    rhs: C,
    var: str,
    types: Mapping[str, str],
    changing: AbstractSet[str],
) -> Linear | None:
    sides = [linear(side, var, types, changing) for side in (lhs, rhs)]
    if sides[0] is None or sides[1] is None:
        return None
    left, right = sides[0], sides[1]
    step = right.step if op == "+" else _times(-1, right.step)
    checks = (*left.checks, *right.checks, *_widened(expr, (lhs, rhs), var, types))
    if isinstance(left.step, int) and isinstance(step, int):
        return Linear(left.step + step, checks)
    if step == 0 or left.step == 0:
        return Linear(left.step if step == 0 else step, checks)
    return Linear(Binary("+", _wide(left.step), _wide(step)), checks)


def _widened(expr: C, operands: tuple[C, ...], var: str, types: Mapping[str, str]) -> tuple[C, ...]:
    """The int32 operands that C itself widens to int64."""
    if type_of(expr, types) != INT64:
        return ()
    return tuple(
        o for o in operands if var in mentioned(o) and o != Name(var) and type_of(o, types) == INT32
    )


def _wide(step: int | C) -> C:
    return Cast(INT64, literal(step) if isinstance(step, int) else step)


def _times(a: int | C, b: int | C) -> int | C:
    if isinstance(a, int) and isinstance(b, int):
        return a * b
    if a == 1:
        return b
    if b == 1:
        return a
    if a == 0 or b == 0:
        return 0
    return Binary("*", _wide(a), _wide(b))


def step_text(step: int | C) -> str:
    """The step as C++ text of type int64_t."""
    return f"INT64_C({step})" if isinstance(step, int) else f"(int64_t)({text(step)})"


def typical(expr: C, values: Mapping[str, int]) -> int | None:
    """The value of ``expr`` in the middle of a large problem, a guess; None: none."""
    match expr:
        case Number(text=value) if value.isdigit():
            return int(value)
        case Name(name=name):
            return values.get(name, 1 << 20)
        case Unary(op=op, operand=operand):
            a = typical(operand, values)
            if a is None:
                return None
            return {"-": -a, "!": int(not a)}.get(op)
        case Cast(type=type_, operand=operand) if "int" in type_:
            return typical(operand, values)
        case Select(cond=cond, then=then, orelse=orelse):
            a = typical(cond, values)
            return None if a is None else typical(then if a else orelse, values)
        case Binary(op=op, lhs=lhs, rhs=rhs):
            a, b = typical(lhs, values), typical(rhs, values)
            return None if a is None or b is None else _apply(op, a, b)
        case _:
            return None


def _apply(op: str, a: int, b: int) -> int | None:
    if op in ("/", "%"):
        return None if b == 0 else a // b if op == "/" else a % b
    if op in ("<<", ">>"):
        return (a << b if op == "<<" else a >> b) if 0 <= b < 64 else None
    results = {
        "+": a + b, "-": a - b, "*": a * b, "&": a & b, "|": a | b, "^": a ^ b,
        "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b, "==": a == b, "!=": a != b,
        "&&": bool(a and b), "||": bool(a or b),
    }  # fmt: skip
    return int(results[op])
