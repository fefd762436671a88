"""Operand materialisation: values that TileLang's simplifier would misread get a variable.

TileLang simplifies floats as reals (``x - x`` is 0, ``not (x < y)`` is ``y <= x``) and unsigned
integers as if they never wrapped (``u - 1 < u`` is true). A variable is opaque to it, so:

```
if (x != x)           t = x; if (t != x)            a float comparison or difference whose sides
                                                    share an operand
if (!(x < y))         t = x < y; if (not t)         a negated float comparison
if (u - 1 < v)        t = u - 1; if (t < v)         unsigned arithmetic under ``< / % >>``, casts
a[k - 3]              t = k - 3; a[t]               an index that might be proved negative, which
                                                    would count from the end
for (k < a[i])        t = a[i]; for (k < t)         a bound that the body may change
for (unsigned k …)    for (int64 t …) { k = t …}    a loop variable that is not int32, or strides
                                                    over what may be more than int32 counts
x == INT_MIN          t = INT_MIN; if (x == t)      TileLang negates literals
```

What must be materialised under ``&&``, ``||`` or ``?:`` turns the operator into an ``if``, so that
nothing is evaluated that was not before. Operations on two literals are computed here, exactly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from hipify_tile.analyzer.value_ranges import Interval, no_overflow, type_range
from hipify_tile.ir.expr import (
    Binary,
    BinaryOp,
    Bitcast,
    Call,
    Cast,
    Compare,
    Const,
    Expr,
    Load,
    Logical,
    LogicalOp,
    Select,
    Unary,
    UnaryOp,
    Var,
    map_children,
    walk,
)
from hipify_tile.ir.stmt import (
    Assign,
    AtomicRMW,
    Block,
    For,
    If,
    Loop,
    Stmt,
    Store,
    While,
    map_bodies,
    map_exprs,
)
from hipify_tile.ir.types import BOOL, I32, I64, U32, Kind, ScalarType
from hipify_tile.rewriter.emit.folding import fold
from hipify_tile.rewriter.names import Namer
from hipify_tile.rewriter.raise_.narrow import OPPOSITE

_NATURAL = (0, 2**31 - 1)
_ORDERED = (BinaryOp.DIV, BinaryOp.REM, BinaryOp.SHR)
_NEGATIVE = (BinaryOp.SUB, BinaryOp.REM, BinaryOp.SHR, BinaryOp.DIV, BinaryOp.XOR)


@dataclass(frozen=True, slots=True)
class Materialized:
    """The rewritten body and its locals, old and new."""

    body: tuple[Stmt, ...]
    locals: tuple[tuple[str, ScalarType], ...]


def materialize(
    body: tuple[Stmt, ...],
    locals_: tuple[tuple[str, ScalarType], ...],
    immutable: set[str],
    namer: Namer,
    natural: frozenset[str] = frozenset(),
) -> Materialized:
    """Rewrite ``body``. ``immutable`` are names that are no variables, ``natural`` those >= 0."""
    state = _Materializer(immutable, natural, namer, list(locals_))
    done = state.body(body)
    return Materialized(done, tuple(state.locals))


@dataclass(slots=True)
class _Materializer:
    immutable: set[str]
    natural: frozenset[str]
    namer: Namer
    locals: list[tuple[str, ScalarType]]

    def temporary(self, type_: ScalarType) -> Var:
        """Make a new variable."""
        name = self.namer.fresh("t")
        self.locals.append((name, type_))
        return Var(name, type_)

    def hold(self, expr: Expr, pre: list[Stmt]) -> Expr:
        """Put ``expr`` into a variable of its own."""
        var = self.temporary(expr.type)
        pre.append(Assign(var.name, expr))
        return var

    def body(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        """Rewrite a statement list."""
        out: list[Stmt] = []
        for stmt in body:
            out += self.stmt(stmt)
        return tuple(out)

    def stmt(self, stmt: Stmt) -> list[Stmt]:
        """Rewrite one statement into several."""
        pre: list[Stmt] = []
        match stmt:
            case Store():
                indices = self.indices(stmt.indices, pre)
                value = self.expr(stmt.value, pre)
                return [*pre, replace(stmt, indices=indices, value=value)]
            case AtomicRMW():
                indices = self.indices(stmt.indices, pre)
                operands = tuple(self.expr(o, pre) for o in stmt.operands)
                return [*pre, replace(stmt, indices=indices, operands=operands)]
            case If(cond=cond, then=(), orelse=orelse) if orelse:
                negated = Unary(UnaryOp.NOT, cond, BOOL)
                return self.stmt(replace(stmt, cond=negated, then=orelse, orelse=()))
            case If():
                cond = self.expr(stmt.cond, pre)
                then, orelse = self.body(stmt.then), self.body(stmt.orelse)
                return [*pre, replace(stmt, cond=cond, then=then, orelse=orelse)]
            case While():
                return self.while_(stmt)
            case For():
                return self.for_(stmt)
            case Loop() | Block():
                return [map_bodies(stmt, self.body)]
            case _:
                new = map_exprs(stmt, lambda e: self.expr(e, pre))
                return [*pre, new]

    def while_(self, stmt: While) -> list[Stmt]:
        """A condition that needs statements, or is constant, moves into the loop."""
        pre: list[Stmt] = []
        cond = self.expr(stmt.cond, pre)
        if not pre and not isinstance(cond, Const):
            return [replace(stmt, cond=cond, body=self.body(stmt.body))]
        go = self.temporary(BOOL)
        again = ""
        body = stmt.body
        match body:
            case (Block(label=label, body=inner),):
                again, body = label, inner
        turn: tuple[Stmt, ...] = (*pre, Assign(go.name, cond), If(go, self.body(body)))
        if isinstance(cond, Const) and cond.value:
            turn = self.body(body)
        if again:
            turn = (Block(again, turn),)
        return [Assign(go.name, Const(True, BOOL)), replace(stmt, cond=go, body=turn)]

    def for_(self, stmt: For) -> list[Stmt]:
        """Bounds are evaluated once; what int32 cannot count is counted in int64."""
        pre: list[Stmt] = []
        var = stmt.var
        bounds = []
        for bound in (stmt.start, stmt.stop):
            value = self.expr(bound, pre)
            if any(isinstance(e, Load) or self.is_variable(e) for e in walk(value)):
                value = self.hold(value, pre)
            bounds.append(value)
        if var.type == I32 and not _count_may_wrap(stmt, dict.fromkeys(self.natural, _NATURAL)):
            self.immutable.add(var.name)
            body = self.body(stmt.body)
            self.immutable.discard(var.name)
            return [*pre, replace(stmt, start=bounds[0], stop=bounds[1], body=body)]
        counter = Var(self.namer.fresh(f"{var.name}_count"), I64)
        self.locals.append((counter.name, I64))
        start, stop = (self.expr(_as_int64(b), pre) for b in bounds)
        set_ = Assign(var.name, counter if var.type == I64 else Cast(counter, var.type))
        body = stmt.body
        match body:
            case (Block() as block,):
                body = (replace(block, body=(set_, *self.body(block.body))),)
            case _:
                body = (set_, *self.body(body))
        return [*pre, replace(stmt, var=counter, start=start, stop=stop, body=body)]

    def is_variable(self, expr: Expr) -> bool:
        """Whether ``expr`` reads a variable."""
        return isinstance(expr, Var) and expr.name not in self.immutable

    def is_leaf(self, expr: Expr) -> bool:
        """Whether the simplifier knows nothing about ``expr`` but its type and value."""
        return isinstance(expr, Const | Load | Bitcast) or self.is_variable(expr)

    def indices(self, indices: tuple[Expr, ...], pre: list[Stmt]) -> tuple[Expr, ...]:
        """Rewrite the indices of an access."""
        return tuple(self.index(i, pre) for i in indices)

    def index(self, index: Expr, pre: list[Stmt]) -> Expr:
        """Make an index signed, and opaque where it might be proved negative."""
        if index.type.kind is Kind.UINT:
            index = _as_int64(index)
        wide = self.expr(index, pre)
        value = _narrowed(wide)
        nodes = list(walk(value))
        if any(isinstance(e, Load) or self.is_variable(e) for e in nodes):
            return value
        if any(_may_be_negative(e) for e in nodes):
            return self.hold(wide, pre)
        return value

    def expr(self, expr: Expr, pre: list[Stmt]) -> Expr:
        """Rewrite ``expr``; statements that must run before it go to ``pre``."""
        match expr:
            case Logical(op=op, lhs=lhs, rhs=rhs):
                left = self.expr(lhs, pre)
                late: list[Stmt] = []
                right = self.expr(rhs, late)
                if not late and not _prints_statement(right):
                    return fold(replace(expr, lhs=left, rhs=right))
                var = self.hold(left, pre)
                cond = var if op is LogicalOp.AND else Unary(UnaryOp.NOT, var, BOOL)
                assert isinstance(var, Var)
                pre.append(If(cond, (*late, Assign(var.name, right))))
                return var
            case Select(cond=cond, then=then, orelse=orelse):
                test = self.expr(cond, pre)
                first: list[Stmt] = []
                second: list[Stmt] = []
                yes, no = self.expr(then, first), self.expr(orelse, second)
                if not first and not second and not any(map(_prints_statement, (yes, no))):
                    return fold(replace(expr, cond=test, then=yes, orelse=no))
                out = self.temporary(expr.type)
                arms = ((*first, Assign(out.name, yes)), (*second, Assign(out.name, no)))
                pre.append(If(test, *arms))
                return out
            case Load():
                return replace(expr, indices=self.indices(expr.indices, pre))
            case _:
                operands = map_children(expr, lambda e: self.expr(e, pre))
                return self.operation(fold(operands), pre)

    def operation(self, expr: Expr, pre: list[Stmt]) -> Expr:
        """Materialise the operands of one operation where its rule says so."""
        match expr:
            case Binary() | Compare() if any(map(_has_no_negative, (expr.lhs, expr.rhs))):
                return self.operation(map_children(expr, lambda e: self.unnegated(e, pre)), pre)
            case Compare():
                return self.compare(expr, pre)
            case Unary(op=UnaryOp.NOT, operand=Var() | Load()):
                return expr
            case Unary(op=UnaryOp.NOT, operand=Compare() as c) if not c.lhs.type.is_float:
                return replace(c, op=OPPOSITE[c.op])
            case Unary(op=UnaryOp.NOT, operand=operand):
                if any(isinstance(e, Compare) and e.lhs.type.is_float for e in walk(operand)):
                    return replace(expr, operand=self.hold(operand, pre))
                return expr
            case Unary(op=UnaryOp.NEG, operand=Const() as operand):
                return replace(expr, operand=self.hold(operand, pre))
            case Binary(op=op, lhs=lhs, rhs=rhs, type=type_):
                if type_.is_float:
                    if op in (BinaryOp.SUB, BinaryOp.DIV) and self.share(lhs, rhs):
                        return replace(expr, lhs=self.hold(lhs, pre))
                    return expr
                if op in (BinaryOp.DIV, BinaryOp.REM) and rhs == Const(0, type_):
                    expr = replace(expr, rhs=self.hold(rhs, pre))
                if op in _ORDERED and type_.kind is Kind.UINT:
                    return map_children(expr, lambda e: self.opaque(e, pre))
                return expr
            case Call(args=args) if all(isinstance(a, Const) for a in args):
                return replace(expr, args=(self.hold(args[0], pre), *args[1:]))
            case Call(name="min" | "max", type=type_) if type_.kind is Kind.UINT:
                return map_children(expr, lambda e: self.opaque(e, pre))
            case Cast(operand=operand, type=type_):
                source = operand.type
                if isinstance(operand, Var) and operand.name in self.natural:
                    return expr
                if source.is_integer and type_.is_float and self.may_cancel(operand):
                    return replace(expr, operand=self.hold(operand, pre))
                if source.is_integer and (
                    source.kind is Kind.UINT or type_.bits < source.bits or type_.kind is Kind.UINT
                ):
                    expr = replace(expr, operand=self.opaque(operand, pre))
                if source.kind is Kind.UINT and type_.kind is Kind.INT and source.bits > type_.bits:
                    unsigned = ScalarType(f"u{type_}", type_.bits, Kind.UINT)
                    expr = replace(expr, operand=self.hold(Cast(expr.operand, unsigned), pre))
                return expr
            case Bitcast(operand=operand):
                return replace(expr, operand=self.opaque(operand, pre))
            case _:
                return expr

    def compare(self, expr: Compare, pre: list[Stmt]) -> Expr:
        """Rewrite one comparison."""
        type_ = expr.lhs.type
        if type_ == BOOL:
            return replace(expr, lhs=Cast(expr.lhs, I32), rhs=Cast(expr.rhs, I32))
        if type_.kind is Kind.UINT:
            return map_children(expr, lambda e: self.opaque(e, pre))
        if type_.is_float:
            nodes = [*walk(expr.lhs), *walk(expr.rhs)]
            known = not any(isinstance(e, Load) or self.is_variable(e) for e in nodes)
            if known or self.share(expr.lhs, expr.rhs):
                return replace(expr, lhs=self.hold(expr.lhs, pre))
        return expr

    def opaque(self, expr: Expr, pre: list[Stmt]) -> Expr:
        """Hold ``expr`` unless it is a leaf."""
        return expr if self.is_leaf(expr) else self.hold(expr, pre)

    def unnegated(self, expr: Expr, pre: list[Stmt]) -> Expr:
        """Hold a literal that TileLang must not negate."""
        return self.hold(expr, pre) if _has_no_negative(expr) else expr

    def may_cancel(self, expr: Expr) -> bool:
        """Whether an integer expression may simplify to a literal."""
        return any(isinstance(e, Binary) and self.share(e.lhs, e.rhs) for e in walk(expr))

    def share(self, lhs: Expr, rhs: Expr) -> bool:
        """Whether both sides contain a common operand of their type; two literals are none."""
        if isinstance(lhs, Const) and isinstance(rhs, Const):
            return False
        mine = [e for e in walk(lhs) if e.type.is_float == lhs.type.is_float]
        return any(e in mine for e in walk(rhs))


def _has_no_negative(expr: Expr) -> bool:
    """Whether ``expr`` is the least value of a signed type."""
    return (
        isinstance(expr, Const)
        and expr.type.kind is Kind.INT
        and int(expr.value) == type_range(expr.type)[0]
    )


def _count_may_wrap(stmt: For, known: Mapping[str, Interval]) -> bool:
    """Whether ``(stop - start + step - 1) / step``, as TileLang counts a stride, may leave int32.

    A stride of 1 is lowered to plain bounds. Upwards from a start that is not negative, the
    variable itself would overflow first.
    """
    start, stop = (no_overflow(e, known) for e in (stmt.start, stmt.stop))
    if stmt.step == 1 or (stmt.step > 0 and start[0] >= 0):
        return False
    distance = stop[1] - start[0] if stmt.step > 0 else start[1] - stop[0]
    return distance + abs(stmt.step) - 1 > _NATURAL[1]


def _as_int64(expr: Expr) -> Expr:
    """Return an integer expression as int64: the value, or for uint64 the bits."""
    if expr.type == I64:
        return expr
    match expr:
        case Const(value=value):
            number = int(value)
            return Const(number - (1 << 64) if number >= 1 << 63 else number, I64, expr.span)
        case Binary(op=BinaryOp.ADD | BinaryOp.SUB | BinaryOp.MUL as op, type=type_) if (
            type_.bits == 64
        ):
            return Binary(op, _as_int64(expr.lhs), _as_int64(expr.rhs), I64, expr.span)
        case Cast(operand=inner, type=type_) if (
            type_.bits == 64 and inner.type.is_integer and inner.type != U32
        ):
            return inner if inner.type == I64 else Cast(inner, I64, expr.span)
        case _:
            return Cast(expr, I64, expr.span)


def _narrowed(index: Expr) -> Expr:
    """Drop conversions to int64 in an index: TileLang widens what may overflow."""
    match index:
        case Cast(operand=inner, type=type_) if type_ == I64 and inner.type == I32:
            return inner
        case Const(value=value, type=type_) if type_ == I64 and abs(value) < 1 << 30:
            return Const(value, I32, index.span)
        case Binary(op=BinaryOp.ADD | BinaryOp.SUB as op, type=type_) if type_ == I64:
            lhs, rhs = _narrowed(index.lhs), _narrowed(index.rhs)
            return Binary(op, lhs, rhs, I32, index.span) if lhs.type == rhs.type == I32 else index
        case _:
            return index


def _may_be_negative(expr: Expr) -> bool:
    match expr:
        case Const(value=value):
            return value < 0
        case Binary(op=op):
            return op in _NEGATIVE
        case Unary():
            return True
        case _:
            return False


def _prints_statement(expr: Expr) -> bool:
    """Whether C output evaluates a part of ``expr`` in a statement before it."""
    return any(
        isinstance(e, Bitcast)
        or (
            isinstance(e, Cast)
            and e.operand.type.kind is Kind.UINT
            and e.type.kind is Kind.INT
            and e.type.bits == e.operand.type.bits
        )
        for e in walk(expr)
    )
