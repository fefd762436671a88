"""From analysed units to an executable: rewritten copies, kept and migrated kernels, one link.

Everything happens on copies below a build folder; the user's files are only read. Whether a kernel
is migrated was decided before: ``Plan.emissions`` holds what was verified.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from hipify_tile.analyzer.model import UnitAnalysis
from hipify_tile.build.device_linkage import keep_apart
from hipify_tile.build.kernel_objects import kernel_objects
from hipify_tile.build.kernels_only import COMPILE_FLAGS, link_kernels
from hipify_tile.build.plan import Built, BuiltKernel, Plan
from hipify_tile.build.tool import run_tool
from hipify_tile.compat import include_dir
from hipify_tile.diagnostics.model import Diagnostic
from hipify_tile.rewriter.emit.host import rewrite_host
from hipify_tile.verify.overlay import Overlay, write_overlay

# Kept kernels compute what the verified originals do: no contraction, integers wrap.
KEPT_FLAGS = (
    "-O2", "-w", "-fPIC", "-ffp-contract=off", "-fwrapv", "-fno-strict-aliasing",
)  # fmt: skip
_ARCHITECTURE = "-D__CUDA_ARCH__=800"


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
    if not problems:
        units = [(o, a.device_names) for o, a in zip(objects, cuda, strict=True)]
        apart = keep_apart(units, plan.cxx)
        problems += [apart] if apart is not None else []
    for number, host in enumerate(() if plan.kernels_only else plan.host_sources):
        made = plan.folder / f"host{number}.o"
        failure = _compile_host(plan, host, made)
        if failure is not None:
            problems.append(failure)
        objects.append(made)
    if problems:
        return Built(None, (), tuple(problems))
    migrated = kernel_objects(plan, cuda, symbols)
    kernels, notes = migrated.kernels, migrated.notes
    if plan.kernels_only:
        names = [str(o) for o in (*objects, *migrated.objects)]
        failure = link_kernels(plan.cxx, names, plan.output, plan.folder)
    else:
        failure = _link(plan, [*objects, *migrated.objects])
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
