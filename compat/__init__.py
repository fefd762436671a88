"""CUDA-compatible headers and native libraries. Locates them; loads nothing at import.

A checkout compiles a library on first use into the user's cache, keyed by its sources, so that it
is never older than they are. An installed package carries the library in ``lib`` instead.
"""

from __future__ import annotations

import hashlib
import importlib.resources
import os
import platform
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path


def include_dir() -> Path:
    """Return the folder of our CUDA headers (declarations for libclang and g++)."""
    return Path(__file__).resolve().parent / "include"


def runtime_source_dir() -> Path:
    """Return the folder of the CPU executor's C++ sources."""
    return Path(__file__).resolve().parent / "runtime" / "src"


def user_cache_dir() -> Path:
    """Return ``$TILE_MIGRATE_CACHE``, else ``tile-migrate`` in the user's cache folder.

    The folder is not created.
    """
    own = os.environ.get("TILE_MIGRATE_CACHE")
    if own:
        return Path(own)
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "tile-migrate"


def library_sources(name: str) -> list[Path]:
    """Return the C++ sources of ``libtm_<name>.so``; empty if there is no such library.

    ``executor`` runs the verifier's kernels, ``cudart`` is the runtime of whole programs.
    """
    root = runtime_source_dir()
    match name:
        case "executor":
            return sorted(root.glob("*.cpp"))
        case "cudart":
            shared = [root / f"{part}.cpp" for part in ("divide", "fiber", "scheduler", "warp")]
            parts = [
                path
                for part in ("cudart", "engine", "launch")
                for path in (root / part).glob("*.cpp")
            ]
            return [path for path in (*shared, *sorted(parts)) if path.is_file()]
        case _:
            return []


def library_path(name: str) -> Path:
    """Return the path of ``libtm_<name>.so``; compiles it where the package carries none.

    Raises OSError if there is neither a library nor a way to compile one.
    """
    file_name = f"libtm_{name}.so"
    installed = Path(str(importlib.resources.files("hipify_tile.compat") / "lib" / file_name))
    sources = library_sources(name)
    compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")
    if sources and compiler:
        return _compiled(file_name, sources, compiler)
    if installed.is_file():
        return installed
    raise FileNotFoundError(f"{file_name} is not installed, and there is no compiler to build it")


def _compiled(file_name: str, sources: list[Path], compiler: str) -> Path:
    folders = {source.parent for source in sources} | {runtime_source_dir()}
    headers = [path for folder in folders for path in (*folder.glob("*.h"), *folder.glob("*.inc"))]
    headers += [path for path in include_dir().glob("*.h") if _of_runtime(path.name)]
    digest = hashlib.sha256(f"{platform.machine()} {platform.libc_ver()}".encode())
    for path in (*sources, *sorted(headers)):
        digest.update(f"{path.parent.name}/{path.name}".encode() + b"\0" + path.read_bytes())
    target = user_cache_dir() / "native" / digest.hexdigest()[:24] / file_name
    if target.is_file():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        objects = [Path(folder) / f"{at}.o" for at in range(len(sources))]
        base = [*compiler.split(), "-std=c++17", "-O2", "-fPIC", "-fvisibility=hidden"]
        base += [f"-I{runtime_source_dir()}", f"-I{include_dir()}"]
        units = [[*base, "-c", str(s), "-o", str(o)] for s, o in zip(sources, objects, strict=True)]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(partial(_run, file_name), units))
        built = Path(folder) / file_name
        link = [*compiler.split(), "-shared", "-pthread", "-o", str(built), *map(str, objects)]
        _run(file_name, [*link, "-ldl", "-lrt"])
        os.replace(built, target)
    return target


def _of_runtime(header: str) -> bool:
    return header.startswith(("tm_language", "tm_runtime_", "tm_launch", "vector_types"))


def _run(file_name: str, command: list[str]) -> None:
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise OSError(f"{file_name} does not compile: {result.stderr.strip()[:400]}")
