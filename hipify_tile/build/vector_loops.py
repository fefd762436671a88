"""Loops whose iterations a compiler can see to be alike: conditions and indices made linear.

    for (i = low; i < high; ++i)              for each range of i in which the conditions of the
      if (i == 0 || i == nx - 1)       →      body are what they are in the middle of the problem:
        next[j * nx + i] = …                    for (q = 0; q < count; ++q) next[at + q] = …
      else …                                  for the others: the loop as it was

The conditions are int32 comparisons that are linear in the variable with step 1 or -1. Indices are
computed in 64 bits, after a test at run time that the int32 values in them do not wrap; where they
would, the loop runs as it was. Iterations keep their order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from hipify_tile.build import c_tree as t
from hipify_tile.build.c_affine import (
    COMPARISONS,
    INT32,
    INT64,
    Linear,
    is_invariant,
    linear,
    literal,
    step_text,
    type_of,
    typical,
)
from hipify_tile.build.c_tree import Binary, C, Cast, Index, Name, Number, S, Unary

SUPPORT = """\
// libm's fmax and fmin, where a compiler sees what they do; a signalling NaN gives a NaN.
template <class T, class U, U kQuiet, U kInfinity>
static inline T tm_extreme(bool larger, T a, T b) {
  U u, v;
  memcpy(&u, &a, sizeof u), memcpy(&v, &b, sizeof v);
  T r = (larger ? a > b : a < b) ? a : b;
  r = b != b ? a : r;
  const U below = kQuiet - 1, both = kQuiet | kInfinity;
  const bool first = (u & both) == kInfinity && (u & below);
  const bool second = (v & both) == kInfinity && (v & below);
  return first | second ? a + b : r;
}
#define TM_EXTREME(name, T, U, quiet, infinity, larger) \\
  static inline T tm_##name(T a, T b) { return tm_extreme<T, U, quiet, infinity>(larger, a, b); } \\
  static inline bool tm_##name##_known() { \\
    T (*volatile call)(T, T) = name; \\
    const U sign = (U)1 << (sizeof(U) * 8 - 1); \\
    const U bits[] = {0, sign, 1, quiet >> 3, infinity, infinity | quiet, infinity | 1}; \\
    for (U x : bits) \\
      for (U y : bits) { \\
        T a, b; \\
        memcpy(&a, &x, sizeof a), memcpy(&b, &y, sizeof b); \\
        const T r = call(a, b), s = tm_##name(a, b); \\
        if (memcmp(&r, &s, sizeof r) != 0 && !(r != r && s != s)) return false; \\
      } \\
    return true; \\
  }
