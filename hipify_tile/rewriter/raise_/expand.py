"""Scalar expansion: per-thread values that live across a region's end, and their recomputation.

```
for tx: { i = bx*bd + tx; v = a[i] }        for tx: { i = …; v = a[i]; v_all[tid] = v }
for tx: { a[i] = v }                    →   for tx: { i = bx*bd + tx; v = v_all[tid]; a[i] = v }
```

A local that is assigned once, from launch indices, parameters and other such locals only, is
recomputed at the start of each region that reads it (``i`` above); any other is stored in a
BLOCK_LOCAL buffer (``v``). Thread-private arrays that several regions, or several turns of a loop
around a region, may use get a leading thread dimension.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from hipify_tile.analyzer.uniformity import reads_memory
from hipify_tile.ir.expr import Binary, BinaryOp, Expr, Load, Var, walk
from hipify_tile.ir.loop import Nest
from hipify_tile.ir.simt import Buffer, Scope
from hipify_tile.ir.stmt import (
    Assign,
    AtomicRMW,
    For,
    If,
    Loop,
    Stmt,
    Store,
    While,
    bodies,
    exprs,
    map_bodies,
    walk_stmts,
)
from hipify_tile.ir.types import I32, ScalarType
from hipify_tile.rewriter.names import Namer
from hipify_tile.rewriter.raise_.launch_axes import map_body


def expand(nest: Nest, threads: int, linear_thread: Expr, namer: Namer) -> Nest:
    """Expand or recompute what lives across regions; ``threads`` bounds the threads of a block."""
    nest = _recompute(nest)
    types = dict(nest.locals)
    crossing: list[str] = []
    for region in _regions(nest.body):
        exposed, _ = _exposed(region.body, frozenset())
        crossing += [n for n, _ in nest.locals if n in exposed and n not in crossing]
    arrays = _shared_arrays(nest)
    if not crossing and not arrays:
        return nest
    tid = Var(namer.fresh("tid"), I32)
    homes = {name: namer.fresh(f"{name}_all") for name in crossing}
    rewriter = _Expander(tid, linear_thread, homes, types, arrays)
    buffers = [
        replace(b, scope=Scope.BLOCK_LOCAL, shape=(threads, *b.shape)) if b.name in arrays else b
        for b in nest.buffers
    ]
    buffers += [
        Buffer(homes[n], types[n], Scope.BLOCK_LOCAL, (threads,), homes[n], True) for n in crossing
    ]
    return replace(
        nest,
        body=rewriter.visit(nest.body),
        buffers=tuple(buffers),
        locals=(*nest.locals, (tid.name, I32)),
    )


def _regions(body: tuple[Stmt, ...]) -> list[Loop]:
    return [s for s in walk_stmts(body) if isinstance(s, Loop)]


def _recompute(nest: Nest) -> Nest:
    """Move single assignments of index values to the start of each region that needs them."""
    regions = _regions(nest.body)
    if len(regions) < 2:
        return nest
    private = {name for name, _ in nest.locals}
    assigned: dict[str, int] = {}
    for stmt in walk_stmts(nest.body):
        for name in _targets(stmt):
            assigned[name] = assigned.get(name, 0) + 1
    once: dict[str, Assign] = {}
    block = {name for name, _ in nest.block_locals}
    constant = {name for name in block if assigned.get(name, 0) == 0}
    constant |= {
        s.target
        for s in nest.body
        if isinstance(s, Assign) and assigned[s.target] == 1 and not reads_memory(s.value)
    }
    for stmt in (s for region in regions for s in region.body):
        if not isinstance(stmt, Assign) or assigned[stmt.target] != 1:
            continue
        if stmt.target not in private or reads_memory(stmt.value) or _divides(stmt.value):
            continue
        reads = {e.name for e in walk(stmt.value) if isinstance(e, Var)}
        if reads & (private | block) <= set(once) | constant:
            once[stmt.target] = stmt
    if not once:
        return nest

    def needed(region: Loop) -> tuple[Assign, ...]:
        stripped = tuple(s for s in region.body if s not in once.values())
        wanted, _ = _exposed(stripped, frozenset())
        for name in reversed(once):
            if name in wanted:
                wanted |= {e.name for e in walk(once[name].value) if isinstance(e, Var)}
        return tuple(a for name, a in once.items() if name in wanted)

    def visit(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        out: list[Stmt] = []
        for stmt in body:
            if isinstance(stmt, Loop):
                rest = tuple(s for s in stmt.body if s not in once.values())
                if rest:
                    out.append(replace(stmt, body=(*needed(stmt), *rest)))
            else:
                out.append(map_bodies(stmt, visit))
        return tuple(out)

    return replace(nest, body=visit(nest.body))


def _divides(expr: Expr) -> bool:
    return any(
        isinstance(e, Binary) and e.op in (BinaryOp.DIV, BinaryOp.REM) and e.type.is_integer
        for e in walk(expr)
    )


def _targets(stmt: Stmt) -> tuple[str, ...]:
    match stmt:
        case Assign(target=name):
            return (name,)
        case AtomicRMW(result=str(name)):
            return (name,)
        case For(var=var):
            return (var.name,)
        case _:
            return ()


def _exposed(
    body: tuple[Stmt, ...], defined: frozenset[str]
) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names that may be read unassigned, and those surely assigned at the end.

    A name that is assigned on some paths only counts as read at the end: its old value may survive.
    """
    exposed: frozenset[str] = frozenset()
    for stmt in body:
        reads = {e.name for x in exprs(stmt) for e in walk(x) if isinstance(e, Var)}
        exposed |= reads - defined
        match stmt:
            case If():
                e1, d1 = _exposed(stmt.then, defined)
                e2, d2 = _exposed(stmt.orelse, defined)
                exposed |= e1 | e2
                defined = d1 & d2
            case For(var=var):
                e1, _ = _exposed(stmt.body, defined | {var.name})
                exposed |= e1
            case While():
                e1, _ = _exposed(stmt.body, defined)
                exposed |= e1
            case _:
                for inner in bodies(stmt):
                    e1, _ = _exposed(inner, defined)
                    exposed |= e1
                if isinstance(stmt, Assign | AtomicRMW):
                    defined |= set(_targets(stmt))
    return exposed, defined


