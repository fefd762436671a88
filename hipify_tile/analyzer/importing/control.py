"""Control flow: branches, loops of every form, switch, early exits."""

from __future__ import annotations

from typing import Any

from hipify_tile.analyzer import clang
from hipify_tile.analyzer.importing.conversions import K, operands
from hipify_tile.analyzer.importing.counted import counted_loop
from hipify_tile.analyzer.importing.statements import Statements
from hipify_tile.analyzer.importing.types import ArrayType, VoidType, is_reference
from hipify_tile.analyzer.importing.values import MemoryPlace, ScalarPlace, Value
from hipify_tile.ir.expr import (
    Binary,
    BinaryOp,
    Compare,
    CompareOp,
    Const,
    Expr,
    Logical,
    LogicalOp,
    Unary,
    UnaryOp,
    Var,
)
from hipify_tile.ir.stmt import Assign, Block, For, If, Leave, Stmt, While
from hipify_tile.ir.types import BOOL, I32, ScalarType

_TRUE = Const(True, BOOL)


class ControlFlow(Statements):
    """Every statement; an unknown kind is refused, never skipped."""

    def statement(self, cursor: Any) -> None:
        """Import a statement."""
        cursor = clang.statement(cursor)
        kind = cursor.kind
        with self.located(cursor):
            if kind == K.COMPOUND_STMT:
                for child in cursor.get_children():
                    self.statement(child)
            elif kind == K.DECL_STMT:
                self.declaration_statement(cursor)
            elif kind == K.NULL_STMT:
                pass
            elif kind == K.IF_STMT:
                self._if(cursor)
            elif kind == K.FOR_STMT:
                self._for(cursor)
            elif kind == K.WHILE_STMT:
                self._while(cursor)
            elif kind == K.DO_STMT:
                self._do(cursor)
            elif kind == K.CXX_FOR_RANGE_STMT:
                self._for_range(cursor)
            elif kind == K.SWITCH_STMT:
                self._switch(cursor)
            elif kind == K.BREAK_STMT:
                self._leave(cursor, self.frame.breaks)
            elif kind == K.CONTINUE_STMT:
                self._leave(cursor, self.frame.continues)
            elif kind == K.RETURN_STMT:
                self._return(cursor)
            elif kind in (K.GOTO_STMT, K.LABEL_STMT, K.INDIRECT_GOTO_STMT):
                raise self.refuse(cursor, "TM1205")
            elif kind in (K.ASM_STMT, K.MS_ASM_STMT):
                raise self.refuse(cursor, "TM1106")
            elif kind.is_expression():
                self.discard(cursor)
            else:
                raise self.refuse(cursor, "TM1001")

    def _leave(self, cursor: Any, labels: list[str]) -> None:
        if not labels:
            raise self.refuse(cursor, "TM1205")
        self.emit(Leave(labels[-1], self.span_of(cursor)))

    def _return(self, cursor: Any) -> None:
        values = operands(cursor)
        frame = self.frame
        if values and frame.result_type is not None and not isinstance(frame.result_type, VoidType):
            value_cursor = values[0]
            if frame.tail == cursor.hash:
                if frame.returns_reference:
                    frame.tail_place = self.fixed_place(self.lvalue(value_cursor))
                else:
                    frame.tail_value = self._returned(value_cursor)
                return
            if frame.result is None:
                raise self.refuse(cursor, "TM1001")
            self.store(frame.result, self._returned(value_cursor), self.span_of(cursor))
        elif values:
            self.discard(values[0])
        if frame.tail != cursor.hash:
            self.emit(Leave(frame.label, self.span_of(cursor)))

    def _returned(self, cursor: Any) -> Value:
        type_ = self.frame.result_type
        assert type_ is not None
        if cursor.kind == K.INIT_LIST_EXPR:
            return self.init_list(cursor, type_)
        return self.convert(self.rvalue(cursor), type_)

    def _if(self, cursor: Any) -> None:
        parts = clang.if_parts(cursor)
        if parts is None:
            raise self.refuse(cursor, "TM1001", "this form of if is not supported")
        if parts.init is not None:
            if parts.init.kind == K.VAR_DECL:
                self.declare(parts.init)
            else:
                self.declaration_statement(parts.init)
        cond = self.condition(parts.cond)
        if isinstance(cond, Const):
            chosen = parts.then if cond.value else parts.orelse
            if chosen is not None:
                self.statement(chosen)
            return
        with self.captured() as then:
            self.statement(parts.then)
        with self.captured() as orelse:
            if parts.orelse is not None:
                self.statement(parts.orelse)
        self.branch(cond, then, orelse, cursor)

    # -- loops

    def loop_body(self, cursor: Any, label: str) -> list[Stmt]:
        """Import a loop's body; ``continue`` leaves the block that wraps it."""
        again = self.unique("continue")
        self.frame.breaks.append(label)
        self.frame.continues.append(again)
        try:
            with self.captured() as body:
                self.statement(cursor)
        finally:
            self.frame.breaks.pop()
            self.frame.continues.pop()
        return [Block(again, tuple(body), self.span_of(cursor))]

    def emit_while(
        self,
        cursor: Any,
        condition: tuple[Expr, list[Stmt]],
        body: list[Stmt],
        label: str,
    ) -> None:
        """Emit a loop whose condition may need statements of its own."""
        cond, effects = condition
        span = self.span_of(cursor)
        if effects:
            leave = If(Unary(UnaryOp.NOT, cond, BOOL), (Leave(label),), (), span)
            body = [*effects, leave, *body]
            cond = _TRUE
        self.emit(While(cond, tuple(body), label, span))

    def _for(self, cursor: Any) -> None:
        parts = clang.for_parts(cursor)
        if parts is None:
            raise self.refuse(cursor, "TM1001", "the parts of this for cannot be told apart")
        if parts.init is not None:
            self.statement(parts.init)
        label = self.unique("loop")
        with self.captured() as effects:
            cond = self.condition(parts.cond) if parts.cond is not None else _TRUE
        body = self.loop_body(parts.body, label)
        with self.captured() as increment:
            if parts.inc is not None:
                self.discard(parts.inc)
        if not effects and self._emit_counted(cursor, cond, body, increment, label):
            return
        self.emit_while(cursor, (cond, effects), [*body, *increment], label)

    def _emit_counted(
        self, cursor: Any, cond: Expr, body: list[Stmt], increment: list[Stmt], label: str
    ) -> bool:
        """Emit ``for`` as a counted loop if it is one."""
        last = self.out[-1] if self.out else None
        if not isinstance(last, Assign):
            return False
        counted = counted_loop(last, cond, tuple(body), tuple(increment))
        if counted is None:
            return False
        var, start, stop, step = counted
        span = self.span_of(cursor)
        if self._declares(cursor, var.name):
            self.out.pop()
            self.emit(For(var, start, stop, step, tuple(body), label, span))
            return True
        # The variable outlives the loop: count with one of our own and keep it up to date.
        counter = self.local(f"{var.name}_count", var.type, fixed=True)
        current = Assign(var.name, counter, span)
        after = Binary(BinaryOp.ADD, counter, Const(step, var.type), var.type)
        inner = (current, *body, Assign(var.name, after, span))
        # The assignment stays in front of the loop: start from the variable, not from its value.
        self.emit(For(counter, Var(var.name, var.type), stop, step, inner, label, span))
        return True

    def _declares(self, cursor: Any, name: str) -> bool:
        parts = clang.for_parts(cursor)
        if parts is None or parts.init is None or parts.init.kind != K.DECL_STMT:
            return False
        for child in parts.init.get_children():
            place = self.frame.environment.get(child.hash)
            if isinstance(place, ScalarPlace) and place.name == name:
                return True
        return False

    def _while(self, cursor: Any) -> None:
        head = list(cursor.get_children())
        if len(head) != 2:
            raise self.refuse(cursor, "TM1001", "a while that declares a variable")
        label = self.unique("loop")
        with self.captured() as effects:
            cond = self.condition(head[0])
        body = self.loop_body(head[1], label)
        self.emit_while(cursor, (cond, effects), body, label)

    def _do(self, cursor: Any) -> None:
        body_cursor, cond_cursor = cursor.get_children()
        label = self.unique("loop")
        body = self.loop_body(body_cursor, label)
        with self.captured() as tail:
            cond = self.condition(cond_cursor)
        span = self.span_of(cursor)
        if not tail and isinstance(cond, Const) and not cond.value:
            # do { … } while (0) runs once.
            self.emit(Block(label, tuple(body), span))
            return
        leave = If(Unary(UnaryOp.NOT, cond, BOOL), (Leave(label),), (), span)
        self.emit(While(_TRUE, (*body, *tail, leave), label, span))

    def _for_range(self, cursor: Any) -> None:
        children = list(cursor.get_children())
        if len(children) != 3 or children[0].kind != K.VAR_DECL:
            raise self.refuse(cursor, "TM1001", "this range-for is not supported")
        variable, range_cursor, body_cursor = children
        place = self.lvalue(range_cursor)
        type_ = place.type if isinstance(place, MemoryPlace) else None
        if not isinstance(place, MemoryPlace) or not isinstance(type_, ArrayType):
            raise self.refuse(cursor, "TM1001", "range-for is supported over arrays only")
        if type_.count is None:
            raise self.refuse(cursor, "TM1001")
        label = self.unique("loop")
        var = self.local("i", I32, fixed=True)
        with self.captured() as head:
            element = self.subscript(self.load(place), var, type_.element)
            if is_reference(variable.type):
                self.frame.environment[variable.hash] = element
            else:
                target = self.new_place(variable.spelling, self.ctype(variable), variable)
                self.store(target, self.convert(self.load(element), self.ctype(variable)))
                self.frame.environment[variable.hash] = target
        body = (*head, *self.loop_body(body_cursor, label))
        span = self.span_of(cursor)
        self.emit(For(var, Const(0, I32), Const(type_.count, I32), 1, body, label, span))

    # -- switch

    def _switch(self, cursor: Any) -> None:
        children = list(cursor.get_children())
        if children and children[0].kind in (K.DECL_STMT, K.VAR_DECL):
            raise self.refuse(cursor, "TM1001", "a switch that declares a variable")
        if len(children) != 2 or children[1].kind != K.COMPOUND_STMT:
            raise self.refuse(cursor, "TM1205", "this form of switch is not supported")
        subject = self.bind_scalar(children[0])
        groups = self._groups(children[1])
        label = self.unique("switch")
        bodies: list[tuple[list[Stmt], bool]] = []
        self.frame.breaks.append(label)
        try:
            for _, statements in groups:
                with self.captured() as body:
                    for item in statements:
                        self.statement(item)
                bodies.append((body, bool(body) and isinstance(body[-1], Leave)))
        finally:
            self.frame.breaks.pop()
        every = [c for cases, _ in groups for c in cases if c is not None]
        conds = [self._matches(subject, cases, every) for cases, _ in groups]
        span = self.span_of(cursor)
        if all(ends for _, ends in bodies[:-1]):
            chain: tuple[Stmt, ...] = ()
            for cond, (body, _) in reversed(list(zip(conds, bodies, strict=True))):
                chain = (If(cond, tuple(body), chain, span),)
            self.emit(Block(label, chain, span))
            return
        running = self.local("falling", BOOL)
        inner: list[Stmt] = [Assign(running.name, Const(False, BOOL), span)]
        for cond, (body, _) in zip(conds, bodies, strict=True):
            enter = Logical(LogicalOp.OR, running, cond, BOOL, span)
            begin = Assign(running.name, _TRUE, span)
            inner.append(If(enter, (begin, *body), (), span))
        self.emit(Block(label, tuple(inner), span))

    def bind_scalar(self, cursor: Any) -> Expr:
        """Return a scalar's value, computed once."""
        return self.bind(self.scalar(cursor), "subject")

    def _groups(self, compound: Any) -> list[tuple[list[Any | None], list[Any]]]:
        """Split a switch body into (case values, statements); None is ``default``."""
        groups: list[tuple[list[Any | None], list[Any]]] = []
        for child in compound.get_children():
            item = child
            cases: list[Any | None] = []
            while item.kind in (K.CASE_STMT, K.DEFAULT_STMT):
                parts = list(item.get_children())
                if item.kind == K.CASE_STMT:
                    if len(parts) != 2:
                        raise self.refuse(item, "TM1001", "a case range is not supported")
                    cases.append(parts[0])
                else:
                    cases.append(None)
                item = parts[-1]
            if cases:
                groups.append((cases, [item]))
            elif groups:
                groups[-1][1].append(item)
            elif item.kind != K.DECL_STMT:
                raise self.refuse(item, "TM1205", "a statement before the first case")
            if self._hides_case(item):
                raise self.refuse(item, "TM1205", "a case inside a nested statement")
        return groups

    def _hides_case(self, item: Any) -> bool:
        stack = [item]
        while stack:
            node = stack.pop()
            if node.kind in (K.CASE_STMT, K.DEFAULT_STMT):
                return True
            if node.kind not in (K.SWITCH_STMT, K.LAMBDA_EXPR):
                stack += list(node.get_children())
        return False

    def _matches(self, subject: Expr, cases: list[Any | None], every: list[Any]) -> Expr:
        if any(c is None for c in cases):
            others = [c for c in every if not any(c is own for own in cases)]
            return Unary(UnaryOp.NOT, self._any_of(subject, others), BOOL)
        return self._any_of(subject, [c for c in cases if c is not None])

    def _any_of(self, subject: Expr, cases: list[Any]) -> Expr:
        cond: Expr = Const(False, BOOL)
        type_ = subject.type
        assert isinstance(type_, ScalarType)
        for case in cases:
            value = clang.evaluate(case)
            if not isinstance(value, int):
                raise self.refuse(case, "TM1001", "a case value is not known")
            test = Compare(
                CompareOp.EQ, subject, self.constant(value, type_, case), BOOL, self.span_of(case)
            )
            cond = test if isinstance(cond, Const) else Logical(LogicalOp.OR, cond, test, BOOL)
        return cond
