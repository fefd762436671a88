"""Ahead-of-time objects: an emission lowered to C, with a plain C entry, compiled by g++.

The object defines ``int NAME(const tm_launch *, void **arguments)``, which takes the CUDA kernel's
arguments, and registers it under the kernel's mangled name. Launches outside what the emission
assumes return ``TM_NOT_APPLICABLE`` before anything is written. It needs no Python to run.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from hipify_tile.build.arguments import NoObjectError, Variable, registration, unpacked
from hipify_tile.build.blocks import cut
from hipify_tile.compat import include_dir
from hipify_tile.ir.simt import Kernel
from hipify_tile.rewriter.model import Emission, Level
from hipify_tile.verify.exactness import EXACT_FLAGS
from hipify_tile.verify.lowering import Lowered, lower, tilelang_include

_CHECKS = ("-O1", "-fsanitize=bounds", "-fsanitize-undefined-trap-on-error")
FLAGS = (
    "-std=c++17",
    "-O3",
    "-march=native",
    *(flag for flag in EXACT_FLAGS if flag not in _CHECKS),
    # These change no value: the floating-point environment's flags and errno are not read.
    "-fno-trapping-math",
    "-fno-math-errno",
    "-fvisibility=hidden",
)
DYNAMIC_SHARED = 49152
"""Bytes of dynamic shared memory that objects are built for unless a launch needs more."""

_KINDS = {Level.TILE: "TM_KIND_TILE", Level.LOOP: "TM_KIND_LOOP"}
_HELPER = re.compile(
    r'extern "C" (?P<type>\w+) (?P<name>tm_atomic_\w+)\((?P<params>[^)]*)\) '
    r"\{ (?P=type) old = \*p; \*p = (?P<value>[^;]+); return old; \}"
)
_ADD = re.compile(r"T\.atomic_add\(\s*(\w+)\[")
_ATOMIC = re.compile(r"T\.(atomic_\w+)\(\s*(\w+)\[")
# TileLang prints its own addition on C as a plain read and write, which loses updates.
_ATOMIC_ADD = """

def _tm_atomic_add(place, value, return_prev=False):
    name = f"tm_atomic_add_{place.dtype}"
    return T.call_extern(str(place.dtype), name, T.access_ptr(place, "rw"), value)
