"""What C expressions become before they are IR: addresses, places (lvalues) and values (rvalues).

An ``Address`` is a storage plus a sum of ``expression * stride`` in bytes, so that every view type
of the storage can be indexed exactly. ``subscripts`` keeps the indices of a multi-dimensional array
as long as the address was formed by subscripts alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeGuard

from hipify_tile.analyzer.importing.types import CType, PointerType, RecordType
from hipify_tile.ir.expr import (
    Binary,
    Bitcast,
    Call,
    Cast,
    Compare,
    Const,
    Expr,
    Index,
    Load,
    Logical,
    Select,
    Unary,
    Var,
)
from hipify_tile.ir.types import ScalarType


@dataclass(frozen=True, slots=True)
class Address:
    """A byte address inside ``storage``: ``const + Σ expr * stride``."""

    storage: str
    terms: tuple[tuple[Expr, int], ...] = ()
    const: int = 0
    subscripts: tuple[Expr, ...] | None = None

    def moved(self, index: Expr, stride: int, *, subscript: bool = False) -> Address:
        """Return the address ``index`` elements of ``stride`` bytes further on."""
        subs = None
        if subscript and self.subscripts is not None:
            subs = (*self.subscripts, index)
        if isinstance(index, Const):
            return replace(self, const=self.const + int(index.value) * stride, subscripts=subs)
        return replace(self, terms=(*self.terms, (index, stride)), subscripts=subs)

    def offset(self, n: int) -> Address:
        """Return the address of the field ``n`` bytes into the object at this address."""
        return replace(self, const=self.const + n) if n else self


@dataclass(frozen=True, slots=True)
class ScalarPlace:
    """A scalar local variable."""

    name: str
    type: ScalarType


@dataclass(frozen=True, slots=True)
class MemoryPlace:
    """An object in a buffer."""

    address: Address
    type: CType


@dataclass(frozen=True, slots=True)
class RecordPlace:
    """A local record, split into a place a field."""

    type: RecordType
    fields: dict[str, Place]


@dataclass(slots=True, eq=False)
class PointerPlace:
    """A pointer variable that is reassigned: its storage is fixed, its element offset a local.

    ``origin`` is the address that offset 0 stands for (None until the first assignment).
    """

    type: PointerType
    name: str
    origin: Address | None = None


@dataclass(frozen=True, slots=True)
class ValuePlace:
    """A variable that never changes, or a temporary: its value."""

    value: Value
    type: CType


@dataclass(frozen=True, slots=True)
class BitcastPlace:
    """A scalar place read and written through another type of the same width."""

    place: Place
    type: ScalarType


Place = ScalarPlace | MemoryPlace | RecordPlace | PointerPlace | ValuePlace | BitcastPlace


@dataclass(frozen=True, slots=True)
class MemoryPointer:
    """A pointer into a buffer; ``decayed`` when it points to element 0 of the array there."""

    address: Address
    pointee: CType
    decayed: bool = False


@dataclass(frozen=True, slots=True)
class PlacePointer:
    """A pointer to a local variable."""

    place: Place
    pointee: CType


@dataclass(frozen=True, slots=True)
class NullPointer:
    """A null pointer constant."""


@dataclass(frozen=True, slots=True)
class RecordValue:
    """The values of a record's fields."""

    type: RecordType
    fields: dict[str, Value]


@dataclass(frozen=True, slots=True)
class ArrayValue:
    """The values of an array member of a record."""

    type: CType
    elements: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Closure:
    """A lambda with the environment it sees: variables by identity, captured copies included."""

    cursor: Any
    environment: dict[int, Place]
    this: Place | None


@dataclass(frozen=True, slots=True)
class VoidValue:
    """No value."""


_EXPR = (
    Const, Var, Index, Unary, Binary, Compare, Logical, Select, Cast, Bitcast, Load, Call,
)  # fmt: skip
Value = (
    Const
    | Var
    | Index
    | Unary
    | Binary
    | Compare
    | Logical
    | Select
    | Cast
    | Bitcast
    | Load
    | Call
    | MemoryPointer
    | PlacePointer
    | NullPointer
    | RecordValue
    | ArrayValue
    | Closure
    | VoidValue
)


def is_expr(value: Value) -> TypeGuard[Expr]:
    """Whether ``value`` is a scalar expression."""
    return isinstance(value, _EXPR)


def scalars(value: Value) -> Iterator[Expr]:
    """Yield the scalar expressions that ``value`` is made of."""
    match value:
        case MemoryPointer():
            yield from (e for e, _ in value.address.terms)
            yield from value.address.subscripts or ()
        case RecordValue():
            for item in value.fields.values():
                yield from scalars(item)
        case ArrayValue():
            for item in value.elements:
                yield from scalars(item)
        case PlacePointer() | NullPointer() | Closure() | VoidValue():
            return
        case _:
            yield value
