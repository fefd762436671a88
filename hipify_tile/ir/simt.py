"""``simt.Kernel``: what one thread does, with exact C semantics.

A kernel instance (templates are already instantiated, ``__device__`` functions inlined). Pointers
do not exist here: each pointer of the source has become (buffer, element index).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from hipify_tile.ir.span import Span
from hipify_tile.ir.stmt import Stmt
from hipify_tile.ir.types import ScalarType


class Scope(StrEnum):
    """Where a buffer lives and who shares it."""

    PARAM = "param"  # behind a pointer parameter (or a pointer field of a struct parameter)
    GLOBAL = "global"  # a __device__ or __constant__ variable of the source
    SHARED = "shared"  # static __shared__, one a block
    DYNAMIC_SHARED = "dynamic_shared"  # extern __shared__, size set at the launch
    LOCAL = "local"  # an array of one thread
    BLOCK_LOCAL = "block_local"  # loop.Nest only: per-thread values expanded over the block


@dataclass(frozen=True, slots=True)
class Buffer:
    """Typed storage, row-major.

    ``shape`` is static except for PARAM and DYNAMIC_SHARED, whose shape is ``()`` and whose rank
    is one: extent unknown. A buffer that the source views as several types appears once a view
    type: views share ``storage`` (the name of the storage they alias, by default their own name)
    and are each indexed in their own elements from the start of the storage.

    ``written`` says that the kernel stores to it (or updates it atomically), ``restrict`` that the
    source promises no aliasing, ``symbol`` is the qualified C++ name of a GLOBAL.
    """

    name: str
    dtype: ScalarType
    scope: Scope
    shape: tuple[int, ...] = ()
    storage: str = ""
    written: bool = False
    restrict: bool = False
    symbol: str = ""
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Param:
    """A leaf of the kernel's parameter list: a scalar or a pointer.

    A struct passed by value is flattened into its scalar and pointer fields. ``argument`` is the
    position in the CUDA parameter list and ``offset`` the byte offset inside that argument.
    A pointer leaf names its buffers through ``Buffer.storage == name`` and has
    ``pointer=True`` with ``dtype`` the type of the pointee, or of its first scalar where it is a
    record; ``pointee_bytes`` is the size of all of it (0 unknown).
    """

    name: str
    dtype: ScalarType
    argument: int
    offset: int = 0
    pointer: bool = False
    const: bool = False
    source_name: str = ""
    pointee_bytes: int = field(default=0, compare=False)
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Kernel:
    """One instance of a ``__global__`` function.

    ``argument_sizes`` are the sizes in bytes of the CUDA arguments, in order. ``locals`` are the
    scalar variables with their types, names unique in the kernel and distinct from parameters and
    buffers. ``launch_bounds`` is (max threads, min blocks), 0 where not given.
    """

    name: str
    mangled: str
    params: tuple[Param, ...]
    argument_sizes: tuple[int, ...]
    buffers: tuple[Buffer, ...]
    locals: tuple[tuple[str, ScalarType], ...]
    body: tuple[Stmt, ...]
    launch_bounds: tuple[int, int] = (0, 0)
    span: Span | None = field(default=None, compare=False, repr=False)

    def buffer(self, name: str) -> Buffer:
        """Return the buffer called ``name``; KeyError if there is none."""
        for b in self.buffers:
            if b.name == name:
                return b
        raise KeyError(name)
