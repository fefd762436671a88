"""From analysed units to an executable: rewritten copies, kept and migrated kernels, one link.

Everything happens on copies below a build folder; the user's files are only read. Whether a kernel
is migrated was decided before: ``Plan.emissions`` holds what was verified. Nothing is run here.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hipify_tile.analyzer.model import KernelFact, UnitAnalysis
from hipify_tile.build.arguments import NoObjectError
from hipify_tile.build.kernels_only import COMPILE_FLAGS, link_kernels
from hipify_tile.build.objects import DYNAMIC_SHARED, compile_object, entry_name, object_source
from hipify_tile.build.tool import run_tool
from hipify_tile.compat import include_dir
from hipify_tile.diagnostics.model import Diagnostic
from hipify_tile.diagnostics.registry import diagnostic
from hipify_tile.ir.expr import Const
from hipify_tile.rewriter.emit.host import rewrite_host
from hipify_tile.rewriter.model import Emission
from hipify_tile.verify.lowering import LoweringError
from hipify_tile.verify.overlay import Overlay, write_overlay

# Kept kernels compute what the verified originals do: no contraction, integers wrap.
KEPT_FLAGS = (
    "-O2", "-w", "-fPIC", "-ffp-contract=off", "-fwrapv", "-fno-strict-aliasing",
)  # fmt: skip
_ARCHITECTURE = "-D__CUDA_ARCH__=800"


@dataclass(frozen=True, slots=True)
class Plan:
    """What to build.

    ``emissions`` maps kernels, by the path of their unit and mangled name, to the verified emissions
    that become objects, ``reasons`` the others to why they stay. ``host_sources`` are further C and C++ files. ``runtime`` is
    the folder of ``libtm_cudart.so``; ``flags`` go to every g++ command. ``output`` ending in
    ``.a`` is a static library, in ``.o`` an object, ``-shared`` in ``flags`` makes a shared one.
    """

    analyses: Sequence[UnitAnalysis]
    emissions: Mapping[tuple[str, str], Sequence[Emission]]
    output: Path
    folder: Path
    runtime: Path
    reasons: Mapping[tuple[str, str], str] = field(default_factory=dict)
    host_sources: Sequence[Path] = ()
    flags: tuple[str, ...] = ()
    cxx: str = "g++"
    kernels_only: bool = False


@dataclass(frozen=True, slots=True)
class BuiltKernel:
    """A kernel in the executable: the levels it has beside its kept code, and why not more."""

    id: str
    mangled: str
    levels: tuple[str, ...]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Built:
    """The outcome; ``output`` is None where ``diagnostics`` hold an error."""

    output: Path | None
    kernels: tuple[BuiltKernel, ...]
    diagnostics: tuple[Diagnostic, ...] = ()


def build(plan: Plan) -> Built:
    """Build the program or library of ``plan``; compiler errors become TM6003."""
    cuda = [a for a in plan.analyses if a.unit.language == "cuda"]
    sources = {f: Path(f).read_bytes() for a in cuda for f in (a.unit.path, *a.user_files)}
    rewritten = rewrite_host(cuda, sources)
    if rewritten.diagnostics:
        return Built(None, (), rewritten.diagnostics)
    plan.folder.mkdir(parents=True, exist_ok=True)
    symbols = {a.unit.path: _accessors(a, plan) for a in cuda}
    files = dict(sources)
    files.update({path: file.content for path, file in rewritten.files.items()})
    for path, accessors in symbols.items():
        tail = "".join(
            f'extern "C" __attribute__((visibility("hidden"))) void *{name}() '
            f"{{ return (void *)&{symbol}; }}\n"
            for symbol, name in accessors.items()
        )
        tail += "".join(_registration(i, name) for i, name in enumerate(_defined(cuda, path)))
        files[path] += f"\n{tail}".encode() if tail else b""
    overlay = Overlay(tuple(files.items()))
    root = write_overlay(overlay, plan.folder)
    objects: list[Path] = []
    problems: list[Diagnostic] = []
    for number, analysis in enumerate(cuda):
        made = plan.folder / f"unit{number}.o"
        failure = _compile_unit(plan, analysis, overlay, root, made)
        if failure is not None:
            problems.append(failure)
        objects.append(made)
    for number, host in enumerate(() if plan.kernels_only else plan.host_sources):
        made = plan.folder / f"host{number}.o"
        failure = _compile_host(plan, host, made)
        if failure is not None:
            problems.append(failure)
        objects.append(made)
    if problems:
        return Built(None, (), tuple(problems))
    kernels, compiled, notes = _kernels(plan, cuda, symbols)
    if plan.kernels_only:
        names = [str(o) for o in (*objects, *compiled)]
        failure = link_kernels(plan.cxx, names, plan.output, plan.folder)
    else:
        failure = _link(plan, [*objects, *compiled])
    if failure is not None:
        return Built(None, kernels, (*notes, failure))
    write_manifest(plan, kernels)
    return Built(plan.output, kernels, notes)


def _defined(analyses: Sequence[UnitAnalysis], path: str) -> tuple[str, ...]:
    """The device variables that the unit at ``path`` defines."""
    found = (s for a in analyses if a.unit.path == path for s in a.symbols if s.defined)
    return tuple(dict.fromkeys(s.qualified for s in found))


def _registration(number: int, name: str) -> str:
    """One line that tells the runtime of a variable: symbol copies and mode check need it."""
    return (
        'extern "C" __attribute__((weak)) int tm_register_variable(const char *, void *, '
        "uint64_t, const char *); "
        f"static const int tm_variable_{number} __attribute__((unused)) = tm_register_variable ? "
        f'tm_register_variable("{name}", (void *)&{name}, sizeof({name}), TM_UNIT_NAME) : 0;\n'
    )


def _accessors(analysis: UnitAnalysis, plan: Plan) -> dict[str, str]:
    """Functions that objects take the addresses of the unit's device variables from."""
    used = {
        argument.source
        for kernel in analysis.kernels
        for emission in plan.emissions.get((analysis.unit.path, kernel.mangled), ())
        for argument in emission.arguments
        if argument.role == "global"
    }
    number = [a.unit.path for a in plan.analyses].index(analysis.unit.path)
    return {
        symbol.qualified: f"tm_symbol_{number}_{i}"
        for i, symbol in enumerate(analysis.symbols)
        if symbol.qualified in used
    }


