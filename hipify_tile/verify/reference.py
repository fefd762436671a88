"""The original's result for a case, and whether it is one: thread order, poison, float atomics.

The original runs once under the race detector: a kernel with a race has no result, even where no
order shows it. It runs under several thread orders with the uninitialised memory poisoned in two
ways.
One answer is a result to compare with. Two answers are none, unless floating-point atomics
explain them: then each element gets an error bound.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from hipify_tile.verify.cases import Array, Case
from hipify_tile.verify.compare import is_float, unequal
from hipify_tile.verify.inputs import Original, Ran
from hipify_tile.verify.roles import Roles

_RUNS = (("reverse", 1), ("shuffle", 0), ("shuffle2", 1))
_POISON = ("forward", 1)

ORDER = "the result depends on the order of threads"
OVERFLOW = "the order of atomic additions decides between infinities"
UNINITIALISED = "the result depends on uninitialised memory"

Bounds = dict[str, NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class Reference:
    """``memory`` and ``globals`` after the launch; ``problem`` names why there is no one answer.

    ``bounds`` are absolute errors for the elements that the order of atomics may change. ``race``
    says that the problem is a data race.
    """

    memory: dict[str, Array] = field(default_factory=dict)
    globals: dict[str, Array] = field(default_factory=dict)
    bounds: Bounds = field(default_factory=dict)
    problem: str = ""
    status: str = ""
    race: bool = False


def reference(original: Original, case: Case, roles: Roles) -> Reference:
    """Execute the original on ``case`` in every order and decide what its result is."""
    first = original.run(case)
    if not first.ok:
        return Reference(problem=first.status, status=first.status)
    race = original.race(case)
    if race:
        return Reference(problem=race, race=True)
    differing: set[str] = set()
    for order, poison in _RUNS:
        other = original.run(case, order, poison)
        if not other.ok:
            return Reference(problem=f"{ORDER} ({other.status})")
        differing |= _differing(first, other)
    if not differing:
        return Reference(first.memory, first.globals)
    poisoned = original.run(case, *_POISON)
    if not poisoned.ok or _differing(first, poisoned):
        return Reference(problem=UNINITIALISED)
    if not differing <= roles.float_atomics:
        return Reference(problem=ORDER)
    if case.profile == "special":
        return Reference(problem=OVERFLOW, status="special")
    bounds = rounding_bounds(original, case, first, frozenset(differing), case.launch.threads)
    if bounds is None:
        return Reference(problem=ORDER)
    return Reference(first.memory, first.globals, bounds)


def rounding_bounds(
    original: Original, case: Case, ran: Ran | Reference, buffers: frozenset[str], terms: int
) -> Bounds | None:
    """Bound the effect of adding ``terms`` terms in another order, for each element.

    The classic bound is ``γ_n Σ|x_i|``; the sum of magnitudes is what the original itself
    computes from the magnitudes of its inputs. Where that is NaN the bound is 0: the elements
    must be equal; where it overflows the bound is infinite: the order decides what is computed.
    None when the original does not run on the magnitudes.
    """
    magnitudes = replace(
        case,
        memory={n: replace(m, data=_abs(m.data)) for n, m in case.memory.items()},
        globals={n: _abs(a) for n, a in case.globals.items()},
        launch=replace(
            case.launch,
            scalars={
                n: abs(v) if isinstance(v, float) else v for n, v in case.launch.scalars.items()
            },
        ),
    )
    total = original.run(magnitudes)
    if not total.ok:
        return None
    bounds: Bounds = {}
    for name in buffers:
        data = total.memory[name] if name in total.memory else total.globals[name]
        have = ran.memory[name] if name in ran.memory else ran.globals[name]
        if not is_float(data):
            continue
        with np.errstate(all="ignore"):
            scale = np.maximum(np.abs(data.astype(np.float64)), np.abs(have.astype(np.float64)))
            bound = gamma(terms + 2, data.dtype) * scale
        bounds[name] = np.where(np.isnan(bound), 0.0, bound)
    return bounds


def gamma(terms: int, dtype: np.dtype[np.generic]) -> float:
    """``n u / (1 − n u)`` for the unit roundoff of ``dtype``; infinite where it means nothing."""
    unit = {"float64": 2.0**-53, "float32": 2.0**-24, "float16": 2.0**-11}.get(dtype.name, 2.0**-8)
    return terms * unit / (1.0 - terms * unit) if terms * unit < 0.5 else np.inf


def initial(case: Case) -> tuple[dict[str, Array], dict[str, Array]]:
    """The memory and globals of ``case`` before the launch, aliases left out."""
    return {n: m.data for n, m in case.memory.items() if not m.alias}, dict(case.globals)


def _differing(a: Ran, b: Ran) -> set[str]:
    out = {n for n, data in a.memory.items() if unequal(data, b.memory[n]).any()}
    return out | {n for n, data in a.globals.items() if unequal(data, b.globals[n]).any()}


def _abs(data: Array) -> Array:
    return np.abs(data) if is_float(data) else data
