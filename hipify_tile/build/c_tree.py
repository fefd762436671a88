"""TileLang's C output as a tree: statements and expressions, read from text and printed again.

Only what its C printer writes is understood; everything else raises ``UnreadableError``, and the
caller keeps the text. Variables in memory of one element (``int32_t i[1];``) become plain ones.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace


class UnreadableError(ValueError):
    """The text holds something else than TileLang's C printer writes."""


@dataclass(frozen=True, slots=True)
class Number:
    """A literal, as written."""

    text: str


@dataclass(frozen=True, slots=True)
class Name:
    """A variable, or an array where it is the ``array`` of an ``Index``."""

    name: str


@dataclass(frozen=True, slots=True)
class Unary:
    """``op operand``."""

    op: str
    operand: C


@dataclass(frozen=True, slots=True)
class Binary:
    """``lhs op rhs``."""

    op: str
    lhs: C
    rhs: C


@dataclass(frozen=True, slots=True)
class Select:
    """``cond ? then : orelse``."""

    cond: C
    then: C
    orelse: C


@dataclass(frozen=True, slots=True)
class Cast:
    """``(type)operand``."""

    type: str
    operand: C


@dataclass(frozen=True, slots=True)
class Pun:
    """``*(type *)(&place)``: the bits of ``place`` as another type."""

    type: str
    place: C


@dataclass(frozen=True, slots=True)
class Index:
    """``array[index]``."""

    array: str
    index: C


@dataclass(frozen=True, slots=True)
class Address:
    """``&place``."""

    place: C


@dataclass(frozen=True, slots=True)
class Call:
    """``function(args…)``."""

    function: str
    args: tuple[C, ...]


C = Number | Name | Unary | Binary | Select | Cast | Pun | Index | Address | Call


@dataclass(frozen=True, slots=True)
class Declare:
    """``type name = value;``; without a value where ``value`` is None, an array with ``size``."""

    type: str
    name: str
    value: C | None = None
    size: int = 0


@dataclass(frozen=True, slots=True)
class Set:
    """``place = value;``."""

    place: C
    value: C


@dataclass(frozen=True, slots=True)
class Do:
    """A call as a statement."""

    call: Call


@dataclass(frozen=True, slots=True)
class If:
    """``if (cond) then else orelse``."""

    cond: C
    then: tuple[S, ...]
    orelse: tuple[S, ...] = ()


@dataclass(frozen=True, slots=True)
class For:
    """``for (int32_t var = low; var < high; ++var)``."""

    var: str
    low: C
    high: C
    body: tuple[S, ...]


@dataclass(frozen=True, slots=True)
class While:
    """``while (1)``; only a ``Break`` leaves it."""

    body: tuple[S, ...]


@dataclass(frozen=True, slots=True)
class Break:
    """``break;``."""


@dataclass(frozen=True, slots=True)
class Raw:
    """Finished lines, which no pass looks into."""

    lines: tuple[str, ...]


S = Declare | Set | Do | If | For | While | Break | Raw

TYPES = frozenset(("bool", "float", "double", "half")) | {
    f"{u}int{n}_t" for u in ("", "u") for n in (8, 16, 32, 64)
}
_TOKEN = re.compile(
    r"\s*(?:(\d[\w.]*(?:(?<=[eE])[+-]\d\w*)?)|([A-Za-z_]\w*)|(<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^<>!~?:()\[\],]))"
)
_LEVELS = (
    ("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", "<=", ">", ">="), ("<<", ">>"),
    ("+", "-"), ("*", "/", "%"),
)  # fmt: skip
_PRECEDENCE = {op: level for level, ops in enumerate(_LEVELS) for op in ops}
_FOR = re.compile(r"for \(int32_t (\w+) = (.+); \1 < (.+); \+\+\1\) \{$")
_DECLARE = re.compile(r"(\w+) (\w+)(?:\[(\d+)\])?(?: = (.+))?;$")


