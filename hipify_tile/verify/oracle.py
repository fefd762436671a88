"""The reference: the user's own source, compiled by g++ against our CUDA headers.

``build_oracle`` compiles an overlay copy of the translation unit in which the bodies of pure host
functions are emptied, with one entry function per kernel instance appended. ``build_cuda_text``
does the same for CUDA source text that TileLang prints. Nothing here runs a kernel (``native``).

Global constructors never run, failed asserts and aborts become traps, printf prints nothing, and
shared memory lies where the executor puts it: the library brings its own ``__tls_get_addr``.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import re
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from hipify_tile.analyzer.model import KernelFact, UnitAnalysis
from hipify_tile.compat import include_dir
from hipify_tile.ir.span import Span
from hipify_tile.verify import native
from hipify_tile.verify.exactness import ORIGINAL_FLAGS, REWRITE_FLAGS
from hipify_tile.verify.overlay import Overlay, write_overlay

_MODE_FLAGS = (
    "-fvisibility=hidden",
    "-fno-extern-tls-init",
    "-fno-builtin-printf",
    "-fmax-errors=20",
    "-D__CUDA_ARCH__=800",
)
_MAIN = "tm_oracle_main.cpp"

_HEADERS = ("#include <stdint.h>", "#include <utility>")
# This text follows the user's, whose macros must not reach it: every name of ours begins with tm_.
_SUPPORT = """\
extern thread_local char tm_dynamic_area[] __asm__("tm_dynamic_area");
extern "C" __thread char *tm_shared_base_of_block __asm__("tm_shared_base")
    __attribute__((__tls_model__("initial-exec"), __visibility__("default")));
struct tm_tls_index { unsigned long tm_module, tm_offset; };
extern "C" __attribute__((__visibility__("hidden"), __no_sanitize__("thread")))
void *__tls_get_addr(tm_tls_index *tm_at) {
  return tm_shared_base_of_block + tm_at->tm_offset;
}
extern "C" __attribute__((__visibility__("default"))) uint64_t tm_oracle_shared_static() {
  return (uint64_t)(uintptr_t)tm_dynamic_area - (uint64_t)(uintptr_t)tm_shared_base_of_block;
}
extern "C" {
__attribute__((__visibility__("hidden"))) int (printf)(const char *, ...) { return 0; }
__attribute__((__visibility__("hidden"), __noreturn__)) void
(__assert_fail)(const char *, const char *, unsigned, const char *) noexcept(true) { tm_trap(); }
}
namespace tm_oracle {
template <class... tm_P, size_t... tm_I>
static inline void tm_call(void (*tm_f)(tm_P...), void **tm_args, std::index_sequence<tm_I...>) {
  tm_f(*static_cast<typename std::remove_reference<tm_P>::type *>(tm_args[tm_I])...);
}
template <class... tm_P>
static inline void tm_call(void (*tm_f)(tm_P...), void **tm_args) {
  tm_call(tm_f, tm_args, std::index_sequence_for<tm_P...>());
}
}  // namespace tm_oracle
#define TM_ENTRY extern "C" __attribute__((__visibility__("default")))
"""


@dataclass(frozen=True, slots=True)
class LoadedOracle:
    """Addresses in this process.

    ``entries``: kernel id → address for ``native.run_kernel``. ``symbols``: qualified name →
    (address, size in bytes) of device variables, those in ``constants`` are read-only.
    ``shared_static``: see ``native.run_kernel``. ``path``: the library.
    """

    entries: dict[str, int]
    symbols: dict[str, tuple[int, int]]
    shared_static: int
    constants: frozenset[str] = frozenset()
    path: Path = Path()

    def source_line(self, code: int) -> str:
        """The user's ``file:line`` of a code address inside the library; empty if unknown."""
        start = _load_address(self.path)
        if not code or start is None:
            return ""
        command = ["addr2line", "-i", "-e", str(self.path), hex(code - 1 - start)]
        try:
            result = subprocess.run(command, capture_output=True, text=True, check=False)
        except FileNotFoundError:
            return ""
        for frame in result.stdout.splitlines():  # from the innermost inlined function outwards
            name, _, number = frame.split(" (")[0].rpartition(":")
            if name and number.isdigit() and include_dir() not in Path(name).parents:
                return f"{Path(name).name}:{number}"
        return ""