def _compile_unit(
    plan: Plan, analysis: UnitAnalysis, overlay: Overlay, root: Path, made: Path
) -> Diagnostic | None:
    unit = analysis.unit
    arguments = [a.replace(Overlay.PLACEHOLDER, str(root)) for a in overlay.compile_args(unit)]
    standard = [a.replace("cuda", "c++") for a in unit.args if a.startswith("-std=")] or [
        "-std=c++17"
    ]
    command = [plan.cxx, *standard[-1:], *KEPT_FLAGS, f"-I{include_dir()}"]
    command += ["-include", "tm_cuda_prelude.h", *arguments, *compile_flags(plan.flags)]
    command += COMPILE_FLAGS if plan.kernels_only else ()
    name = unit.path.replace("\\", "\\\\").replace('"', '\\"')
    command.append(f'-DTM_UNIT_NAME="{name}"')
    source = overlay.twin(unit.path).replace(Overlay.PLACEHOLDER, str(root))
    command += ["-x", "c++", "-c", source, "-o", str(made)]
    # Device code is compiled as for a GPU; host code that must not see the macro gets a second try.
    first = run_tool([*command, _ARCHITECTURE], unit.path)
    return first and (run_tool(command, unit.path) and first)


def _compile_host(plan: Plan, path: Path, made: Path) -> Diagnostic | None:
    language = "c" if path.suffix == ".c" else "c++"
    cxx = plan.cxx.replace("g++", "gcc") if language == "c" else plan.cxx
    command = [
        cxx,
        "-O2",
        "-fPIC",
        "-DTM_HOST_UNIT",
        f"-I{include_dir()}",
        *compile_flags(plan.flags),
    ]
    return run_tool([*command, "-x", language, "-c", str(path), "-o", str(made)], str(path))


def compile_flags(flags: Sequence[str]) -> list[str]:
    """Return those of ``flags`` that do not only matter to the linker."""
    return [f for f in flags if not f.startswith(("-l", "-L", "-Wl,", "-shared", "-static"))]


