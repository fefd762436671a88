"""Candidate launches: geometry and scalar arguments, from launch sites or from the kernel's own IR.

A candidate may take the original out of bounds or into a deadlock; the caller resamples then.
Sizes are the program's own, scaled down until the grid is affordable, and ragged ones around the
block size. Geometry is perturbed too, so that grids that do not cover the data, or more than
cover it, are seen.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from hipify_tile.analyzer.model import LaunchFact
from hipify_tile.ir.expr import Expr, Index, IndexKind, Var, walk
from hipify_tile.ir.simt import Kernel, Param
from hipify_tile.ir.stmt import exprs, walk_stmts
from hipify_tile.ir.types import ScalarType
from hipify_tile.verify.cases import Launch, Triple
from hipify_tile.verify.evaluate import UnevaluableError, Value, evaluate, evaluate_int, wrap
from hipify_tile.verify.roles import Roles
from hipify_tile.verify.sides import Sides

MAX_BLOCK = 1024
_BLOCKS_1D: tuple[Triple, ...] = ((128, 1, 1), (32, 1, 1), (256, 1, 1), (64, 1, 1), (33, 1, 1))
_BLOCKS_2D: tuple[Triple, ...] = ((16, 16, 1), (8, 8, 1), (32, 8, 1), (32, 32, 1), (5, 3, 1))
_BLOCKS_3D: tuple[Triple, ...] = ((8, 4, 4), (4, 4, 4), (8, 8, 8), (5, 3, 2))
_SIZES = (1, 2, 3, 5, 7, 8, 13, 16, 17, 31, 32, 33, 48, 63, 64, 65, 97, 100, 127, 129, 200, 257)
_GEOMETRIES = ("", "more", "one", "sizes", "block", "unused", "", "fewer", "", "fewer", "sizes", "")
"""What is changed about the launches of a period, in an order that lets a dozen cases have it all:
``more`` blocks than cover the data along every axis, by whole blocks and different numbers of them;
``one`` block; ``sizes`` next to what the geometry covers; another ``block``; every thread again,
along the axes that are ``unused``; ``fewer`` blocks along one axis."""
_SCALED = 32
"""Launch symbols with a hint of at least this many are sizes that may be scaled down."""


class LaunchSource:
    """An endless, seeded stream of candidate launches of one kernel."""

    def __init__(
        self,
        kernel: Kernel,
        roles: Roles,
        facts: Sequence[LaunchFact],
        rng: np.random.Generator,
        max_threads: int = 8192,
    ) -> None:
        self._kernel = kernel
        self._roles = roles
        self._facts = tuple(f for f in facts if len(f.arguments) == len(kernel.argument_sizes))
        self._rng = rng
        self._max_threads = max_threads
        self._scalars = tuple(p for p in kernel.params if not p.pointer)
        self._pointers = tuple(p for p in kernel.params if p.pointer)
        self._sides = Sides(kernel, roles)
        self._insists = False
        leaves: dict[int, int] = {}
        for p in kernel.params:
            leaves[p.argument] = leaves.get(p.argument, 0) + 1
        self._whole = frozenset(
            p.name for p in kernel.params if p.offset == 0 and leaves[p.argument] == 1
        )

    def __iter__(self) -> Iterator[Launch]:
        for launch in self._drawn():
            self._sides.count(launch.scalars)
            yield launch

    def own(self) -> Iterator[tuple[LaunchFact, Launch]]:
        """Yield launch sites all of whose sizes the program states, at these very sizes.

        A variable that gets several values counts where it starts as a size, not as a sum does.
        """
        for fact in self._facts:
            names: dict[str, Value] = {
                n: v for n, v in fact.hints if n in fact.settled or v >= _SCALED
            }
            integers = [
                fact.arguments[p.argument] if p.name in self._whole else None
                for p in self._scalars
                if not p.dtype.is_float
            ]
            needed = [*fact.grid, *fact.block, *integers]
            if any(e is None for e in needed) or not _symbols(needed).keys() <= names.keys():
                continue
            launch = self._evaluated(fact, names, ragged=False, real=True)
            if launch is not None:
                yield fact, launch

    def insist(self) -> None:
        """Steer more launches to untried sides of tests: what was seen so far leaves a gap."""
        self._insists = True

    def _drawn(self) -> Iterator[Launch]:
        for fact in self._facts:
            launch = self._from_fact(fact, ragged=False)
            if launch is not None:
                yield launch
        turn = 0
        while True:
            turn += 1
            launch = self._next(turn)
            steer = self._insists and turn % 3 == 2
            steer |= (self._insists or self._sides.untried) and turn % 3 == 1
            yield self._steered(launch) if steer else launch

    def _next(self, turn: int) -> Launch:
        if not self._facts:
            return self._guessed(turn)
        period, place = divmod(turn - 1, len(_GEOMETRIES))
        change = _GEOMETRIES[place]
        fact = self._facts[turn % len(self._facts)]
        launch = self._from_fact(fact, ragged=True)
        for attempt in range(12):  # at best several blocks along every axis
            axes = self._rank() if attempt < 6 else 1
            if not change or launch is None or sum(g > 1 for g in launch.grid) >= axes:
                break
            launch = self._from_fact(fact, ragged=True)
        if launch is None:
            return self._guessed(turn)
        if change == "sizes":
            return self._beside(launch)
        nth = period * _GEOMETRIES.count(change) + _GEOMETRIES[:place].count(change)
        return self._perturbed(launch, change, nth) if change else launch

    def _steered(self, launch: Launch) -> Launch:
        """Change scalars only, to values on the sides of tests that were tried least."""
        scalars = self._sides.steered(launch.scalars, self._rng)
        if scalars == launch.scalars:
            return launch
        return replace(
            launch,
            label=launch.label + ", other side",
            scalars=scalars,
            extents=dict.fromkeys(launch.extents),
            real=False,
        )

    def _from_fact(self, fact: LaunchFact, *, ragged: bool) -> Launch | None:
        """Evaluate a launch site; None when its geometry cannot be had within the limits."""
        hints = dict(fact.hints)
        in_block = _symbols([*fact.block])
        every = _symbols(
            [*fact.grid, *fact.block, fact.shared_bytes, *fact.arguments, *fact.pointer_extents]
        )
        block_hint = [b for b in fact.block if b is not None]
        for attempt in range(12):
            names: dict[str, Value] = {}
            real = True
            for name, dtype in every.items():
                hint = hints.get(name)
                if name in in_block:
                    # What a variable starts with need not be what it is launched with.
                    keep = hint is not None and (not ragged or self._rng.random() < 0.6)
                    if hint is not None and keep:
                        names[name] = hint
                    else:
                        names[name] = self._pick((32, 64, 128, 16))
                        real &= hint is None
                elif dtype.is_float:
                    names[name] = hint if hint is not None else self._float()
                elif hint is None:
                    names[name] = self._size(self._extents(block_hint, names), 0.4)
                elif hint < _SCALED and not ragged:
                    names[name] = hint
                elif hint < _SCALED:
                    names[name] = hint if self._rng.random() < 0.5 else self._near(int(hint))
                elif ragged and self._rng.random() < 0.8:
                    names[name] = min(self._size(self._extents(block_hint, names)), int(hint) * 2)
                else:
                    names[name] = max(1, int(hint) >> attempt)
            launch = self._evaluated(fact, names, ragged=ragged, real=real)
            if launch is not None and launch.threads <= self._max_threads:
                return launch
        return None

    def _evaluated(
        self, fact: LaunchFact, names: dict[str, Value], *, ragged: bool, real: bool
    ) -> Launch | None:
        try:
            block = self._triple(fact.block, names, self._default_block(1))
            grid = self._triple(fact.grid, names, (int(self._rng.integers(1, 5)), 1, 1))
            shared = 0 if fact.shared_bytes is None else evaluate_int(fact.shared_bytes, names)
        except UnevaluableError:
            return None
        if min(*block, *grid) < 1 or _volume(block) > MAX_BLOCK or max(grid) > 65535:
            return None
        if not 0 <= shared <= 1 << 18:
            return None
        scalars: dict[str, int | float | bool] = {}
        for p in self._scalars:
            expr = fact.arguments[p.argument] if p.name in self._whole else None
            try:
                value = None if expr is None else evaluate(expr, names)
            except UnevaluableError:
                value = None
            scalars[p.name] = self._scalar(p, block) if value is None else wrap(value, p.dtype)
        extents: dict[str, int | None] = {}
        roots: dict[str, str] = {}
        offsets: dict[str, int] = {}
        owned: set[str] = set()
        for p in self._pointers:
            extents[p.name] = None
            if p.name not in self._whole:
                continue
            extent = _at(fact.pointer_extents, p.argument, names)
            if extent is not None:
                extents[p.name] = max(0, extent) // p.dtype.bytes
            if p.argument < len(fact.pointer_roots) and fact.pointer_roots[p.argument]:
                roots[p.name] = fact.pointer_roots[p.argument]
                offset = _at(fact.pointer_offsets, p.argument, names)
                if offset is not None:
                    offsets[p.name] = offset
                if p.argument < len(fact.pointer_owned) and fact.pointer_owned[p.argument]:
                    owned.add(p.name)
        label = f"line {fact.span.line}" + (", ragged" if ragged else "")
        return Launch(
            label, grid, block, shared, scalars, extents, roots, real, offsets, frozenset(owned)
        )

    def _triple(
        self,
        parts: tuple[Expr | None, Expr | None, Expr | None],
        names: dict[str, Value],
        default: Triple,
    ) -> Triple:
        values = [
            d if e is None else evaluate_int(e, names) for e, d in zip(parts, default, strict=True)
        ]
        return (values[0], values[1], values[2])

    def _perturbed(self, launch: Launch, change: str, nth: int) -> Launch:
        """Change the geometry only (see ``_GEOMETRIES``), for the ``nth`` time in this way."""
        grid = list(launch.grid)
        block = launch.block
        rank = self._rank()
        unused = [a for a in range(rank, 3) if grid[a] == 1]
        match change:
            case "one":
                grid = [1 if a < rank else g for a, g in enumerate(grid)]
            case "more":
                many = [g * 4 + 1 + a if a < rank else g for a, g in enumerate(grid)]
                if math.prod(many) * _volume(block) <= self._max_threads:  # several items a thread
                    grid = many
                else:
                    grid = [g + 1 + a if a < rank else g for a, g in enumerate(grid)]
            case "block":  # a block of one thread has no other to make up for it
                block = (1, 1, 1) if self._roles.fixed_block else self._other_block(block, nth)
            case "unused" if unused:
                for again, axis in enumerate(unused, 2):
                    if again == 2 or math.prod(grid) * _volume(block) * again <= self._max_threads:
                        grid[axis] = again
            case _:
                several = [a for a in range(3) if grid[a] > 1] or [0]
                axis = several[nth % len(several)]
                grid[axis] = max(1, grid[axis] - 1)
        return replace(
            launch,
            label=launch.label + ", other geometry",
            grid=(grid[0], grid[1], grid[2]),
            block=block,
            extents=dict.fromkeys(launch.extents),
            real=False,
        )

    def _beside(self, launch: Launch) -> Launch:
        """Change sizes only, so that they are no longer what the geometry was computed from."""
        scalars = dict(launch.scalars)
        for p in self._scalars:
            if p.name in self._roles.sizes and p.dtype.is_integer:
                near = (-1, 1, 3, -(launch.block[0] // 2), -launch.block[0] - 1)
                scalars[p.name] = wrap(max(0, int(scalars[p.name]) + self._pick(near)), p.dtype)
        return replace(
            launch,
            label=launch.label + ", other sizes",
            scalars=scalars,
            extents=dict.fromkeys(launch.extents),
            real=False,
        )

    def _other_block(self, block: Triple, nth: int) -> Triple:
        """A block unlike ``block``, at first one whose extents all differ."""
        rank = self._rank()
        others = [b for b in self._legal_blocks() if b != block]
        others.sort(key=lambda b: rank - len({*b[:rank]}))
        return others[nth % len(others)] if others else block

    def _guessed(self, turn: int) -> Launch:
        """A launch with no site to go by."""
        block = self._default_block(turn)
        scalars = {p.name: self._scalar(p) for p in self._scalars}
        rank = self._rank()
        if turn % 4 == 2:  # more data than threads in at least one block
            for p in self._scalars:
                if p.name in self._roles.sizes and not p.dtype.is_float:
                    size = block[turn // 4 % rank] * 2 + int(self._rng.integers(0, 5))
                    scalars[p.name] = wrap(min(size, 300), p.dtype)
        sizes = [int(v) for n, v in scalars.items() if n in self._roles.sizes and int(v) > 0]
        grid = [1, 1, 1]
        for axis in range(rank):
            size = sizes[(turn + axis) % len(sizes)] if sizes else 0
            cover = max(1, -(-size // block[axis]))
            match turn % 4 if size else -1:
                case 0 | 1:
                    grid[axis] = cover
                case 2:
                    grid[axis] = max(1, cover - 1)
                case 3:
                    grid[axis] = cover + 1
                case _:
                    grid[axis] = int(self._rng.integers(1, 4))
        if rank < 3 and turn % 8 == 5:  # every thread again, along an axis that is not used
            grid[rank] = 2
        while _volume(block) * grid[0] * grid[1] * grid[2] > self._max_threads and max(grid) > 1:
            grid[int(np.argmax(grid))] //= 2
        shared = _volume(block) * 8 if self._dynamic_shared() else 0
        return Launch(
            "guessed",
            (max(1, grid[0]), max(1, grid[1]), max(1, grid[2])),
            block,
            shared,
            scalars,
            {p.name: None for p in self._pointers},
            {},
        )

    def _dynamic_shared(self) -> bool:
        return any(b.scope.value == "dynamic_shared" for b in self._kernel.buffers)

    def repeats(self, launch: Launch) -> bool:
        """Whether threads differ only along an axis that the kernel does not read."""
        return any(launch.grid[a] * launch.block[a] > 1 for a in range(self._rank(), 3))

    def _rank(self) -> int:
        """1 + the highest axis of threadIdx or blockIdx that the kernel reads."""
        axes = [0]
        for stmt in walk_stmts(self._kernel.body):
            for top in exprs(stmt):
                for node in walk(top):
                    if isinstance(node, Index) and node.kind in (
                        IndexKind.THREAD,
                        IndexKind.BLOCK,
                    ):
                        axes.append(node.axis)
        return 1 + max(axes)

    def _default_block(self, turn: int) -> Triple:
        legal = self._legal_blocks()
        bound = self._kernel.launch_bounds[0] or MAX_BLOCK
        return legal[turn % len(legal)] if legal else (min(bound, 32), 1, 1)

    def _legal_blocks(self) -> list[Triple]:
        rank = self._rank()
        bound = self._kernel.launch_bounds[0] or MAX_BLOCK
        options: list[Triple] = []
        for shape in self._roles.shared_shapes:
            for margin in (0, 1, 2):
                dims = [max(1, d - margin) for d in reversed(shape[-rank:])]
                candidate = (*dims, 1, 1)[:3]
                options.append((candidate[0], candidate[1], candidate[2]))
            square = min(shape)
            if rank == 2:
                options.append((square, square, 1))
        options += [_BLOCKS_1D, _BLOCKS_2D, _BLOCKS_3D][rank - 1]
        return [b for b in options if _volume(b) <= min(bound, MAX_BLOCK)]

    def _scalar(self, p: Param, block: Sequence[int] = ()) -> int | float | bool:
        """Draw a scalar leaf from what the kernel does with it; sizes lie near block multiples."""
        if p.dtype.name == "bool":
            return bool(self._rng.integers(2))
        literals = sorted(self._roles.constants.get(p.name, frozenset()))
        if literals and self._rng.random() < 0.4:
            literal = literals[int(self._rng.integers(len(literals)))]
            with contextlib.suppress(UnevaluableError):  # a negative float has no unsigned value
                return wrap(literal + int(self._rng.integers(-1, 2)), p.dtype)
        if p.dtype.is_float:
            return wrap(self._float(), p.dtype)
        if p.name in self._roles.shifts:
            return int(self._rng.integers(0, p.dtype.bits))
        if p.name in self._roles.sizes:
            return wrap(self._size([b for b in block if b > 1], 0.4), p.dtype)
        if p.name in self._roles.divisors:
            return wrap(self._pick((1, 2, 3, 7, 8, -3, 16)), p.dtype)
        return wrap(int(self._rng.integers(-4, 21)), p.dtype)

    def _float(self) -> float:
        if self._rng.random() < 0.5:
            return float(self._pick((1, 2, 3, 4))) / 4.0
        return float(np.float32(self._rng.normal()))

    def _size(self, extents: Sequence[int] = (), share: float = 0.4) -> int:
        """Draw a size; a ``share`` of them lies next to multiples of one of ``extents``."""
        if extents and self._rng.random() < share:
            times = int(self._rng.integers(1, 4))
            return max(1, self._pick(extents) * times + int(self._rng.integers(-1, 2)))
        return int(self._pick(_SIZES))

    def _extents(self, block: Sequence[Expr], names: dict[str, Value]) -> list[int]:
        """The extents of a block, 32 for one that has no value yet."""
        found = []
        for expr in block:
            try:
                found.append(evaluate_int(expr, names))
            except UnevaluableError:
                found.append(32)
        return found

    def _near(self, value: int) -> int:
        return max(0, value + int(self._rng.integers(-1, 2)))

    def _pick(self, options: Sequence[int]) -> int:
        return options[int(self._rng.integers(len(options)))]


def _at(parts: Sequence[Expr | None], position: int, names: dict[str, Value]) -> int | None:
    """The value of the expression at ``position``; None if there is none or it has no value."""
    expr = parts[position] if position < len(parts) else None
    if expr is None:
        return None
    try:
        return evaluate_int(expr, names)
    except UnevaluableError:
        return None


def _volume(t: Triple) -> int:
    return t[0] * t[1] * t[2]


def _symbols(parts: Sequence[Expr | None]) -> dict[str, ScalarType]:
    out: dict[str, ScalarType] = {}
    for part in parts:
        if part is not None:
            for node in walk(part):
                if isinstance(node, Var):
                    out[node.name] = node.type
    return out
