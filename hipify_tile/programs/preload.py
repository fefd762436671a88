"""How a program gets our CUDA runtime: not at all (it is linked with it), or by ``LD_PRELOAD``.

A program whose own ``libcudart.so.N`` is nowhere gets ours under that name, in a folder of links at
the end of ``LD_LIBRARY_PATH``: a name that the linker finds before stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hipify_tile.programs import elf
from hipify_tile.programs.process import prepended

OURS = "libtm_cudart.so"


@dataclass(frozen=True, slots=True)
class Way:
    """How the runtime gets into a program, in words, and what it cannot serve.

    ``preload`` says whether ``LD_PRELOAD`` is needed; ``missing`` names CUDA runtimes that are
    asked for and not found; ``others`` are CUDA libraries that are not ours, with whether each
    is found.
    """

    text: str
    preload: bool
    missing: tuple[str, ...] = ()
    others: tuple[tuple[str, bool], ...] = ()
    warning: str = ""


VENDOR = (
    "libcublas", "libcublasLt", "libcudnn", "libcufft", "libcurand", "libcusolver", "libcusparse",
    "libnccl", "libnvrtc", "libnpp", "libnvjpeg", "libnvJitLink", "libcuda.so",
)  # fmt: skip


def is_ours(name: str, library: elf.Binary | None) -> bool:
    """Whether a needed library is our runtime, under whatever name."""
    return (library is not None and library.our_runtime) or name.rpartition("/")[2] == OURS


def choose(program: Path, environment: Mapping[str, str]) -> Way:
    """Look at the file of a program and say how it gets the runtime."""
    try:
        binary = elf.read(program)
    except (elf.NotElfError, OSError):
        return Way("preloaded into what this script starts", preload=True)
    system = elf.system_libraries()
    libraries = elf.closure(binary, dict(environment), system)
    others = tuple((n, lib is not None) for n, lib in libraries.items() if n.startswith(VENDOR))
    runtimes = [n for n in libraries if n.startswith("libcudart.so")]
    missing = tuple(n for n in runtimes if libraries[n] is None)
    linked = any(is_ours(name, library) for name, library in libraries.items())
    if binary.static_runtime:
        warning = (
            f"{program} has a static CUDA runtime: its calls cannot be served; "
            f"tile-migrate doctor {program}"
        )
        return Way("not used: the program has its own", False, missing, others, warning)
    if linked or binary.our_runtime:
        return Way("linked with the program", False, missing, others)
    needs = ", ".join(runtimes)
    text = f"preloaded before {needs}" if needs else "preloaded (no CUDA runtime is linked)"
    return Way(text, True, missing, others)


def apply(
    way: Way, environment: Mapping[str, str], runtime: Path, more: Sequence[Path], scratch: Path
) -> dict[str, str]:
    """Return the environment; ``more`` are further libraries, ``scratch`` a folder for links."""
    made = dict(environment)
    libraries = [*([runtime] if way.preload else []), *more]
    for library in reversed(libraries):
        made["LD_PRELOAD"] = prepended(str(library), made.get("LD_PRELOAD", ""))
    if way.missing:
        beside = [runtime.parent / name for name in way.missing]
        folder = runtime.parent
        if not all(path.exists() for path in beside):
            folder = scratch / "cudart"
            folder.mkdir(exist_ok=True)
            for name in way.missing:
                (folder / name).symlink_to(runtime)
        old = made.get("LD_LIBRARY_PATH", "")
        made["LD_LIBRARY_PATH"] = f"{old}:{folder}" if old else str(folder)
    return made