def _shared_arrays(nest: Nest) -> frozenset[str]:
    """Thread-private arrays whose contents may outlive a region."""
    private = {b.name: b.storage or b.name for b in nest.buffers if b.scope is Scope.LOCAL}
    uses: dict[str, int] = {}

    def visit(body: tuple[Stmt, ...], weight: int) -> None:
        for stmt in body:
            if isinstance(stmt, Loop):
                for storage in {private[n] for n in _buffers(stmt.body) if n in private}:
                    uses[storage] = uses.get(storage, 0) + weight
                continue
            for inner in bodies(stmt):
                visit(inner, 2 if isinstance(stmt, For | While) else weight)

    visit(nest.body, 1)
    return frozenset(name for name, storage in private.items() if uses.get(storage, 0) > 1)


def _buffers(body: tuple[Stmt, ...]) -> set[str]:
    names: set[str] = set()
    for stmt in walk_stmts(body):
        if isinstance(stmt, Store | AtomicRMW):
            names.add(stmt.buffer)
        names |= {e.buffer for x in exprs(stmt) for e in walk(x) if isinstance(e, Load)}
    return names


@dataclass(frozen=True, slots=True)
class _Expander:
    """Rewrites regions: loads of expanded values at the start, stores at the end."""

    tid: Var
    linear_thread: Expr
    homes: dict[str, str]
    types: dict[str, ScalarType]
    arrays: frozenset[str]

    def visit(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        """Rewrite every region of ``body``."""
        return tuple(
            self.region(s) if isinstance(s, Loop) else map_bodies(s, self.visit) for s in body
        )

    def region(self, loop: Loop) -> Loop:
        """Rewrite one region."""
        exposed, defined = _exposed(loop.body, frozenset())
        assigned = {n for s in walk_stmts(loop.body) for n in _targets(s)}
        loads = [n for n in self.homes if n in exposed or (n in assigned and n not in defined)]
        stores = [n for n in self.homes if n in assigned]
        inner = self._arrays(loop.body)
        head = [Assign(n, Load(self.homes[n], (self.tid,), self.types[n])) for n in loads]
        tail = [Store(self.homes[n], (self.tid,), Var(n, self.types[n])) for n in stores]
        body: tuple[Stmt, ...] = (*head, *inner, *tail)
        if head or tail or inner is not loop.body:
            body = (Assign(self.tid.name, self.linear_thread), *body)
        return replace(loop, body=body)

    def _arrays(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        if not self.arrays & _buffers(body):
            return body

        def load(expr: Expr) -> Expr:
            if isinstance(expr, Load) and expr.buffer in self.arrays:
                return replace(expr, indices=(self.tid, *expr.indices))
            return expr

        def store(stmts: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
            out: list[Stmt] = []
            for s in stmts:
                if isinstance(s, Store | AtomicRMW) and s.buffer in self.arrays:
                    s = replace(s, indices=(self.tid, *s.indices))
                out.append(map_bodies(s, store))
            return tuple(out)

        return store(map_body(body, load))
