"""The launch seam of programs on a GPU: a static library, compiled by the user's nvcc, and how it
is linked in front of the CUDA runtime.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from hipify_tile.compat import include_dir, runtime_source_dir, user_cache_dir

HEADERS = ("tm_launch.h", "tm_launch_cuda.h")
"""What objects of migrated kernels include; the other headers of that folder hide CUDA's own."""

_LAUNCH = ("check", "choice", "elements", "launch", "record", "registry", "snapshot")
_WRAPPED = re.compile(r"\b__wrap_(\w+)\(")
_FLAGS = ("-std=c++17", "-O2", "-Xcompiler", "-fPIC,-fvisibility=hidden,-Wall,-Wextra")


def sources() -> list[Path]:
    """Return the library's C++ sources."""
    root = runtime_source_dir()
    return [
        *sorted((root / "gpu").glob("*.cpp")),
        *(root / "launch" / f"{name}.cpp" for name in _LAUNCH),
    ]


def wrapped_names() -> tuple[str, ...]:
    """Return the CUDA functions that a program's calls reach through the library."""
    found: dict[str, None] = {}
    for source in sources():
        found.update(dict.fromkeys(_WRAPPED.findall(source.read_text(encoding="utf-8"))))
    return tuple(sorted(found))


def link_options(library: Path) -> list[str]:
    """Return nvcc's options that put ``library`` in front of the CUDA runtime."""
    wraps = ",".join(f"--wrap={name}" for name in wrapped_names())
    return [str(library), "-Xlinker", wraps]


def header_folder(folder: Path) -> Path:
    """Copy ``HEADERS`` to a folder of their own below ``folder`` and return it."""
    made = folder / "include"
    made.mkdir(parents=True, exist_ok=True)
    for name in HEADERS:
        (made / name).write_bytes((include_dir() / name).read_bytes())
    return made


def launch_library(nvcc: str) -> Path:
    """Return ``libtm_launch_cuda.a``, compiled on first use for this nvcc.

    Raises OSError with the compiler's words.
    """
    files = sources()
    folders = {path.parent for path in files}
    headers = [*(include_dir() / h for h in HEADERS), *(h for f in folders for h in f.glob("*.h"))]
    version = subprocess.run([nvcc, "--version"], capture_output=True, text=True, check=False)
    digest = hashlib.sha256(f"{version.stdout} {_FLAGS}".encode())
    for path in (*files, *sorted(headers)):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    target = user_cache_dir() / "native" / digest.hexdigest()[:24] / "libtm_launch_cuda.a"
    if target.is_file():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
        include = header_folder(Path(scratch))
        objects = [Path(scratch) / f"{path.parent.name}_{path.stem}.o" for path in files]
        commands = [
            [nvcc, *_FLAGS, f"-I{include}", "-c", str(path), "-o", str(made)]
            for path, made in zip(files, objects, strict=True)
        ]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(partial(_run, target.name), commands))
        made = Path(scratch) / target.name
        _run(target.name, ["ar", "rcs", str(made), *map(str, objects)])
        os.replace(made, target)
    return target


def _run(name: str, command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(f"{name} does not compile: {done.stderr.strip()[:400]}")
