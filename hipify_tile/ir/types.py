"""Scalar types of the expression language, named as numpy and TileLang name them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What a scalar's bits mean."""

    BOOL = "bool"
    INT = "int"
    UINT = "uint"
    FLOAT = "float"


@dataclass(frozen=True, slots=True)
class ScalarType:
    """A C scalar type.

    ``name`` is the numpy and TileLang dtype string (``int32``, ``float64``, ``bool`` …),
    ``bits`` the storage width (8 for ``bool``).
    """

    name: str
    bits: int
    kind: Kind

    @property
    def bytes(self) -> int:
        """Storage size in bytes."""
        return self.bits // 8

    @property
    def is_integer(self) -> bool:
        """Whether the type is a signed or unsigned integer (``bool`` is neither)."""
        return self.kind in (Kind.INT, Kind.UINT)

    @property
    def is_float(self) -> bool:
        """Whether the type is a floating-point type."""
        return self.kind is Kind.FLOAT

    def __str__(self) -> str:
        return self.name


BOOL = ScalarType("bool", 8, Kind.BOOL)
I8 = ScalarType("int8", 8, Kind.INT)
I16 = ScalarType("int16", 16, Kind.INT)
I32 = ScalarType("int32", 32, Kind.INT)
I64 = ScalarType("int64", 64, Kind.INT)
U8 = ScalarType("uint8", 8, Kind.UINT)
U16 = ScalarType("uint16", 16, Kind.UINT)
U32 = ScalarType("uint32", 32, Kind.UINT)
U64 = ScalarType("uint64", 64, Kind.UINT)
F16 = ScalarType("float16", 16, Kind.FLOAT)
BF16 = ScalarType("bfloat16", 16, Kind.FLOAT)
F32 = ScalarType("float32", 32, Kind.FLOAT)
F64 = ScalarType("float64", 64, Kind.FLOAT)

ALL_TYPES: tuple[ScalarType, ...] = (
    BOOL, I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64,
)  # fmt: skip
BY_NAME: dict[str, ScalarType] = {t.name: t for t in ALL_TYPES}