def _load_address(path: Path) -> int | None:
    for line in Path("/proc/self/maps").read_text().splitlines():
        columns = line.split(maxsplit=5)
        if len(columns) == 6 and columns[2] == "00000000" and Path(columns[5]) == path:
            return int(columns[0].split("-")[0], 16)
    return None


@dataclass(frozen=True, slots=True)
class OracleLibrary:
    """A loadable reference build, picklable; load it in the process that runs it.

    ``entries`` maps ``KernelFact.id`` to its entry symbol, ``failed`` to the compiler's message;
    ``symbols`` maps ``SymbolFact.qualified`` to an accessor symbol.
    """

    path: Path
    entries: dict[str, str] = field(default_factory=dict)
    symbols: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

    def load(self) -> LoadedOracle:
        """Load it into this process. Raises OSError."""
        native.library()
        lib = ctypes.CDLL(str(self.path), mode=os.RTLD_LAZY | os.RTLD_LOCAL)
        entries = {
            key: ctypes.cast(getattr(lib, name), ctypes.c_void_p).value or 0
            for key, name in self.entries.items()
        }
        symbols: dict[str, tuple[int, int]] = {}
        constants: set[str] = set()
        for key, name in self.symbols.items():
            accessor = getattr(lib, name)
            accessor.restype = ctypes.c_void_p
            size, constant = ctypes.c_uint64(), ctypes.c_bool()
            address = accessor(ctypes.byref(size), ctypes.byref(constant)) or 0
            symbols[key] = (address, size.value)
            if constant.value:
                constants.add(key)
        lib.tm_oracle_shared_static.restype = ctypes.c_uint64
        shared = lib.tm_oracle_shared_static()
        return LoadedOracle(entries, symbols, shared, frozenset(constants), self.path.resolve())


