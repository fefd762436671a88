"""The migrated kernels of a program as object files: made, tried, and kept out where they differ."""

from __future__ import annotations

import hashlib
import pickle
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from hipify_tile.analyzer.model import KernelFact, UnitAnalysis
from hipify_tile.build.arguments import NoObjectError
from hipify_tile.build.object_trial import ObjectRun, Subject
from hipify_tile.build.objects import (
    DYNAMIC_SHARED,
    ObjectSource,
    compile_object,
    entry_name,
    object_source,
)
from hipify_tile.build.plan import BuiltKernel, Plan
from hipify_tile.cache import tool_fingerprint
from hipify_tile.compat import user_cache_dir
from hipify_tile.diagnostics.model import Diagnostic
from hipify_tile.diagnostics.registry import diagnostic
from hipify_tile.ir.expr import Const
from hipify_tile.ir.simt import Kernel
from hipify_tile.rewriter.model import ArgumentRole, Emission, LevelResult
from hipify_tile.verify.lowering import LoweringError
from hipify_tile.verify.model import Outcome, Verification
from hipify_tile.verify.runner import verify_kernels


@dataclass(frozen=True, slots=True)
class _Made:
    """A compiled object; ``key`` tells kernels of a program apart."""

    key: str
    fact: KernelFact
    emission: Emission
    source: ObjectSource
    path: Path


@dataclass(frozen=True, slots=True)
class KernelObjects:
    """All kernels of a program, the objects of the migrated ones, and what has to be said."""

    kernels: tuple[BuiltKernel, ...]
    objects: tuple[Path, ...]
    notes: tuple[Diagnostic, ...]


def kernel_objects(
    plan: Plan, cuda: Sequence[UnitAnalysis], symbols: Mapping[str, Mapping[str, str]]
) -> KernelObjects:
    """Make and try the objects of ``plan``.

    ``symbols`` gives the accessors of device variables by unit and qualified name.
    """
    kernels: dict[str, BuiltKernel] = {}
    objects: list[Path] = []
    notes: list[Diagnostic] = []
    for analysis in cuda:
        made, found = _made(plan, analysis, symbols[analysis.unit.path], kernels)
        notes += found
        refused = _tried(plan, analysis, made, symbols[analysis.unit.path]) if plan.trials else {}
        for item in made:
            why = refused.get(item.path)
            old = kernels[item.key]
            if why is None:
                objects.append(item.path)
                levels = (*old.levels, item.emission.level.value)
                kernels[item.key] = BuiltKernel(old.id, old.mangled, levels, old.reason)
            else:
                notes.append(why)
                item.path.unlink()
                reason = f"{why.code} {why.headline}"
                kernels[item.key] = BuiltKernel(old.id, old.mangled, old.levels, reason)
    return KernelObjects(tuple(kernels.values()), tuple(objects), tuple(notes))


def _made(
    plan: Plan,
    analysis: UnitAnalysis,
    symbols: Mapping[str, str],
    kernels: dict[str, BuiltKernel],
) -> tuple[list[_Made], list[Diagnostic]]:
    """Compile the objects of a unit; kernels that ``kernels`` lacks get a row there."""
    todo: list[_Made] = []
    notes: list[Diagnostic] = []
    machine = tuple(f for f in plan.flags if f.startswith(("-march=", "-mtune=")))

    def refuse(key: str, fact: KernelFact, reason: str) -> None:
        kernels[key] = BuiltKernel(fact.id, fact.mangled, (), reason)
        notes.append(diagnostic("TM6004", fact.span, kernel=fact.id, notes=(reason,)))

    for fact in analysis.kernels:
        if not fact.mangled:
            continue
        place = (analysis.unit.path, fact.mangled)
        source = source_of(fact, analysis)
        private = source if is_internal(fact, analysis) else ""
        key = f"{fact.mangled} {private}"
        if key in kernels:
            continue
        kernels[key] = BuiltKernel(fact.id, fact.mangled, (), plan.reasons.get(place, ""))
        for emission in plan.emissions.get(place, ()):
            entry = entry_name(fact.mangled, emission.level, private)
            path = plan.folder / "kernels" / f"{entry}.o"
            try:
                assert fact.kernel is not None
                text = object_source(
                    fact.kernel,
                    emission,
                    entry=entry,
                    source=source,
                    shared_bytes=_shared_bytes(fact, analysis),
                    symbols=symbols,
                )
            except (NoObjectError, LoweringError) as error:
                refuse(key, fact, str(error))
                continue
            todo.append(_Made(key, fact, emission, text, path))

    def compiled(item: _Made) -> str:
        try:
            compile_object(item.source, item.path, plan.cxx, machine)
        except NoObjectError as error:
            return str(error)
        item.path.with_suffix(".cpp").write_text(item.source.text, encoding="utf-8")
        return ""

    with ThreadPoolExecutor(2) as pool:
        failures = list(pool.map(compiled, todo))
    for item, failure in zip(todo, failures, strict=True):
        if failure:
            refuse(item.key, item.fact, failure)
    return [m for m, failure in zip(todo, failures, strict=True) if not failure], notes


