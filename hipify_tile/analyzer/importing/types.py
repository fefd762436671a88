"""C types as the importer sees them: scalars, pointers, arrays and plain records.

References are transparent (their referent's type). Everything else is refused with TM1003.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from clang.cindex import CursorKind, TypeKind

from hipify_tile.analyzer import clang
from hipify_tile.analyzer.importing.refusal import Refusal
from hipify_tile.ir.types import (
    BOOL,
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    Kind,
    ScalarType,
)


@dataclass(frozen=True, slots=True)
class VoidType:
    """``void``, also the pointee of ``void*`` and of ``nullptr``."""


@dataclass(frozen=True, slots=True)
class PointerType:
    """``pointee*``."""

    pointee: CType


@dataclass(frozen=True, slots=True)
class ArrayType:
    """``element[count]``; ``count`` is None for an array of unknown bound."""

    element: CType
    count: int | None


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a record at a byte offset."""

    name: str
    type: CType
    offset: int


@dataclass(frozen=True, slots=True)
class RecordType:
    """A struct or class without virtual functions, unions or bit-fields.

    The fields of a base class come first, under their own names.
    """

    name: str
    usr: str
    fields: tuple[Field, ...]
    size: int

    def field(self, name: str) -> Field | None:
        """Return the field called ``name``."""
        return next((f for f in self.fields if f.name == name), None)


@dataclass(frozen=True, slots=True)
class ClosureType:
    """The type of a lambda; its value only exists inside the importer."""

    usr: str


@dataclass(frozen=True, slots=True)
class FunctionType:
    """A function, which can only be called directly."""


CType = ScalarType | VoidType | PointerType | ArrayType | RecordType | ClosureType | FunctionType

_SCALARS: dict[Any, ScalarType] = {
    TypeKind.BOOL: BOOL,
    TypeKind.CHAR_S: I8,
    TypeKind.SCHAR: I8,
    TypeKind.CHAR_U: U8,
    TypeKind.UCHAR: U8,
    TypeKind.SHORT: I16,
    TypeKind.USHORT: U16,
    TypeKind.INT: I32,
    TypeKind.UINT: U32,
    TypeKind.LONG: I64,
    TypeKind.ULONG: U64,
    TypeKind.LONGLONG: I64,
    TypeKind.ULONGLONG: U64,
    TypeKind.FLOAT: F32,
    TypeKind.DOUBLE: F64,
}
_OPAQUE = frozenset(
    {"__half", "__half2", "__half_raw", "__nv_bfloat16", "__nv_bfloat162", "half", "half2"}
)


def is_reference(type_: Any) -> bool:
    """Whether a clang type is a reference."""
    kind = type_.get_canonical().kind
    return bool(kind in (TypeKind.LVALUEREFERENCE, TypeKind.RVALUEREFERENCE))


def size_of(type_: CType) -> int:
    """Return ``sizeof`` in bytes; 1 for ``void`` as in GNU pointer arithmetic."""
    match type_:
        case ScalarType():
            return type_.bytes
        case PointerType():
            return 8
        case ArrayType():
            return size_of(type_.element) * (type_.count or 0)
        case RecordType():
            return type_.size
        case VoidType() | ClosureType() | FunctionType():
            return 1


