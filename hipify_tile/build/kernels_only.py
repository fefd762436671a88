"""The kernels of a program by themselves, for a host side that another compiler made.

The host objects of nvcc define the same names: a kernel's name is its launch stub there. So every
name that the object defines becomes local to it; the runtime knows kernels and device variables by
what registers them. Host code that no constructor leads to is left out.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from hipify_tile.build.tool import run_tool
from hipify_tile.diagnostics.model import Diagnostic

COMPILE_FLAGS = ("-ffunction-sections", "-fdata-sections", "-fno-gnu-unique")
_ROOT = "tm_kernels_only"


def link_kernels(cxx: str, objects: Sequence[str], output: Path, folder: Path) -> Diagnostic | None:
    """Make ``output`` (``.o``, ``.a``, or a shared library) of ``objects``.

    A shared library names no runtime: it takes the one that the program has.
    """
    what = os.path.abspath(output)
    root, whole = folder / "root.cpp", str(folder / "kernels.o")
    root.write_text(f'extern "C" {{ int {_ROOT}; }}\n', encoding="utf-8")
    # Groups of templates' sections go: the linker would take nvcc's group of the same name instead.
    linker = ["-Wl,--force-group-allocation", "-Wl,--gc-sections", f"-Wl,-u,{_ROOT}"]
    made = folder / "root.o"
    failure = run_tool([cxx, "-c", str(root), "-o", str(made)], what)
    command = [cxx, "-r", "-nostdlib", *linker, *objects, str(made), "-o", whole]
    failure = failure or run_tool(command, what)
    failure = failure or run_tool(["objcopy", f"--keep-global-symbol={_ROOT}_none", whole], what)
    if failure is not None:
        return failure
    output.unlink(missing_ok=True)
    match output.suffix:
        case ".o":
            shutil.copyfile(whole, output)
            return None
        case ".a":
            return run_tool(["ar", "rcs", what, whole], what)
        case _:
            return run_tool([cxx, "-shared", whole, "-o", what], what)
