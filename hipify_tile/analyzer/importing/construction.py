"""Construction of objects: constructors, member and base initialisers, default members."""

from __future__ import annotations

from typing import Any

from clang.cindex import TypeKind

from hipify_tile.analyzer import clang
from hipify_tile.analyzer.importing.conversions import K, operands
from hipify_tile.analyzer.importing.inlining import Inlining
from hipify_tile.analyzer.importing.refusal import Refusal
from hipify_tile.analyzer.importing.types import (
    ArrayType,
    ClosureType,
    RecordType,
    VoidType,
)
from hipify_tile.analyzer.importing.values import (
    MemoryPlace,
    Place,
    PointerPlace,
    RecordPlace,
    ScalarPlace,
    Value,
    ValuePlace,
)
from hipify_tile.ir.stmt import Block


class Construction(Inlining):
    """What initialises an object of a record type."""

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
