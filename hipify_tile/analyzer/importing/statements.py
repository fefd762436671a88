"""Declarations and straight-line statements."""

from __future__ import annotations

from typing import Any

from hipify_tile.analyzer import clang
from hipify_tile.analyzer.importing.calls import Calls
from hipify_tile.analyzer.importing.construction import needs_construction
from hipify_tile.analyzer.importing.conversions import K, operands, zero
from hipify_tile.analyzer.importing.refusal import Refusal
from hipify_tile.analyzer.importing.types import (
    ArrayType,
    ClosureType,
    CType,
    PointerType,
    RecordType,
    array_shape,
    first_scalar,
    is_reference,
)
from hipify_tile.analyzer.importing.values import (
    Address,
    MemoryPlace,
    MemoryPointer,
    NullPointer,
    Place,
    PlacePointer,
    ScalarPlace,
    Value,
    ValuePlace,
)
from hipify_tile.ir.expr import Const
from hipify_tile.ir.simt import Scope
from hipify_tile.ir.stmt import For
from hipify_tile.ir.types import I32, ScalarType

_NO_CODE = frozenset(
    {
        K.STRUCT_DECL, K.CLASS_DECL, K.UNION_DECL, K.ENUM_DECL, K.TYPEDEF_DECL,
        K.TYPE_ALIAS_DECL, K.STATIC_ASSERT, K.USING_DECLARATION, K.USING_DIRECTIVE,
        K.NAMESPACE_ALIAS, K.FUNCTION_DECL,
    }
)  # fmt: skip
_UNROLLED_INIT = 64