@dataclass(frozen=True, slots=True)
class Instrument:
    """Extra compiler flags, linker flags and source text of an instrumented build."""

    compile_flags: tuple[str, ...] = ()
    link_flags: tuple[str, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class OracleFailure:
    """The unit does not compile: ``message`` is the compiler's first error, for TM5002."""

    message: str


def build_oracle(
    analysis: UnitAnalysis,
    kernels: Sequence[KernelFact],
    cache: Path,
    cxx: str = "g++",
    *,
    instrument: Instrument | None = None,
) -> OracleLibrary | OracleFailure:
    """Compile the reference of these kernels, or take it from ``cache``.

    ``instrument`` adds what ``coverage.Meter`` reads. Variables that another unit defines are
    defined here: their values are inputs.
    A kernel whose entry or body does not compile lands in ``failed``; the others survive.
    """
    failed: dict[str, str] = {}
    broken: set[Span] = set()
    symbols = list(dict.fromkeys(symbol.qualified for symbol in analysis.symbols))
    elsewhere = {symbol.qualified for symbol in analysis.symbols if not symbol.defined}
    while True:
        chosen = [kernel for kernel in kernels if kernel.id not in failed]
        if kernels and not chosen:
            return OracleFailure(next(iter(failed.values())))
        overlay = Overlay.of(analysis, tuple(broken))
        twin = overlay.twin(analysis.unit.path)
        lines = [*_HEADERS, f'#include "{twin}"', *_SUPPORT.splitlines()]
        owner: dict[int, str] = {}
        entries: dict[str, str] = {}
        for number, kernel in enumerate(chosen):
            entries[kernel.id] = f"tm_entry_{number}"
            lines.append(
                f"TM_ENTRY void tm_entry_{number}(void **tm_a) "
                f"{{ tm_oracle::tm_call(&{kernel.spelling}, tm_a); }}"
            )
            owner[len(lines)] = kernel.id
        for name in (s for s in symbols if s in elsewhere):
            lines.append(f"decltype({name}) {name}{{}};")
            owner[len(lines)] = name
        accessors = {name: f"tm_symbol_{i}" for i, name in enumerate(symbols)}
        for name, accessor in accessors.items():
            lines.append(
                f"TM_ENTRY void *{accessor}(uint64_t *tm_size, bool *tm_const) "
                f"{{ *tm_size = sizeof({name}); "
                f"typedef std::remove_all_extents<decltype({name})>::type tm_type; "
                f"*tm_const = std::is_const<tm_type>::value; "
                f"return (void *)&{name}; }}"
            )
            owner[len(lines)] = name
        arguments = (*overlay.compile_args(analysis.unit), *_standard(analysis))
        build = _Build(cxx, arguments, cache, instrument or Instrument())
        lines.extend(build.instrument.text.splitlines())
        result = build.run("\n".join(lines) + "\n", overlay)
        if isinstance(result, Path):
            return OracleLibrary(result, entries, accessors, failed)
        message = _first_error(result)
        guilty = _guilty_entries(result, owner)
        if not guilty:
            bodies = _guilty_bodies(result, analysis, overlay) - broken
            broken |= bodies
            guilty = {k.id for k in analysis.kernels if k.span in bodies}
        if not guilty:
            return OracleFailure(message)
        symbols = [name for name in symbols if name not in guilty]
        failed.update({k.id: message for k in analysis.kernels if k.id in guilty})


def build_cuda_text(
    source: str,
    entry: str,
    cache: Path,
    cxx: str = "g++",
    *,
    tail: str = "",
    flags: tuple[str, ...] = REWRITE_FLAGS,
) -> OracleLibrary | OracleFailure:
    """Compile CUDA source text with one ``__global__`` function ``entry``; its id is ``entry``.

    ``tail`` is C++ that follows the entry functions' support code.
    """
    text = (
        "\n".join((*_HEADERS, source, _SUPPORT))
        + f"TM_ENTRY void tm_entry_0(void **tm_a) {{ tm_oracle::tm_call(&{entry}, tm_a); }}\n"
        f"{tail}"
    )
    result = _Build(cxx, ("-std=c++17",), cache, flags=flags).run(text, None)
    if isinstance(result, Path):
        return OracleLibrary(result, {entry: "tm_entry_0"})
    return OracleFailure(_first_error(result))


def _standard(analysis: UnitAnalysis) -> tuple[str, ...]:
    given = [arg for arg in analysis.unit.args if arg.startswith("-std=")]
    return (given[-1].replace("cuda", "c++") if given else "-std=c++17",)


def _first_error(stderr: str) -> str:
    for line in stderr.splitlines():
        if ": error:" in line or ": fatal error:" in line or "undefined reference" in line:
            return re.sub(r"^\S*?overlay(?=/)", "", line.strip())[:300]
    return (stderr.strip().splitlines() or ["the compiler failed without a message"])[0][:300]


def _guilty_entries(stderr: str, owner: dict[int, str]) -> set[str]:
    """Which appended entry functions (by kernel id or symbol) the errors come from."""
    lines = {int(line) for line in re.findall(rf"{re.escape(_MAIN)}:(\d+)", stderr)}
    return {owner[line] for line in lines & owner.keys()}


def _guilty_bodies(stderr: str, analysis: UnitAnalysis, overlay: Overlay) -> set[Span]:
    """Which kernels' own text the errors point into."""
    found: set[Span] = set()
    for path, line in re.findall(r"^(\S+?):(\d+):\d+: (?:fatal )?error:", stderr, re.M):
        for span in {k.span for k in analysis.kernels}:
            if span.in_macro or span.file != overlay.original(path):
                continue
            if span.line <= int(line) <= span.line + overlay.newlines(span):
                found.add(span)
    return found


@lru_cache(maxsize=8)
def _toolchain(cxx: str) -> str:
    """Identity of the compiler and of our headers, for cache keys. Raises OSError if absent."""
    version = subprocess.run([cxx, "--version"], capture_output=True, text=True, check=False).stdout
    digest = hashlib.sha256(version.encode())
    root = include_dir()
    for header in sorted(root.rglob("*")):
        if header.is_file():
            digest.update(str(header.relative_to(root)).encode() + header.read_bytes())
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class _Build:
    """One compilation into the cache: compile, drop constructors, define shared memory, link."""

    cxx: str
    args: tuple[str, ...]
    cache: Path
    instrument: Instrument = Instrument()
    flags: tuple[str, ...] = ORIGINAL_FLAGS

    def run(self, main: str, overlay: Overlay | None) -> Path | str:
        """The library's path, or the compiler's messages."""
        key = hashlib.sha256(
            json.dumps(
                [
                    _toolchain(self.cxx),
                    self.flags,
                    _MODE_FLAGS,
                    self.args,
                    self.instrument.compile_flags,
                    main,
                    overlay.fingerprint() if overlay else "",
                ]
            ).encode()
        ).hexdigest()[:32]
        target = self.cache / "oracle" / f"{key}.so"
        if target.is_file():
            return target
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent) as name:
            folder = Path(name)
            arguments = list(self.args)
            if overlay:
                root = write_overlay(overlay, folder)
                main = main.replace(overlay.PLACEHOLDER, str(root))
                arguments = [a.replace(overlay.PLACEHOLDER, str(root)) for a in arguments]
            (folder / _MAIN).write_text(main, "utf-8", "surrogateescape")
            message = self._compile(folder, arguments)
            if message is not None:
                return message.replace(str(folder) + "/", "")
            os.replace(folder / "oracle.so", target)
        return target

    def _compile(self, folder: Path, arguments: list[str]) -> str | None:
        headers = include_dir()
        standard = [a for a in arguments if a.startswith("-std=")]
        prelude = self._precompiled_prelude(standard)
        command = [self.cxx, "-x", "c++", *self.flags, *_MODE_FLAGS, "-isystem", str(headers)]
        command += self.instrument.compile_flags
        command += ["-include", prelude or "tm_cuda_prelude.h", *arguments, str(folder / _MAIN)]
        message = _run([*command, "-c", "-o", str(folder / "main.o")])
        if message is not None and "Assembler messages" in message:
            message = self._compile_without_inline_assembly(folder, command)
        if message is not None:
            return message
        message = _run(
            ["objcopy", "--weaken", "-R", ".init_array", "-R", ".ctors", str(folder / "main.o")]
        )
        if message is not None:
            return message
        (folder / "shared.s").write_text(_dynamic_shared(folder / "main.o"))
        link = [self.cxx, "-shared", "-Wl,-Bsymbolic", "-o", str(folder / "oracle.so")]
        link += [str(folder / "main.o"), str(folder / "shared.s")]
        return _run([*link, *self.instrument.link_flags])

    def _compile_without_inline_assembly(self, folder: Path, command: list[str]) -> str | None:
        """Compile with each inline assembly (PTX) replaced by a trap."""
        listing = folder / "main.s"
        message = _run([*command, "-S", "-o", str(listing)])
        if message is not None:
            return message
        text = re.sub(r"^#APP\n.*?^#NO_APP\n", "\tud2\n", listing.read_text(), flags=re.M | re.S)
        listing.write_text(text)
        return _run([self.cxx, "-c", str(listing), "-o", str(folder / "main.o")])

    def _precompiled_prelude(self, standard: list[str]) -> str | None:
        """The prelude precompiled for this language standard; None if that does not work."""
        key = hashlib.sha256(
            json.dumps([_toolchain(self.cxx), self.flags, _MODE_FLAGS, standard]).encode()
        ).hexdigest()[:24]
        folder = self.cache / "prelude" / key
        header = folder / "tm_prelude_pch.h"
        compiled = folder / "tm_prelude_pch.h.gch"
        if compiled.is_file():
            return str(header)
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as name:
            source = Path(name) / header.name
            source.write_text('#include "tm_cuda_prelude.h"\n')
            command = [self.cxx, *self.flags, *_MODE_FLAGS, *standard, "-x", "c++-header"]
            command += ["-isystem", str(include_dir()), str(source), "-o", f"{source}.gch"]
            if _run(command) is not None:
                return None
            os.replace(source, header)
            os.replace(f"{source}.gch", compiled)
        return str(header)


