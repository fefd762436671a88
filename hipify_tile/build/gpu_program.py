"""From analysed units to an executable for an NVIDIA GPU, by nvcc.

The user's sources are compiled as they are. All migrated kernels become one CUDA file of TileLang's
lowered text; the launch seam is linked in front of the CUDA runtime. Nothing is run here.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from hipify_tile.analyzer.model import KernelFact, UnitAnalysis
from hipify_tile.build.arguments import NoObjectError
from hipify_tile.build.device_code import DeviceCode, device_code, file_text
from hipify_tile.build.gpu_library import header_folder, launch_library, link_options
from hipify_tile.build.kernel_objects import is_internal, source_of
from hipify_tile.build.launch_shapes import launch_shapes
from hipify_tile.build.plan import Built, BuiltKernel, Plan
from hipify_tile.build.program import compile_flags, write_manifest
from hipify_tile.build.tool import run_tool
from hipify_tile.diagnostics.model import Diagnostic
from hipify_tile.diagnostics.registry import diagnostic
from hipify_tile.verify.lowering import LoweringError, tilelang_include

_HOST_ONLY = ("-iquote", "-idirafter")  # g++ knows these, nvcc passes them on


@dataclass(frozen=True, slots=True)
class Device:
    """How device code is compiled: nvcc's path and the architecture (``sm_90``)."""

    nvcc: str
    arch: str


@dataclass(frozen=True, slots=True)
class _Made:
    """A migrated kernel's code; ``key`` tells kernels of the program apart."""

    key: str
    fact: KernelFact
    level: str
    code: DeviceCode


def build(plan: Plan, device: Device) -> Built:
    """Build the program of ``plan`` for a GPU; compiler errors become TM6003.

    Raises OSError where the launch seam does not compile.
    """
    cuda = [a for a in plan.analyses if a.unit.language == "cuda"]
    plan.folder.mkdir(parents=True, exist_ok=True)
    library = launch_library(device.nvcc)
    kernels, made, notes = _device_codes(plan, cuda, device)
    objects, problems = _compile_sources(plan, cuda, device)
    if problems:
        return Built(None, (), tuple(problems))
    made, dropped = _compile_kernels(plan, made, device)
    rows = tuple(_row(key, kernel, made, dropped) for key, kernel in kernels.items())
    if made:
        objects.append(plan.folder / "kernels" / "migrated.o")
    notes += [d for _, d in dropped]
    failure = _link(plan, objects, library, device)
    if failure is not None:
        return Built(None, rows, (*notes, failure))
    write_manifest(plan, rows)
    return Built(plan.output, rows, tuple(notes))


def _row(
    key: str,
    kernel: BuiltKernel,
    made: Sequence[_Made],
    dropped: Sequence[tuple[_Made, Diagnostic]],
) -> BuiltKernel:
    levels = tuple(m.level for m in made if m.key == key)
    lost = [d.notes[0] for m, d in dropped if m.key == key and d.notes]
    reason = "" if levels else (lost[0] if lost else kernel.reason)
    return BuiltKernel(kernel.id, kernel.mangled, levels, reason)


def _device_codes(
    plan: Plan, cuda: Sequence[UnitAnalysis], device: Device
) -> tuple[dict[str, BuiltKernel], list[_Made], list[Diagnostic]]:
    names = _internal_names(cuda)
    kernels: dict[str, BuiltKernel] = {}
    made: list[_Made] = []
    notes: list[Diagnostic] = []
    for analysis in cuda:
        for fact in analysis.kernels:
            source = source_of(fact, analysis)
            private = source if is_internal(fact, analysis) else ""
            key = f"{fact.mangled} {private}"
            if not fact.mangled or key in kernels:
                continue
            place = (analysis.unit.path, fact.mangled)
            reason = plan.reasons.get(place, "")
            emissions = plan.emissions.get(place, ())
            if emissions and private and names[fact.mangled] > 1:
                emissions, reason = (), "another file has a kernel of this name, unseen outside it"
            for emission in emissions:
                assert fact.kernel is not None
                launches = [x for x in analysis.launches if x.kernel_usr == fact.usr]
                shapes = launch_shapes(launches, "shared_bytes" in emission.options)
                try:
                    code = device_code(
                        fact.kernel,
                        emission,
                        shapes,
                        arch=device.arch,
                        source=source,
                        private=private,
                    )
                except (NoObjectError, LoweringError) as error:
                    reason = str(error)
                    notes.append(_note(fact, reason))
                    continue
                made.append(_Made(key, fact, emission.level.value, code))
            kernels[key] = BuiltKernel(fact.id, fact.mangled, (), reason)
    return kernels, made, notes


def _internal_names(cuda: Sequence[UnitAnalysis]) -> Counter[str]:
    """In how many files there is a kernel of each mangled name with internal linkage."""
    return Counter(
        name
        for analysis in cuda
        for name in {f.mangled for f in analysis.kernels if is_internal(f, analysis)}
    )


