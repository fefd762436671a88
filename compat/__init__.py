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
            # An installed package has sources of launch/ only, for programs on a GPU.
            return [*shared, *sorted(parts)] if all(p.is_file() for p in shared) else []
        case _:
            return []


# Made from the objects of libtm_cudart.so: for objects that nvcc compiled.
CUDART_FORMS = ("libcudart.so.13", "libcudart.so.12", "libcudart_static.a")


def library_path(name: str) -> Path:
    """Return the path of ``libtm_<name>.so``; compiles it where the package carries none.

    A name of ``CUDART_FORMS`` is the same runtime under CUDA's own name, in the same folder.
    Raises OSError if there is neither a library nor a way to compile one.
    """
    file_name = name if name in CUDART_FORMS else f"libtm_{name}.so"
    library = "cudart" if name in CUDART_FORMS else name
    installed = Path(str(importlib.resources.files("hipify_tile.compat") / "lib" / file_name))
    sources = library_sources(library)
    compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")
    if sources and compiler:
        return _compiled(f"libtm_{library}.so", sources, compiler) / file_name
    if installed.is_file():
        return installed
    raise FileNotFoundError(f"{file_name} is not installed, and there is no compiler to build it")


def _compiled(file_name: str, sources: list[Path], compiler: str) -> Path:
    """Compile and link; return the folder of the library and its other forms."""
    folders = {source.parent for source in sources} | {runtime_source_dir()}
    patterns = ("*.h", "*.inc", "*.map")
    headers = [path for folder in folders for kind in patterns for path in folder.glob(kind)]
    headers += [path for path in include_dir().glob("*.h") if _of_runtime(path.name)]
    base = [*compiler.split(), "-std=c++17", "-O2", "-fPIC", "-fvisibility=hidden"]
    digest = hashlib.sha256(f"{platform.machine()} {platform.libc_ver()} {base}".encode())
    for path in sorted(headers):
        digest.update(f"{path.parent.name}/{path.name}".encode() + b"\0" + path.read_bytes())
    base += [f"-I{runtime_source_dir()}", f"-I{include_dir()}"]
    cache = user_cache_dir() / "native"
    objects: dict[Path, Path] = {}
    for path in sources:
        own = digest.copy()
        own.update(f"{path.parent.name}/{path.name}".encode() + b"\0" + path.read_bytes())
        objects[path] = cache / "objects" / f"{own.hexdigest()[:24]}.o"
    names = "".join(sorted(made.stem for made in objects.values()))
    target = cache / hashlib.sha256(f"{file_name} {names}".encode()).hexdigest()[:24]
    if (target / file_name).is_file():
        return target
    (cache / "objects").mkdir(parents=True, exist_ok=True)
    missing = [path for path, made in objects.items() if not made.is_file()]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda path: _object(file_name, base, path, objects[path]), missing))
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        _link(file_name, compiler, [str(made) for made in objects.values()], Path(folder))
        target.mkdir(exist_ok=True)
        # The library by whose presence the folder is known to be complete comes last.
        made_files = sorted(Path(folder).iterdir(), key=lambda path: path.name == file_name)
        for path in made_files:
            os.replace(path, target / path.name)
    return target


def _object(file_name: str, base: list[str], source: Path, made: Path) -> None:
    with tempfile.TemporaryDirectory(dir=made.parent) as folder:
        compiled = Path(folder) / made.name
        _run(file_name, [*base, "-c", str(source), "-o", str(compiled)])
        os.replace(compiled, made)


def _link(file_name: str, compiler: str, objects: list[str], folder: Path) -> None:
    link = [*compiler.split(), "-shared", "-pthread", *objects]
    libraries = ["-ldl", "-lrt"]
    _run(file_name, [*link, "-o", str(folder / file_name), f"-Wl,-soname,{file_name}", *libraries])
    if file_name != "libtm_cudart.so":
        return
    for form in CUDART_FORMS:
        if form.endswith(".a"):
            # One object: weak references to parts of the runtime do not fetch them from an archive.
            whole = str(folder / "runtime.o")
            _run(form, [*compiler.split(), "-r", "-nostdlib", *objects, "-o", whole])
            _run(form, ["ar", "rcs", str(folder / form), whole])
            os.unlink(whole)
            continue
        script = runtime_source_dir() / "cudart" / f"{form}.map"
        named = [f"-Wl,-soname,{form}", f"-Wl,--version-script={script}"]
        private = ["-static-libstdc++", "-static-libgcc"]
        _run(form, [*link, "-o", str(folder / form), *named, *private, *libraries])
    os.symlink("libcudart.so.13", folder / "libcudart.so")


def _of_runtime(header: str) -> bool:
    return header.startswith(("tm_language", "tm_runtime_", "tm_launch", "vector_types"))


def _run(file_name: str, command: list[str]) -> None:
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise OSError(f"{file_name} does not compile: {result.stderr.strip()[:400]}")