class _Reader:
    def __init__(self, text: str) -> None:
        self.tokens: list[str] = []
        at = 0
        while at < len(text):
            found = _TOKEN.match(text, at)
            if found is None:
                raise UnreadableError(text)
            self.tokens.append(found[0].strip())
            at = found.end()
        self.at = 0

    def peek(self, ahead: int = 0) -> str:
        at = self.at + ahead
        return self.tokens[at] if at < len(self.tokens) else ""

    def take(self, expected: str = "") -> str:
        token = self.peek()
        if not token or (expected and token != expected):
            raise UnreadableError(f"{token} at {self.at} of {' '.join(self.tokens)}")
        self.at += 1
        return token

    def whole(self) -> C:
        found = self.select()
        if self.peek():
            raise UnreadableError(self.peek())
        return found

    def select(self) -> C:
        cond = self.binary(0)
        if self.peek() != "?":
            return cond
        self.take()
        then = self.select()
        self.take(":")
        return Select(cond, then, self.select())

    def binary(self, level: int) -> C:
        if level == len(_LEVELS):
            return self.unary()
        found = self.binary(level + 1)
        while self.peek() in _LEVELS[level]:
            op = self.take()
            found = Binary(op, found, self.binary(level + 1))
        return found

    def unary(self) -> C:
        if self.peek() in ("-", "!", "~"):
            return Unary(self.take(), self.unary())
        if self.peek() == "&":
            self.take()
            return Address(self.unary())
        if self.peek() == "*":
            return self.pun()
        if self.peek() == "(" and self.peek(1) in TYPES and self.peek(2) == ")":
            self.take()
            type_ = self.take()
            self.take(")")
            return Cast(type_, self.unary())
        return self.primary()

    def pun(self) -> C:
        self.take("*")
        self.take("(")
        type_ = self.take()
        self.take("*")
        self.take(")")
        place = self.unary()
        if type_ not in TYPES or not isinstance(place, Address):
            raise UnreadableError(type_)
        return Pun(type_, place.place)

    def primary(self) -> C:
        token = self.take()
        if token == "(":
            found = self.select()
            self.take(")")
            return found
        if token[0].isdigit():
            return Number(token)
        if not (token[0].isalpha() or token[0] == "_"):
            raise UnreadableError(token)
        if self.peek() == "[":
            self.take()
            index = self.select()
            self.take("]")
            return Index(token, index)
        if self.peek() == "(":
            self.take()
            args: list[C] = []
            while self.peek() != ")":
                args.append(self.select())
                if self.peek() != ")":
                    self.take(",")
            self.take(")")
            return Call(token, tuple(args))
        return Name(token)


def read_expression(text: str) -> C:
    """Parse one expression; raises ``UnreadableError``."""
    return _Reader(text).whole()


def read_statements(lines: list[str]) -> tuple[S, ...]:
    """Parse the lines of a block; raises ``UnreadableError``."""
    rows = [line.strip() for line in lines if line.strip()]
    found, at = _block(rows, 0)
    if at != len(rows):
        raise UnreadableError(rows[at])
    return found


def _block(rows: list[str], at: int) -> tuple[tuple[S, ...], int]:
    out: list[S] = []
    while at < len(rows) and not rows[at].startswith("}"):
        row = rows[at]
        at += 1
        if (loop := _FOR.match(row)) is not None:
            body, at = _closed(rows, at)
            out.append(For(loop[1], read_expression(loop[2]), read_expression(loop[3]), body))
        elif row == "while (1) {":
            body, at = _closed(rows, at)
            out.append(While(body))
        elif row.startswith("if (") and row.endswith(") { break; }"):
            out.append(If(read_expression(row[3:-11]), (Break(),)))
        elif row.startswith("if (") and row.endswith(" {"):
            then, at = _block(rows, at)
            orelse: tuple[S, ...] = ()
            if at < len(rows) and rows[at] == "} else {":
                orelse, at = _closed(rows, at + 1)
            elif at < len(rows) and rows[at] == "}":
                at += 1
            else:
                raise UnreadableError(row)
            out.append(If(read_expression(row[3:-2]), then, orelse))
        elif row == "break;":
            out.append(Break())
        else:
            out.append(_simple(row))
    return tuple(out), at


def _closed(rows: list[str], at: int) -> tuple[tuple[S, ...], int]:
    body, at = _block(rows, at)
    if at >= len(rows) or rows[at] != "}":
        raise UnreadableError(rows[at] if at < len(rows) else "")
    return body, at + 1