def _run(command: list[str]) -> str | None:
    """Run a tool; its messages if it failed. Raises FileNotFoundError if there is none."""
    environment = {**os.environ, "LC_ALL": "C"}
    environment.pop("LD_PRELOAD", None)
    result = subprocess.run(
        command, capture_output=True, text=True, check=False, errors="replace", env=environment
    )
    return (result.stderr or result.stdout or "failed") if result.returncode else None


def _dynamic_shared(object_file: Path) -> str:
    """Assembly that defines every undefined thread-local symbol as the one dynamic shared area.

    It is linked last, so that the area lies above all static shared memory.
    """
    listing = subprocess.run(
        ["readelf", "-sW", str(object_file)], capture_output=True, text=True, check=True
    ).stdout
    names = []
    for line in listing.splitlines():
        columns = line.split()
        # The executor's own symbols are resolved when the library is loaded.
        if len(columns) == 8 and columns[3] == "TLS" and columns[6] == "UND":
            name = columns[7]
            if not name.startswith("tm_"):
                names.append(name)
    labels = [
        f".globl {n}\n.hidden {n}\n.type {n}, @tls_object\n{n}:"
        for n in sorted({*names, "tm_dynamic_area"})
    ]
    return (
        '.section .tbss,"awT",@nobits\n.p2align 7\n'
        + "\n".join(labels)
        + '\n.zero 128\n.section .note.GNU-stack,"",@progbits\n'
    )