def _tried(
    plan: Plan, analysis: UnitAnalysis, made: Sequence[_Made], symbols: Mapping[str, str]
) -> dict[Path, Diagnostic]:
    """Execute objects against the originals; return those that are not known to be equal.

    What was equal before, of the same text by the same tools, is not executed again.
    """
    store = user_cache_dir() / "objects"
    tools = tool_fingerprint((_version(plan.cxx), *plan.flags)) if made else ""
    keys = {m.path: store / _digest(m, analysis, tools) for m in made}
    new = [m for m in made if not keys[m.path].exists()]
    emitted: dict[str, list[LevelResult]] = {}
    for m in new:
        emitted.setdefault(m.fact.id, []).append(LevelResult(m.emission.level, m.emission))
    owners = {id(m.emission): m for m in new}

    def run(kernel: Kernel, emission: Emission, folder: Path) -> ObjectRun:
        m = owners[id(emission)]
        used = {a.source for a in emission.arguments if a.role is ArgumentRole.GLOBAL}
        accessors = {name: symbols[name] for name in symbols if name in used}
        return ObjectRun(kernel, Subject(m.source, m.path, accessors, plan.cxx), folder)

    verdicts = verify_kernels(analysis, emitted, cxx=plan.cxx, rewriting=run)
    refused: dict[Path, Diagnostic] = {}
    for m in new:
        verdict = verdicts.get(m.fact.id, {}).get(m.emission.level)
        if verdict is not None and verdict.outcome is Outcome.VERIFIED:
            _remember(keys[m.path])
        else:
            refused[m.path] = _refusal(m, verdict)
    return refused


def _refusal(made: _Made, verdict: Verification | None) -> Diagnostic:
    """The finding about an object that is not known to be equal."""
    found = verdict.diagnostics if verdict is not None else ()
    notes = tuple(note for d in found for note in (f"{d.code} {d.headline}", *d.notes))
    differs = verdict is not None and verdict.outcome is Outcome.MISMATCH
    code = "TM6005" if differs else "TM6004"
    if not differs:
        notes = ("its object code could not be held against the original", *notes)
    return diagnostic(code, made.fact.span, kernel=made.fact.id, notes=notes)


def _remember(key: Path) -> None:
    try:
        key.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=key.parent, delete=False) as file:
            pass
        Path(file.name).rename(key)
    except OSError:
        return  # an unwritable cache only costs time


def _digest(made: _Made, analysis: UnitAnalysis, tools: str) -> str:
    launches = tuple(x for x in analysis.launches if x.kernel_usr == made.fact.usr)
    digest = hashlib.sha256(tools.encode() + made.source.text.encode())
    digest.update(pickle.dumps((made.fact, made.emission, launches, made.source.flags)))
    return digest.hexdigest()


def _version(cxx: str) -> str:
    done = subprocess.run([*cxx.split(), "--version"], capture_output=True, text=True, check=False)
    return done.stdout


def source_of(fact: KernelFact, analysis: UnitAnalysis) -> str:
    """Return ``path:line`` of the body, as the kept record has it from the compiler.

    Several units may have a kernel of internal linkage from one header: `` (unit)`` follows.
    """
    for definition in analysis.definitions:
        if definition.file == fact.span.file and definition.name_end == fact.span.end:
            shared = definition.internal and definition.file != analysis.unit.path
            unit = f" ({analysis.unit.path})" if shared else ""
            return f"{definition.file}:{definition.line}{unit}"
    return ""


def is_internal(fact: KernelFact, analysis: UnitAnalysis) -> bool:
    """Return whether other units may have another kernel of this name."""
    return any(
        d.internal and d.file == fact.span.file and d.name_end == fact.span.end
        for d in analysis.definitions
    )


def _shared_bytes(fact: KernelFact, analysis: UnitAnalysis) -> int:
    known = [
        int(launch.shared_bytes.value)
        for launch in analysis.launches
        if launch.kernel_usr == fact.usr and isinstance(launch.shared_bytes, Const)
    ]
    return max([DYNAMIC_SHARED, *known])