def _simple(row: str) -> S:
    declared = _DECLARE.match(row)
    if declared is not None and declared[1] in TYPES:
        value = read_expression(declared[4]) if declared[4] else None
        return Declare(declared[1], declared[2], value, int(declared[3] or 0))
    if not row.endswith(";"):
        raise UnreadableError(row)
    left, equals, right = row[:-1].partition(" = ")
    if equals:
        place = read_expression(left)
        if not isinstance(place, Name | Index):
            raise UnreadableError(row)
        return Set(place, read_expression(right))
    call = read_expression(left)
    if not isinstance(call, Call):
        raise UnreadableError(row)
    return Do(call)


def text(expr: C) -> str:
    """Print an expression, fully parenthesised."""
    match expr:
        case Number(text=value):
            return value
        case Name(name=name):
            return name
        case Unary(op=op, operand=operand):
            return f"({op}{text(operand)})"
        case Binary(op=op, lhs=lhs, rhs=rhs):
            return f"({text(lhs)} {op} {text(rhs)})"
        case Select(cond=cond, then=then, orelse=orelse):
            return f"({text(cond)} ? {text(then)} : {text(orelse)})"
        case Cast(type=type_, operand=operand):
            return f"(({type_}){text(operand)})"
        case Pun(type=type_, place=Name() | Index() as place):
            return f"(*({type_} *)(&({text(place)})))"
        case Pun(type=type_, place=place):
            return f"tm_pun<{type_}>({text(place)})"
        case Index(array=array, index=index):
            return f"{array}[{text(index)}]"
        case Address(place=place):
            return f"(&({text(place)}))"
        case Call(function=function, args=args):
            return f"{function}({', '.join(map(text, args))})"


def lines(body: tuple[S, ...], pad: str = "") -> Iterator[str]:
    """Print statements."""
    for stmt in body:
        match stmt:
            case Declare(type=type_, name=name, value=value, size=size):
                extent = f"[{size}]" if size else ""
                given = f" = {text(value)}" if value is not None else ""
                yield f"{pad}{type_} {name}{extent}{given};"
            case Set(place=place, value=value):
                yield f"{pad}{text(place)} = {text(value)};"
            case Do(call=call):
                yield f"{pad}{text(call)};"
            case If(cond=cond, then=then, orelse=orelse):
                yield f"{pad}if ({text(cond)}) {{"
                yield from lines(then, pad + "  ")
                if orelse:
                    yield f"{pad}}} else {{"
                    yield from lines(orelse, pad + "  ")
                yield f"{pad}}}"
            case For(var=var, low=low, high=high, body=inner):
                yield pad + head(var, text(low), text(high))
                yield from lines(inner, pad + "  ")
                yield f"{pad}}}"
            case While(body=inner):
                yield f"{pad}while (1) {{"
                yield from lines(inner, pad + "  ")
                yield f"{pad}}}"
            case Break():
                yield f"{pad}break;"
            case Raw(lines=finished):
                yield from (f"{pad}{line}" for line in finished)


def head(var: str, low: str, high: str) -> str:
    """The first line of a loop over int32 values."""
    return f"for (int32_t {var} = {low}; {var} < {high}; ++{var}) {{"


def parts(expr: C) -> tuple[C, ...]:
    """The operands of an expression."""
    match expr:
        case Number() | Name():
            return ()
        case Unary(operand=a) | Cast(operand=a):
            return (a,)
        case Pun(place=a) | Address(place=a):
            return (a,)
        case Index(index=a):
            return (a,)
        case Binary(lhs=a, rhs=b):
            return (a, b)
        case Select(cond=a, then=b, orelse=c):
            return (a, b, c)
        case Call(args=args):
            return args


def walk(expr: C) -> Iterator[C]:
    """``expr`` and all expressions in it, outermost first."""
    yield expr
    for part in parts(expr):
        yield from walk(part)


def rebuild(expr: C, change: Callable[[C], C]) -> C:
    """``expr`` with ``change`` applied to its operands."""
    match expr:
        case Number() | Name():
            return expr
        case Call(args=args):
            return replace(expr, args=tuple(map(change, args)))
        case Unary(operand=a) | Cast(operand=a):
            return replace(expr, operand=change(a))
        case Pun(place=a) | Address(place=a):
            return replace(expr, place=change(a))
        case Index(index=a):
            return replace(expr, index=change(a))
        case Binary(lhs=a, rhs=b):
            return replace(expr, lhs=change(a), rhs=change(b))
        case Select(cond=a, then=b, orelse=c):
            return Select(change(a), change(b), change(c))


