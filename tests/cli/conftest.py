"""Fakes of the three stages, so that the product's manners are tested without a compiler.

The fake front end finds ``__global__ void name(`` by text. What a kernel's name contains decides
what becomes of it: ``refused``, ``unparsed``, ``wrong`` (mismatch), ``untested``, ``crash_emit``,
``crash_verify``; anything else is emitted at level loop and verified.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hipify_tile import driver
from hipify_tile.analyzer.model import CompileUnit, FileStatus, KernelFact, LaunchFact, UnitAnalysis
from hipify_tile.cli import app, session
from hipify_tile.diagnostics.registry import diagnostic
from hipify_tile.ir.simt import Kernel
from hipify_tile.ir.span import Span
from hipify_tile.rewriter.model import Emission, Level, LevelResult, Target
from hipify_tile.verify.model import Outcome, Verification

_KERNEL = re.compile(rb"__global__\s+void\s+(\w+)\s*\(")
_LAUNCH = re.compile(rb"(\w+)<<<([^,>]*),([^>]*)>>>")


def _span(path: str, raw: bytes, start: int, end: int) -> Span:
    line = raw.count(b"\n", 0, start) + 1
    return Span(path, line, start - raw.rfind(b"\n", 0, start), start, end)


def fake_analyze(unit: CompileUnit) -> UnitAnalysis:
    raw = Path(unit.path).read_bytes()
    if b"crash_analyze" in raw:
        raise ZeroDivisionError("in the front end")
    kernels = []
    relative = Path(unit.path).relative_to(unit.root).as_posix()
    for match in _KERNEL.finditer(raw):
        name = match[1].decode()
        span = _span(unit.path, raw, match.start(1), match.end(1))
        end = raw.find(b"}", match.end()) + 1
        found = ()
        if "refused" in name:
            found = (diagnostic("TM1204", span, help="move the barrier after the `if`"),)
        if "unparsed" in name:
            found = (diagnostic("TM0004", span),)
        kernels.append(
            KernelFact(
                id=f"{relative}:{name}",
                usr=name,
                name=name,
                qualified=name,
                spelling=name,
                mangled=f"_Z{len(name)}{name}v",
                template_args=(),
                instance_of="",
                span=span,
                cuda_source=raw[match.start() : end].decode("latin-1"),
                kernel=None if found else Kernel(name, name, (), (), (), (), (), span=span),
                diagnostics=found,
                unparsed="unparsed" in name,
            )
        )
    launches = tuple(
        LaunchFact(
            kernel_usr=m[1].decode(),
            kernel_name=m[1].decode(),
            span=_span(unit.path, raw, m.start(), m.end()),
            grid=(None, None, None),
            block=(None, None, None),
            shared_bytes=None,
            stream="",
            arguments=(),
            grid_text=m[2].decode().strip(),
            block_text=m[3].decode().strip(),
        )
        for m in _LAUNCH.finditer(raw)
    )
    status = FileStatus(unit.path, "partial" if b"unparsed" in raw else "parsed", 1.0)
    return UnitAnalysis(unit, (status,), tuple(kernels), launches, (), (), (unit.path,), (), ())


def fake_emit(kernel: Kernel, root: str) -> tuple[LevelResult, ...]:
    if "crash_emit" in kernel.name:
        raise ZeroDivisionError("in the rewriter")
    text = f"def {kernel.name}():\n    return None\n"
    emission = Emission(
        level=Level.LOOP,
        factory=kernel.name,
        source=text,
        prelude=("import tilelang.language as T",),
        definition=text,
        options=(),
        arguments=(),
        targets=(Target.CUDA, Target.HIP, Target.CPU),
    )
    tile = LevelResult(Level.TILE, None, (diagnostic("TM2002", kernel.span),))
    return (tile, LevelResult(Level.LOOP, emission))


def fake_verify(
    analysis: UnitAnalysis, emitted: driver.Emitted, seed: int, limits: object
) -> driver.Executed:
    out = {}
    for name in emitted:
        if "crash_verify" in name:
            raise ZeroDivisionError("in verification")
        span = next(k.span for k in analysis.kernels if k.id == name)
        if "wrong" in name:
            found = (diagnostic("TM5001", span),)
            result = Verification(Outcome.MISMATCH, 1, seed, 4.0, 0.5, diagnostics=found)
        elif "untested" in name:
            found = (diagnostic("TM5003", span),)
            result = Verification(Outcome.UNVERIFIED, diagnostics=found)
        else:
            result = Verification(Outcome.VERIFIED, 6, seed, cases=("n=7 grid=1 block=32",))
        out[name] = {Level.LOOP: result}
    return out


FAKES = driver.Stages(fake_analyze, fake_emit, fake_verify)


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


Cli = Callable[..., Ran]


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Run the command line in ``tmp_path`` with fake stages and a private cache."""
    monkeypatch.setenv("TILE_MIGRATE_CACHE", str(tmp_path / ".cache"))
    monkeypatch.setattr(session, "run_project", _with_fakes)
    monkeypatch.setattr(session, "tool_fingerprint", lambda versions: "fixed")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)

    def call(*args: str) -> Ran:
        monkeypatch.setattr("sys.argv", ["tile-migrate", *args])
        result = CliRunner().invoke(app.app, list(args), prog_name="tile-migrate")
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Ran(result.exit_code, result.stdout, result.stderr)

    return call


def _with_fakes(project, options, stages, progress):  # type: ignore[no-untyped-def]
    return driver.run_project(project, options, FAKES, progress)


KERNEL = "__global__ void {name}(float *p, int n) {{\n    if (n > 0) p[0] = 1.0f;\n}}\n"


@pytest.fixture
def tree(tmp_path: Path) -> Callable[[dict[str, str]], Path]:
    """Make ``src/<file>`` for each item, with a kernel for each of its words."""

    def make(files: dict[str, str]) -> Path:
        folder = tmp_path / "src"
        for file, names in files.items():
            path = folder / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(KERNEL.format(name=name) for name in names.split()))
        return folder

    return make