TM_EXTREME(fmaxf, float, uint32_t, 0x400000u, 0x7f800000u, true)
TM_EXTREME(fminf, float, uint32_t, 0x400000u, 0x7f800000u, false)
TM_EXTREME(fmax, double, uint64_t, 0x8000000000000u, 0x7ff0000000000000u, true)
TM_EXTREME(fmin, double, uint64_t, 0x8000000000000u, 0x7ff0000000000000u, false)
#undef TM_EXTREME
template <class T, class U>
static inline T tm_pun(U value) {
  static_assert(sizeof(T) == sizeof(U), "");
  T result;
  memcpy(&result, &value, sizeof result);
  return result;
}
static inline bool tm_fits(int64_t base, int64_t step, int64_t count) {
  int64_t last;
  const bool over = __builtin_mul_overflow(step, count - 1, &last);
  return !(over | __builtin_add_overflow(base, last, &last)) & (last == (int32_t)last);
}
"""

EXTREMES = ("fmaxf", "fminf", "fmax", "fmin")
"""Functions that ``SUPPORT`` has an inline twin of, to be used where ``tm_NAME_known()`` holds."""

_MIRROR = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
_MOST_TERMS, _MOST_ROUNDS = 24, 3
_LINE = 64  # bytes of a cache line
_BYTES = {
    "bool": 1, "int8_t": 1, "uint8_t": 1, "int16_t": 2, "uint16_t": 2, "half": 2, "int32_t": 4,
    "uint32_t": 4, "float": 4,
}  # fmt: skip


@dataclass(slots=True)
class Scope:
    """Types of all names, and numbers for new ones."""

    types: dict[str, str]
    counter: int = 0
    block: str = ""  # the variable of the block that comes next after this one
    requested: set[str] = field(default_factory=set)  # arrays that are prefetched for it

    def fresh(self, stem: str) -> str:
        """A name that the text does not hold."""
        self.counter += 1
        return f"tm_{stem}{self.counter}"


@dataclass(slots=True)
class _Segment:
    """One loop being rewritten: ``setup`` lines give bases and conditions of a segment."""

    var: str
    start: str
    scope: Scope
    changing: AbstractSet[str]
    setup: list[str] = field(default_factory=list)
    fits: list[str] = field(default_factory=list)
    bases: dict[C, str] = field(default_factory=dict)
    checked: set[C] = field(default_factory=set)
    loads: dict[str, C] = field(default_factory=dict)  # where arrays are read, by step 1

    def moved(self, body: tuple[S, ...]) -> tuple[S, ...]:
        """``body`` for ``tm_q``."""
        return simplify(t.map_expressions(body, self.rewrite))

    def rewrite(self, expr: C) -> C:
        if self.var not in t.mentioned(expr):
            return expr
        found = linear(expr, self.var, self.scope.types, self.changing)
        if found is not None:
            return self._moved(expr, found)
        match expr:
            case Index(array=array, index=index):
                inside = linear(index, self.var, self.scope.types, self.changing)
                if inside is None:
                    return Index(array, self.rewrite(index))
                self._check((*inside.checks, index))
                if inside.step == 1 and array not in self.changing:
                    self.loads.setdefault(array, index)
                return Index(array, self._moved(Cast(INT64, index), inside))
            case Name():
                return Cast(INT32, Binary("+", Name(self.start), Name("tm_q")))
            case _:
                return fold(t.rebuild(expr, self.rewrite))

    def _moved(self, expr: C, found: Linear) -> C:
        self._check(found.checks)
        name = self.bases.get(expr)
        if name is None:
            name = self.bases[expr] = self.scope.fresh("b")
            self.setup.append(f"const int64_t {name} = {t.text(self._at_start(expr))};")
            if found.step != 1:
                self.setup.append(f"const int64_t {name}s = {step_text(found.step)};")
        step: C = Name("tm_q")
        if isinstance(found.step, int) and found.step != 1:
            step = Binary("*", Cast(INT64, literal(found.step)), step)
        elif found.step != 1:
            step = Binary("*", Name(f"{name}s"), step)
        moved = Binary("+", Name(name), step)
        narrow = type_of(expr, self.scope.types) == INT32
        return Cast(INT32, moved) if narrow else moved

    def _check(self, values: tuple[C, ...]) -> None:
        for value in values:
            if value in self.checked or value == Name(self.var):
                continue
            if type_of(value, self.scope.types) != INT32:
                continue
            self.checked.add(value)
            found = linear(value, self.var, self.scope.types, self.changing)
            assert found is not None
            base = t.text(self._at_start(value))
            self.fits.append(f"tm_fits({base}, {step_text(found.step)}, tm_count)")

    def require(self, value: C) -> None:
        """``value``, of 64 bits, must be one of 32 bits for all iterations."""
        found = linear(value, self.var, self.scope.types, self.changing)
        if found is None:
            raise ValueError(t.text(value))
        self._check(found.checks)
        base = t.text(self._at_start(value))
        self.fits.append(f"tm_fits({base}, {step_text(found.step)}, tm_count)")

    def prefetches(self) -> list[str]:
        """Ask for what the next block reads first."""
        block = Name(self.scope.block)
        lines = []
        for array, index in self.loads.items():
            size = _BYTES.get(self.scope.types.get(array, ""), 8)
            if array in self.scope.requested or self.scope.block not in t.mentioned(index):
                continue
            self.scope.requested.add(array)
            after = {self.scope.block: Binary("+", block, Number("1"))}
            place = t.text(t.substitute(Cast(INT64, self._at_start(index)), after))
            lines.append(f"for (int64_t tm_q = 0; tm_q < tm_count; tm_q += {_LINE // size})")
            lines.append(f"  __builtin_prefetch(&{array}[{place} + tm_q]);")
        return lines

    def _at_start(self, expr: C) -> C:
        return t.substitute(expr, {self.var: Cast(INT32, Name(self.start))})


def segmented(
    var: str,
    low: C,
    high: C,
    body: tuple[S, ...],
    *,
    scope: Scope,
    private: AbstractSet[str],
    values: Mapping[str, int],
    inner: Callable[[tuple[S, ...]], list[str]] | None = None,
    special: tuple[S, ...] | None = None,
    conditions: tuple[C, ...] = (),
    small: tuple[C, ...] = (),
) -> list[str]:
    """Return the lines of the loop over ``var`` in [``low``, ``high``), rewritten.

    ``private`` are the variables that the body writes before it reads them; all others that it
    writes must be arrays. ``values`` are guesses at names' values. ``inner`` prints the loop over
    ``tm_q`` in [0, ``tm_count``) of a range's body, by default one plain loop. ``special`` does
    what ``body`` does where all ``conditions`` hold and the linear values ``small`` fit an int32.
    """
    changing = t.written(body) | t.written(special or ()) | {var}
    rounds = _rounds(var, special or body, scope, changing, values)
    terms = [term for one in rounds for term in one]
    start = scope.fresh("at")
    usual = _Segment(var, start, scope, changing)
    for value in small:
        usual.require(value)
    quick = special or body
    for one in rounds:
        quick = _given(quick, {term.expr: Number(str(int(term.truth))) for term in one})
    quick = usual.moved(quick)
    if not terms and not usual.fits and inner is None:
        return _plain(var, t.text(low), t.text(high), body, scope, private)
    original = _plain(var, f"(int32_t){start}", "(int32_t)tm_end", body, scope, private)
    edges, whole, scan = _scan(var, terms, scope, changing)
    whole += [t.text(c) for c in conditions]
    lines = ["{"]
    lines.append(f"  const int64_t tm_low = {t.text(low)}, tm_high = {t.text(high)};")
    lines += [f"  {line}" for line in edges]
    lines.append(f"  const bool tm_linear = {' & '.join(dict.fromkeys(whole)) or 'true'};")
    lines.append(
        f"  for (int64_t {start} = tm_low, tm_end; {start} < tm_high; {start} = tm_end) {{"
    )
    lines.append("    tm_end = tm_high;")
    lines += [f"    {line.replace('@', start)}" for line in scan]
    lines.append(f"    const int64_t tm_count = tm_end - {start};")
    lines += [f"    {line}" for line in usual.setup]
    as_usual = [term.flag if term.truth else f"!{term.flag}" for term in terms]
    # No branches, each of which a compiler thinks is taken half the time: the loop would be cold.
    tests = " & ".join(["tm_linear", *as_usual, *usual.fits])
    lines.append(f"    if (__builtin_expect({tests}, 1)) {{")
    if inner is None:
        lines += [f"      {line}" for line in usual.prefetches()]
    lines += [f"      {line}" for line in (inner or (lambda b: _quick(b, scope, private)))(quick)]
    if terms and inner is None:
        # A segment in which the guard of all the body is false costs no more than that.
        match _given(body, {x.expr: Name(x.flag) for x in rounds[0]}):
            case (t.If(cond=guard, orelse=()),) if is_invariant(guard, changing):
                lines.append(f"    }} else if (tm_linear && !{t.text(guard)}) {{")
            case _:
                pass
        other = _Segment(var, start, scope, changing)
        body_by_flags = other.moved(_given(body, {x.expr: Name(x.flag) for x in rounds[0]}))
        lines.append("    } else {")
        lines += [f"      {line}" for line in other.setup]
        lines.append(f"      if (__builtin_expect({' & '.join(['tm_linear', *other.fits])}, 1)) {{")
        lines += [f"        {line}" for line in _unswitched(body_by_flags, scope, private)]
        lines.append("      } else {")
        lines += [f"        {line}" for line in original]
        lines.append("      }")
    else:
        lines.append("    } else {")
        lines += [f"      {line}" for line in original]
    lines += ["    }", "  }", "}"]
    return lines


def _unswitched(body: tuple[S, ...], scope: Scope, private: AbstractSet[str]) -> list[str]:
    """``for (q) if (flag) a else b``  →  ``if (flag) for (q) a else for (q) b``."""
    match body:
        case (t.If(cond=cond, then=then, orelse=orelse),) if is_invariant(cond, private | {"tm_q"}):
            lines = [f"if ({t.text(cond)}) {{"]
            lines += [f"  {line}" for line in _unswitched(then, scope, private)]
            lines.append("} else {")
            lines += [f"  {line}" for line in _unswitched(orelse, scope, private)]
            return [*lines, "}"]
        case ():
            return []
        case _:
            return _quick(body, scope, private)


def _rounds(
    var: str,
    body: tuple[S, ...],
    scope: Scope,
    changing: AbstractSet[str],
    values: Mapping[str, int],
) -> list[list[_Term]]:
    """Terms; those that are seen once the others are known, as in nested ``?:``; and so on."""
    rounds: list[list[_Term]] = []
    while len(rounds) < _MOST_ROUNDS:
        found = _terms(var, body, scope, changing, values)
        if not found:
            break
        rounds.append(found)
        body = _given(body, {term.expr: Number(str(int(term.truth))) for term in found})
    return rounds


def _given(body: tuple[S, ...], known: Mapping[C, C]) -> tuple[S, ...]:
    return simplify(t.map_expressions(body, lambda e: _replaced(e, known)))


def _replaced(expr: C, known: Mapping[C, C]) -> C:
    if expr in known:
        return known[expr]
    return fold(t.rebuild(expr, lambda e: _replaced(e, known)))


def _quick(body: tuple[S, ...], scope: Scope, private: AbstractSet[str]) -> list[str]:
    lines = ["for (int64_t tm_q = 0; tm_q < tm_count; ++tm_q) {"]
    lines += declarations(body, scope, private)
    return [*lines, *t.lines(body, "  "), "}"]


def declarations(body: tuple[S, ...], scope: Scope, private: AbstractSet[str]) -> list[str]:
    """Declare the private variables that ``body`` mentions."""
    return [f"  {scope.types[n]} {n};" for n in sorted(t.names(body) & private)]


def _plain(
    var: str, low: str, high: str, body: tuple[S, ...], scope: Scope, private: AbstractSet[str]
) -> list[str]:
    lines = [t.head(var, low, high)]
    lines += declarations(body, scope, private)
    return [*lines, *t.lines(body, "  "), "}"]


@dataclass(frozen=True, slots=True)
class _Term:
    """A comparison that holds on one side of an edge: its usual value, step, variable's name."""

    expr: Binary
    truth: bool
    step: int
    flag: str


