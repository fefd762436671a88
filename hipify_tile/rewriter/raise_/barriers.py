"""Barrier distribution (loop fission): ``simt.Kernel`` → ``loop.Nest``.

The thread index becomes a loop around each region between barriers; control flow that contains a
barrier must be uniform and stays outside.

```
s = blockDim.x / 2                          s = block_x / 2            (one a block)
while (s > 0) {                             while (s > 0) {
  if (tid < s) a[tid] += a[tid + s]     →     for tz, ty, tx: if (tid < s) a[tid] += a[tid + s]
  __syncthreads()                             s >>= 1
  s >>= 1                                   }
}
```

Per-thread locals that live across a region's end are recomputed where that needs no memory, else
expanded into a BLOCK_LOCAL buffer indexed by the linear thread id. Any region boundary is a legal
schedule, because threads of a block may run in any order between barriers; so uniform values are
computed once a block.

Refuses with TM1204 a barrier under a divergent condition, and with TM2001 a uniform condition that
reads memory where some threads may have ended (the read might be one that never happens).
"""

from __future__ import annotations

from dataclasses import dataclass

from hipify_tile.analyzer.uniformity import Uniformity, analyze, is_exit_guard, reads_memory
from hipify_tile.diagnostics.model import Diagnostic, Label
from hipify_tile.diagnostics.registry import diagnostic
from hipify_tile.ir.expr import Binary, BinaryOp, Const, Expr, Var, walk
from hipify_tile.ir.loop import Nest
from hipify_tile.ir.simt import Kernel
from hipify_tile.ir.stmt import (
    Assign,
    Barrier,
    Block,
    For,
    If,
    Leave,
    Loop,
    Stmt,
    While,
    bodies,
    exprs,
    map_bodies,
    walk_stmts,
)
from hipify_tile.passes import Pass, Refusal
from hipify_tile.rewriter.names import Namer
from hipify_tile.rewriter.raise_.expand import expand
from hipify_tile.rewriter.raise_.launch_axes import LaunchAxes, launch_axes
from hipify_tile.rewriter.raise_.structurize import Exits, structurize


@dataclass(frozen=True)
class DistributeBarriers(Pass):
    """``simt.Kernel`` → ``loop.Nest`` (see the module). Structures control flow on the way."""

    name = "distribute-barriers"

    def run(self, program: Kernel) -> Nest:
        """Rewrite; raises ``Refusal`` with TM1204 or TM2001."""
        before = analyze(program)
        structured = structurize(program, Exits.FLAG, before.is_uniform)
        kernel = structured.kernel
        uniform = analyze(kernel, exit_flag=structured.exit_flag)
        axes = launch_axes(kernel)
        splitter = _Splitter(kernel, uniform, structured.exit_flag, axes)
        body = splitter.split(kernel.body)
        nest = Nest(
            name=kernel.name,
            mangled=kernel.mangled,
            params=kernel.params,
            argument_sizes=kernel.argument_sizes,
            buffers=kernel.buffers,
            locals=tuple(v for v in kernel.locals if v[0] not in splitter.block_level),
            block_locals=tuple(v for v in kernel.locals if v[0] in splitter.block_level),
            grid=axes.grid,
            block=axes.block,
            body=body,
            span=kernel.span,
        )
        nest = expand(nest, kernel.launch_bounds[0] or 1024, axes.linear_thread, Namer(axes.taken))
        return axes.bind(nest)


