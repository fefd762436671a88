"""What a kernel does with its scalars and buffers, as far as drawing inputs needs it.

A flow-insensitive taint analysis over ``simt.Kernel``: which loads and scalars flow into indices,
loop bounds, divisors and comparisons. The answers steer the search for inputs; no verdict rests
on them, except ``float_atomics``, which over-approximates.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from hipify_tile.ir.expr import (
    Binary,
    BinaryOp,
    Cast,
    Compare,
    Const,
    Expr,
    Index,
    Load,
    Select,
    Var,
    children,
    walk,
)
from hipify_tile.ir.simt import Kernel, Scope
from hipify_tile.ir.stmt import (
    Assign,
    AtomicOp,
    AtomicRMW,
    For,
    Stmt,
    Store,
    While,
    exprs,
    walk_stmts,
)

_POSITION = "#index"


@dataclass(frozen=True, slots=True)
class Roles:
    """Uses of each scalar leaf and buffer, by name.

    ``sizes``: scalars that bound an index or a loop, or take part in an index. ``divisors`` and
    ``shifts``: right operands of ``/ %`` and of shifts. ``constants``: literals a scalar is
    compared with. ``tested``: values at which a test that is the same for all threads may turn.
    ``index_of``: integer buffers whose elements flow into an index, with the buffers indexed (""
    for a loop bound). ``float_atomics``: storages that floating-point atomics may change, and all
    that is computed from them.
    """

    sizes: frozenset[str]
    divisors: frozenset[str]
    shifts: frozenset[str]
    constants: dict[str, frozenset[int | float]]
    tested: dict[str, frozenset[int | float]]
    index_of: dict[str, frozenset[str]]
    float_atomics: frozenset[str]
    shared_shapes: tuple[tuple[int, ...], ...]
    fixed_block: bool
    written: frozenset[str]


@dataclass(slots=True)
class _Taint:
    """Sources (scalars, buffers and ``_POSITION``) that flow into each local and storage."""

    scalars: frozenset[str]
    buffers: dict[str, str]
    flow: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def of(self, expr: Expr) -> set[str]:
        match expr:
            case Var():
                known = self.flow.get(expr.name, set())
                return known | {expr.name} if expr.name in self.scalars else set(known)
            case Index():
                return {_POSITION}
            case Load():
                storage = self.buffers[expr.buffer]
                return {storage} | self.flow.get(storage, set())
            case Compare():
                return set()
            case Select():
                return self.of(expr.then) | self.of(expr.orelse)
            case _:
                out: set[str] = set()
                for child in children(expr):
                    out |= self.of(child)
                return out

    def add(self, target: str, sources: set[str]) -> bool:
        before = len(self.flow[target])
        self.flow[target] |= sources
        return len(self.flow[target]) != before

    def step(self, stmt: Stmt) -> bool:
        match stmt:
            case Assign():
                return self.add(stmt.target, self.of(stmt.value))
            case Store():
                return self.add(self.buffers[stmt.buffer], self.of(stmt.value))
            case AtomicRMW():
                storage = self.buffers[stmt.buffer]
                sources: set[str] = set()
                for operand in stmt.operands:
                    sources |= self.of(operand)
                changed = self.add(storage, sources)
                if stmt.result is not None:
                    changed |= self.add(stmt.result, {storage} | self.flow[storage])
                return changed
            case For():
                return self.add(stmt.var.name, self.of(stmt.start) | {_POSITION})
            case _:
                return False


def roles_of(kernel: Kernel) -> Roles:
    """Analyse ``kernel``."""
    storages = {b.name: b.storage or b.name for b in kernel.buffers}
    scalars = frozenset(p.name for p in kernel.params if not p.pointer)
    taint = _Taint(scalars, storages)
    stmts = tuple(walk_stmts(kernel.body))
    while any([taint.step(s) for s in stmts]):
        pass

    sizes: set[str] = set()
    divisors: set[str] = set()
    shifts: set[str] = set()
    constants: dict[str, set[int | float]] = defaultdict(set)
    tested: dict[str, set[int | float]] = defaultdict(set)
    index_of: dict[str, set[str]] = defaultdict(set)
    buffer_names = set(storages.values())

    def indexes(expr: Expr, target: str) -> None:
        for source in taint.of(expr):
            if source in scalars:
                sizes.add(source)
            elif source in buffer_names:
                index_of[source].add(target)

    float_atomics: set[str] = set()
    for stmt in stmts:
        match stmt:
            case For():
                indexes(stmt.start, "")
                indexes(stmt.stop, "")
            case While():
                for node in walk(stmt.cond):
                    if isinstance(node, Compare) and not node.lhs.type.is_float:
                        indexes(node.lhs, "")
                        indexes(node.rhs, "")
            case Store() | AtomicRMW():
                for i in stmt.indices:
                    indexes(i, storages[stmt.buffer])
                if isinstance(stmt, AtomicRMW):
                    is_sum = stmt.op in (AtomicOp.ADD, AtomicOp.SUB, AtomicOp.CAS, AtomicOp.EXCH)
                    if is_sum and (
                        kernel.buffer(stmt.buffer).dtype.is_float or stmt.op is AtomicOp.CAS
                    ):
                        float_atomics.add(storages[stmt.buffer])
            case _:
                pass
        for top in exprs(stmt):
            for node in walk(top):
                match node:
                    case Load():
                        for i in node.indices:
                            indexes(i, storages[node.buffer])
                    case Binary(op=BinaryOp.DIV | BinaryOp.REM):
                        divisors |= taint.of(node.rhs) & scalars
                    case Binary(op=BinaryOp.SHL | BinaryOp.SHR):
                        shifts |= taint.of(node.rhs) & scalars
                    case Compare():
                        _compared(node, taint, scalars, sizes, constants)
                        _turned(node, taint, scalars, tested)
                    case _:
                        pass

    changed = set(float_atomics)
    while True:
        more = {n for n, sources in taint.flow.items() if sources & changed} - changed
        if not more:
            break
        changed |= more
    changed |= {b.symbol for b in kernel.buffers if b.symbol and storages[b.name] in changed}
    shared = tuple(b for b in kernel.buffers if b.scope is Scope.SHARED)
    shared_by_thread = bool(shared) or any(
        b.scope is Scope.LOCAL and len(b.shape) > 0 for b in kernel.buffers
    )
    return Roles(
        frozenset(sizes),
        frozenset(divisors),
        frozenset(shifts),
        {k: frozenset(v) for k, v in constants.items()},
        {k: frozenset(v) for k, v in tested.items()},
        {k: frozenset(v) for k, v in index_of.items()},
        frozenset(changed),
        tuple(b.shape for b in shared),
        shared_by_thread or any(b.scope is Scope.DYNAMIC_SHARED for b in kernel.buffers),
        frozenset(storages[b.name] for b in kernel.buffers if b.written),
    )


def _compared(
    node: Compare,
    taint: _Taint,
    scalars: frozenset[str],
    sizes: set[str],
    constants: dict[str, set[int | float]],
) -> None:
    for side, other in ((node.lhs, node.rhs), (node.rhs, node.lhs)):
        names = taint.of(side) & scalars
        if not names:
            continue
        literal = _literal(other)
        if literal is not None:
            for name in names:
                constants[name].add(literal)
        elif _POSITION in taint.of(other) and not side.type.is_float:
            sizes |= names


def _turned(
    node: Compare,
    taint: _Taint,
    scalars: frozenset[str],
    tested: dict[str, set[int | float]],
) -> None:
    """Where a comparison of scalars only with a literal turns: ``n - 3 > 5`` → 8."""
    for side, other in ((node.lhs, node.rhs), (node.rhs, node.lhs)):
        literal = _literal(other)
        if literal is not None and taint.of(side) <= scalars:
            for name, value in _turns(side, literal, taint):
                if name in scalars:
                    tested[name].add(value)


def _turns(expr: Expr, at: int | float, taint: _Taint) -> Iterator[tuple[str, int | float]]:
    """Scalars with the value they may have where ``expr`` is ``at``; wrap-around is not undone."""
    match expr:
        case Cast():
            yield from _turns(expr.operand, at, taint)
        case Binary(lhs=operand, rhs=Const(value=int(k))) if expr.type.is_integer:
            match expr.op:
                case BinaryOp.ADD:
                    yield from _turns(operand, at - k, taint)
                case BinaryOp.SUB:
                    yield from _turns(operand, at + k, taint)
                case BinaryOp.MUL if k:
                    yield from _turns(operand, at // k, taint)
                case BinaryOp.DIV:
                    yield from _turns(operand, at * k, taint)
                    yield from _turns(operand, (at + 1) * k, taint)
                case BinaryOp.SHR if 0 <= k < expr.type.bits:
                    yield from _turns(operand, at * (1 << k), taint)
                    yield from _turns(operand, (at + 1) * (1 << k), taint)
                case BinaryOp.AND:
                    yield from _turns(operand, at, taint)
                    yield from _turns(operand, k, taint)
                case _:
                    yield from _turns(operand, at, taint)
        case Binary(op=BinaryOp.ADD | BinaryOp.MUL | BinaryOp.AND, lhs=Const()):
            mirrored = Binary(expr.op, expr.rhs, expr.lhs, expr.type)
            if not isinstance(expr.rhs, Const):
                yield from _turns(mirrored, at, taint)
        case _:
            for name in sorted(taint.of(expr)):
                yield name, at


def _literal(expr: Expr) -> int | float | None:
    match expr:
        case Const():
            return None if isinstance(expr.value, bool) else expr.value
        case Cast():
            return _literal(expr.operand)
        case _:
            return None