def _note(fact: KernelFact, reason: str) -> Diagnostic:
    return diagnostic("TM6004", fact.span, kernel=fact.id, notes=(reason,))


def _compile_sources(
    plan: Plan, cuda: Sequence[UnitAnalysis], device: Device
) -> tuple[list[Path], list[Diagnostic]]:
    """Compile the user's files as they are; return objects and what failed."""
    flags = compile_flags(plan.flags)
    if _crosses_files(cuda) and not any(f.startswith(("-rdc", "-dc")) for f in flags):
        flags.append("-rdc=true")
    commands: list[tuple[list[str], str, Path]] = []
    base = [device.nvcc, f"-arch={device.arch}", "-O2", "-Xcompiler", "-fPIC"]
    for number, analysis in enumerate(cuda):
        unit = analysis.unit
        made = plan.folder / f"unit{number}.o"
        arguments = [*base, *_unit_arguments(unit.args), *flags, "-x", "cu", "-c", unit.path]
        commands.append(([*arguments, "-o", str(made)], unit.path, made))
    for number, host in enumerate(plan.host_sources):
        made = plan.folder / f"host{number}.o"
        commands.append(([*base, *flags, "-c", str(host), "-o", str(made)], str(host), made))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda c: run_tool(c[0], c[1]), commands))
    return [made for _, _, made in commands], [r for r in results if r is not None]


def _crosses_files(cuda: Sequence[UnitAnalysis]) -> bool:
    """Whether device code names variables or functions of another file."""
    codes = {d.code for a in cuda for f in a.kernels for d in f.diagnostics}
    return "TM1103" in codes or any(not s.defined for a in cuda for s in a.symbols)


def _unit_arguments(arguments: Sequence[str]) -> list[str]:
    """A unit's parsing flags as nvcc takes them."""
    out: list[str] = []
    rest = list(arguments)
    while rest:
        flag = rest.pop(0)
        if flag in _HOST_ONLY and rest:
            out += ["-Xcompiler", f"{flag},{rest.pop(0)}"]
        elif flag.startswith("-std="):
            out.append(flag.replace("cuda", "c++"))
        else:
            out.append(flag)
    return out


def _compile_kernels(
    plan: Plan, made: Sequence[_Made], device: Device
) -> tuple[list[_Made], list[tuple[_Made, Diagnostic]]]:
    """Compile all migrated kernels as one file, without those that nvcc rejects."""
    if not made:
        return [], []
    if _compile_text(plan, file_text([m.code for m in made]), device, "migrated") is None:
        return list(made), []
    good: list[_Made] = []
    dropped: list[tuple[_Made, Diagnostic]] = []
    for number, item in enumerate(made):
        failure = _compile_text(plan, file_text([item.code]), device, f"single{number}")
        (plan.folder / "kernels" / f"single{number}.o").unlink(missing_ok=True)
        if failure is None:
            good.append(item)
        else:
            dropped.append((item, _note(item.fact, f"nvcc rejects it: {failure.notes[0]}")))
    if not good:
        return [], dropped
    failure = _compile_text(plan, file_text([m.code for m in good]), device, "migrated")
    if failure is None:
        return good, dropped
    return [], [*dropped, *((m, _note(m.fact, failure.notes[0])) for m in good)]


def _compile_text(plan: Plan, text: str, device: Device, name: str) -> Diagnostic | None:
    folder = plan.folder / "kernels"
    folder.mkdir(exist_ok=True)
    source = folder / f"{name}.cu"
    source.write_text(text, encoding="utf-8")
    tilelang = tilelang_include()
    cutlass = tilelang.parent / "3rdparty" / "cutlass" / "include"
    own = [
        f for f in compile_flags(plan.flags) if f.startswith(("-fmad", "-ftz", "-prec", "-use_"))
    ]
    command = [device.nvcc, "-std=c++17", "-O3", f"-arch={device.arch}", "-w", *own]
    command += ["-Xcompiler", "-fPIC,-fno-strict-aliasing", f"-I{header_folder(plan.folder)}"]
    command += [f"-I{tilelang}", f"-I{cutlass}", "-c", str(source)]
    return run_tool([*command, "-o", str(folder / f"{name}.o")], "migrated kernels")


def _link(plan: Plan, objects: Sequence[Path], library: Path, device: Device) -> Diagnostic | None:
    plan.output.parent.mkdir(parents=True, exist_ok=True)
    output = os.path.abspath(plan.output)
    flags = [f for f in plan.flags if not f.startswith("-std=")]
    command = [device.nvcc, f"-arch={device.arch}", *map(str, objects), *flags]
    return run_tool([*command, *link_options(library), "-o", output], output)