class TypeTable:
    """Clang types → ``CType``, with the layouts of records remembered."""

    def __init__(self) -> None:
        self._records: dict[str, RecordType] = {}

    def of(self, type_: Any) -> CType:
        """Return the type, references stripped; raises ``Refusal`` (TM1003)."""
        canonical = type_.get_canonical()
        kind = canonical.kind
        if kind in _SCALARS:
            return _SCALARS[kind]
        if kind in (TypeKind.LVALUEREFERENCE, TypeKind.RVALUEREFERENCE):
            return self.of(canonical.get_pointee())
        if kind == TypeKind.VOID:
            return VoidType()
        if kind == TypeKind.NULLPTR:
            return PointerType(VoidType())
        if kind == TypeKind.POINTER:
            return PointerType(self.of(canonical.get_pointee()))
        if kind == TypeKind.CONSTANTARRAY:
            return ArrayType(self.of(canonical.element_type), canonical.element_count)
        if kind == TypeKind.INCOMPLETEARRAY:
            return ArrayType(self.of(canonical.element_type), None)
        if kind == TypeKind.ENUM:
            return self.of(canonical.get_declaration().enum_type)
        if kind == TypeKind.RECORD:
            return self._record(canonical)
        if kind in (TypeKind.FUNCTIONPROTO, TypeKind.FUNCTIONNOPROTO):
            return FunctionType()
        raise Refusal("TM1003", f"type {_spell(type_)} is not supported")

    def _record(self, type_: Any) -> RecordType | ClosureType:
        decl = type_.get_declaration()
        usr = decl.get_usr() or type_.spelling
        if usr in self._records:
            return self._records[usr]
        name = decl.spelling or "record"
        if "(lambda" in type_.spelling or decl.spelling.startswith("(lambda"):
            return ClosureType(usr)
        if decl.spelling in _OPAQUE:
            raise Refusal("TM1003", f"type {_spell(type_)} is not supported")
        if decl.kind == CursorKind.UNION_DECL:
            raise Refusal("TM1003", f"union {_spell(type_)} is not supported")
        fields: list[Field] = []
        for child in _bases(decl):
            fields += self._base(child, bool(fields))
        # A pointer to the record itself would recurse for ever; its pointee is left opaque.
        self._records[usr] = RecordType(name, usr, (), type_.get_size())
        for item in type_.get_fields():
            if item.is_bitfield():
                raise Refusal("TM1003", f"bit-field {name}::{item.spelling} is not supported")
            if is_reference(item.type):
                raise Refusal("TM1003", f"reference {name}::{item.spelling} is not supported")
            try:
                field_type = self.of(item.type)
            except Refusal:
                del self._records[usr]
                raise
            fields.append(Field(item.spelling, field_type, item.get_field_offsetof() // 8))
        size = type_.get_size()
        record = RecordType(name, usr, tuple(fields), size)
        self._check(record)
        self._records[usr] = record
        return record

    def _base(self, specifier: Any, occupied: bool) -> tuple[Field, ...]:
        base = self.of(specifier.type)
        if not isinstance(base, RecordType):
            raise Refusal("TM1003", f"base class {specifier.spelling} is not supported")
        if base.fields and occupied:
            raise Refusal("TM1003", "several base classes with fields are not supported")
        return base.fields

    def _check(self, record: RecordType) -> None:
        names = [f.name for f in record.fields]
        if len(set(names)) != len(names) or "" in names:
            raise Refusal("TM1003", f"type {record.name} hides or omits field names")
        end = 0
        for field in record.fields:
            if field.offset < end:
                raise Refusal("TM1003", f"type {record.name} has an unknown layout")
            end = field.offset + size_of(field.type)


def _bases(decl: Any) -> list[Any]:
    members = list(decl.get_children())
    if not members:  # an implicit instance shows no members; its template does
        template = clang.specialized_template(decl)
        members = list(template.get_children()) if template is not None else []
    return [c for c in members if c.kind == CursorKind.CXX_BASE_SPECIFIER]


def _spell(type_: Any) -> str:
    text = str(type_.spelling)
    return text if len(text) < 30 else text[:27] + "..."


def promote(type_: ScalarType) -> ScalarType:
    """Integer promotion."""
    if type_.kind is not Kind.FLOAT and type_.bits < 32:
        return I32
    return type_


def usual_conversion(a: ScalarType, b: ScalarType) -> ScalarType:
    """The usual arithmetic conversions: the common type of two operands."""
    if a.is_float or b.is_float:
        return max((t for t in (a, b) if t.is_float), key=lambda t: t.bits)
    a, b = promote(a), promote(b)
    if a.bits != b.bits:
        return a if a.bits > b.bits else b
    return a if a.kind is Kind.UINT else b


def array_shape(type_: CType) -> tuple[tuple[int, ...], CType]:
    """Split nested array types into their shape and the element type."""
    shape: list[int] = []
    while isinstance(type_, ArrayType):
        shape.append(type_.count or 0)
        type_ = type_.element
    return tuple(shape), type_


def first_scalar(type_: CType) -> ScalarType:
    """Return the scalar type that the memory of a ``type_`` starts with."""
    match type_:
        case ScalarType():
            return type_
        case ArrayType():
            return first_scalar(type_.element)
        case RecordType() if type_.fields:
            return first_scalar(type_.fields[0].type)
        case PointerType():
            raise Refusal("TM1004", "memory that holds pointers is not supported")
        case _:
            raise Refusal("TM1003", "memory of this type is not supported")
