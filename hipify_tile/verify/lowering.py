"""Lowering of emitted TileLang to a target's source, and of C source to a callable object.

TileLang is imported inside functions only: it costs seconds, so callers keep a worker process.
``lower`` never runs anything. ``compile_c`` makes a shared object whose one entry,
``void tm_entry(void** args)``, takes the addresses of the arguments in the order of
``Lowered.parameters`` (for a pointer: the address of the pointer).
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import io
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from hipify_tile.diagnostics.model import Diagnostic
from hipify_tile.diagnostics.registry import diagnostic
from hipify_tile.rewriter.model import Emission, Level
from hipify_tile.verify.exactness import REWRITE_FLAGS

_COMMON: dict[str, Any] = {
    "tl.disable_safe_memory_legalize": True,
    "tl.disable_loop_unswitching": True,
    "tl.disable_buffer_init_check": True,
}
CONFIGS: dict[Level, dict[str, Any]] = {
    Level.SIMT: {
        **_COMMON,
        "tl.disable_thread_storage_sync": True,
        "tl.disable_shared_memory_reuse": True,
    },
    Level.LOOP: {**_COMMON, "tirx.disable_vectorize": True},
    Level.TILE: _COMMON,
}
"""Pass configurations under which each level means what its text says."""

_VECTORIZE = "tirx.disable_vectorize"
_GUARDS = "tl.disable_safe_memory_legalize"
_PLAIN_POINTERS = {"tl.disable_tma_lower": True, "tl.disable_warp_specialized": True}

C_FLAGS = (*REWRITE_FLAGS, "-std=c++17", "-shared")
_C_TYPES = {"bool": "bool", "float32": "float", "float64": "double", "float16": "half"}


class LoweringError(Exception):
    """TileLang or the C++ compiler rejects the program; ``diagnostic`` is TM2401 or TM2402."""

    def __init__(self, diagnostic_: Diagnostic) -> None:
        super().__init__(diagnostic_.headline)
        self.diagnostic = diagnostic_


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of the lowered function; ``dtype`` is the scalar's type, empty for a pointer."""

    name: str
    dtype: str
    is_pointer: bool


@dataclass(frozen=True, slots=True)
class Lowered:
    """A kernel as source text of a target.

    ``entry`` is the function's name, ``parameters`` are in the order it takes them.
    ``thread_extent`` maps ``blockIdx.x`` … to an expression's text, ``dynamic_shared`` is the text
    of the bytes of dynamic shared memory (empty: none).
    """

    source: str
    entry: str
    parameters: tuple[Parameter, ...]
    thread_extent: tuple[tuple[str, str], ...]
    dynamic_shared: str
    target: str


def tilelang_include() -> Path:
    """Directory with TileLang's template headers."""
    spec = importlib.util.find_spec("tilelang")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("tilelang is not installed")
    return Path(spec.submodule_search_locations[0]) / "src"


def load_factory(emission: Emission, options: Mapping[str, object]) -> Any:
    """Import the emitted module and return its prim_func; raises ``LoweringError`` (TM2402)."""
    module = _load(emission.source)
    given = {k: v for k, v in options.items() if k in emission.options}
    with _rejections():
        return getattr(module, emission.factory)(**given)


def lower(emission: Emission, target: str, options: Mapping[str, object] | None = None) -> Lowered:
    """Lower ``emission`` for a TileLang target: ``c``, ``cuda``, ``hip``, ``metal``, ``webgpu``.

    ``options`` are the factory's (``block``, ``shared_bytes``) and ``arch`` (``sm_80``) for cuda.
    Raises ``LoweringError``: TM2401 where the target lacks a construct, else TM2402.
    """
    options = {"target": target, **(options or {})}
    func = load_factory(emission, options)
    return lower_function(emission, func, target, str(options.get("arch", "sm_80")))


def pass_config(emission: Emission, target: str) -> dict[str, Any]:
    """Return the pass configuration for lowering ``emission`` to ``target``.

    A tile program keeps plain pointers on NVIDIA GPUs (no tensor maps), and on C it is scalar code:
    TileLang's vector types do not exist there.
    """
    config = dict(CONFIGS[emission.level])
    if emission.ragged:
        del config[_GUARDS]
    if emission.level is Level.TILE:
        config |= _PLAIN_POINTERS if target == "cuda" else {}
        config |= {_VECTORIZE: True} if target == "c" else {}
    return config


