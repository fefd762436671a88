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
from hipify_tile.build.blocks import Freedom, cut
from hipify_tile.build.conversions import SUPPORT as CONVERSIONS
from hipify_tile.build.vector_loops import EXTREMES, SUPPORT
from hipify_tile.compat import include_dir
from hipify_tile.ir.simt import Kernel, Scope
from hipify_tile.ir.stmt import AtomicRMW, walk_stmts
from hipify_tile.rewriter.model import ArgumentRole, Emission, Level
from hipify_tile.verify.exactness import EXACT_FLAGS
from hipify_tile.verify.lowering import Lowered, lower, tilelang_include

_CHECKS = ("-O1", "-fsanitize=bounds", "-fsanitize-undefined-trap-on-error")
FLAGS = (
    "-std=c++17",
    "-O3",
    *(flag for flag in EXACT_FLAGS if flag not in _CHECKS),
    # These change no value: the floating-point environment's flags and errno are not read.
    "-fno-trapping-math",
    "-fno-math-errno",
    # Strips of 16 threads become vectors, not straight code.
    "--param=max-completely-peel-times=8",
    "-fvisibility=hidden",
)
DYNAMIC_SHARED = 49152
"""Bytes of dynamic shared memory that objects are built for unless a launch needs more."""

_CLONES = """\
#ifndef TM_FAST
#define TM_FAST(condition) (condition)
#endif
#if defined(TM_CLONES)
#elif defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SSE3__)
#define TM_CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define TM_CLONES
#endif
"""
_EXACT = frozenset(
    f"{name}{suffix}"
    for name in ("sqrt", "fabs", "floor", "ceil", "trunc", "fmax", "fmin", "fma", "copysign")
    for suffix in ("", "f")
) | {"if", "for", "while", "return", "INT64_C", "__attribute__", "__restrict__"}
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
#include <math.h>
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
#undef TM_ADD
#define TM_ADD(T, suffix)                                                  \\
  extern "C" inline T tm_atomic_add_##suffix(T *p, T a) {                  \\
    return __atomic_fetch_add(p, a, __ATOMIC_RELAXED);                     \\
  }
TM_ADD(int32_t, int32)
TM_ADD(uint32_t, uint32)
TM_ADD(int64_t, int64)
TM_ADD(uint64_t, uint64)
#undef TM_ADD
// Whether a pointer is into another allocation than a second one, which may also be a variable's.
static inline bool tm_apart(const void *a, const void *b, bool variable) {
  const uint64_t of_a = tm_extent(a), of_b = tm_extent(b);
  if (of_a == 0 || (of_b == 0 && !variable)) return false;
  return of_b == 0 || (uintptr_t)a + of_a != (uintptr_t)b + of_b;
}
"""


@dataclass(frozen=True, slots=True)
class ObjectSource:
    """C++ text of an object; ``parallel`` says that its blocks can run at the same time.

    ``flags`` are the compiler's: where each call's result is exact, calls are vectorised.
    """

    text: str
    entry: str
    parallel: bool
    flags: tuple[str, ...] = FLAGS


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
    variables = _block_variables(lowered, emission)
    inlined: list[str] = []
    blocks = cut(lowered.source, lowered.entry, signature, variables, _freedom(kernel, emission))
    setup, checks = unpacked(
        kernel, emission, lowered, types, shared_bytes, _accessors(symbols or {})
    )
    names = [p.name for p in lowered.parameters]
    call = ", ".join(f"c.{name}" for name in names)
    named = ", ".join(f"tm_c.{name}" for name in names)
    helpers = _helpers(lowered)
    fast = "false"
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
        functions = f"{blocks.count}\n{blocks.run}\n{blocks.fast}\n"
        functions = functions.replace("static void tm_run", "TM_CLONES static void tm_run")
        run = f"tm_run({call}{', ' if names else ''}first, last); "
        inlined = [name for name in EXTREMES if f"tm_{name}(" in blocks.fast]
        functions += "".join(
            f"static const bool tm_{name}_same = tm_{name}_known();\n" for name in inlined
        )
        if blocks.fast:
            fast = f"TM_FAST({_apart(emission, lowered, inlined)})"
            run = f"if (c.tm_fast) tm_run_fast({run[7:]} else {run}"
        if not names:
            functions = functions.replace("tm_run(, ", "tm_run(")
            functions = functions.replace("tm_run_fast(, ", "tm_run_fast(")
    text = "\n".join(
        [
            _SUPPORT,
            SUPPORT,
            CONVERSIONS,
            _CLONES,
            _HELPER.sub(_real_atomic, helpers),
            functions,
            "namespace {",
            f"struct tm_values {{ {' '.join(f'{types[n]} {n};' for n in names)} bool tm_fast; }};",
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
            f"  tm_values tm_c = {{{', '.join([*names, fast])}}};",
            f"  const uint64_t tm_blocks = tm_count({named});",
            "  if (tm_blocks == 0 || tm_blocks >= (1ull << 31)) return TM_NOT_APPLICABLE;",
            "  tm_launch tm_pieces = *tm_self;",
            "  tm_pieces.grid[0] = (uint32_t)tm_blocks, tm_pieces.grid[1] = tm_pieces.grid[2] = 1;",
            "  return tm_run_blocks(&tm_pieces, tm_range, &tm_c);",
            "}",
            *registration(kernel, _KINDS[emission.level], entry, source),
        ]
    )
    return ObjectSource(text + "\n", entry, blocks is not None, _flags(functions))


def _flags(functions: str) -> tuple[str, ...]:
    """GCC folds no call whose result is rounded: a library may round another way than GCC does.

    ``-frounding-math`` says so, but keeps calls from being vectorised: it goes where all are exact.
    """
    called = set(re.findall(r"\b([A-Za-z_]\w*)\(", functions))
    exact = all(name.startswith(("tm_", "__builtin_")) or name in _EXACT for name in called)
    return tuple(f for f in FLAGS if f != "-frounding-math" or not exact)


def _freedom(kernel: Kernel, emission: Emission) -> Freedom:
    """Threads may run interleaved unless an atomic operation's result or rounding depends on it."""
    dtypes = {b.name: b.dtype for b in kernel.buffers}
    ordered = any(
        isinstance(s, AtomicRMW) and (s.result is not None or not dtypes[s.buffer].is_integer)
        for s in walk_stmts(kernel.body)
    )
    local = any(b.scope is Scope.LOCAL for b in kernel.buffers)
    return Freedom(emission.level is Level.LOOP, not ordered, local)


