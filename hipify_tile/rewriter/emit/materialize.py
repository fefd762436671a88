"""Operand materialisation."""

from __future__ import annotations

from dataclasses import dataclass

from hipify_tile.ir.stmt import Stmt
from hipify_tile.ir.types import ScalarType
from hipify_tile.rewriter.names import Namer


@dataclass(frozen=True, slots=True)
class Materialized:
    body: tuple[Stmt, ...]
    locals: tuple[tuple[str, ScalarType], ...]


def materialize(body, locals_, immutable, namer) -> Materialized:
    return Materialized(body, locals_)