def lower_function(emission: Emission, func: Any, target: str, arch: str = "sm_80") -> Lowered:
    """Lower a prim_func that ``load_factory`` returned."""
    import tilelang
    from tilelang import tvm
    from tvm.target import Target as TvmTarget

    description = {"kind": "cuda", "arch": arch} if target == "cuda" else target
    config = pass_config(emission, target)
    with _rejections(target), _quiet():
        tvm_target = TvmTarget(description)
        with tvm.transform.PassContext(opt_level=3, config=config), tvm_target:
            artifact = tilelang.lower(func, target=tvm_target)
    ((_, device),) = artifact.device_mod.functions.items()
    attrs = device.attrs
    extents = attrs.get("thread_extent") or {}
    parameters = []
    for p in device.params:
        dtype = str(p.dtype)
        pointer = dtype == "handle"
        parameters.append(Parameter(str(p.name), "" if pointer else dtype, pointer))
    return Lowered(
        source=artifact.kernel_source,
        entry=str(attrs["global_symbol"]),
        parameters=tuple(parameters),
        thread_extent=tuple((str(k), str(v)) for k, v in extents.items()),
        dynamic_shared=str(attrs.get("dyn_shared_memory_buf", "")),
        target=target,
    )


def compile_c(lowered: Lowered, cache: Path, cxx: str = "g++") -> Path:
    """Compile C output into a shared object under ``cache`` and return its path.

    The name is the hash of everything that goes in, so an existing file is the result. Raises
    ``LoweringError`` (TM2402) with the compiler's message, ``FileNotFoundError`` without one.
    """
    text = lowered.source + trampoline(lowered)
    include = tilelang_include()
    command: tuple[str, ...] = (cxx, *C_FLAGS)
    digest = _digest(text, *command)
    path = cache / f"{digest}.so"
    if path.exists():
        return path
    cache.mkdir(parents=True, exist_ok=True)
    command = (*command, f"-I{precompiled_headers(cache, cxx)}", f"-I{include}")
    with tempfile.TemporaryDirectory(dir=cache) as scratch:
        source, out = Path(scratch) / "kernel.cpp", Path(scratch) / "kernel.so"
        source.write_text(text, encoding="utf-8")
        done = subprocess.run(
            [*command, str(source), "-o", str(out)], capture_output=True, text=True, check=False
        )
        if done.returncode:
            note = "\n".join(done.stderr.splitlines()[:5]).replace(str(source), "kernel.cpp")
            raise LoweringError(diagnostic("TM2402", notes=("the C++ compiler reports:", note)))
        os.replace(out, path)
    return path


def precompiled_headers(cache: Path, cxx: str) -> Path:
    """Return an include directory with TileLang's C header precompiled: parsing it costs 1 s."""
    header = Path("tl_templates") / "cpp" / "common.h"
    include = tilelang_include()
    text = (include / header).read_text(encoding="utf-8")
    root = cache / f"headers-{_digest(text, cxx, *C_FLAGS)}"
    if root.exists():
        return root
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as scratch:
        made = Path(scratch) / "headers" / header
        made.parent.mkdir(parents=True)
        command = [cxx, *C_FLAGS, "-x", "c++-header", str(include / header)]
        done = subprocess.run(
            [*command, "-o", f"{made}.gch"], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise LoweringError(diagnostic("TM2402", notes=(done.stderr[:300],)))
        with contextlib.suppress(OSError):
            os.rename(Path(scratch) / "headers", root)
    return root


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def trampoline(lowered: Lowered) -> str:
    """Return the C++ text of ``tm_entry``, which unpacks arguments in the real order."""
    args = []
    for position, p in enumerate(lowered.parameters):
        if p.is_pointer:
            args.append(f"tm_pointer(args[{position}])")
        else:
            c = _C_TYPES.get(p.dtype, f"{p.dtype}_t")
            args.append(f"*({c} const*)args[{position}]")
    return (
        "\nnamespace {\nstruct tm_pointer {\n  void* value;\n"
        "  explicit tm_pointer(void* at) : value(*(void**)at) {}\n"
        "  template <typename T> operator T*() const { return (T*)value; }\n};\n}  // namespace\n"
        f'extern "C" void tm_entry(void** args) {{\n  {lowered.entry}({", ".join(args)});\n}}\n'
    )


def _load(source: str) -> ModuleType:
    """Import module text; TileLang reads the source of its functions, so it must be a file."""
    digest = hashlib.sha256(source.encode()).hexdigest()[:16]
    name = f"_tile_migrate_{digest}"
    if name in sys.modules:
        return sys.modules[name]
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / f"{name}.py"
        path.write_text(source, encoding="utf-8")
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        import linecache

        linecache.cache[str(path)] = (len(source), None, source.splitlines(True), str(path))
    sys.modules[name] = module
    return module


@contextlib.contextmanager
def _rejections(target: str = "") -> Iterator[None]:
    """Turn what TileLang raises for a program it does not accept into a ``LoweringError``."""
    from tvm.error import InternalError

    try:
        yield
    except (RuntimeError, ValueError, TypeError, AttributeError, NameError, InternalError) as error:
        message = str(error).strip().splitlines() or [type(error).__name__]
        notes = (f"TileLang reports: {message[-1][:300]}",)
        code = "TM2401" if target not in ("", "c", "cuda") else "TM2402"
        raise LoweringError(diagnostic(code, notes=notes)) from error


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep TileLang's remarks about the machine (no ROCm …) off the terminal."""
    with contextlib.redirect_stdout(io.StringIO()):
        yield