def _terms(
    var: str,
    body: tuple[S, ...],
    scope: Scope,
    changing: AbstractSet[str],
    values: Mapping[str, int],
) -> list[_Term]:
    """Comparisons of step 1 or -1, and those with a guess that are the same all the time."""
    found: dict[Binary, _Term] = {}
    for stmt in t.statements(body):
        for outer in t.expressions(stmt):
            for expr in t.walk(outer):
                if not isinstance(expr, Binary) or expr.op not in COMPARISONS or expr in found:
                    continue
                step = _step(expr, var, scope, changing, values)
                truth = None if step is None else typical(expr, values)
                if step is not None and truth is not None and len(found) < _MOST_TERMS:
                    found[expr] = _Term(expr, bool(truth), step, scope.fresh("c"))
    return list(found.values())


def _step(
    expr: Binary, var: str, scope: Scope, changing: AbstractSet[str], values: Mapping[str, int]
) -> int | None:
    if var not in t.mentioned(expr):
        guessed = is_invariant(expr, changing) and t.mentioned(expr) & set(values)
        return 0 if guessed else None
    if any(type_of(side, scope.types) != INT32 for side in (expr.lhs, expr.rhs)):
        return None
    left, right = (linear(s, var, scope.types, changing) for s in (expr.lhs, expr.rhs))
    if left is None or right is None or left.checks or right.checks:
        return None
    if not isinstance(left.step, int) or not isinstance(right.step, int):
        return None
    step = left.step - right.step
    return step if step in (1, -1) else None