def substitute(expr: C, values: Mapping[str, C]) -> C:
    """Replace names by expressions."""
    if isinstance(expr, Name):
        return values.get(expr.name, expr)
    return rebuild(expr, lambda e: substitute(e, values)) if values else expr


def substituted(body: tuple[S, ...], values: Mapping[str, C]) -> tuple[S, ...]:
    """Replace names by expressions in all statements, places too."""
    return map_expressions(body, lambda e: substitute(e, values))


def bodies(stmt: S) -> tuple[tuple[S, ...], ...]:
    """The statement lists inside a statement."""
    match stmt:
        case If(then=then, orelse=orelse):
            return (then, orelse)
        case For(body=body) | While(body=body):
            return (body,)
        case _:
            return ()


def statements(body: tuple[S, ...]) -> Iterator[S]:
    """All statements, outer ones first."""
    for stmt in body:
        yield stmt
        for inner in bodies(stmt):
            yield from statements(inner)


def expressions(stmt: S) -> tuple[C, ...]:
    """The expressions of a statement itself, its place last."""
    match stmt:
        case Declare(value=value):
            return () if value is None else (value,)
        case Set(place=place, value=value):
            return (value, place)
        case Do(call=call):
            return (call,)
        case If(cond=cond):
            return (cond,)
        case For(low=low, high=high):
            return (low, high)
        case _:
            return ()


def map_expressions(body: tuple[S, ...], change: Callable[[C], C]) -> tuple[S, ...]:
    """Apply ``change`` to every expression."""
    out: list[S] = []
    for stmt in body:
        match stmt:
            case Declare(value=value) if value is not None:
                out.append(replace(stmt, value=change(value)))
            case Set(place=place, value=value):
                out.append(Set(change(place), change(value)))
            case Do(call=call):
                changed = change(call)
                assert isinstance(changed, Call)
                out.append(Do(changed))
            case If(cond=cond, then=then, orelse=orelse):
                out.append(
                    If(change(cond), map_expressions(then, change), map_expressions(orelse, change))
                )
            case For(var=var, low=low, high=high, body=inner):
                out.append(For(var, change(low), change(high), map_expressions(inner, change)))
            case While(body=inner):
                out.append(While(map_expressions(inner, change)))
            case _:
                out.append(stmt)
    return tuple(out)


def names(body: tuple[S, ...]) -> set[str]:
    """Every variable and array that is mentioned or declared."""
    found: set[str] = set()
    for stmt in statements(body):
        if isinstance(stmt, Declare):
            found.add(stmt.name)
        if isinstance(stmt, For):
            found.add(stmt.var)
        for expr in expressions(stmt):
            found |= mentioned(expr)
    return found


def mentioned(expr: C) -> set[str]:
    """Variables and arrays in an expression."""
    found = set()
    for e in walk(expr):
        if isinstance(e, Name):
            found.add(e.name)
        elif isinstance(e, Index):
            found.add(e.array)
    return found


def written(body: tuple[S, ...]) -> set[str]:
    """Variables and arrays that are stored to, loop variables too."""
    found: set[str] = set()
    for stmt in statements(body):
        match stmt:
            case Set(place=Name(name=name)) | Set(place=Index(array=name)):
                found.add(name)
            case Declare(name=name) | For(var=name):
                found.add(name)
            case _:
                pass
        for expr in expressions(stmt):
            for e in walk(expr):
                if isinstance(e, Address):
                    place = e.place
                    found |= {place.array} if isinstance(place, Index) else mentioned(place)
    return found


def plain_variables(body: tuple[S, ...], singles: set[str]) -> tuple[S, ...]:
    """Arrays of one element become variables: ``x[0]`` → ``x``; raises for another index."""

    def change(expr: C) -> C:
        if isinstance(expr, Index) and expr.array in singles:
            index = expr.index.operand if isinstance(expr.index, Cast) else expr.index
            if index != Number("0"):
                raise UnreadableError(text(expr))
            return Name(expr.array)
        if isinstance(expr, Name) and expr.name in singles:
            raise UnreadableError(expr.name)
        return rebuild(expr, change)

    return map_expressions(body, change)