def _apart(emission: Emission, lowered: Lowered, inlined: list[str]) -> str:
    """A C++ condition: nothing written overlaps with another buffer, thread numbers are int32."""
    taken = {p.name for p in lowered.parameters if p.is_pointer}
    buffers = [a for a in emission.arguments if a.name in taken]
    buffers.sort(key=lambda a: a.role is ArgumentRole.GLOBAL)
    tests: list[str] = []
    for i, a in enumerate(buffers):
        for b in buffers[i + 1 :]:
            if not (a.written or b.written):
                continue
            if a.role is not ArgumentRole.GLOBAL:
                variable = str(b.role is ArgumentRole.GLOBAL).lower()
                tests.append(f"tm_apart({a.name}, {b.name}, {variable})")
            elif a.source == b.source:
                tests.append("false")
    tests = ["(int64_t)grid_x * block_x <= INT32_MAX", *(f"tm_{n}_same" for n in inlined), *tests]
    return " && ".join(tests)


def entry_name(mangled: str, level: Level, source: str = "") -> str:
    """Return the C name of a kernel's implementation: ``tm_kernel_<mangled>_tile``."""
    digest = hashlib.sha256(source.encode()).hexdigest()[:8] if source else ""
    return (
        f"tm_kernel_{re.sub(r'[^A-Za-z0-9_]', '_', mangled)}_{level.value}{digest and '_' + digest}"
    )


def compile_object(
    source: ObjectSource, path: Path, cxx: str = "g++", flags: tuple[str, ...] = ()
) -> None:
    """Compile an object to ``path``; raises ``NoObjectError`` with the compiler's words.

    ``flags`` come last, ``-march=native`` for one: without it the object runs on every processor of
    the kind, and takes the instructions that the one at hand has. Helper functions that other
    objects define too become local to the object.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as scratch:
        file, made = Path(scratch) / "kernel.cpp", Path(scratch) / "kernel.o"
        file.write_text(source.text, encoding="utf-8")
        command = [
            cxx,
            *source.flags,
            *flags,
            f"-I{include_dir()}",
            f"-I{tilelang_include()}",
            "-c",
            str(file),
        ]
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
