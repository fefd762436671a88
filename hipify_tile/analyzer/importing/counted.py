"""Recognition of counted loops: C's ``for`` → ``For`` where that is exact.

``i = a; i < b; i += c`` counts when ``c`` is a literal, the body does not assign ``i`` and cannot
change ``b``. ``i <= b`` needs a ``b`` that is provably below the largest value, ``i != b`` constant
bounds that the step meets. A variable that may wrap around on its last step does not count. A
comparison in a wider or unsigned type needs bounds that both types hold.
"""

from __future__ import annotations

from hipify_tile.analyzer.importing.canonicalize import fold_cast, simplify
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
    Load,
    Select,
    Unary,
    UnaryOp,
    Var,
    walk,
)
from hipify_tile.ir.stmt import Assign, AtomicRMW, Barrier, For, Stmt, Store, walk_stmts
from hipify_tile.ir.types import Kind, ScalarType

_FLIPPED = {
    CompareOp.LT: CompareOp.GT,
    CompareOp.GT: CompareOp.LT,
    CompareOp.LE: CompareOp.GE,
    CompareOp.GE: CompareOp.LE,
    CompareOp.NE: CompareOp.NE,
}
_MAX_THREADS = 1024
_MAX_GRID = 2**31 - 1


def counted_loop(
    init: Assign, cond: Expr, body: tuple[Stmt, ...], increment: tuple[Stmt, ...]
) -> tuple[Var, Expr, Expr, int] | None:
    """Return (variable, start, stop, step) of a counted loop, or None if it is none."""
    type_ = init.value.type
    if not type_.is_integer or len(increment) != 1 or not isinstance(cond, Compare):
        return None
    var = Var(init.target, type_)
    step = _step(increment[0], var)
    if step is None:
        return None
    op, limit = _oriented(cond, var)
    if op is None or limit is None or not _invariant(limit, var, body):
        return None
    start = simplify(init.value)
    stop = _stop(op, simplify(limit), start, step)
    if stop is None or not _narrowed_exactly(cond, var, start, stop, step):
        return None
    stop = simplify(fold_cast(stop, type_))
    if op is not CompareOp.NE and _may_step_around(stop, step, type_):
        return None
    return var, start, stop, step


def _step(increment: Stmt, var: Var) -> int | None:
    if not isinstance(increment, Assign) or increment.target != var.name:
        return None
    value = simplify(increment.value)
    while isinstance(value, Cast) and value.type == var.type:
        value = value.operand  # char and short count in int
    if not isinstance(value, Binary) or value.op not in (BinaryOp.ADD, BinaryOp.SUB):
        return None
    lhs, rhs = value.lhs, value.rhs
    if value.op is BinaryOp.ADD and isinstance(lhs, Const):
        lhs, rhs = rhs, lhs
    while isinstance(lhs, Cast):
        lhs = lhs.operand
    if lhs != var or not isinstance(rhs, Const):
        return None
    amount = int(rhs.value)
    if value.op is BinaryOp.SUB:
        amount = -amount
    if value.type.kind is Kind.UINT and amount >= 1 << (value.type.bits - 1):
        amount -= 1 << value.type.bits  # i += -1 of an unsigned i
    limit = 1 << (var.type.bits - 1)
    return amount if amount and -limit < amount < limit else None


def _oriented(cond: Compare, var: Var) -> tuple[CompareOp | None, Expr | None]:
    def is_var(e: Expr) -> bool:
        while isinstance(e, Cast) and e.type.is_integer and e.operand.type.is_integer:
            e = e.operand
        return e == var

    if is_var(cond.lhs):
        return cond.op, cond.rhs
    if is_var(cond.rhs) and cond.op in _FLIPPED:
        return _FLIPPED[cond.op], cond.lhs
    return None, None


def _invariant(limit: Expr, var: Var, body: tuple[Stmt, ...]) -> bool:
    names: set[str] = set()
    memory = False
    for stmt in walk_stmts(body):
        match stmt:
            case Assign():
                names.add(stmt.target)
            case AtomicRMW():
                memory = True
                if stmt.result:
                    names.add(stmt.result)
            case For():
                names.add(stmt.var.name)
            case Store() | Barrier():
                memory = True
            case _:
                pass
    if var.name in names:
        return False
    for e in walk(limit):
        if isinstance(e, Var) and (e.name in names or e.name == var.name):
            return False
        if isinstance(e, Load) and memory:
            return False
    return True


