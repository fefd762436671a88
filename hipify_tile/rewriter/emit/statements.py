"""Printing of statements as TileLang Python lines.

Every ``Leave`` must be native by now: ``break`` of the innermost loop, ``continue`` through the
``Block`` that is its whole body, ``T.thread_return()`` for an exit of the kernel.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hipify_tile.ir.expr import Const, Expr
from hipify_tile.ir.stmt import (
    KERNEL,
    Assign,
    AtomicRMW,
    Axis,
    Barrier,
    Block,
    For,
    If,
    Leave,
    Loop,
    Stmt,
    Store,
    While,
)
from hipify_tile.ir.types import ScalarType
from hipify_tile.rewriter.emit.atomics import AtomicPrinter
from hipify_tile.rewriter.emit.expressions import ExpressionPrinter

INDENT = "    "
WIDTH = 88


@dataclass(slots=True)
class StatementPrinter:
    """Prints statement lists; ``atomics`` says how an atomic operation is called."""

    expressions: ExpressionPrinter
    atomics: AtomicPrinter

    def lines(
        self, body: tuple[Stmt, ...], depth: int, loop: str = "", again: str = ""
    ) -> Iterator[str]:
        """Yield the lines of ``body``; ``loop`` and ``again`` are what break and continue leave."""
        if not body:
            yield f"{INDENT * depth}pass"
        for stmt in body:
            yield from self._stmt(stmt, depth, loop, again)

    def _stmt(self, stmt: Stmt, depth: int, loop: str, again: str) -> Iterator[str]:
        pad = INDENT * depth
        text = self.expressions
        match stmt:
            case Assign(target=target, value=value):
                yield from wrapped(f"{pad}{text.name(target)} = {text.value(value)}", pad)
            case Store(buffer=buffer, indices=indices, value=value):
                place = f"{text.name(buffer)}[{text.index(indices)}]"
                yield from wrapped(f"{pad}{place} = {text.value(value)}", pad)
            case AtomicRMW():
                yield from wrapped(f"{pad}{self.atomics.text(stmt)}", pad)
            case If():
                yield from self._if(stmt, depth, loop, again, "if")
            case For():
                loop_head = f"{pad}for {text.name(stmt.var.name)} in {self._range(stmt)}"
                yield from wrapped(loop_head, pad, ":")
                yield from self._loop_body(stmt, depth)
            case While():
                yield f"{pad}while {text.text(stmt.cond)}:"
                yield from self._loop_body(stmt, depth)
            case Leave(label=label):
                yield f"{pad}{self._leave(label, loop, again)}"
            case Barrier():
                yield f"{pad}T.sync_threads()"
            case Loop(axes=axes, body=body):
                for axis in axes:
                    yield f"{INDENT * depth}{self._axis(axis)}"
                    depth += 1
                yield from self.lines(body, depth)
            case _:
                raise TypeError(f"cannot print {stmt!r}")

    def _if(self, stmt: If, depth: int, loop: str, again: str, word: str) -> Iterator[str]:
        pad = INDENT * depth
        yield f"{pad}{word} {self.expressions.text(stmt.cond)}:"
        yield from self.lines(stmt.then, depth + 1, loop, again)
        match stmt.orelse:
            case ():
                pass
            case (If() as inner,):
                yield from self._if(inner, depth, loop, again, "elif")
            case orelse:
                yield f"{pad}else:"
                yield from self.lines(orelse, depth + 1, loop, again)

    def _loop_body(self, stmt: For | While, depth: int) -> Iterator[str]:
        match stmt.body:
            case (Block(label=again, body=body),):
                yield from self.lines(body, depth + 1, stmt.label, again)
            case body:
                yield from self.lines(body, depth + 1, stmt.label)

    def _range(self, stmt: For) -> str:
        stop = self._bound(stmt.stop)
        if stmt.step == 1 and stmt.start == Const(0, stmt.var.type):
            return f"T.serial({stop})"
        step = "" if stmt.step == 1 else f", {stmt.step}"
        return f"T.serial({self._bound(stmt.start)}, {stop}{step})"

    def _axis(self, axis: Axis) -> str:
        return (
            f"for {self.expressions.name(axis.var.name)} in T.serial({self._bound(axis.extent)}):"
        )

    def _bound(self, expr: Expr) -> str:
        return self.expressions.value(expr)

    def _leave(self, label: str, loop: str, again: str) -> str:
        if label == KERNEL:
            return "T.thread_return()"
        if label and label == loop:
            return "break"
        if label and label == again:
            return "continue"
        raise ValueError(f"leave {label} is not structured")


def wrapped(line: str, pad: str, tail: str = "") -> Iterator[str]:
    """Yield ``line + tail``; a ``line`` that is too wide and ends in a call has arguments below."""
    start = _last_call(line)
    if len(line) + len(tail) <= WIDTH or start < 0:
        yield line + tail
        return
    arguments = line[start + 1 : -1]
    yield line[: start + 1]
    if len(pad) + len(INDENT) + len(arguments) <= WIDTH:
        yield f"{pad}{INDENT}{arguments}"
    else:
        yield from (f"{pad}{INDENT}{a}," for a in _split(arguments))
    yield f"{pad}){tail}"


def _last_call(line: str) -> int:
    """Return where the parenthesis opens that closes ``line`` if a call's, else -1."""
    if not line.endswith(")"):
        return -1
    depth = 0
    for position in range(len(line) - 1, -1, -1):
        depth += (line[position] in ")]") - (line[position] in "([")
        if depth == 0:
            head = line[:position].rpartition(" ")[2]
            plain = line[:position].strip()
            simple = head and (plain == head or plain.endswith((f"= {head}", f" in {head}")))
            return position if simple else -1
    return -1


def _split(arguments: str) -> Iterator[str]:
    """Split an argument list at its own commas."""
    depth, start = 0, 0
    for position, char in enumerate(arguments):
        depth += (char in "([") - (char in ")]")
        if char == "," and depth == 0:
            yield arguments[start:position].strip()
            start = position + 1
    yield arguments[start:].strip()


def declaration(name: str, type_: ScalarType) -> str:
    """Return the declaration of a scalar local."""
    return f'{name} = T.alloc_var("{type_}")'
