"""Grid and block extents of a lowered kernel as C++ text.

    T.max((T.min(n, grid_x * block_x) + 1023) // 1024, 1)  →  tm_max(tm_div((tm_min(n, …) + …

All arithmetic is in 64 bits, so that nothing wraps that did not in TileLang's proof of the bounds.
"""

from __future__ import annotations

import ast

SUPPORT = """\
static inline int64_t tm_min(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t tm_max(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t tm_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a ^ b) < 0); }
static inline int64_t tm_mod(int64_t a, int64_t b) { return a - b * tm_div(a, b); }
"""

_OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}
_COMPARISONS = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
_CALLS = {"min": "tm_min", "max": "tm_max"}


class ExtentError(ValueError):
    """The text is no expression that a launch can compute."""


def c_extent(text: str) -> tuple[str, frozenset[str]]:
    """Return the C++ text of a printed extent and the names it uses; raises ``ExtentError``."""
    try:
        tree = ast.parse(text.strip() or "0", mode="eval")
    except SyntaxError as error:
        raise ExtentError(text) from error
    names = frozenset(
        n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id not in ("T", "tir")
    )
    return _text(tree.body), names


def _text(node: ast.expr) -> str:
    match node:
        case ast.Constant(value=int() as value):
            return f"(int64_t){value}"
        case ast.Name(id=name):
            return f"(int64_t){name}"
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return f"(-{_text(operand)})"
        case ast.BinOp(left=left, op=ast.FloorDiv(), right=ast.Constant(value=int() as by)) if by:
            return f"tm_div({_text(left)}, {by})"
        case ast.BinOp(left=left, op=ast.Mod(), right=ast.Constant(value=int() as by)) if by:
            return f"tm_mod({_text(left)}, {by})"
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return f"({_text(left)} {_OPERATORS[type(op)]} {_text(right)})"
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARISONS:
            return f"({_text(left)} {_COMPARISONS[type(op)]} {_text(right)})"
        case ast.Call(func=ast.Attribute(attr=name), args=args):
            return _call(name, args)
        case _:
            raise ExtentError(ast.unparse(node))


def _call(name: str, args: list[ast.expr]) -> str:
    match name, args:
        case ("min" | "max", [a, b]):
            return f"{_CALLS[name]}({_text(a)}, {_text(b)})"
        case ("Cast", [ast.Constant(value="int32" | "int64"), value]) | (
            "int64" | "int32",
            [value],
        ):
            return _text(value)
        case ("Select" | "if_then_else", [condition, then, orelse]):
            return f"({_text(condition)} ? {_text(then)} : {_text(orelse)})"
        case _:
            raise ExtentError(name)
