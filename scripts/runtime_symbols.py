#!/usr/bin/env python3
"""Writes what the runtime library's sources take from compat/runtime/symbols.toml.

``--check`` writes nothing and fails where a file is not what would be written.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RUNTIME = ROOT / "compat" / "runtime"
SOURCES = RUNTIME / "src" / "cudart"
HEADER = ROOT / "compat" / "include" / "tm_runtime_functions.h"
DECLARATION = re.compile(r"^TM_API\w* (.*?)(\w+)\((.*)\);$", re.MULTILINE)
FROM = "Written by scripts/runtime_symbols.py from symbols.toml."

CHANGED_SINCE_12 = (
    "cudaGetDeviceProperties", "cudaMemAdvise", "cudaMemPrefetchAsync", "cudaMemPrefetchAsync_ptsz",
    "cudaGraphAddDependencies", "cudaGraphRemoveDependencies", "cudaGraphAddNode",
    "cudaGraphGetEdges", "cudaGraphNodeGetDependencies", "cudaGraphNodeGetDependentNodes",
    "cudaGraphKernelNodeGetParams", "cudaStreamGetCaptureInfo", "cudaStreamGetCaptureInfo_ptsz",
    "cudaStreamUpdateCaptureDependencies", "cudaStreamUpdateCaptureDependencies_ptsz",
)  # fmt: skip


def main() -> int:
    rows = tomllib.loads((RUNTIME / "symbols.toml").read_text(encoding="utf-8"))["cudart"]
    header = HEADER.read_text(encoding="utf-8")
    declared = {m[2]: (m[1], m[3]) for m in DECLARATION.finditer(header)}
    refused = [name for name, row in rows.items() if row["status"] == "refused"]
    twins = [
        _twin(name, row["twin_of"], declared) for name, row in rows.items() if "twin_of" in row
    ]
    files = {
        "names.inc": _lines("What the functions are called in traces.", "TM_API_NAME({})", rows),
        "stubs.inc": _lines("Refused: cudaErrorNotSupported.", "TM_STUB({})", refused),
        "twins.inc": "\n".join([f"// {FROM}", *twins, ""]),
    }
    for major in (12, 13):
        files[f"libcudart.so.{major}.map"] = _version_script(major)
    stale = []
    for name, text in files.items():
        path = SOURCES / name
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(name)
        if "--check" not in sys.argv:
            path.write_text(text, encoding="utf-8")
    print(f"{len(rows)} names, {len(refused)} refused; changed: {', '.join(stale) or 'nothing'}")
    return 1 if stale and "--check" in sys.argv else 0


def _lines(title: str, form: str, names: object) -> str:
    assert isinstance(names, (dict, list))
    return "\n".join([f"// {title} {FROM}", *(form.format(name) for name in names), ""])


def _twin(name: str, base: str, declared: dict[str, tuple[str, str]]) -> str:
    kind, parameters = declared[base]
    bare = re.sub(r" TM_OR\([^()]*\)", "", parameters)
    names = [re.split(r"[ *]", p)[-1] for p in bare.split(", ")] if bare != "void" else []
    return f"TM_TWIN({kind.strip()}, {name}, {base}, ({bare}), ({', '.join(names)}))"


# The seam's own names (tm_*) are there too: what registers kernels looks for them. Functions whose
# parameters or structures differ in CUDA 12 are not offered to its objects: they would be misread.
def _version_script(major: int) -> str:
    names = "cuda*; __cuda*; tm_*;"
    hidden = "".join(f" {name};" for name in CHANGED_SINCE_12) if major == 12 else ""
    return f"libcudart.so.{major} {{\n  global: {names}\n  local: *;{hidden}\n}};\n"


if __name__ == "__main__":
    sys.exit(main())