"""
_SUPPORT = """\
#include <stdint.h>
#include <string.h>
#include "tm_launch.h"
template <class T, class F>
static inline T tm_atomic_update(T *p, F f) {
  T old, next;
  __atomic_load(p, &old, __ATOMIC_RELAXED);
  do {
    next = f(old);
  } while (!__atomic_compare_exchange(p, &old, &next, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return old;
}
#define TM_ADD(T, suffix)                                                  \\
  extern "C" inline T tm_atomic_add_##suffix(T *p, T a) {                  \\
    return tm_atomic_update(p, [a](T old) { return (T)(old + a); });       \\
  }
TM_ADD(float, float32)
TM_ADD(double, float64)
TM_ADD(int32_t, int32)
TM_ADD(uint32_t, uint32)
TM_ADD(int64_t, int64)
TM_ADD(uint64_t, uint64)
#undef TM_ADD
"""


@dataclass(frozen=True, slots=True)
class ObjectSource:
    """C++ text of an object; ``parallel`` says that its blocks can run at the same time."""

    text: str
    entry: str
    parallel: bool


def object_source(
    kernel: Kernel,
    emission: Emission,
    *,
    entry: str,
    source: str = "",
    shared_bytes: int = DYNAMIC_SHARED,
    symbols: Mapping[str, str] | None = None,
) -> ObjectSource:
    """Lower ``emission`` to C and return its object's text.

    ``source`` is the kernel's ``path:line`` in its records, ``symbols`` maps qualified names of
    device variables to accessor functions. Raises ``NoObjectError``, ``LoweringError``.
    """
    if emission.level not in _KINDS:
        raise NoObjectError("the simt level has no CPU object")
    lowered = lower(_with_atomics(emission), "c", {"shared_bytes": shared_bytes})
    types = {p.name: _parameter_type(lowered, p.name) for p in lowered.parameters}
    signature = ", ".join(f"{types[p.name]} {p.name}" for p in lowered.parameters)
    blocks = cut(lowered.source, lowered.entry, signature, _block_variables(lowered, emission))
    setup, checks = unpacked(
        kernel, emission, lowered, types, shared_bytes, _accessors(symbols or {})
    )
    names = [p.name for p in lowered.parameters]
    call = ", ".join(f"c.{name}" for name in names)
    named = ", ".join(f"tm_c.{name}" for name in names)
    helpers = _helpers(lowered)
    if blocks is None:
        functions = lowered.source[lowered.source.index(helpers) + len(helpers) :]
        functions += f"static uint64_t tm_count({signature}) {{ return 1; }}\n"
        run = f"(void)first; (void)last; {lowered.entry}({call}); "
        functions = re.sub(
            rf'#ifdef __cplusplus\nextern "C"\n#endif\nint32_t {lowered.entry}\(',
            f"static int32_t {lowered.entry}(",
            functions,
        )
    else:
        functions = f"{blocks.count}\n{blocks.run}\n"
        run = f"tm_run({call}{', ' if names else ''}first, last); "
        if not names:
            functions = functions.replace("tm_run(, ", "tm_run(")
    text = "\n".join(
        [
            _SUPPORT,
            _HELPER.sub(_real_atomic, helpers),
            functions,
            "namespace {",
            f"struct tm_values {{ {' '.join(f'{types[n]} {n};' for n in names)} }};",
            "int tm_range(void *context, uint64_t first, uint64_t last) {",
            "  const tm_values &c = *static_cast<const tm_values *>(context);",
            f"  (void)c; {run}",
            "  return 0;",
            "}",
            "}  // namespace",
            f'extern "C" __attribute__((visibility("default"))) int {entry}'
            "(const tm_launch *tm_self, void **tm_arguments) {",
            *setup,
            *(f"  if (!({c})) return TM_NOT_APPLICABLE;" for c in checks),
            f"  tm_values tm_c = {{{', '.join(names)}}};",
            f"  const uint64_t tm_blocks = tm_count({named});",
            "  if (tm_blocks == 0 || tm_blocks >= (1ull << 31)) return TM_NOT_APPLICABLE;",
            "  tm_launch tm_pieces = *tm_self;",
            "  tm_pieces.grid[0] = (uint32_t)tm_blocks, tm_pieces.grid[1] = tm_pieces.grid[2] = 1;",
            "  return tm_run_blocks(&tm_pieces, tm_range, &tm_c);",
            "}",
            *registration(kernel, _KINDS[emission.level], entry, source),
        ]
    )
    return ObjectSource(text + "\n", entry, blocks is not None)


def entry_name(mangled: str, level: Level, source: str = "") -> str:
    """Return the C name of a kernel's implementation: ``tm_kernel_<mangled>_tile``."""
    digest = hashlib.sha256(source.encode()).hexdigest()[:8] if source else ""
    return (
        f"tm_kernel_{re.sub(r'[^A-Za-z0-9_]', '_', mangled)}_{level.value}{digest and '_' + digest}"
    )


def compile_object(text: str, path: Path, cxx: str = "g++", flags: tuple[str, ...] = FLAGS) -> None:
    """Compile an object's text to ``path``; raises ``NoObjectError`` with the compiler's words.

    Helper functions that other objects define too become local to the object.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as scratch:
        file, made = Path(scratch) / "kernel.cpp", Path(scratch) / "kernel.o"
        file.write_text(text, encoding="utf-8")
        command = [cxx, *flags, f"-I{include_dir()}", f"-I{tilelang_include()}", "-c", str(file)]
        done = subprocess.run(
            [*command, "-o", str(made)], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise NoObjectError(
                "\n".join(done.stderr.splitlines()[:5]).replace(str(file), "kernel.cpp")
            )
        if shutil.which("objcopy"):
            subprocess.run(["objcopy", "--localize-hidden", str(made)], check=True)
        os.replace(made, path)


def _with_atomics(emission: Emission) -> Emission:
    shared = {a.name for a in emission.arguments}
    changed = _ADD.sub(
        lambda m: f"_tm_atomic_add({m[1]}[" if m[1] in shared else m[0], emission.source
    )
    for operation, name in _ATOMIC.findall(changed):
        if name in shared:
            raise NoObjectError(f"T.{operation} of {name} is not atomic in C")
    if changed == emission.source:
        return emission
    return replace(emission, source=changed + _ATOMIC_ADD)


def _real_atomic(match: re.Match[str]) -> str:
    type_, value = match["type"], match["value"]
    if match["name"].startswith("tm_atomic_add_"):
        return ""  # of the support text
    return (
        f'extern "C" inline {type_} {match["name"]}({match["params"]}) {{ '
        f"return tm_atomic_update(p, [=]({type_} old) {{ return ({type_})({value}); }}); }}"
    )


def _helpers(lowered: Lowered) -> str:
    """The text in front of the function's own declaration: includes and helper functions."""
    at = lowered.source.index(f"int32_t {lowered.entry}(")
    guard = lowered.source.rfind("#ifdef __cplusplus", 0, at)
    return lowered.source[: guard if guard >= 0 else at]


def _parameter_type(lowered: Lowered, name: str) -> str:
    head = lowered.source[lowered.source.index(f"int32_t {lowered.entry}(") :].split(")")[0]
    found = re.search(rf"[(,]\s*([^,()]*?[\s*]){re.escape(name)}(?=,|$)", head)
    if found is None:
        raise NoObjectError(f"the lowered function's parameter {name} has no type")
    return found[1].replace("const ", "").strip()


def _block_variables(lowered: Lowered, emission: Emission) -> tuple[str, ...]:
    found = re.search(r"as \(?((?:\w+)(?:, \w+)*),?\)?:", emission.definition)
    if emission.level is Level.TILE and found is not None:
        return tuple(found[1].split(", "))
    loops = re.findall(
        r"^ {2,6}for \(int32_t (\w+) = 0; \1 < (grid_[xyz]); \+\+\1\) \{$", lowered.source, re.M
    )
    return (
        tuple(v for v, _ in loops)
        if [g for _, g in loops] == ["grid_x", "grid_y", "grid_z"]
        else ()
    )


def _accessors(symbols: Mapping[str, str]) -> Variable:
    def variable(name: str) -> tuple[str, str]:
        accessor = symbols.get(name)
        if accessor is None:
            raise NoObjectError(f"the variable {name} is not accessible")
        return f'  extern void *{accessor}_() __asm__("{accessor}");', f"{accessor}_()"

    return variable