def _stop(op: CompareOp, limit: Expr, start: Expr, step: int) -> Expr | None:
    low, high = bounds(limit)
    type_low, type_high = _range(limit.type)
    match op:
        case CompareOp.LT if step > 0:
            return limit
        case CompareOp.GT if step < 0:
            return limit
        case CompareOp.LE if step > 0 and high < type_high:
            return simplify(Binary(BinaryOp.ADD, limit, Const(1, limit.type), limit.type))
        case CompareOp.GE if step < 0 and low > type_low:
            return simplify(Binary(BinaryOp.SUB, limit, Const(1, limit.type), limit.type))
        case CompareOp.NE if isinstance(limit, Const) and isinstance(start, Const):
            distance = int(limit.value) - int(start.value)
            if distance % step == 0 and distance // step >= 0:
                return limit
            return None
        case _:
            return None


def _narrowed_exactly(cond: Compare, var: Var, start: Expr, stop: Expr, step: int) -> bool:
    """Whether comparing in the variable's type decides as the source's comparison does."""
    wide = cond.lhs.type
    if wide == var.type:
        return True
    low, high = _range(var.type)
    stop_low, stop_high = bounds(stop)
    if not (low <= stop_low and stop_high <= high):
        return False
    if wide.kind is var.type.kind or var.type.kind is Kind.UINT:
        return wide.bits >= var.type.bits
    # The comparison is unsigned: a negative value of the variable would compare as huge.
    return step > 0 and bounds(start)[0] >= 0 and stop_low >= 0


def _may_step_around(stop: Expr, step: int, type_: ScalarType) -> bool:
    """Whether the variable may wrap around at the end of its type and so count on.

    Where int and wider signed types would, C++ gives the loop no meaning. With a power of two,
    unsigned types come back to values they have had, and the source's loop does not end either.
    """
    if type_.bits >= 32 and (type_.kind is Kind.INT or abs(step) & (abs(step) - 1) == 0):
        return False
    low, high = _range(type_)
    stop_low, stop_high = bounds(stop)
    return stop_high + step - 1 > high if step > 0 else stop_low + step + 1 < low


def _range(type_: ScalarType) -> tuple[int, int]:
    if type_.kind is Kind.BOOL:
        return 0, 1
    if type_.kind is Kind.UINT:
        return 0, (1 << type_.bits) - 1
    return -(1 << (type_.bits - 1)), (1 << (type_.bits - 1)) - 1


def bounds(expr: Expr) -> tuple[int, int]:
    """Return an inclusive range that holds every value of an integer expression."""
    whole = _range(expr.type)
    found = whole
    match expr:
        case Const():
            return int(expr.value), int(expr.value)
        case Index(kind=IndexKind.THREAD):
            found = (0, _MAX_THREADS - 1)
        case Index(kind=IndexKind.BLOCK_DIM):
            found = (1, _MAX_THREADS)
        case Index(kind=IndexKind.BLOCK):
            found = (0, _MAX_GRID - 1)
        case Index(kind=IndexKind.GRID_DIM):
            found = (1, _MAX_GRID)
        case Cast() if expr.operand.type.is_integer or expr.operand.type.kind is Kind.BOOL:
            found = bounds(expr.operand)
        case Binary(op=BinaryOp.DIV, rhs=Const() as c) if int(c.value) >= 2:
            low, high = bounds(expr.lhs)
            found = (-(-low // int(c.value)) if low < 0 else low // int(c.value),
                     high // int(c.value) if high >= 0 else -(-high // int(c.value)))  # fmt: skip
            found = (min(found[0], 0) if low < 0 else found[0], max(found[1], 0))
        case Binary(op=BinaryOp.REM, rhs=Const() as c) if int(c.value) > 0:
            low = 0 if bounds(expr.lhs)[0] >= 0 else 1 - int(c.value)
            found = (low, int(c.value) - 1)
        case Binary(op=BinaryOp.SHR, rhs=Const() as c) if 0 <= int(c.value) < expr.type.bits:
            low, high = bounds(expr.lhs)
            found = (low >> int(c.value), high >> int(c.value))
        case Binary(op=BinaryOp.AND, rhs=Const() as c) if int(c.value) >= 0:
            found = (0, int(c.value))
        case Binary(op=BinaryOp.ADD | BinaryOp.SUB | BinaryOp.MUL):
            found = _combined(expr)
        case Select():
            a, b = bounds(expr.then), bounds(expr.orelse)
            found = (min(a[0], b[0]), max(a[1], b[1]))
        case Unary(op=UnaryOp.NEG):
            low, high = bounds(expr.operand)
            found = (-high, -low)
        case _:
            pass
    return found if whole[0] <= found[0] and found[1] <= whole[1] else whole


def _combined(expr: Binary) -> tuple[int, int]:
    a, b = bounds(expr.lhs), bounds(expr.rhs)
    match expr.op:
        case BinaryOp.ADD:
            return a[0] + b[0], a[1] + b[1]
        case BinaryOp.SUB:
            return a[0] - b[1], a[1] - b[0]
        case _:
            corners = [x * y for x in a for y in b]
            return min(corners), max(corners)
