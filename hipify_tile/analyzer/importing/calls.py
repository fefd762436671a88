"""Calls: inlining of device functions, methods, constructors, operators and lambdas.

A call becomes the callee's statements with its parameters bound; ``return`` leaves a block that
wraps them unless it is the callee's only, last statement.
"""

from __future__ import annotations

from typing import Any

from clang.cindex import CursorKind, TypeKind

from hipify_tile.analyzer import clang
from hipify_tile.analyzer.importing.builtins import Builtins
from hipify_tile.analyzer.importing.conversions import K, operands
from hipify_tile.analyzer.importing.mutation import changing_variables, returns_of
from hipify_tile.analyzer.importing.refusal import Refusal
from hipify_tile.analyzer.importing.state import Frame
from hipify_tile.analyzer.importing.types import (
    ArrayType,
    ClosureType,
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

_FUNCTIONS = (
    CursorKind.FUNCTION_DECL,
    CursorKind.CXX_METHOD,
    CursorKind.CONVERSION_FUNCTION,
    CursorKind.CONSTRUCTOR,
)
_MAX_DEPTH = 64


class Calls(Builtins):
    """Calls of functions that have a body in this translation unit."""

    def statement(self, cursor: Any) -> None:
        """Import a statement."""
        raise NotImplementedError

    def call(self, cursor: Any, wanted: bool) -> Value | Place:
        """Import a call; a Place when it returns a reference."""
        callee = cursor.referenced
        if callee is None:
            raise self.refuse(cursor, "TM1103", "the function of this call is not known")
        if callee.kind not in _FUNCTIONS:
            raise self.refuse(cursor, "TM1102")
        if callee.kind == K.CONSTRUCTOR:
            return self._constructed(cursor, callee)
        if callee.is_virtual_method():
            raise self.refuse(cursor, "TM1102", "a virtual function is called")
        if self.is_system(callee):
            result = self.builtin(cursor, callee, wanted)
            if result is not None:
                return result
        this, arguments = self._arguments(cursor, callee)
        return self.inline(cursor, callee, this, arguments)

    def _arguments(self, cursor: Any, callee: Any) -> tuple[Place | None, list[Any]]:
        arguments = list(cursor.get_arguments())
        if callee.kind == K.FUNCTION_DECL or callee.is_static_method():
            return None, arguments
        head = clang.unwrap(operands(cursor)[0]) if operands(cursor) else None
        if head is not None and head.kind == K.MEMBER_REF_EXPR and head.referenced == callee:
            inner = operands(head)
            if not inner:
                return self.frame.this, arguments
            base = self.ctype(inner[0])
            if isinstance(base, PointerType):
                return self.dereference(self.rvalue(inner[0]), base.pointee), arguments
            return self.lvalue(inner[0]), arguments
        if not arguments:
            raise self.refuse(cursor, "TM1102")
        return self.lvalue(arguments[0]), arguments[1:]

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

    # -- construction

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

    def _constructed(self, cursor: Any, constructor: Any) -> Value | Place:
        type_ = self.ctype(cursor)
        arguments = list(cursor.get_arguments())
        if isinstance(type_, ClosureType) and len(arguments) == 1:
            return self.rvalue(arguments[0])
        if isinstance(type_, ArrayType):
            raise self.refuse(cursor, "TM1002", "an array of constructed objects")
        if not isinstance(type_, RecordType):
            raise self.refuse(cursor, "TM1002")
        if self._is_plain_copy(constructor, arguments):
            return self.rvalue(arguments[0])
        place = self.new_place("tmp", type_, cursor)
        self.construct(place, cursor)
        return self.load(place)

    def _is_plain_copy(self, constructor: Any, arguments: list[Any]) -> bool:
        if len(arguments) != 1 or self._body(constructor) is not None:
            return False
        return bool(constructor.is_copy_constructor() or constructor.is_move_constructor())

    def construct(self, place: Place, cursor: Any) -> None:
        """Run the constructor call ``cursor`` on ``place``."""
        constructor = cursor.referenced
        arguments = list(cursor.get_arguments())
        if self._is_plain_copy(constructor, arguments):
            self.store(place, self.rvalue(arguments[0]), self.span_of(cursor))
            return
        found = self._body(constructor)
        if found is None:
            if arguments:
                raise self.refuse(cursor, "TM1103", "a called constructor has no body here")
            self.default_construct(place, constructor.semantic_parent, cursor)
            return
        self._run_constructor(place, constructor, arguments, cursor)

    def default_construct(self, place: Place, record: Any, cursor: Any) -> None:
        """Run what ``T x;`` runs: the default constructor, or default member initialisers."""
        members = record_members(record)
        for child in members:
            if (
                child.kind == K.CONSTRUCTOR
                and not list(child.get_arguments())
                and not child.is_default_method()
            ):
                self._run_constructor(place, child, [], cursor)
                return
        for child in members:
            if child.kind == K.CXX_BASE_SPECIFIER:
                self.default_construct(place, child.type.get_canonical().get_declaration(), cursor)
        self._default_members(place, record, set(), cursor)

    def _run_constructor(
        self, place: Place, constructor: Any, arguments: list[Any], cursor: Any
    ) -> None:
        found = self._body(constructor)
        if found is None:
            raise self.refuse(cursor, "TM1103", "a called constructor has no body here")
        definition, body = found
        frame = self._enter(cursor, definition, {}, place)
        self._bind_parameters(cursor, definition, arguments, frame)
        frame.result_type = VoidType()
        self.frames.append(frame)
        try:
            with self.captured() as statements:
                self._initialisers(place, definition, cursor)
                self.statement(body)
        finally:
            self.frames.pop()
        self.emit(Block(frame.label, tuple(statements), self.span_of(cursor)))

    def _initialisers(self, place: Place, definition: Any, cursor: Any) -> None:
        done: set[str] = set()
        children = [
            c for c in definition.get_children() if c.kind not in (K.PARM_DECL, K.COMPOUND_STMT)
        ]
        explicit: list[tuple[str, Any]] = []
        pending: str | None = None
        base = based = False
        for child in children:
            if child.kind == K.MEMBER_REF:
                pending = child.spelling
            elif child.kind == K.TYPE_REF:
                base = True
            elif child.kind.is_expression():
                if pending is not None:
                    explicit.append((pending, child))
                    done.add(pending)
                elif base and child.kind == K.CALL_EXPR:
                    self.construct(place, child)
                    based = True
                    done |= {f.name for f in self._fields_of(child)}
                else:
                    raise self.refuse(child, "TM1002", "this initialiser is not supported")
                pending, base = None, False
            elif not (child.kind.is_attribute() or child.kind.is_reference()):
                raise self.refuse(child, "TM1002", "this constructor is not supported")
        if not base:
            for child in record_members(definition.semantic_parent):
                if child.kind == K.CXX_BASE_SPECIFIER and not based:
                    declaration = child.type.get_canonical().get_declaration()
                    self.default_construct(place, declaration, cursor)
                    inherited = self.types.of(child.type)
                    if isinstance(inherited, RecordType):
                        done |= {f.name for f in inherited.fields}
        self._default_members(place, definition.semantic_parent, done, cursor)
        for name, expression in explicit:
            self.initialise(self.member(place, name, cursor), expression)

    def _fields_of(self, call: Any) -> tuple[Any, ...]:
        type_ = self.ctype(call)
        return type_.fields if isinstance(type_, RecordType) else ()

    def _default_members(self, place: Place, record: Any, done: set[str], cursor: Any) -> None:
        # Members initialise in order of declaration; explicit ones after these read no others.
        for child in record_members(record):
            if child.kind != K.FIELD_DECL or child.spelling in done:
                continue
            defaults = operands(child)
            initial = defaults[-1] if defaults else None
            if initial is not None and not _is_array_bound(child, initial):
                self.initialise(self.member(place, child.spelling, cursor), initial)
                continue
            declaration = child.type.get_canonical().get_declaration()
            if child.type.get_canonical().kind == TypeKind.RECORD and needs_construction(
                declaration
            ):
                self.default_construct(
                    self.member(place, child.spelling, cursor), declaration, cursor
                )

    def initialise(self, place: Place, cursor: Any) -> None:
        """Emit ``place = cursor`` as an initialisation."""
        with self.located(cursor):
            type_ = _type_of(place)
            inner = clang.unwrap(cursor)
            if inner.kind == K.CALL_EXPR and isinstance(type_, RecordType):
                callee = inner.referenced
                if callee is not None and callee.kind == K.CONSTRUCTOR:
                    self.construct(place, inner)
                    return
            if inner.kind == K.INIT_LIST_EXPR:
                value = self.init_list(inner, type_)
            elif isinstance(type_, ArrayType):
                raise Refusal("TM1002", "this array initialiser is not supported")
            else:
                value = self.convert(self.rvalue(cursor), type_)
            self.store(place, value, self.span_of(cursor))

    def has_defaults(self, cursor: Any) -> bool:
        """Whether default-initialising the record type of ``cursor`` runs code."""
        return needs_construction(cursor.type.get_canonical().get_declaration())

    # -- lambdas

    def closure(self, cursor: Any) -> Value:
        """Import a lambda: captured copies are taken now, the rest is seen through."""
        tokens = [t.spelling for t in cursor.get_tokens()]
        if tokens[:1] != ["["] or "]" not in tokens:
            raise self.refuse(cursor, "TM1002", "a lambda inside a macro is not supported")
        end = tokens.index("]")
        captures = tokens[1:end]
        environment = dict(self.frame.environment)
        by_default = "=" in captures[:1]
        named = {t for i, t in enumerate(captures) if t.isidentifier() and captures[i - 1] != "&"}
        seen_through = {t for i, t in enumerate(captures) if i and captures[i - 1] == "&"}
        if "=" in captures[1:]:
            raise self.refuse(cursor, "TM1002", "an init-capture is not supported")
        for node in clang.walk(cursor):
            if node.kind not in (K.DECL_REF_EXPR, K.VARIABLE_REF) or node.referenced is None:
                continue
            key = node.referenced.hash
            place = environment.get(key)
            copied = node.spelling in named or (by_default and node.spelling not in seen_through)
            if place is None or not copied:
                continue
            if isinstance(place, ScalarPlace | RecordPlace | PointerPlace):
                value = self.snapshot(self.load(place), node.spelling)
                environment[key] = ValuePlace(value, self.types.of(node.referenced.type))
            elif isinstance(place, MemoryPlace) and not _is_shared(self, place):
                raise self.refuse(cursor, "TM1002", "an array is captured by copy")
        return Closure(cursor, environment, self.frame.this)


def _is_shared(calls: Calls, place: MemoryPlace) -> bool:
    return calls.storages[place.address.storage].scope.value in (
        "shared",
        "dynamic_shared",
        "global",
    )


def record_members(record: Any) -> list[Any]:
    """Return the members of a record; those of the template where an instance shows none."""
    members = list(record.get_children())
    if not members:
        template = clang.specialized_template(record)
        members = list(template.get_children()) if template is not None else []
    return members


def needs_construction(record: Any) -> bool:
    """Whether default-initialising a record runs any code."""
    for child in record_members(record):
        if child.kind == K.CONSTRUCTOR and not child.is_default_method():
            return True
        if child.kind == K.FIELD_DECL:
            defaults = operands(child)
            if defaults and not _is_array_bound(child, defaults[-1]):
                return True
        if child.kind in (K.FIELD_DECL, K.CXX_BASE_SPECIFIER):
            type_ = child.type.get_canonical()
            while type_.kind == TypeKind.CONSTANTARRAY:
                type_ = type_.element_type
            if type_.kind == TypeKind.RECORD and needs_construction(type_.get_declaration()):
                return True
    return False


def _is_array_bound(field: Any, expression: Any) -> bool:
    """Whether an expression child of a field is part of its type: ``float v[N]``."""
    name = field.location.offset
    after = [t.spelling for t in field.get_tokens() if t.extent.start.offset > name]
    if not after or after[0] not in ("[",):
        return False
    depth = 0
    for token in field.get_tokens():
        if token.extent.start.offset <= name:
            continue
        depth += token.spelling == "["
        if token.extent.start.offset >= expression.extent.start.offset:
            return bool(depth > 0)
        depth -= token.spelling == "]"
    return bool(depth > 0)


def _type_of(place: Place) -> Any:
    match place:
        case (
            ScalarPlace(type=t)
            | MemoryPlace(type=t)
            | RecordPlace(type=t)
            | PointerPlace(type=t)
            | ValuePlace(type=t)
        ):
            return t
        case _:
            return place.type
