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


def library_path(name: str) -> Path:
    """Return the path of ``libtm_<name>.so``; compiles it where the package carries none.

    Raises OSError if there is neither a library nor a way to compile one.
    """
    file_name = f"libtm_{name}.so"
    installed = Path(str(importlib.resources.files("hipify_tile.compat") / "lib" / file_name))
    sources = sorted(runtime_source_dir().glob("*.cpp")) if name == "executor" else []
    compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")
    if sources and compiler:
        return _compiled(file_name, sources, compiler)
    if installed.is_file():
        return installed
    raise FileNotFoundError(f"{file_name} is not installed, and there is no compiler to build it")


def _compiled(file_name: str, sources: list[Path], compiler: str) -> Path:
    headers = sorted(sources[0].parent.glob("*.h"))
    digest = hashlib.sha256(f"{platform.machine()} {platform.libc_ver()}".encode())
    for source in (*sources, *headers):
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    target = user_cache_dir() / "native" / digest.hexdigest()[:24] / file_name
    if target.is_file():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        built = Path(folder) / file_name
        command = [*compiler.split(), "-std=c++17", "-O2", "-fPIC", "-shared"]
        command += ["-fvisibility=hidden", "-o", str(built), *map(str, sources), "-lrt"]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            raise OSError(f"{file_name} does not compile: {result.stderr.strip()[:400]}")
        os.replace(built, target)
    return target
