"""Parallel lowering: thread and block indices become the parallel axes of a raised ``loop.Nest``.

::

    int i = blockIdx.x * blockDim.x + threadIdx.x;     parallel i < min(n, grid_x * block_x):
    if (i >= n) return;                            →       y[i] = a * x[i] + y[i]
    y[i] = a * x[i] + y[i];

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;      parallel i < n:
         i += gridDim.x * blockDim.x)                            →      y[i] = 2 * x[i]
      y[i] = 2 * x[i];

gridDim and blockDim stay symbols (``grid_x``, ``block_x``): a launch that does not cover the data
computes only what it covers. Conditions under which this is exact (no wrap-around of the global
index, unused launch dimensions are 1) are collected in ``Nest.assumes``.

Only straight thread programs are lowered: no barriers, atomics, shared memory, local arrays, inner
exits; thread and block indices occur in global indices only. It does not test independence
(``analyzer/dependence.py``); the recognisers do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from hipify_tile.analyzer.affine import Polynomial, at_most, integer_form
from hipify_tile.ir.expr import (
    Binary,
    BinaryOp,
    Cast,
    Compare,
    CompareOp,
    Const,
    Expr,
    Index,
    IndexKind,
    Var,
    map_children,
    transform,
    walk,
)
from hipify_tile.ir.loop import Nest
from hipify_tile.ir.simt import Kernel, Scope
from hipify_tile.ir.stmt import (
    Assign,
    AtomicRMW,
    Axis,
    AxisKind,
    Barrier,
    Loop,
    Stmt,
    While,
    exprs,
    map_bodies,
    map_exprs,
    walk_stmts,
)
from hipify_tile.ir.types import F64, I32, I64, U32, U64, ScalarType
from hipify_tile.rewriter.raise_.forward import (
    forward_index_locals,
    names,
    splice_blocks,
    substitute_all,
)
from hipify_tile.rewriter.raise_.guards import guards_to_extents, returns_to_guards, upper_bound
from hipify_tile.rewriter.raise_.result import NotRaised

_AXES = "xyz"
_INDEX_TYPES = (I32, U32, I64, U64)
_INDEX_LIMIT = Const(float((1 << 31) - (1 << 20)), F64)  # int32, with room to round up to tiles


def grid_symbol(axis: int) -> Var:
    """``gridDim.<axis>`` of the launch."""
    return Var(f"grid_{_AXES[axis]}", I32)


def block_symbol(axis: int) -> Var:
    """``blockDim.<axis>`` of the launch."""
    return Var(f"block_{_AXES[axis]}", I32)


LAUNCH_SYMBOLS: tuple[Var, ...] = tuple(
    symbol for axis in range(3) for symbol in (grid_symbol(axis), block_symbol(axis))
)


def scalar_types(nest: Nest | Kernel) -> dict[str, ScalarType]:
    """Types of the names that are fixed during a launch: scalar parameters and launch symbols."""
    return {p.name: p.dtype for p in nest.params if not p.pointer} | {
        s.name: s.type for s in LAUNCH_SYMBOLS
    }


def lower_threads(kernel: Kernel) -> Nest | NotRaised:
    """Return the raised nest, one ``Loop`` of parallel axes (z, y, x), or why not."""
    if (refusal := _screen(kernel)) is not None:
        return refusal
    guarded = returns_to_guards(splice_blocks(kernel.body))
    if isinstance(guarded, NotRaised):
        return guarded
    body, definitions = forward_index_locals(guarded)
    indices = _GlobalIndices()
    body = _map_exprs(body, lambda e: _launch_symbols(indices.replace(e)))
    invariant = scalar_types(kernel).keys() - {
        s.target for s in walk_stmts(body) if isinstance(s, Assign)
    }
    used = frozenset(indices.used)
    strided = _grid_stride(body, set(invariant)) if used == {0} else None
    if strided is not None:
        axes, body, conditions = strided
        body, _ = forward_index_locals(body)
    else:
        conditions = ()
        variables = _axis_variables(used, definitions, indices, kernel)
        body = substitute_all(body, {_marker(a).name: v for a, v in variables.items()})
        extents: dict[str, Expr] = {v.name: _threads(a) for a, v in variables.items()}
        body = guards_to_extents(body, extents, set(invariant))
        axes = tuple(
            Axis(variables[a], extents[variables[a].name], AxisKind.PARALLEL)
            for a in sorted(variables, reverse=True)
        )
    if not axes:
        return NotRaised("no global thread index is used", kernel.span)
    if (stray := _stray_index(body)) is not None:
        return NotRaised("a thread or block index occurs outside a global index", stray.span)
    conditions = (
        *conditions,
        *(_no_wrap(a) for a in sorted(used)),
        *indices.conditions,
        *(
            _is_one(symbol)
            for a in sorted({0, 1, 2} - used)
            for symbol in (grid_symbol(a), block_symbol(a))
        ),
    )
    assigned = {s.target for s in walk_stmts(body) if isinstance(s, Assign)}
    return Nest(
        name=kernel.name,
        mangled=kernel.mangled,
        params=kernel.params,
        argument_sizes=kernel.argument_sizes,
        buffers=kernel.buffers,
        locals=tuple((name, t) for name, t in kernel.locals if name in assigned),
        block_locals=(),
        grid=(),
        block=(),
        body=(Loop(axes, body),),
        raised=True,
        launch=LAUNCH_SYMBOLS,
        assumes=tuple(dict.fromkeys(conditions)),
        span=kernel.span,
    )


def _screen(kernel: Kernel) -> NotRaised | None:
    parameters = {p.name for p in kernel.params}
    if {s.name for s in LAUNCH_SYMBOLS} & (parameters | {name for name, _ in kernel.locals}):
        return NotRaised("a name of the kernel is that of a launch symbol", kernel.span)
    written = {b.storage or b.name for b in kernel.buffers if b.written}
    views = Counter(b.storage or b.name for b in kernel.buffers)
    for b in kernel.buffers:
        if b.scope not in (Scope.PARAM, Scope.GLOBAL):
            return NotRaised(f"{b.scope.value.replace('_', ' ')} memory is used", b.span)
        if len(b.shape) > 1:
            return NotRaised(f"{b.name} is a multi-dimensional global", b.span)
        if (b.storage or b.name) in written and views[b.storage or b.name] > 1:
            return NotRaised("written memory is viewed as several types", b.span)
    for stmt in walk_stmts(kernel.body):
        match stmt:
            case Barrier():
                return NotRaised("threads of a block cooperate through a barrier", stmt.span)
            case AtomicRMW():
                return NotRaised("an atomic operation is used", stmt.span)
            case Assign() if stmt.target in parameters:
                return NotRaised("a parameter is modified", stmt.span)
            case _:
                continue
    return None


class _GlobalIndices:
    """Replaces ``blockIdx.a * blockDim.a + threadIdx.a`` by a marker variable of axis ``a``.

    Exact in every integer type of 32 bits or more while ``gridDim.a * blockDim.a < 2**31``.
    """

    def __init__(self) -> None:
        self.used: set[int] = set()
        self.conditions: list[Expr] = []

    def replace(self, expr: Expr) -> Expr:
        """Rewrite all global indices in ``expr``; the type of every node is kept."""
        if isinstance(expr, Binary) and expr.op is BinaryOp.ADD and expr.type in _INDEX_TYPES:
            terms = _terms(expr)
            for axis in range(3):
                terms = self._join(terms, axis, expr.type)
            if len(terms) < len(_terms(expr)):
                rewritten = [self.replace(t) for t in terms]
                total = rewritten[0]
                for term in rewritten[1:]:
                    total = Binary(BinaryOp.ADD, total, term, expr.type, span=expr.span)
                return total
        return _fold_cast(map_children(expr, self.replace))

    def marker(self, value: Expr) -> int | None:
        """The axis whose bare global index ``value`` is, if any."""
        match _strip(self.replace(value)):
            case Var(name=name):
                return next((a for a in range(3) if _marker(a).name == name), None)
            case _:
                return None

    def _join(self, terms: list[Expr], axis: int, dtype: ScalarType) -> list[Expr]:
        threads = [t for t in terms if _is_index(t, IndexKind.THREAD, axis)]
        blocks = [(t, dim) for t in terms if (dim := _block_product(t, axis)) is not None]
        if len(threads) != 1 or len(blocks) != 1:
            return terms
        (block, dim) = blocks[0]
        if isinstance(dim, Const):
            size = Const(int(dim.value), I32)
            condition = Compare(CompareOp.EQ, block_symbol(axis), size)
            self.conditions.append(condition)
        self.used.add(axis)
        joined = _fold_cast(Cast(_marker(axis), dtype)) if dtype != I32 else _marker(axis)
        return [joined, *(t for t in terms if t is not threads[0] and t is not block)]


def _axis_variables(
    used: frozenset[int],
    definitions: Mapping[str, Expr],
    indices: _GlobalIndices,
    kernel: Kernel,
) -> dict[int, Var]:
    """Name each axis after the local that held its global index, else ``i_x``."""
    hints = {indices.marker(value): name for name, value in definitions.items()}
    taken = {p.name for p in kernel.params} | {name for name, _ in kernel.locals}
    taken |= {b.name for b in kernel.buffers}
    variables: dict[int, Var] = {}
    for axis in used:
        name = hints.get(axis, f"i_{_AXES[axis]}")
        while axis not in hints and name in taken:
            name += "_"
        variables[axis] = Var(name, I32)
    return variables


def _terms(expr: Expr) -> list[Expr]:
    if isinstance(expr, Binary) and expr.op is BinaryOp.ADD:
        left = _terms(expr.lhs) if expr.lhs.type == expr.type else [expr.lhs]
        right = _terms(expr.rhs) if expr.rhs.type == expr.type else [expr.rhs]
        return [*left, *right]
    return [expr]


def _strip(expr: Expr) -> Expr:
    """Look through casts between integers of at least 32 bits."""
    while isinstance(expr, Cast) and expr.type in _INDEX_TYPES:
        expr = expr.operand
    return expr


def _is_index(expr: Expr, kind: IndexKind, axis: int) -> bool:
    match _strip(expr):
        case Index(kind=k, axis=a):
            return k is kind and a == axis
        case _:
            return False


def _block_product(term: Expr, axis: int) -> Expr | None:
    """The block-dimension factor (``blockDim`` or a constant) of ``blockIdx.axis * …``."""
    match _strip(term):
        case Binary(op=BinaryOp.MUL, lhs=lhs, rhs=rhs, type=dtype) if dtype in _INDEX_TYPES:
            for block, dim in ((lhs, rhs), (rhs, lhs)):
                if not _is_index(block, IndexKind.BLOCK, axis):
                    continue
                bare = _strip(dim)
                if _is_index(bare, IndexKind.BLOCK_DIM, axis):
                    return bare
                if isinstance(bare, Const) and 0 < int(bare.value) <= 1024:
                    return bare
    return None


def _marker(axis: int) -> Var:
    return Var(f"@global_{_AXES[axis]}", I32)


def _fold_cast(expr: Expr) -> Expr:
    """``(int)(unsigned)i → i`` and ``(long)(unsigned)i → (long)i`` for a global index ``i``."""
    match expr:
        case Cast(operand=Cast(operand=Var(name=name) as inner), type=dtype) if (
            name.startswith("@global_") and dtype in _INDEX_TYPES
        ):
            return inner if dtype == I32 else Cast(inner, dtype, span=expr.span)
        case Cast(operand=Var(name=name) as inner, type=dtype) if (
            name.startswith("@global_") and dtype == I32
        ):
            return inner
        case _:
            return expr


def _launch_symbols(expr: Expr) -> Expr:
    """``blockDim.x`` → ``(unsigned)block_x``, and gridDim likewise."""

    def visit(e: Expr) -> Expr:
        match e:
            case Index(kind=IndexKind.BLOCK_DIM):
                return Cast(block_symbol(e.axis), e.type, span=e.span)
            case Index(kind=IndexKind.GRID_DIM):
                return Cast(grid_symbol(e.axis), e.type, span=e.span)
            case _:
                return e

    return transform(expr, visit)


def _grid_stride(
    body: Sequence[Stmt], invariant: set[str]
) -> tuple[tuple[Axis, ...], tuple[Stmt, ...], tuple[Expr, ...]] | None:
    """Recognise a one-dimensional grid-stride loop as the whole body.

    Every index below the bound is visited exactly once, whatever the launch, as long as
    ``i += stride`` does not wrap: that is the returned condition.
    """
    match tuple(body):
        case (Assign(target=name, value=start), While(cond=cond, body=(*work, Assign() as step))):
            pass
        case _:
            return None
    inner = tuple(work)
    dtype = start.type
    if _strip(start) != _marker(0) or dtype not in _INDEX_TYPES or step.target != name:
        return None
    if any(isinstance(s, Assign) and s.target == name for s in walk_stmts(inner)):
        return None
    form = integer_form(step.value)
    stride = Polynomial.name(grid_symbol(0).name) * Polynomial.name(block_symbol(0).name)
    if form is None or form.value != Polynomial.name(name) + stride:
        return None
    variable = Var(name, I32)
    as_axis: Mapping[str, Expr] = {name: variable if dtype == I32 else Cast(variable, dtype)}
    bound = upper_bound(_fold_axis(cond, as_axis), {name: 0})
    if bound is None or not names(bound[1]) <= invariant:
        return None
    launched = Binary(BinaryOp.MUL, _f64(grid_symbol(0)), _f64(block_symbol(0)), F64)
    last = Binary(BinaryOp.ADD, _f64(bound[1]), launched, F64)
    condition = at_most(last, _INDEX_LIMIT)
    axis = Axis(variable, bound[1], AxisKind.PARALLEL)
    return (axis,), substitute_all(inner, as_axis), (condition,)


def _fold_axis(expr: Expr, values: Mapping[str, Expr]) -> Expr:
    """Substitute the axis and look through a second cast, as in ``(unsigned)(long)i < n``."""

    def visit(e: Expr) -> Expr:
        match e:
            case Var(name=name):
                return values.get(name, e)
            case Cast(operand=Cast(operand=Var(name=name) as inner), type=dtype) if (
                name in values and dtype in _INDEX_TYPES
            ):
                return inner if dtype == I32 else Cast(inner, dtype)
            case _:
                return e

    return transform(expr, visit)


def _threads(axis: int) -> Expr:
    return Binary(BinaryOp.MUL, grid_symbol(axis), block_symbol(axis), I32)


def _no_wrap(axis: int) -> Expr:
    product = Binary(BinaryOp.MUL, _f64(grid_symbol(axis)), _f64(block_symbol(axis)), F64)
    return at_most(product, _INDEX_LIMIT)


def _is_one(symbol: Var) -> Expr:
    return Compare(CompareOp.EQ, symbol, Const(1, I32))


def _f64(expr: Expr) -> Expr:
    return Cast(expr, F64)


def _map_exprs(body: Sequence[Stmt], f: Callable[[Expr], Expr]) -> tuple[Stmt, ...]:
    return tuple(map_bodies(map_exprs(stmt, f), lambda b: _map_exprs(b, f)) for stmt in body)


def _stray_index(body: Sequence[Stmt]) -> Stmt | None:
    """The first statement with a thread or block index, or a marker that no axis replaced."""
    markers = {_marker(a) for a in range(3)}
    for stmt in walk_stmts(tuple(body)):
        for expr in exprs(stmt):
            if any(isinstance(node, Index) or node in markers for node in walk(expr)):
                return stmt
    return None