class _Splitter:
    """Splits statement lists at barriers; ``block_level`` are the locals assigned once a block.

    ``labels`` are those of statements that are executed once a block.
    """

    def __init__(
        self, kernel: Kernel, uniform: Uniformity, exit_flag: str, axes: LaunchAxes
    ) -> None:
        self.kernel = kernel
        self.uniform = uniform
        self.exit_flag = exit_flag
        self.axes = axes
        self.block_level: set[str] = set()
        self.labels: set[str] = set()
        self._grow()

    def _grow(self) -> None:
        """Close ``block_level`` over what its values and controlling conditions read."""
        names = {name for name, _ in self.kernel.locals}
        statements = list(walk_stmts(self.kernel.body))
        while True:
            before = len(self.block_level), len(self.labels)
            for stmt in statements:
                if not self.is_split(stmt):
                    continue
                match stmt:
                    case Assign(value=value):
                        self.block_level |= _reads(value) & names
                    case If() | While() if not is_exit_guard(stmt, self.exit_flag):
                        self.block_level |= _reads(stmt.cond) & names
                    case For():
                        self.block_level |= (_reads(stmt.start) | _reads(stmt.stop)) & names
                        self.block_level.add(stmt.var.name)
                    case _:
                        pass
                if isinstance(stmt, For | While | Block):
                    self.labels.add(stmt.label)
            if (len(self.block_level), len(self.labels)) == before:
                return

    def is_split(self, stmt: Stmt) -> bool:
        """Whether ``stmt`` must be executed once a block rather than once a thread."""
        match stmt:
            case Barrier():
                return True
            case Assign(target=name):
                return name in self.block_level
            case Leave(label=label):
                return label in self.labels
            case _:
                return any(self.is_split(s) for b in bodies(stmt) for s in b)

    def split(self, body: tuple[Stmt, ...], guard: Expr | None = None) -> tuple[Stmt, ...]:
        """Return the block-level form of ``body``; ``guard`` says which threads still run."""
        out: list[Stmt] = []
        region: list[Stmt] = []

        def flush() -> None:
            if region:
                inner = tuple(region)
                out.append(Loop(self.axes.block, (If(guard, inner),) if guard else inner))
                region.clear()

        for stmt in body:
            if not self.is_split(stmt):
                region.append(stmt)
                continue
            flush()
            out += self._block_level(stmt, guard)
        flush()
        return tuple(out)

    def _block_level(self, stmt: Stmt, guard: Expr | None) -> tuple[Stmt, ...]:
        match stmt:
            case Barrier():
                return ()
            case If() if is_exit_guard(stmt, self.exit_flag):
                return self.split(stmt.then, stmt.cond)
            case Assign() | If() | While() | For():
                self._require_uniform(stmt)
                if guard is not None or self.exit_flag:
                    self._require_harmless(stmt)
            case _:
                pass
        return (map_bodies(stmt, lambda b: self.split(b, guard)),)

    def _require_uniform(self, stmt: Stmt) -> None:
        for expr in exprs(stmt):
            if not self.uniform.is_uniform(expr):
                raise Refusal(self._divergent(stmt, expr))
        names = [stmt.target] if isinstance(stmt, Assign) else []
        names += [stmt.var.name] if isinstance(stmt, For) else []
        for name in names:
            if name in self.uniform.divergent:
                types = dict(self.kernel.locals)
                raise Refusal(self._divergent(stmt, Var(name, types[name], stmt.span)))

    def _divergent(self, stmt: Stmt, expr: Expr) -> Diagnostic:
        inner = [s for s in walk_stmts((stmt,)) if isinstance(s, Barrier)]
        barriers = inner or [s for s in walk_stmts(self.kernel.body) if isinstance(s, Barrier)]
        labels = [Label(stmt.span, "under this condition")] if stmt.span else []
        cause = self.uniform.cause(expr)
        return diagnostic(
            "TM1204",
            barriers[0].span if barriers else stmt.span,
            labels=(*labels, *([cause] if cause else [])),
            help="move the barrier out of the condition, or make the condition block-uniform",
        )

    def _require_harmless(self, stmt: Stmt) -> None:
        for expr in exprs(stmt):
            if reads_memory(expr) or any(_may_trap(e) for e in walk(expr)):
                raise Refusal(
                    diagnostic(
                        "TM2001",
                        stmt.span,
                        notes=(
                            "a condition around a barrier reads memory, or divides, after "
                            "some threads of the block have returned",
                        ),
                        help="guard the work with `if` instead of returning before the barrier",
                    )
                )


def _reads(expr: Expr) -> set[str]:
    return {e.name for e in walk(expr) if isinstance(e, Var)}


def _may_trap(expr: Expr) -> bool:
    match expr:
        case Binary(op=BinaryOp.DIV | BinaryOp.REM, rhs=rhs, type=type_) if type_.is_integer:
            return not (isinstance(rhs, Const) and rhs.value not in (0, -1))
        case _:
            return False
