"""Compare the memory that two executions left behind.

Bit for bit: a NaN equals any NaN, −0 and 0 differ. A tolerance is an absolute bound for each
element that the caller has derived for a named reason; without one nothing may differ. Elements
that the original did not change are part of the comparison, so a stray write is a difference like
any other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hipify_tile.verify.cases import Array


@dataclass(frozen=True, slots=True)
class Difference:
    """The first element of a buffer that differs; ``index`` counts from the pointer."""

    buffer: str
    index: int
    expected: str
    got: str
    count: int

    def __str__(self) -> str:
        more = f" ({self.count} elements differ)" if self.count > 1 else ""
        return f"{self.buffer}[{self.index}]: expected {self.expected}, got {self.got}{more}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """``difference`` is None when equal; the errors are over finite float elements."""

    difference: Difference | None
    max_abs_error: float = 0.0
    max_rel_error: float = 0.0


def is_float(data: Array) -> bool:
    """Whether ``data`` holds floating-point elements (bfloat16 included)."""
    return np.issubdtype(data.dtype, np.floating) or data.dtype.name == "bfloat16"


def unequal(expected: Array, got: Array) -> NDArray[np.bool_]:
    """Elementwise: not the same bits and not both NaN."""
    unsigned = np.dtype(f"u{expected.dtype.itemsize}")
    differ: NDArray[np.bool_] = np.ascontiguousarray(expected).view(
        unsigned
    ) != np.ascontiguousarray(got).view(unsigned)
    if is_float(expected) and differ.any():
        differ &= ~(np.isnan(_wide(expected)) & np.isnan(_wide(got)))
    return differ


def compare(
    expected: Mapping[str, Array],
    got: Mapping[str, Array],
    origins: Mapping[str, int] | None = None,
    bounds: Mapping[str, NDArray[np.float64]] | None = None,
) -> Comparison:
    """Compare every buffer of ``expected``; ValueError when the buffers are not the same set.

    ``origins`` gives each buffer's index of the pointer, ``bounds`` the absolute error allowed per
    element of the buffers whose result a named reason lets differ; an infinite one excuses its
    element.
    """
    if expected.keys() != got.keys():
        raise ValueError(f"different buffers: {sorted(expected)} and {sorted(got)}")
    first: Difference | None = None
    max_abs = max_rel = 0.0
    for name, want in expected.items():
        have = got[name]
        if want.dtype != have.dtype or want.shape != have.shape:
            raise ValueError(f"{name}: {want.dtype}{want.shape} and {have.dtype}{have.shape}")
        differ = unequal(want, have)
        if not differ.any():
            continue
        if is_float(want):
            w, h = _wide(want), _wide(have)
            with np.errstate(all="ignore"):
                error = np.abs(w - h)
                relative = error / np.abs(w)
            finite = np.isfinite(error) & differ
            if finite.any():
                max_abs = max(max_abs, float(error[finite].max()))
                usable = finite & np.isfinite(relative)
                if usable.any():
                    max_rel = max(max_rel, float(relative[usable].max()))
            bound = None if bounds is None else bounds.get(name)
            if bound is not None:
                differ &= ~((np.isfinite(error) & (error <= bound)) | np.isposinf(bound))
        if first is None and differ.any():
            at = int(np.argmax(differ))
            first = Difference(
                name,
                at - (origins or {}).get(name, 0),
                _show(want, at),
                _show(have, at),
                int(differ.sum()),
            )
    return Comparison(first, max_abs, max_rel)


def _wide(data: Array) -> NDArray[np.float64]:
    return data.astype(np.float64)


def _show(data: Array, at: int) -> str:
    value = data[at]
    if is_float(data):
        return f"{float(value):.17g}" if data.dtype.itemsize == 8 else f"{float(value):.9g}"
    return str(value.item())
