"""Printing of expressions as TileLang Python, with no more parentheses than Python needs.

The printer decides nothing about meaning: operands that TileLang's simplifier would misread have
been materialised before (``emit/materialize.py``). What it spells differently from C: ``/ %`` as
``T.truncdiv``/``T.truncmod``, ``c ? a : b`` as ``T.if_then_else``, unsigned negation as ``0 - u``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hipify_tile.ir.expr import (
    Binary,
    BinaryOp,
    Bitcast,
    Call,
    Cast,
    Compare,
    CompareOp,
    Const,
    Expr,
    Load,
    Logical,
    LogicalOp,
    Select,
    Unary,
    UnaryOp,
    Var,
)
from hipify_tile.ir.types import BOOL, F32, F64, I32, I64, Kind
from hipify_tile.rewriter.emit.intrinsic_spelling import IntrinsicSpelling, spell
from hipify_tile.rewriter.emit.literals import is_plain, literal

_OR, _AND, _NOT, _COMPARE, _BITOR, _BITXOR, _BITAND, _SHIFT, _SUM, _PRODUCT, _SIGN, _ATOM = range(
    12
)
_LEVEL = {
    BinaryOp.ADD: _SUM,
    BinaryOp.SUB: _SUM,
    BinaryOp.MUL: _PRODUCT,
    BinaryOp.DIV: _PRODUCT,
    BinaryOp.SHL: _SHIFT,
    BinaryOp.SHR: _SHIFT,
    BinaryOp.AND: _BITAND,
    BinaryOp.OR: _BITOR,
    BinaryOp.XOR: _BITXOR,
}
_INT32_LIMIT = 2**31


@dataclass(slots=True)
class ExpressionPrinter:
    """Prints expressions; ``names`` maps IR names to Python names where they differ.

    ``intrinsics`` collects the spelling of every call printed, and ``helpers`` the names of the
    literal helpers used.
    """

    names: Mapping[str, str] = field(default_factory=dict)
    intrinsics: dict[str, IntrinsicSpelling] = field(default_factory=dict)
    helpers: set[str] = field(default_factory=set)

    def text(self, expr: Expr) -> str:
        """Return the text of ``expr``."""
        return self._print(expr, bare=False)[0]

    def value(self, expr: Expr) -> str:
        """Return the text of an assigned value, whose target gives a literal its type."""
        bare = expr.type in (I32, F32)
        return self._print(expr, bare=bare)[0]

    def index(self, indices: tuple[Expr, ...]) -> str:
        """Return the text between the brackets of an access."""
        return ", ".join(self._print(i, bare=True)[0] for i in indices)

    def name(self, name: str) -> str:
        """Return the Python name of an IR name."""
        return self.names.get(name, name)

    def _at(self, expr: Expr, level: int, *, bare: bool = False) -> str:
        text, own = self._print(expr, bare=bare)
        return f"({text})" if own < level else text

    def _print(self, expr: Expr, *, bare: bool) -> tuple[str, int]:
        match expr:
            case Const():
                return self._const(expr, bare)
            case Var(name=name):
                return self.name(name), _ATOM
            case Load(buffer=buffer, indices=indices):
                return f"{self.name(buffer)}[{self.index(indices)}]", _ATOM
            case Unary():
                return self._unary(expr)
            case Binary():
                return self._binary(expr)
            case Compare(op=op, lhs=lhs, rhs=rhs):
                left, right = self._pair(lhs, rhs, _COMPARE + 1, _COMPARE + 1)
                return f"{left} {op} {right}", _COMPARE
            case Logical(op=op, lhs=lhs, rhs=rhs):
                word, level = ("and", _AND) if op is LogicalOp.AND else ("or", _OR)
                return f"{self._at(lhs, level)} {word} {self._at(rhs, level + 1)}", level
            case Select(cond=cond, then=then, orelse=orelse):
                arms = f"{self.text(then)}, {self.text(orelse)}"
                return f"T.if_then_else({self.text(cond)}, {arms})", _ATOM
            case Cast():
                return self._cast(expr)
            case Bitcast(operand=operand, type=type_):
                return f'T.reinterpret({self.text(operand)}, "{type_}")', _ATOM
            case Call():
                return self._call(expr), _ATOM
            case _:
                raise TypeError(f"cannot print {expr!r}")

    def _const(self, expr: Const, bare: bool) -> tuple[str, int]:
        text = literal(expr, bare=bare)
        if text.startswith(("f32(", "f64(")) or "f32(" in text:
            self.helpers.add("f32" if "f32(" in text else "f64")
        return text, (_SIGN if text.startswith("-") else _ATOM)

    def _unary(self, expr: Unary) -> tuple[str, int]:
        match expr.op:
            case UnaryOp.NOT:
                return f"not {self._at(expr.operand, _NOT + 1)}", _NOT
            case UnaryOp.BITNOT:
                return f"~{self._at(expr.operand, _ATOM)}", _SIGN
            case UnaryOp.NEG if expr.type.kind is Kind.UINT:
                return f"T.{expr.type}(0) - {self._at(expr.operand, _PRODUCT)}", _SUM
            case _ if expr.type.is_float:
                return self._negated(expr.operand)
            case _:
                return f"-{self._at(expr.operand, _ATOM)}", _SIGN

    def _negated(self, operand: Expr) -> tuple[str, int]:
        """Spell a float's negation as a product: TileLang's ``-x`` is ``0 - x``, wrong for zero."""
        minus_one = self._const(Const(-1.0, operand.type), operand.type == F32)[0]
        return f"{minus_one} * {self._at(operand, _PRODUCT + 1)}", _PRODUCT

    def _binary(self, expr: Binary) -> tuple[str, int]:
        op, type_ = expr.op, expr.type
        if type_.is_integer and op in (BinaryOp.DIV, BinaryOp.REM):
            name = "truncdiv" if op is BinaryOp.DIV else "truncmod"
            return f"T.{name}({self.text(expr.lhs)}, {self.text(expr.rhs)})", _ATOM
        level = _LEVEL[op]
        zero = _hazardous_zero(expr)
        left, right = self._pair(expr.lhs, expr.rhs, level, level + 1, opaque=zero)
        return f"{left} {op} {right}", level

    def _pair(
        self, lhs: Expr, rhs: Expr, left: int, right: int, *, opaque: bool = False
    ) -> tuple[str, str]:
        """Print two operands of one type; a literal takes its type from the other operand."""
        texts = []
        for side, other, level in ((lhs, rhs, left), (rhs, lhs, right)):
            bare = _lends_type(side, other)
            if opaque and isinstance(side, Const) and side.value == 0:
                texts.append(self._opaque_zero(side))
            else:
                texts.append(self._at(side, level, bare=bare))
        return texts[0], texts[1]

    def _opaque_zero(self, zero: Const) -> str:
        """Spell a floating zero that TileLang must not fold away."""
        helper = "f64" if zero.type == F64 else "f32"
        self.helpers.add(helper)
        if zero.type in (F32, F64):
            return f"{helper}({float(zero.value)!r})"
        return f'T.cast(f32({float(zero.value)!r}), "{zero.type}")'

    def _cast(self, expr: Cast) -> tuple[str, int]:
        operand, type_ = expr.operand, expr.type
        source = operand.type
        if type_ == source:
            return self._print(operand, bare=False)
        if type_ == BOOL:
            zero = Const(0.0 if source.is_float else 0, source)
            return self._print(Compare(CompareOp.NE, operand, zero), bare=False)
        if source.kind is Kind.UINT and type_.kind is Kind.INT and source.bits == type_.bits:
            return f'T.reinterpret({self.text(operand)}, "{type_}")', _ATOM
        return f'T.cast({self.text(operand)}, "{type_}")', _ATOM

    def _call(self, expr: Call) -> str:
        operand_type = expr.args[0].type
        spelling = spell(expr.name, operand_type)
        self.intrinsics[spelling.key] = spelling
        args = ", ".join(self.text(a) for a in expr.args)
        return spelling.call(args)


def _lends_type(side: Expr, other: Expr) -> bool:
    """Whether the literal ``side`` may be printed bare beside ``other``."""
    if not isinstance(side, Const) or isinstance(other, Const):
        return False
    if side.type == I64:
        return abs(int(side.value)) < _INT32_LIMIT
    return side.type in (I32, F32) and is_plain(side)


def _hazardous_zero(expr: Binary) -> bool:
    """Whether TileLang would fold a zero operand although IEEE arithmetic must not."""
    return expr.type.is_float and any(
        isinstance(side, Const) and side.value == 0 for side in (expr.lhs, expr.rhs)
    )