def _kernels(
    plan: Plan, cuda: Sequence[UnitAnalysis], symbols: Mapping[str, Mapping[str, str]]
) -> tuple[tuple[BuiltKernel, ...], list[Path], tuple[Diagnostic, ...]]:
    built: dict[str, BuiltKernel] = {}
    objects: list[Path] = []
    notes: list[Diagnostic] = []
    for analysis in cuda:
        for fact in analysis.kernels:
            if not fact.mangled:
                continue
            source = source_of(fact, analysis)
            key = f"{fact.mangled} {source if is_internal(fact, analysis) else ''}"
            if key in built:
                continue
            levels: list[str] = []
            place = (analysis.unit.path, fact.mangled)
            reason = plan.reasons.get(place, "")
            for emission in plan.emissions.get(place, ()):
                private = source if is_internal(fact, analysis) else ""
                entry = entry_name(fact.mangled, emission.level, private)
                made = plan.folder / "kernels" / f"{entry}.o"
                try:
                    assert fact.kernel is not None
                    text = object_source(
                        fact.kernel,
                        emission,
                        entry=entry,
                        source=source,
                        shared_bytes=_shared_bytes(fact, analysis),
                        symbols=symbols[analysis.unit.path],
                    )
                    machine = tuple(f for f in plan.flags if f.startswith(("-march=", "-mtune=")))
                    compile_object(text, made, plan.cxx, machine)
                except (NoObjectError, LoweringError) as error:
                    reason = str(error)
                    note = diagnostic("TM6004", fact.span, kernel=fact.id, notes=(reason,))
                    notes.append(note)
                    continue
                made.with_suffix(".cpp").write_text(text.text, encoding="utf-8")
                objects.append(made)
                levels.append(emission.level.value)
            built[key] = BuiltKernel(fact.id, fact.mangled, tuple(levels), reason)
    return tuple(built.values()), objects, tuple(notes)


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


def _link(plan: Plan, objects: Sequence[Path]) -> Diagnostic | None:
    plan.output.parent.mkdir(parents=True, exist_ok=True)
    output = os.path.abspath(plan.output)
    names = [str(o) for o in objects]
    if plan.output.suffix in (".a", ".o"):
        whole = str(plan.folder / "all.o")  # one object: registrations are not left behind
        failure = run_tool([plan.cxx, "-r", "-nostdlib", *names, "-o", whole], output)
        # Several such objects in one program: accessors are each one's own, and instances of one
        # template may be in all of them.
        names = ["--wildcard", "--localize-symbol=tm_symbol_*", "--weaken-symbol=tm_kernel_*"]
        failure = failure or run_tool(["objcopy", *names, whole], output)
        Path(output).unlink(missing_ok=True)
        if plan.output.suffix == ".o":
            return failure or run_tool(["cp", whole, output], output)
        return failure or run_tool(["ar", "rcs", output, whole], output)
    runtime = [f"-L{plan.runtime}", "-ltm_cudart", f"-Wl,-rpath,{plan.runtime}"]
    standard = [f for f in plan.flags if f.startswith("-std=")]
    flags = [f for f in plan.flags if f not in standard]
    return run_tool([plan.cxx, *names, *flags, *runtime, "-o", output], output)


def write_manifest(plan: Plan, kernels: Sequence[BuiltKernel]) -> None:
    """Write ``<output>.kernels.json``, and ``tm_kernels.h`` beside the objects."""
    rows = [
        {
            "id": k.id,
            "mangled": k.mangled,
            "state": "migrated" if k.levels else "kept",
            "levels": [*k.levels, "kept"],
            "reason": k.reason,
        }
        for k in kernels
    ]
    text = json.dumps({"version": 1, "output": plan.output.name, "kernels": rows}, indent=2)
    Path(f"{plan.output}.kernels.json").write_text(text + "\n", encoding="utf-8")
    entries = sorted(p.stem for p in (plan.folder / "kernels").glob("*.o"))
    lines = ['#include "tm_launch.h"', "#ifdef __cplusplus", 'extern "C" {', "#endif"]
    lines += [f"int {e}(const tm_launch *launch, void **arguments);" for e in entries]
    lines += ["#ifdef __cplusplus", "}", "#endif", ""]
    (plan.folder / "tm_kernels.h").write_text("\n".join(lines), encoding="utf-8")
    shutil.copy(include_dir() / "tm_launch.h", plan.folder / "tm_launch.h")
