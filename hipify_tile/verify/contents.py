"""Contents of buffers: what the elements of an input are drawn from.

Profiles are whole-case choices, so that special values do not drown the information of an ordinary
case. Every draw is seeded by the caller's generator.
"""

from __future__ import annotations

import numpy as np

from hipify_tile.ir.types import Kind, ScalarType
from hipify_tile.verify.cases import Array, numpy_dtype

PROFILES = ("mixed", "exact", "positive", "special", "binary")
"""``mixed``: several magnitudes with ties. ``exact``: small integers, whose float sums and products
are exact in any order. ``positive``: in (0, 1]. ``binary``: 0 and 1 only: flags, cells, masks.
``special``: a share of NaN, infinities, −0, subnormals and integer extremes."""


def draw(dtype: ScalarType, count: int, profile: str, rng: np.random.Generator) -> Array:
    """Return ``count`` elements of ``dtype`` drawn by ``profile``."""
    storage = numpy_dtype(dtype)
    match dtype.kind:
        case Kind.BOOL:
            return rng.integers(0, 2, count).astype(np.bool_)
        case Kind.FLOAT:
            values = _floats(dtype, count, profile, rng)
            with np.errstate(over="ignore", invalid="ignore", under="ignore"):
                return values.astype(storage)
        case Kind.INT | Kind.UINT:
            return _integers(dtype, count, profile, rng)


def _floats(
    dtype: ScalarType, count: int, profile: str, rng: np.random.Generator
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    match profile:
        case "exact":
            return rng.integers(-4, 5, count).astype(np.float64)
        case "binary":
            return rng.integers(0, 2, count).astype(np.float64)
        case "positive":
            return 1.0 - rng.random(count)
        case _:
            scale = np.exp2(rng.integers(-4, 5, count))
            values = rng.uniform(-2.0, 2.0, count) * scale
            ties = rng.random(count) < 0.15
            values[ties] = rng.choice([0.0, 1.0, -1.0, 0.5, 2.0], int(ties.sum()))
            if profile == "special":
                tiny = 1e-310 if dtype.bits == 64 else 1e-40 if dtype.bits == 32 else 6e-8
                huge = {64: 1.7e308, 32: 3.3e38, 16: 6.0e4}[dtype.bits]
                pool = [np.nan, np.inf, -np.inf, -0.0, 0.0, tiny, -tiny, huge, -huge]
                odd = rng.random(count) < 0.3
                values[odd] = rng.choice(pool, int(odd.sum()))
            return values


def _integers(dtype: ScalarType, count: int, profile: str, rng: np.random.Generator) -> Array:
    signed = dtype.kind is Kind.INT
    low = -(1 << (dtype.bits - 1)) if signed else 0
    high = (1 << (dtype.bits - 1)) - 1 if signed else (1 << dtype.bits) - 1
    storage = numpy_dtype(dtype)
    match profile:
        case "exact" | "positive":
            return rng.integers(0, 8, count).astype(storage)
        case "binary":
            return rng.integers(0, 2, count).astype(storage)
        case "special":
            values = rng.integers(low, high, count, dtype=storage.type, endpoint=True)
            odd = rng.random(count) < 0.3
            pool = np.array([low, high, 0, 1, high - 1, low + 1], dtype=storage)
            values[odd] = rng.choice(pool, int(odd.sum()))
            return values
        case _:
            small = rng.integers(-8 if signed else 0, 9, count).astype(storage)
            wide = rng.integers(low, high, count, dtype=storage.type, endpoint=True)
            return np.where(rng.random(count) < 0.3, wide, small).astype(storage)


def draw_indices(
    dtype: ScalarType, count: int, limit: int, monotone: bool, rng: np.random.Generator
) -> Array:
    """Return ``count`` indices in ``[0, limit)``; non-decreasing from 0 if ``monotone``."""
    values = rng.integers(0, max(1, limit), count)
    if monotone:
        values.sort()
        if count:
            values[0] = 0
    top = (1 << min(dtype.bits - (dtype.kind is Kind.INT), 63)) - 1
    return np.minimum(values, top).astype(numpy_dtype(dtype))