class Statements(Calls):
    """Declarations of variables of every kind."""

    declared_storage: dict[int, Address]

    def declaration_statement(self, cursor: Any) -> None:
        """Import the declarations of one DECL_STMT."""
        for child in cursor.get_children():
            if child.kind == K.VAR_DECL:
                self.declare(child)
            elif child.kind not in _NO_CODE:
                raise self.refuse(child, "TM1001", "this declaration is not supported")

    def declare(self, cursor: Any) -> None:
        """Import one variable declaration."""
        with self.located(cursor):
            place = self._declare(cursor)
            if place is not None:
                self.frame.environment[cursor.hash] = place

    def _declare(self, cursor: Any) -> Place | None:
        type_ = self.ctype(cursor)
        if clang.has_attribute(cursor, K.CUDASHARED_ATTR):
            self.global_place(cursor)
            return None
        storage = cursor.storage_class.name
        if storage == "EXTERN":
            return None
        init = clang.var_init(cursor)
        if storage == "STATIC" and not cursor.type.is_const_qualified():
            element = cursor.type.get_canonical()
            while element.kind.name == "CONSTANTARRAY":
                element = element.element_type
            if not element.is_const_qualified():
                raise self.refuse(cursor, "TM1002", "a static local variable is not supported")
        if is_reference(cursor.type):
            if init is None:
                raise self.refuse(cursor, "TM1002")
            return self.fixed_place(self.lvalue(init))
        changing = self.changing.get(cursor.hash, False)
        match type_:
            case ScalarType():
                return self._declare_scalar(cursor, type_, init, changing)
            case PointerType():
                return self._declare_pointer(cursor, type_, init, changing)
            case ClosureType():
                if init is None:
                    raise self.refuse(cursor, "TM1002")
                return ValuePlace(self.rvalue(init), type_)
            case ArrayType():
                return self._declare_array(cursor, type_, init)
            case RecordType():
                return self._declare_record(cursor, type_, init)
            case _:
                raise self.refuse(cursor, "TM1003")

    def _declare_scalar(
        self, cursor: Any, type_: ScalarType, init: Any | None, changing: bool
    ) -> Place:
        value: Value | None = None
        if init is not None and init.kind == K.INIT_LIST_EXPR:
            value = self.convert(self.init_list(init, type_), type_)
        elif init is not None:
            value = self.convert(self.rvalue(init), type_)
        fixed = value is not None and not changing
        var = self.local(cursor.spelling or "v", type_, fixed=fixed)
        place = ScalarPlace(var.name, type_)
        if value is not None:
            self.store(place, value, self.span_of(cursor))
        return place

    def _declare_pointer(
        self, cursor: Any, type_: PointerType, init: Any | None, changing: bool
    ) -> Place:
        name = cursor.spelling or "p"
        if init is None:
            return self.new_pointer(name, type_)
        value = self.convert(self.rvalue(init), type_)
        if isinstance(value, PlacePointer) or not changing:
            if isinstance(value, PlacePointer) and changing:
                raise self.refuse(cursor, "TM1004", "a pointer to a local variable changes")
            return ValuePlace(self.snapshot(value, name), type_)
        place = self.new_pointer(name, type_)
        if isinstance(value, MemoryPointer):
            self.assign_pointer(place, value, self.span_of(cursor))
        elif not isinstance(value, NullPointer):
            raise self.refuse(cursor, "TM1004")
        return place

    def _declare_array(self, cursor: Any, type_: ArrayType, init: Any | None) -> Place:
        place = self.new_local_array(cursor.spelling or "a", type_, cursor)
        if init is None:
            return place
        inner = clang.unwrap(init)
        if inner.kind == K.STRING_LITERAL:
            raise self.refuse(cursor, "TM1002", "a string initialiser is not supported")
        if inner.kind == K.CALL_EXPR and not list(inner.get_arguments()):
            return place if self._is_trivial(inner) else self._refuse_array(cursor)
        if inner.kind != K.INIT_LIST_EXPR:
            return self._refuse_array(cursor)
        self.fill_array(place, type_, inner)
        return place

    def _is_trivial(self, call: Any) -> bool:
        constructor = call.referenced
        return constructor is None or not needs_construction(constructor.semantic_parent)

    def _refuse_array(self, cursor: Any) -> Place:
        raise self.refuse(cursor, "TM1002", "this array initialiser is not supported")

    def fill_array(self, place: MemoryPlace, type_: ArrayType, init: Any) -> None:
        """Store an initialiser list; elements that it leaves out are zero."""
        items = operands(init)
        count = type_.count or 0
        shape, element = array_shape(type_)
        total = 1
        for n in shape:
            total *= n
        if len(items) < count:
            self._zero_array(place, total, element)
        for i, item in enumerate(items):
            target = self.subscript(self.load(place), Const(i, I32), type_.element)
            assert isinstance(target, MemoryPlace)
            if isinstance(type_.element, ArrayType) and item.kind == K.INIT_LIST_EXPR:
                self.fill_array(target, type_.element, item)
            else:
                self.initialise(target, item)

    def _zero_array(self, place: MemoryPlace, total: int, element: CType) -> None:
        scalar = first_scalar(element)
        if not isinstance(element, ScalarType):
            if not isinstance(element, RecordType) or not _uniform(element, scalar):
                raise Refusal("TM1002", "this array of records is initialised partly")
            total = total * element.size // scalar.bytes
        flat = Address(place.address.storage, place.address.terms, place.address.const)
        if total <= _UNROLLED_INIT:
            for i in range(total):
                at = MemoryPlace(flat.offset(i * scalar.bytes), scalar)
                self.store(at, zero(scalar))
            return
        var = self.local("i", I32, fixed=True)
        with self.captured() as body:
            at = MemoryPlace(flat.moved(var, scalar.bytes), scalar)
            self.store(at, zero(scalar))
        label = self.unique("zero")
        self.emit(For(var, Const(0, I32), Const(total, I32), 1, tuple(body), label))

    def _declare_record(self, cursor: Any, type_: RecordType, init: Any | None) -> Place:
        place = self.new_place(cursor.spelling or "r", type_, cursor)
        if init is not None:
            self.initialise(place, init)
            return place
        for child in operands(cursor):
            if child.kind == K.CALL_EXPR:
                self.construct(place, child)
        return place

    # -- variables that are not local

    def variable(self, cursor: Any, declaration: Any) -> Place:
        """Return the place of the variable that ``cursor`` refers to."""
        place = self.frame.environment.get(declaration.hash)
        if place is not None:
            return place
        if declaration.kind == K.PARM_DECL:
            raise self.refuse(cursor, "TM1002", "this parameter is not visible here")
        return self.global_place(declaration, cursor)

    def global_place(self, declaration: Any, use: Any | None = None) -> Place:
        """Return the place of a shared, device or constant variable."""
        where = declaration if use is None else use
        definition = declaration.get_definition() or declaration
        type_ = self.ctype(definition)
        shared = clang.has_attribute(definition, K.CUDASHARED_ATTR)
        device = clang.has_attribute(definition, K.CUDACONSTANT_ATTR, K.CUDADEVICE_ATTR)
        if not shared and not device:
            raise self.refuse(where, "TM1002", "a host variable is used in device code")
        if shared and isinstance(type_, ArrayType) and type_.count is None:
            return MemoryPlace(self._dynamic_shared(definition, type_), type_)
        key = definition.hash
        if key not in self.declared_storage:
            with self.located(where):
                self.declared_storage[key] = self.new_storage(
                    definition.spelling,
                    type_,
                    Scope.SHARED if shared else Scope.GLOBAL,
                    symbol="" if shared else qualified_name(definition),
                    span=self.span_of(definition),
                )
        return MemoryPlace(self.declared_storage[key], type_)

    def _dynamic_shared(self, declaration: Any, type_: ArrayType) -> Address:
        # Every extern __shared__ array names the same memory.
        if 0 not in self.declared_storage:
            self.declared_storage[0] = self.new_storage(
                declaration.spelling,
                type_,
                Scope.DYNAMIC_SHARED,
                span=self.span_of(declaration),
            )
        return self.declared_storage[0]


def _uniform(record: RecordType, scalar: ScalarType) -> bool:
    return record.size % scalar.bytes == 0 and all(f.type == scalar for f in record.fields)


def qualified_name(cursor: Any) -> str:
    """Return ``ns::name``."""
    parts = [cursor.spelling]
    parent = cursor.semantic_parent
    while parent is not None and parent.kind in (K.NAMESPACE, K.STRUCT_DECL, K.CLASS_DECL):
        if parent.spelling:
            parts.append(parent.spelling)
        parent = parent.semantic_parent
    return "::".join(reversed(parts))
