"""A kernel in Python that stands for an original or a rewrite: exact, slow, bounds checked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from hipify_tile.analyzer.model import KernelFact, LaunchFact
from hipify_tile.ir.expr import (
    Binary,
    BinaryOp,
    Cast,
    Compare,
    CompareOp,
    Expr,
    Index,
    IndexKind,
    Load,
    Var,
)
from hipify_tile.ir.simt import Buffer, Kernel, Param, Scope
from hipify_tile.ir.span import Span
from hipify_tile.ir.stmt import Assign, If, Store
from hipify_tile.ir.types import F32, I32, U32, ScalarType
from hipify_tile.rewriter.model import Argument, Emission, Level
from hipify_tile.verify.cases import Case
from hipify_tile.verify.coverage import Coverage
from hipify_tile.verify.inputs import Ran
from hipify_tile.verify.judge import Judge, Limits
from hipify_tile.verify.model import Verification


class View:
    """A pointer with its legal range."""

    def __init__(self, name: str, data: np.ndarray, origin: int) -> None:
        self.name, self.data, self.origin = name, data, origin

    def _at(self, i: int) -> int:
        at = int(i) + self.origin
        if not 0 <= at < self.data.size:
            raise IndexError(self.name, int(i))
        return at

    def __getitem__(self, i: int) -> object:
        return self.data[self._at(i)]

    def __setitem__(self, i: int, value: object) -> None:
        self.data[self._at(i)] = value


Body = Callable[[SimpleNamespace], Iterator[None] | None]


class Fake:
    """``Original`` and ``Rewritten``: runs ``body`` for every thread; ``yield`` is a barrier."""

    def __init__(self, body: Body) -> None:
        self.body = body

    def _views(self, case: Case) -> dict[str, View]:
        views = {n: View(n, m.data.copy(), m.origin) for n, m in case.memory.items() if not m.alias}
        for name, m in case.memory.items():
            if m.alias:
                base = views[m.alias]
                offset = m.alias_offset // base.data.itemsize
                views[name] = View(m.alias, base.data, base.origin + offset)
        return views

    def run(self, case: Case, order: str = "forward", poison: int = 0) -> Ran:
        views = self._views(case)
        try:
            self._execute(case, views, order, poison)
        except IndexError as error:
            leaf, element = error.args
            return Ran("out_of_bounds", f"{leaf}[{element}]", leaf=leaf, element=element)
        return Ran("ok", memory={n: views[n].data for n, m in case.memory.items() if not m.alias})

    def race(self, case: Case) -> str:
        return ""

    def _execute(self, case: Case, views: dict[str, View], order: str, poison: int) -> None:
        launch = case.launch
        rng = np.random.default_rng(len(order))
        with np.errstate(all="ignore"):
            for block in np.ndindex(launch.grid[::-1]):
                shared = np.full(2048, [7.0, -3.0][poison], np.float32)
                threads = []
                for tid in np.ndindex(launch.block[::-1]):
                    t = SimpleNamespace(
                        tx=tid[2], ty=tid[1], bx=block[2], by=block[1],
                        bdx=launch.block[0], bdy=launch.block[1], gdx=launch.grid[0],
                        s=shared, **launch.scalars, **views,
                    )  # fmt: skip
                    threads.append(t)
                if order == "reverse":
                    threads.reverse()
                elif order.startswith("shuffle"):
                    rng.shuffle(threads)
                live = [r for t in threads if (r := self.body(t)) is not None]
                while live:
                    live = [r for r in live if next(r, "end") is None]


_SPAN = Span("k.cu", 1, 1, 0, 1)


def kernel(
    pointers: dict[str, tuple[ScalarType, bool]],
    scalars: dict[str, ScalarType],
    *,
    restrict: bool = True,
    index: tuple[str, ...] = (),
) -> Kernel:
    """An IR that bounds ``blockIdx*blockDim+threadIdx`` by ``n`` and stores to written pointers."""
    params = [
        Param(n, dtype, i, pointer=True, const=not w)
        for i, (n, (dtype, w)) in enumerate(pointers.items())
    ]
    params += [Param(n, d, len(params) + i) for i, (n, d) in enumerate(scalars.items())]
    buffers = tuple(
        Buffer(n, dtype, Scope.PARAM, written=w, restrict=restrict)
        for n, (dtype, w) in pointers.items()
    )
    at = Binary(
        BinaryOp.ADD,
        Binary(
            BinaryOp.MUL, Index(IndexKind.BLOCK, 0, U32), Index(IndexKind.BLOCK_DIM, 0, U32), U32
        ),
        Index(IndexKind.THREAD, 0, U32),
        U32,
    )
    i = Var("i", I32)
    body = []
    for n, (dtype, written) in pointers.items():
        if written:
            body.append(Store(n, (i,), Load(n, (i,), dtype)))
        if n in index:
            body.append(Store(n, (Load(n, (i,), dtype),), Load(n, (i,), dtype)))
    guard = If(Compare(CompareOp.LT, i, Var("n", I32)), tuple(body))
    return Kernel(
        "k", "_Z1k", tuple(params), tuple(8 if p.pointer else p.dtype.bytes for p in params),
        buffers, (("i", I32),), (Assign("i", Cast(at, I32)), guard),
    )  # fmt: skip


def emission(
    tolerance: str = "",
    assumes: tuple[Expr, ...] = (),
    arguments: tuple[Argument, ...] = (),
) -> Emission:
    return Emission(Level.LOOP, "k", "", (), "", (), arguments, (), assumes, tolerance=tolerance)


FULL = Coverage(1, (), ())
SECONDS = 5.0


def judge(
    ir: Kernel,
    original: Body,
    rewrite: Body,
    *,
    tolerance: str = "",
    assumes: tuple[Expr, ...] = (),
    arguments: tuple[Argument, ...] = (),
    coverage: Coverage = FULL,
    seed: int = 1,
    launches: Sequence[LaunchFact] = (),
    save_failures: Path | None = None,
) -> Verification:
    fact = KernelFact("k.cu:k", "", "k", "k", "k", "_Z1k", (), "", _SPAN, "", ir)
    rewrites = [(emission(tolerance, assumes, arguments), Fake(rewrite))]
    found = Judge(
        fact, ir, launches, Fake(original), rewrites,
        measure=lambda: coverage, seed=seed, limits=Limits(cases=8, most_cases=16, seconds=SECONDS),
        save_failures=save_failures,
    ).judge()  # fmt: skip
    return found[Level.LOOP]


AXPY = kernel({"x": (F32, False), "y": (F32, True)}, {"a": F32, "n": I32})
