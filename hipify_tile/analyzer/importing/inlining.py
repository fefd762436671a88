"""Inlining: a call becomes the callee's statements with its parameters bound.

``return`` leaves a block that wraps them unless it is the callee's only, last statement.
"""

from __future__ import annotations

from typing import Any

from hipify_tile.analyzer import clang
from hipify_tile.analyzer.importing.builtins import Builtins
from hipify_tile.analyzer.importing.conversions import K, operands
from hipify_tile.analyzer.importing.mutation import changing_variables, returns_of
from hipify_tile.analyzer.importing.state import Frame
from hipify_tile.analyzer.importing.types import (
    ArrayType,
    PointerType,
    RecordType,
    VoidType,
    is_reference,
)
from hipify_tile.analyzer.importing.values import (
    Closure,
    MemoryPlace,
    Place,
    PlacePointer,
    PointerPlace,
    RecordPlace,
    ScalarPlace,
    Value,
    ValuePlace,
    VoidValue,
)
from hipify_tile.ir.simt import Scope
from hipify_tile.ir.stmt import Block
from hipify_tile.ir.types import I64, ScalarType

_MAX_DEPTH = 64


class Inlining(Builtins):
    """Bodies of this translation unit in place of calls, and the locals they need."""

    def statement(self, cursor: Any) -> None:
        """Import a statement."""
        raise NotImplementedError

    def _body(self, function: Any) -> tuple[Any, Any] | None:
        if function.is_default_method():
            return None  # Clang gives defaulted members an empty body that hides what they do.
        for candidate in (function, function.get_definition()):
            if candidate is not None:
                for child in candidate.get_children():
                    if child.kind == K.COMPOUND_STMT:
                        return candidate, child
        return None

    def inline(
        self, cursor: Any, callee: Any, this: Place | None, arguments: list[Any]
    ) -> Value | Place:
        """Import the body of ``callee`` in place of the call ``cursor``."""
        found = self._body(callee)
        if found is None:
            if callee.spelling == "operator=" and this is not None and len(arguments) == 1:
                self.store(this, self.rvalue(arguments[0]), self.span_of(cursor))
                return this
            code = "TM1104" if self.is_system(callee) else "TM1103"
            raise self.refuse(cursor, code, f"{callee.spelling} has no body here"[:59])
        definition, body = found
        closure = this.value if isinstance(this, ValuePlace) else None
        if isinstance(closure, Closure):
            environment, this = dict(closure.environment), closure.this
        else:
            environment = {}
        frame = self._enter(cursor, definition, environment, this)
        self._bind_parameters(cursor, definition, arguments, frame)
        result_type = definition.result_type
        frame.returns_reference = is_reference(result_type)
        with self.located(cursor):
            frame.result_type = self.types.of(result_type)
        returns = returns_of(body)
        last = self._last(body)
        wants_value = not isinstance(frame.result_type, VoidType)
        if len(returns) == 1 and last is not None and returns[0] == last:
            frame.tail = last.hash
        elif wants_value:
            if frame.returns_reference:
                raise self.refuse(cursor, "TM1002", "a reference is returned from several places")
            frame.result = self.new_place(
                f"{definition.spelling}_result", frame.result_type, cursor
            )
        self.frames.append(frame)
        try:
            with self.captured() as statements:
                self.statement(body)
        finally:
            self.frames.pop()
        if frame.tail is not None:
            self.out += statements
        else:
            self.emit(Block(frame.label, tuple(statements), self.span_of(cursor)))
        return self._result(frame)

    def _result(self, frame: Frame) -> Value | Place:
        if frame.tail_place is not None:
            return frame.tail_place
        if frame.tail_value is not None:
            return frame.tail_value
        if frame.result is not None:
            return self.load(frame.result)
        return VoidValue()

    def _enter(
        self, cursor: Any, definition: Any, environment: dict[int, Place], this: Place | None
    ) -> Frame:
        usr = definition.get_usr() or definition.mangled_name
        if any(f.usr == usr and usr for f in self.frames):
            raise self.refuse(cursor, "TM1101")
        if len(self.frames) > _MAX_DEPTH:
            raise self.refuse(cursor, "TM1101", "device functions are nested too deeply")
        if definition.hash not in self.scanned:
            self.scanned.add(definition.hash)
            self.changing |= changing_variables(definition)
            self.inlined[usr] = self.span_of(definition)
        name = definition.spelling
        label = self.unique("return_" + (name if name.isidentifier() else "operator"))
        return Frame(usr=usr, label=label, environment=environment, this=this)

    def _last(self, body: Any) -> Any | None:
        children = list(body.get_children())
        last = children[-1] if children else None
        return last if last is not None and last.kind == K.RETURN_STMT else None

    def _bind_parameters(
        self, cursor: Any, definition: Any, arguments: list[Any], frame: Frame
    ) -> None:
        parameters = [c for c in definition.get_arguments()]
        if len(arguments) > len(parameters):
            raise self.refuse(cursor, "TM1002", "variadic calls are not supported")
        bound: list[Value | Place] = []
        for i, parameter in enumerate(parameters):
            argument = self._argument(cursor, parameter, arguments, i)
            mark = len(self.out)
            item: Value | Place
            if is_reference(parameter.type):
                item = self.fixed_place(self.lvalue(argument))
            else:
                item = self.convert(self.rvalue(argument), self.ctype(parameter))
            if len(self.out) > mark:
                bound = [b if isinstance(b, Place) else self.protect(b, mark) for b in bound]
            bound.append(item)
        for parameter, item in zip(parameters, bound, strict=True):
            frame.environment[parameter.hash] = self._parameter(parameter, item)

    def _parameter(self, parameter: Any, item: Value | Place) -> Place:
        if isinstance(item, Place):
            return item
        type_ = self.ctype(parameter)
        name = parameter.spelling or "arg"
        if isinstance(item, Closure) or not self.changing.get(parameter.hash, False):
            return ValuePlace(self.snapshot(item, name), type_)
        if isinstance(item, PlacePointer):
            return ValuePlace(item, type_)
        place = self.new_place(name, type_, parameter)
        self.store(place, item, self.span_of(parameter))
        return place

    def _argument(self, cursor: Any, parameter: Any, arguments: list[Any], i: int) -> Any:
        argument = arguments[i] if i < len(arguments) else None
        if argument is not None and argument.kind != K.UNEXPOSED_EXPR:
            return argument
        if argument is not None and (operands(argument) or clang.evaluate(argument) is not None):
            return argument
        default = clang.var_init(parameter)
        if default is None:
            for child in operands(parameter):
                default = child
        if default is None:
            raise self.refuse(cursor, "TM1002", "a default argument is not known")
        return default

    def new_place(self, base: str, type_: Any, cursor: Any) -> Place:
        """Declare a local object of ``type_``, its value undefined."""
        match type_:
            case ScalarType():
                var = self.local(base, type_)
                return ScalarPlace(var.name, type_)
            case PointerType():
                return self.new_pointer(base, type_)
            case RecordType():
                if not type_.fields and type_.size > 1:
                    type_ = self.types.of(cursor.type)
                return RecordPlace(
                    type_,
                    {f.name: self.new_place(f"{base}_{f.name}", f.type, cursor)
                     for f in type_.fields},
                )  # fmt: skip
            case ArrayType():
                return self.new_local_array(base, type_, cursor)
            case _:
                raise self.refuse(cursor, "TM1003", "a variable of this type is not supported")

    def new_pointer(self, base: str, type_: PointerType) -> PointerPlace:
        """Declare a pointer variable."""
        return PointerPlace(type_, self.local(base, I64).name)

    def new_local_array(self, base: str, type_: ArrayType, cursor: Any) -> MemoryPlace:
        """Declare an array that is private to the thread."""
        if not type_.count:
            raise self.refuse(cursor, "TM1003", "an array of unknown bound is not supported")
        address = self.new_storage(base, type_, Scope.LOCAL, span=self.span_of(cursor))
        return MemoryPlace(address, type_)
