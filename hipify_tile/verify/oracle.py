"""The reference: the user's own source, compiled by g++ against our CUDA headers.

``build_oracle`` compiles an overlay copy of the translation unit in which the bodies of pure host
functions are emptied, with one entry function per kernel instance appended. ``build_cuda_text``
does the same for CUDA source text that TileLang prints. Nothing here runs a kernel (``native``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hipify_tile.analyzer.model import KernelFact, UnitAnalysis


@dataclass(frozen=True, slots=True)
class OracleLibrary:
    """A loadable reference build, picklable; load it in the process that runs it.

    ``entries`` maps ``KernelFact.id`` to its entry symbol, ``symbols`` maps ``SymbolFact.qualified``
    to an accessor symbol, ``failed`` maps kernel ids to the compiler's message.
    """

    path: Path
    entries: dict[str, str]
    symbols: dict[str, str]
    failed: dict[str, str]

    def load(self) -> LoadedOracle:
        """Loads it into this process. Raises OSError."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class LoadedOracle:
    """Addresses in this process.

    ``entries``: kernel id → address for ``native.run_kernel``. ``symbols``: qualified name → (address,
    size in bytes) of device variables. ``shared_static``: see ``native.run_kernel``.
    """

    entries: dict[str, int]
    symbols: dict[str, tuple[int, int]]
    shared_static: int


@dataclass(frozen=True, slots=True)
class OracleFailure:
    """The unit does not compile: ``message`` is the compiler's first error, for TM5002."""

    message: str


def build_oracle(
    analysis: UnitAnalysis, kernels: Sequence[KernelFact], cache: Path, cxx: str = "g++"
) -> OracleLibrary | OracleFailure:
    """Compiles the reference of these kernels, or takes it from ``cache``."""
    raise NotImplementedError


def build_cuda_text(
    source: str, entry: str, cache: Path, cxx: str = "g++"
) -> OracleLibrary | OracleFailure:
    """Compiles CUDA source text with one ``__global__`` function ``entry``; its id is ``entry``."""
    raise NotImplementedError