def _scan(
    var: str, terms: list[_Term], scope: Scope, changing: AbstractSet[str]
) -> tuple[list[str], list[str], list[str]]:
    """Statements in front of the loop, its conditions, and statements of a segment, from @ on."""
    setup: list[str] = []
    scan: list[str] = []
    whole: list[str] = []
    for term in terms:
        sides = (term.expr.lhs, term.expr.rhs)
        if term.step == 0:
            setup.append(f"const bool {term.flag} = {t.text(term.expr)};")
            continue
        low: dict[str, C] = {var: Cast(INT32, Name("tm_low"))}
        at_low = [t.text(t.substitute(side, low)) for side in sides]
        for side, value in zip(sides, at_low, strict=True):
            found = linear(side, var, scope.types, changing)
            assert found is not None
            if found.step != 0 and side != Name(var):
                whole.append(f"tm_fits({value}, {step_text(found.step)}, tm_high - tm_low)")
        difference = f"(int64_t)({at_low[1]}) - (int64_t)({at_low[0]})"
        sign = "+" if term.step == 1 else "-"
        op = term.expr.op if term.step == 1 else _MIRROR[term.expr.op]
        edge = f"{term.flag}_edge"
        shift = " + 1" if op in ("<=", ">") else ""
        setup.append(f"const int64_t {edge} = tm_low {sign} ({difference}){shift};")
        scan.append(f"bool {term.flag} = {_holds(op, edge)};")
        scan.append(f"if (@ < {edge} && tm_end > {edge}) tm_end = {edge};")
        if op in ("==", "!="):
            scan.append(f"if (@ == {edge}) tm_end = {edge} + 1;")
    return setup, whole, scan


