"""Buffers, and loads and stores through every kind of place.

A storage is one object or parameter's memory; it has one ``Buffer`` view for each element type that
is accessed. A static multi-dimensional array keeps its rank as long as every access subscripts it
fully; otherwise ``linearise`` (run at the end) makes it flat everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod

from hipify_tile.analyzer.importing.canonicalize import fold_cast
from hipify_tile.analyzer.importing.indexing import element_index, plus, scale
from hipify_tile.analyzer.importing.refusal import Refusal
from hipify_tile.analyzer.importing.state import State
from hipify_tile.analyzer.importing.types import (
    ArrayType,
    CType,
    RecordType,
    array_shape,
    first_scalar,
    size_of,
)
from hipify_tile.analyzer.importing.values import (
    Address,
    ArrayValue,
    BitcastPlace,
    Closure,
    MemoryPlace,
    MemoryPointer,
    NullPointer,
    Place,
    PlacePointer,
    PointerPlace,
    RecordPlace,
    RecordValue,
    ScalarPlace,
    Value,
    ValuePlace,
    is_expr,
    scalars,
)
from hipify_tile.ir.expr import Bitcast, Const, Expr, Load, Var, walk
from hipify_tile.ir.simt import Buffer, Scope
from hipify_tile.ir.span import Span
from hipify_tile.ir.stmt import Assign, Store
from hipify_tile.ir.types import I32, I64, ScalarType

_ARRAY_COPY_LIMIT = 64


@dataclass(slots=True)
class Storage:
    """Memory under one name. ``shape`` is () where the extent is unknown."""

    name: str
    element: ScalarType
    scope: Scope
    shape: tuple[int, ...]
    restrict: bool = False
    symbol: str = ""
    span: Span | None = None
    flat: bool = False
    views: dict[ScalarType, str] = field(default_factory=dict)

    @property
    def bytes(self) -> int:
        """Size in bytes (0 if unknown)."""
        return prod(self.shape) * self.element.bytes if self.shape else 0


class Memory(State):
    """Storages and their views; loading from and storing to places."""

    storages: dict[str, Storage]

    def new_storage(
        self,
        base: str,
        type_: CType,
        scope: Scope,
        *,
        restrict: bool = False,
        symbol: str = "",
        span: Span | None = None,
    ) -> Address:
        """Declare memory that holds a ``type_`` and return its address."""
        shape, element = array_shape(type_)
        scalar = first_scalar(element)
        if scope in (Scope.PARAM, Scope.DYNAMIC_SHARED):
            shape = ()
        elif isinstance(element, ScalarType):
            shape = shape or (1,)
        else:
            shape = (prod(shape) * size_of(element) // scalar.bytes,)
        name = self.unique(base)
        storage = Storage(name, scalar, scope, shape, restrict, symbol, span)
        storage.views[scalar] = name
        self.storages[name] = storage
        whole = isinstance(element, ScalarType) and len(shape) > 1
        return Address(name, subscripts=() if whole else None)

    def view(self, storage: Storage, type_: ScalarType) -> str:
        """Return the buffer through which ``storage`` is accessed as ``type_``."""
        if type_ not in storage.views:
            if storage.bytes % type_.bytes:
                raise Refusal("TM1005", f"{storage.name} cannot be viewed as {type_}")
            storage.views[type_] = self.unique(f"{storage.name}_{type_}")
            storage.flat = True
        return storage.views[type_]

    def element(self, address: Address, type_: ScalarType) -> tuple[str, tuple[Expr, ...]]:
        """Return buffer and indices of the ``type_`` at ``address``."""
        storage = self.storages[address.storage]
        subs = address.subscripts
        if subs is not None and len(subs) == len(storage.shape) > 1 and storage.element == type_:
            return storage.name, subs
        if len(storage.shape) > 1:
            storage.flat = True
        return self.view(storage, type_), (element_index(address, type_.bytes),)

    def buffers(self, accessed: set[str], written: set[str]) -> tuple[Buffer, ...]:
        """Return the views that are accessed, and that of every pointer parameter's own type.

        A storage is named after its declared type's view, or the first one that is accessed.
        """
        result = []
        for s in self.storages.values():
            views = {
                t: n
                for t, n in s.views.items()
                if n in accessed or (s.scope is Scope.PARAM and n == s.name)
            }
            owner = s.name if s.name in views.values() else next(iter(views.values()), "")
            for type_, name in views.items():
                shape = s.shape
                if shape and (s.flat or type_ != s.element):
                    shape = (s.bytes // type_.bytes,)
                result.append(
                    Buffer(
                        name, type_, s.scope, shape, owner, name in written, s.restrict,
                        s.symbol, s.span,
                    )
                )  # fmt: skip
        return tuple(result)

    def load(self, place: Place, span: Span | None = None) -> Value:
        """Return the value of ``place``; an array decays to a pointer."""
        match place:
            case ScalarPlace():
                return Var(place.name, place.type, span)
            case ValuePlace():
                return place.value
            case RecordPlace():
                return RecordValue(
                    place.type, {n: self._member(p, span) for n, p in place.fields.items()}
                )
            case PointerPlace():
                return self.pointer_value(place)
            case BitcastPlace():
                inner = self.load(place.place, span)
                return Bitcast(as_expr(inner), place.type, span)
            case MemoryPlace(address=address, type=type_):
                match type_:
                    case ScalarType():
                        buffer, indices = self.element(address, type_)
                        return Load(buffer, indices, type_, span)
                    case ArrayType():
                        return MemoryPointer(address, type_.element, decayed=True)
                    case RecordType():
                        return RecordValue(
                            type_,
                            {
                                f.name: self._member(
                                    MemoryPlace(address.offset(f.offset), f.type), span
                                )
                                for f in type_.fields
                            },
                        )
                    case _:
                        raise Refusal("TM1004", "a pointer is loaded from memory")

    def _member(self, place: Place, span: Span | None) -> Value:
        """Like ``load``, but an array gives its elements and not a pointer."""
        if not (isinstance(place, MemoryPlace) and isinstance(place.type, ArrayType)):
            return self.load(place, span)
        return ArrayValue(place.type, tuple(self._member(p, span) for p in self._elements(place)))

    def _elements(self, place: MemoryPlace) -> list[MemoryPlace]:
        assert isinstance(place.type, ArrayType)
        count, element = place.type.count, place.type.element
        if count is None or count > _ARRAY_COPY_LIMIT:
            raise Refusal("TM1002", "a large array member is copied")
        address, stride = place.address, size_of(element)
        return [
            MemoryPlace(address.moved(Const(i, I32), stride, subscript=True), element)
            for i in range(count)
        ]

    def store(self, place: Place, value: Value, span: Span | None = None) -> None:
        """Emit ``place = value``; the value has been converted to the place's type."""
        match place:
            case ScalarPlace():
                self.emit(Assign(place.name, as_expr(value), span))
            case PointerPlace():
                self.assign_pointer(place, value, span)
            case BitcastPlace():
                inner = place.place
                if isinstance(inner, ScalarPlace | MemoryPlace) and isinstance(
                    inner.type, ScalarType
                ):
                    self.store(inner, Bitcast(as_expr(value), inner.type, span), span)
                else:
                    raise Refusal("TM1005")
            case ValuePlace():
                raise Refusal("TM1002", "a value that was taken as constant is assigned")
            case RecordPlace() | MemoryPlace(type=RecordType() | ArrayType()):
                self._store_parts(place, self._independent(place, value), span)
            case MemoryPlace(address=address, type=ScalarType() as type_):
                buffer, indices = self.element(address, type_)
                self.emit(Store(buffer, indices, as_expr(value), span))
            case MemoryPlace():
                raise Refusal("TM1004", "a pointer is stored to memory")

    def _independent(self, place: Place, value: Value) -> Value:
        """Copy the parts of ``value`` first where storing one could change another."""
        parts = [e for e in scalars(value)]
        if len(parts) < 2 or all(self.stable(e) for e in parts):
            return value
        names = set(leaf_names(place))
        in_memory = isinstance(place, MemoryPlace) or any(
            isinstance(f, MemoryPlace) for f in _leaves(place)
        )
        nodes = [e for part in parts for e in walk(part)]
        touched = any(isinstance(e, Var) and e.name in names for e in nodes)
        touched |= in_memory and any(isinstance(e, Load) for e in nodes)
        if not touched:
            return value
        return self.snapshot(value)

    def _store_parts(self, place: Place, value: Value, span: Span | None) -> None:
        match place, value:
            case RecordPlace(), RecordValue():
                for name, item in value.fields.items():
                    self._store_parts(place.fields[name], item, span)
            case MemoryPlace(type=RecordType() as type_), RecordValue():
                for f in type_.fields:
                    if f.name in value.fields:
                        target = MemoryPlace(place.address.offset(f.offset), f.type)
                        self._store_parts(target, value.fields[f.name], span)
            case MemoryPlace(type=ArrayType()), ArrayValue():
                for target, item in zip(self._elements(place), value.elements, strict=False):
                    self._store_parts(target, item, span)
            case ScalarPlace() | PointerPlace() | MemoryPlace(type=ScalarType()), _:
                self.store(place, value, span)
            case ValuePlace(), Closure():
                pass
            case _:
                raise Refusal("TM1002", "this aggregate assignment is not supported")

    def pointer_value(self, place: PointerPlace) -> MemoryPointer:
        """Return the value of a pointer variable."""
        if place.origin is None:
            raise Refusal("TM1004", "a pointer is used before its buffer is known")
        offset = Var(place.name, I64)
        address = place.origin.moved(offset, size_of(place.type.pointee))
        return MemoryPointer(address, place.type.pointee)

    def assign_pointer(self, place: PointerPlace, value: Value, span: Span | None) -> None:
        """Emit ``place = value`` for a pointer variable."""
        if not isinstance(value, MemoryPointer):
            raise Refusal("TM1004", "a pointer variable takes a value of unknown buffer")
        address, size = value.address, size_of(place.type.pointee)
        if place.origin is None:
            # Offset 0 is the storage's start plus what is left of the constant part.
            place.origin = Address(address.storage, const=address.const % size)
        if place.origin.storage != address.storage:
            raise Refusal("TM1004", "a pointer variable refers to different buffers")
        delta = Address(address.storage, address.terms, address.const - place.origin.const)
        index = fold_cast(element_index(delta, size), I64)
        if len(self.storages[address.storage].shape) > 1:
            self.storages[address.storage].flat = True
        self.emit(Assign(place.name, index, span))

    def dereference(self, value: Value, type_: CType) -> Place:
        """Return the place ``*value``."""
        match value:
            case MemoryPointer():
                if value.decayed:
                    zero = Const(0, I32)
                    address = value.address.moved(zero, size_of(type_), subscript=True)
                    return MemoryPlace(address, type_)
                return MemoryPlace(value.address, type_)
            case PlacePointer():
                return value.place
            case NullPointer():
                raise Refusal("TM1004", "a null pointer is dereferenced")
            case _:
                raise Refusal("TM1004")

    def advance(self, value: Value, index: Expr, pointee: CType) -> MemoryPointer:
        """Return ``value + index``."""
        if not isinstance(value, MemoryPointer):
            raise Refusal("TM1004", "arithmetic on a pointer to a scalar variable")
        address = value.address.moved(index, size_of(pointee))
        return MemoryPointer(address, pointee)

    def subscript(self, value: Value, index: Expr, type_: CType) -> Place:
        """Return the place ``value[index]``."""
        if isinstance(value, PlacePointer) and isinstance(index, Const) and index.value == 0:
            return value.place
        if not isinstance(value, MemoryPointer):
            raise Refusal("TM1004", "this pointer's buffer cannot be determined")
        address = value.address.moved(index, size_of(type_), subscript=value.decayed)
        return MemoryPlace(address, type_)

    def linearise(self, buffer: str, indices: tuple[Expr, ...]) -> tuple[Expr, ...]:
        """Return the single index that replaces ``indices`` where ``buffer`` became flat."""
        storage = self.storages.get(buffer)
        if storage is None or not storage.flat or len(indices) < 2:
            return indices
        type_ = I32 if all(i.type == I32 for i in indices) else I64
        total: Expr = Const(0, type_)
        for index, extent in zip(indices, storage.shape, strict=True):
            scaled = scale(total, extent, type_)
            total = plus(scaled, fold_cast(index, type_), type_)
        return (total,)


def _leaves(place: Place) -> list[Place]:
    if isinstance(place, RecordPlace):
        return [leaf for p in place.fields.values() for leaf in _leaves(p)]
    return [place]


def leaf_names(place: Place) -> list[str]:
    """Return the scalar locals that make up ``place``."""
    match place:
        case ScalarPlace():
            return [place.name]
        case RecordPlace():
            return [n for p in place.fields.values() for n in leaf_names(p)]
        case _:
            return []


def as_expr(value: Value) -> Expr:
    """Return ``value`` as a scalar expression; raises ``Refusal`` if it is none."""
    if is_expr(value):
        return value
    if isinstance(value, MemoryPointer | PlacePointer | NullPointer):
        raise Refusal("TM1004", "a pointer is used as a number")
    raise Refusal("TM1002", "a scalar is expected here")
