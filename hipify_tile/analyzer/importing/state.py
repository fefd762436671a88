"""What the importer builds up for one kernel: names, locals, statements, call frames.

Side effects are statements appended to the current list; expressions stay pure. An operand that was
computed before such statements and could be changed by them is copied into a fresh local first
(``protect``), so that C's left-to-right reading survives.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from hipify_tile.analyzer.importing.refusal import Refusal
from hipify_tile.analyzer.importing.types import CType, TypeTable
from hipify_tile.analyzer.importing.values import (
    Address,
    ArrayValue,
    MemoryPointer,
    Place,
    RecordValue,
    Value,
    is_expr,
    scalars,
)
from hipify_tile.ir.expr import Cast, Const, Expr, Index, Load, Var, children, walk
from hipify_tile.ir.span import Span
from hipify_tile.ir.stmt import Assign, Stmt
from hipify_tile.ir.types import ScalarType

_RESERVED = frozenset(
    (
        "T", "kernel", "grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z",
        "threadIdx", "blockIdx", "blockDim", "gridDim", "int", "float", "double", "char", "short",
        "long", "unsigned", "signed", "bool", "void", "auto", "register", "main",
    )
)  # fmt: skip


@dataclass(slots=True)
class Frame:
    """One activation: the kernel itself or an inlined function.

    ``label`` is what ``return`` leaves, ``result`` where it puts its value (None: nowhere),
    ``tail`` the return statement whose value may be handed back directly.
    """

    usr: str
    label: str
    environment: dict[int, Place]
    this: Place | None = None
    result: Place | None = None
    result_type: CType | None = None
    returns_reference: bool = False
    tail: int | None = None
    tail_value: Value | None = None
    tail_place: Place | None = None
    breaks: list[str] = field(default_factory=list)
    continues: list[str] = field(default_factory=list)


class State:
    """Names, locals, statements and frames, shared by all parts of the importer."""

    def __init__(self, span_of: Callable[[Any], Span]) -> None:
        """Start empty; ``span_of`` gives the source span of a cursor."""
        self.span_of = span_of
        self.types = TypeTable()
        self.locals: dict[str, ScalarType] = {}
        self.names: set[str] = set(_RESERVED) | set(keyword.kwlist)
        self.fixed: set[str] = set()  # names that are assigned once, before every use
        self.out: list[Stmt] = []
        self.frames: list[Frame] = []
        self.changing: dict[int, bool] = {}
        self.inlined: dict[str, Span] = {}
        self.scanned: set[int] = set()

    @property
    def frame(self) -> Frame:
        """The innermost activation."""
        return self.frames[-1]

    def refuse(self, cursor: Any, code: str, headline: str = "", **more: Any) -> Refusal:
        """Make the refusal of ``cursor``, to be raised."""
        return Refusal(code, headline, self.span_of(cursor), **more)

    @contextmanager
    def located(self, cursor: Any) -> Iterator[None]:
        """Give refusals that know no position that of ``cursor``."""
        try:
            yield
        except Refusal as refusal:
            if refusal.span is None:
                refusal.span = self.span_of(cursor)
            raise

    def ctype(self, cursor: Any) -> CType:
        """Return the type of an expression or declaration."""
        with self.located(cursor):
            return self.types.of(cursor.type)

    def unique(self, base: str) -> str:
        """Reserve a name that resembles ``base``."""
        stem = re.sub(r"\W", "_", base, flags=re.ASCII).strip("_") or "v"
        if stem[0].isdigit():
            stem = f"v{stem}"
        name, n = stem, 0
        while name in self.names:
            n += 1
            name = f"{stem}_{n}"
        self.names.add(name)
        return name

    def local(self, base: str, type_: ScalarType, *, fixed: bool = False) -> Var:
        """Declare a scalar local; ``fixed`` promises one assignment before all uses."""
        name = self.unique(base)
        self.locals[name] = type_
        if fixed:
            self.fixed.add(name)
        return Var(name, type_)

    def emit(self, stmt: Stmt) -> None:
        """Append a statement."""
        self.out.append(stmt)

    @contextmanager
    def captured(self) -> Iterator[list[Stmt]]:
        """Collect the statements emitted inside in a list of their own."""
        saved, self.out = self.out, []
        try:
            yield self.out
        finally:
            self.out = saved

    def stable(self, expr: Expr) -> bool:
        """Whether no statement can change the value of ``expr``."""
        return all(
            not isinstance(e, Load) and not (isinstance(e, Var) and e.name not in self.fixed)
            for e in walk(expr)
        )

    def stable_value(self, value: Value) -> bool:
        """Whether no statement can change ``value``."""
        return all(self.stable(e) for e in scalars(value))

    def simple(self, expr: Expr) -> bool:
        """Whether repeating ``expr`` costs nothing."""
        match expr:
            case Const() | Index() | Var():
                return True
            case Cast():
                return all(self.simple(c) for c in children(expr))
            case _:
                return False

    def bind(self, expr: Expr, base: str = "t", at: int | None = None) -> Expr:
        """Return ``expr`` itself if repeating it is safe and cheap, else a fresh local's value.

        The local is assigned at position ``at`` of the current statements (default: the end).
        """
        if self.stable(expr) and self.simple(expr):
            return expr
        return self.copy(expr, base, at)

    def copy(self, expr: Expr, base: str = "t", at: int | None = None) -> Var:
        """Assign ``expr`` to a fresh local and return its value."""
        var = self.local(base, expr.type, fixed=True)
        self.out.insert(len(self.out) if at is None else at, Assign(var.name, expr, expr.span))
        return var

    def snapshot(self, value: Value, base: str = "t", at: int | None = None) -> Value:
        """Return ``value`` with every scalar in it bound (see ``bind``)."""
        position = len(self.out) if at is None else at

        def take(expr: Expr) -> Expr:
            nonlocal position
            before = len(self.out)
            bound = self.bind(expr, base, position)
            position += len(self.out) - before
            return bound

        return self._rebuild(value, take)

    def _rebuild(self, value: Value, take: Callable[[Expr], Expr]) -> Value:
        match value:
            case MemoryPointer():
                a = value.address
                seen: dict[int, Expr] = {}

                def once(e: Expr) -> Expr:
                    if id(e) not in seen:
                        seen[id(e)] = take(e)
                    return seen[id(e)]

                terms = tuple((once(e), stride) for e, stride in a.terms)
                subs = None if a.subscripts is None else tuple(map(once, a.subscripts))
                address = Address(a.storage, terms, a.const, subs)
                return MemoryPointer(address, value.pointee, value.decayed)
            case RecordValue():
                fields = {n: self._rebuild(v, take) for n, v in value.fields.items()}
                return RecordValue(value.type, fields)
            case ArrayValue():
                return ArrayValue(value.type, tuple(self._rebuild(v, take) for v in value.elements))
            case _ if is_expr(value):
                return take(value)
            case _:
                return value

    def protect(self, value: Value, mark: int) -> Value:
        """Fix ``value`` if statements were emitted since position ``mark``."""
        if len(self.out) == mark or self.stable_value(value):
            return value
        return self.snapshot(value, at=mark)