def _holds(op: str, edge: str) -> str:
    """Whether the term holds at @: ``edge`` is where it changes."""
    return f"@ {op[0] if op in ('<=', '<') else '>=' if op in ('>', '>=') else op} {edge}"


def fold(expr: C) -> C:
    """Logic with constants: ``0 || x`` → ``x``."""
    match expr:
        case Unary(op="!", operand=Number(text="0" | "1" as value)):
            return Number("1" if value == "0" else "0")
        case Binary(op="&&", lhs=Number(text="0")) | Binary(op="&&", rhs=Number(text="0")):
            return Number("0")
        case Binary(op="||", lhs=Number(text="1")) | Binary(op="||", rhs=Number(text="1")):
            return Number("1")
        case (
            Binary(op="&&", lhs=Number(text="1"), rhs=x)
            | Binary(op="||", lhs=Number(text="0"), rhs=x)
        ):
            return x
        case (
            Binary(op="&&", lhs=x, rhs=Number(text="1"))
            | Binary(op="||", lhs=x, rhs=Number(text="0"))
        ):
            return x
        case t.Select(cond=Number(text="0"), orelse=x) | t.Select(cond=Number(text="1"), then=x):
            return x
        case _:
            return expr


def simplify(body: tuple[S, ...]) -> tuple[S, ...]:
    """Conditions with constants folded, branches that are never taken removed."""
    out: list[S] = []
    for stmt in body:
        match stmt:
            case t.If(cond=cond, then=then, orelse=orelse):
                known = _folded(cond)
                if known == Number("1"):
                    out += simplify(then)
                elif known == Number("0"):
                    out += simplify(orelse)
                else:
                    out.append(t.If(known, simplify(then), simplify(orelse)))
            case t.For(body=inner):
                out.append(t.For(stmt.var, stmt.low, stmt.high, simplify(inner)))
            case t.While(body=inner):
                out.append(t.While(simplify(inner)))
            case _:
                out.append(stmt)
    return tuple(out)


def _folded(expr: C) -> C:
    return fold(t.rebuild(expr, _folded))
