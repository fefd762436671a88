"""Our declarations against the real headers of CUDA 13: sizes, offsets, values and signatures.

One generated program is compiled with either headers; what the two print must be equal.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from hipify_tile.compat import include_dir

STRUCTS = (
    "cudaDeviceProp", "cudaPointerAttributes", "cudaMemcpy3DParms", "cudaMemcpy3DPeerParms",
    "cudaFuncAttributes", "cudaLaunchConfig_t", "cudaLaunchAttribute", "cudaLaunchAttributeValue",
    "cudaGraphNodeParams", "cudaKernelNodeParams", "cudaKernelNodeParamsV2", "cudaMemsetParams",
    "cudaMemsetParamsV2", "cudaHostNodeParams", "cudaHostNodeParamsV2", "cudaMemcpyNodeParams",
    "cudaChildGraphNodeParams", "cudaEventRecordNodeParams", "cudaEventWaitNodeParams",
    "cudaMemAllocNodeParams", "cudaMemAllocNodeParamsV2", "cudaMemFreeNodeParams",
    "cudaMemPoolProps", "cudaMemAccessDesc", "cudaMemLocation", "cudaMemPoolPtrExportData",
    "cudaExtent", "cudaPos", "cudaPitchedPtr", "cudaChannelFormatDesc", "cudaResourceDesc",
    "cudaTextureDesc", "cudaResourceViewDesc", "cudaGraphEdgeData", "cudaGraphInstantiateParams",
    "cudaGraphExecUpdateResultInfo", "cudaIpcMemHandle_t", "cudaIpcEventHandle_t",
    "cudaAccessPolicyWindow", "cudaMemcpyAttributes", "cudaMemcpy3DOperand",
    "cudaMemcpy3DBatchOp", "cudaOffset3D", "cudaUUID_t", "dim3", "float4", "double2", "uchar3",
)  # fmt: skip
# What CUDA 13 no longer has, at the end of ours.
DROPPED = {
    "cudaDeviceProp": {
        "clockRate", "deviceOverlap", "kernelExecTimeoutEnabled", "computeMode",
        "maxTexture1DLinear", "memoryClockRate", "singleToDoublePrecisionPerfRatio",
        "cooperativeMultiDeviceLaunch",
    },
}  # fmt: skip
TOOLKIT = Path("/usr/local/cuda/include")

pytestmark = [
    pytest.mark.nvcc,
    pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++"),
]


def real_headers() -> Path:
    nvcc = shutil.which("nvcc")
    folder = Path(nvcc).resolve().parents[1] / "include" if nvcc else TOOLKIT
    if not (folder / "cuda_runtime_api.h").is_file():
        folder = TOOLKIT
    header = folder / "cuda_runtime_api.h"
    if not header.is_file():
        pytest.skip("CUDA's headers are not installed")
    if not re.search(r"CUDART_VERSION\s+13\d\d\d", header.read_text(encoding="utf-8")):
        pytest.skip("CUDA's headers are not those of CUDA 13")
    return folder


def own_text(*parts: str) -> str:
    return "".join(
        (include_dir() / f"tm_runtime_{part}.h").read_text(encoding="utf-8") for part in parts
    )


def members(struct: str) -> list[str]:
    """Return the names that our declaration of a struct gives its members."""
    text = re.sub(r"//.*", "", own_text("types"))
    tag = struct.removesuffix("_t")
    found = re.search(rf"(?:struct|union) {tag}(?:_st)? \{{", text)
    if found is None:
        return []
    depth, at = 1, found.end()
    body = ""
    while depth:
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        body += text[at] if depth == 1 and text[at] != "}" else ""
        at += 1
    body = re.sub(r"#.*", "", body)
    body = re.sub(r"__host__.*", "", body, flags=re.DOTALL)
    names = []
    for declaration in body.split(";"):
        pieces = re.sub(r"\[[^\]]*\]", "", declaration).split(",")
        for piece in pieces:
            word = re.search(r"(\w+)\s*$", piece)
            if word and len(piece.split()) > (piece is pieces[0]):
                names.append(word[1])
    return [n for n in names if n not in ("union", "struct") and "reserved" not in n]


def printed(text: str, include: Path, folder: Path, name: str) -> list[str]:
    source, program = folder / f"{name}.cpp", folder / name
    source.write_text(text, encoding="utf-8")
    command = [
        "g++",
        "-std=c++17",
        "-w",
        "-DTM_HOST_UNIT",
        f"-I{include}",
        str(source),
        "-o",
        program,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]
    return subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()


def test_layouts_and_values_are_those_of_cuda_13(tmp_path: Path) -> None:
    real = real_headers()
    driver_types = (real / "driver_types.h").read_text(encoding="utf-8", errors="replace")
    rest = "".join(
        (real / f"{name}.h").read_text(encoding="utf-8", errors="replace")
        for name in ("surface_types", "texture_types", "library_types", "cuda_runtime_api")
    )
    known = set(re.findall(r"\w+", driver_types + rest))
    lines = []
    for struct in STRUCTS:
        kept = [m for m in members(struct) if m not in DROPPED.get(struct, ())]
        if struct not in DROPPED:
            lines.append(f'printf("{struct} %zu %zu\\n", sizeof({struct}), alignof({struct}));')
        else:
            last = max(DROPPED[struct], key=lambda m: -members(struct).index(m))
            lines.append(f'printf("{struct} %zu\\n", END_OF({struct}, {last}));')
        for member in kept:
            lines.append(
                f'printf("{struct}.{member} %zu %zu\\n", offsetof({struct}, {member}), '
                f"sizeof((({struct} *)0)->{member}));"
            )
    values = re.findall(r"\b(cuda[A-Z]\w+|CUDA_\w+) = -?\w+", own_text("enums", "types"))
    macros = re.findall(r"#define (cuda[A-Z]\w+) [(0]", own_text("types"))
    shared = [name for name in dict.fromkeys([*values, *macros]) if name in known]
    assert len(shared) > 650
    lines += [f'printf("{name} %lld\\n", (long long)({name}));' for name in shared]
    body = "int main() {\n" + "\n".join(lines) + "\n}\n"
    headers = ("cstddef", "cstdio", "cuda_runtime_api.h", "library_types.h")
    head = "".join(f"#include <{name}>\n" for name in headers)
    ours = "#define END_OF(type, member) offsetof(type, member)\n"
    theirs = "#define END_OF(type, member) sizeof(type)\n"
    own = printed(head + ours + body, include_dir(), tmp_path, "own")
    cuda = printed(head + theirs + body, real, tmp_path, "real")
    assert len(own) > 1000
    assert [pair for pair in zip(own, cuda, strict=True) if pair[0] != pair[1]] == []


def test_signatures_are_those_of_cuda_13(tmp_path: Path) -> None:
    real = real_headers()
    names = re.findall(r"^TM_API\w* .*?(\w+)\(", own_text("functions", "refused"), re.MULTILINE)
    known = (real / "cuda_runtime_api.h").read_text(encoding="utf-8", errors="replace")
    public = [n for n in names if re.search(rf"\b{n}\(", known)]
    assert len(public) > 290
    # The types of pointers to the functions, mangled: tags are one for both, typedefs are gone.
    lines = [f'printf("{n} %s\\n", typeid(decltype(&{n})).name());' for n in public]
    head = "#include <cstdio>\n#include <typeinfo>\n"
    body = "int main() {\n" + "\n".join(lines) + "\n}\n"
    ours = "#include <tm_runtime_functions.h>\n#include <tm_runtime_refused.h>\n"
    own = printed(head + ours + body, include_dir(), tmp_path, "own")
    cuda = printed(head + "#include <cuda_runtime_api.h>\n" + body, real, tmp_path, "real")
    assert [pair for pair in zip(own, cuda, strict=True) if pair[0] != pair[1]] == []
