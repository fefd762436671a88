"""A program for a GPU is built by nvcc, and its launch seam chooses, checks and unpacks arguments.

No GPU is needed: the CUDA runtime is a stand-in (``tests/support/cudart_standin.cpp``).
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from hipify_tile.analyzer.analyze import analyze_unit
from hipify_tile.build.device_code import Shape, device_code
from hipify_tile.build.extents import ExtentError, c_extent
from hipify_tile.build.gpu_program import Device, build
from hipify_tile.build.launch_shapes import USUAL_BLOCKS, launch_shapes
from hipify_tile.build.plan import Plan
from hipify_tile.project import discover
from hipify_tile.rewriter.model import Level
from hipify_tile.rewriter.pipeline import emit_levels

STANDIN = Path(__file__).parent.parent / "support" / "cudart_standin.cpp"
PROGRAM = """\
#include <cstdio>
#include <cstdlib>
__constant__ float factor[2];
struct Range { float *x; int n; };
__global__ void twice(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = x[i] * factor[0];
}
namespace { __global__ void hidden(Range r) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < r.n) r.x[i] *= 2.0f;
} }
__global__ void left(float *x, int n) {
  if ((int)threadIdx.x < n) x[threadIdx.x] *= 2.0f;
}
int main(int argc, char **argv) {
  float two[2] = {2, 0}, host[8] = {1, 2, 3, 4, 5, 6, 7, 8}, *x;
  int block = argc > 1 ? atoi(argv[1]) : 32;
  cudaMalloc(&x, sizeof host);
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  cudaMemcpyToSymbol(factor, two, sizeof two);
  twice<<<1, block>>>(x, 8);
  hidden<<<dim3(2), dim3(16)>>>(Range{x, 8});
  left<<<1, 32>>>(x, 8);
  if (argc > 2) {
    cudaStream_t stream = nullptr;
    cudaGraph_t graph;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    twice<<<1, 32>>>(x, 8);
    cudaStreamEndCapture(stream, &graph);
  }
  cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
  for (float v : host) printf("%g ", v);
  puts("");
}
"""
needs_nvcc = [
    pytest.mark.nvcc,
    pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc"),
]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("256", 256),
        ("T.max((T.min(n, grid_x * block_x) + 1023) // 1024, 1)", 3),
        ("(n - 4000) // 1024", -2),
        ("(n - 4000) % 1024", 548),
        ('T.Cast("int64", n) * 2 + T.int64(1)', 5001),
        ("T.if_then_else(n <= 5, 7, 9)", 9),
    ],
)
def test_extents_are_floor_divided_like_tilelang_s(text: str, value: int, tmp_path: Path) -> None:
    from hipify_tile.build.extents import SUPPORT

    c, names = c_extent(text)
    assert names <= {"n", "grid_x", "block_x"}
    source = tmp_path / "a.cpp"
    source.write_text(
        f"#include <stdint.h>\n#include <stdio.h>\n{SUPPORT}int main() {{ int n = 2500; "
        f'int grid_x = 10, block_x = 256; printf("%lld", (long long)({c})); }}\n'
    )
    subprocess.run(["g++", "-w", source, "-o", tmp_path / "a"], check=True)
    assert int(subprocess.check_output([tmp_path / "a"])) == value


@pytest.mark.parametrize("text", ["n // m", "f(n)", "n if n else 1", "n +"])
def test_other_extents_are_refused(text: str) -> None:
    with pytest.raises(ExtentError):
        c_extent(text)


def test_blocks_are_those_of_the_program(tmp_path: Path) -> None:
    (tmp_path / "main.cu").write_text(PROGRAM)
    (unit,) = discover([tmp_path]).units
    analysis = analyze_unit(unit)
    shapes = {
        fact.name: launch_shapes(
            [x for x in analysis.launches if x.kernel_usr == fact.usr], uses_shared=False
        )
        for fact in analysis.kernels
    }
    assert shapes["hidden"] == (Shape((16, 1, 1)),)
    assert shapes["left"] == (Shape((32, 1, 1)),)
    usual = {Shape((n, 1, 1)) for n in USUAL_BLOCKS}
    assert Shape((32, 1, 1)) in shapes["twice"] and usual <= set(shapes["twice"])


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gpu")
    (folder / "src").mkdir()
    (folder / "src" / "main.cu").write_text(PROGRAM)
    standin = folder / "standin.o"
    subprocess.run(["nvcc", "-std=c++17", "-c", STANDIN, "-o", standin], check=True)
    subprocess.run(["ar", "rcs", folder / "libstandin.a", standin], check=True)
    (unit,) = discover([folder / "src"]).units
    analysis = analyze_unit(unit)
    emissions = {
        (unit.path, fact.mangled): [
            r.emission for r in emit_levels(fact.kernel, levels=(Level.SIMT,)) if r.emission
        ]
        for fact in analysis.kernels
        if fact.kernel is not None and fact.name != "left"
    }
    (left,) = [fact for fact in analysis.kernels if fact.name == "left"]
    made = folder / "app"
    built = build(
        Plan(
            analyses=[analysis],
            emissions=emissions,
            reasons={(unit.path, left.mangled): "asked for"},
            output=made,
            folder=folder / "build",
            runtime=Path(),
            flags=("-cudart=none", f"-L{folder}", "-lstandin"),
        ),
        Device("nvcc", "sm_90"),
    )
    assert built.output == made, built.diagnostics
    assert [(k.id.split("::")[-1].split(":")[-1], k.levels) for k in built.kernels] == [
        ("twice", ("simt",)),
        ("hidden", ("simt",)),
        ("left", ()),
    ]
    text = (folder / "build" / "kernels" / "migrated.cu").read_text()
    rows = ["_Z5twicePfi x:8 n:4", "_Z4leftPfi x:8 n:4"]
    launch = r"tm_values\[\] = \{([^}]*)\};\n.*?const void \*\)shape\d::(\w+),"
    for values, name in re.findall(launch, text):
        names = re.findall(r"&(?:r_)?(\w+)", values)
        sized = (f"{n}:{4 if n == 'n' or n.startswith('grid') else 8}" for n in names)
        rows.append(f"{name} {' '.join(sized)}")
    (folder / "arguments").write_text("\n".join(rows))
    return made


def run(app: Path, *arguments: str, **switches: str) -> subprocess.CompletedProcess[str]:
    own = {f"TILE_MIGRATE_{k}": v for k, v in switches.items() if k.isupper()}
    own |= {k.upper(): v for k, v in switches.items() if k.islower()}
    own["STANDIN_ARGUMENTS"] = str(app.parent / "arguments")
    return subprocess.run(
        [app, *arguments],
        env={"PATH": "", **own},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )


class TestSeam:
    """The program of ``app`` in every mode."""

    pytestmark = needs_nvcc

    def test_objects_have_entries_and_the_program_needs_no_python(self, app: Path) -> None:
        symbols = subprocess.check_output(["nm", app], text=True)
        assert " T tm_kernel__Z5twicePfi_simt" in symbols
        assert "__wrap_cudaLaunchKernel" in symbols
        listing = subprocess.check_output(["ldd", app], text=True)
        assert not [word for word in ("python", "tvm", "tile") if word in listing.split()]

    def test_migrated_kernels_get_their_values_by_name(self, app: Path) -> None:
        lines = run(app).stdout.splitlines()
        assert re.fullmatch(
            r"tm_device__Z5twicePfi_simt_\d \(1, 1, 1\) \(32, 1, 1\) 0 (?=.*x:set)(?=.*factor:set)"
            r"(?=.*n:8).*",
            lines[0],
        )
        assert "(2, 1, 1) (16, 1, 1)" in lines[1] and "hidden" in lines[1]
        assert lines[1].startswith("tm_device_") and "n:8" in lines[1]
        assert lines[2].startswith("_Z4leftPfi ")

    def test_a_block_that_was_not_lowered_runs_kept(self, app: Path, tmp_path: Path) -> None:
        trace = tmp_path / "trace"
        lines = run(app, "40", TRACE=str(trace)).stdout.splitlines()
        assert lines[0].startswith("_Z5twicePfi (1, 1, 1) (40, 1, 1)")
        counted = trace.read_text().splitlines()
        assert any('"twice"' in x and '"not_applicable": {"simt": 1}' in x for x in counted)

    def test_each_kernel_can_be_kept(self, app: Path) -> None:
        lines = run(app, KERNELS="hidden=kept").stdout.splitlines()
        assert lines[0].startswith("tm_device_") and not lines[1].startswith("tm_device_")
        lines = run(app, MODE="kept").stdout.splitlines()
        assert not any(line.startswith("tm_device_") for line in lines)

    def test_check_compares_and_leaves_what_kept_computed(self, app: Path) -> None:
        ran = run(app, MODE="check")
        assert "check: twice: 1 launches, 1 equal, 0 different" in ran.stderr
        assert ran.stdout.splitlines()[-1].split()[0] == "4"
        wrong = run(app, MODE="check", standin_wrong="1")
        assert "check: twice, launch 1: x[3] (float32) is 8 kept, 9 as simt" in wrong.stderr
        assert wrong.stdout.splitlines()[-1] == ran.stdout.splitlines()[-1]

    def test_record_saves_launches_with_their_memory(self, app: Path, tmp_path: Path) -> None:
        run(app, MODE="record", RECORD=str(tmp_path / "saved"))
        for name, count in (("twice", 2), ("left", 2), ("hidden", 1)):
            folder = tmp_path / "saved" / f"{name}-1"
            saved = json.loads((folder / "launch.json").read_text())
            assert len(saved["arguments"]) == count
            sizes = [r["bytes"] for r in saved["regions"]]
            assert 32 in sizes and (folder / f"after-{sizes.index(32)}.bin").stat().st_size == 32

    def test_nothing_is_checked_during_a_stream_capture(self, app: Path) -> None:
        ran = run(app, "32", "capture", MODE="check")
        assert "2 launches, 1 equal, 0 different, 1 not checked (inside a stream capture)" in (
            ran.stderr
        )


def test_level_loop_is_refused_for_a_gpu(tmp_path: Path) -> None:
    from hipify_tile.build.arguments import NoObjectError

    (tmp_path / "main.cu").write_text(PROGRAM)
    (unit,) = discover([tmp_path]).units
    fact = next(f for f in analyze_unit(unit).kernels if f.name == "left")
    assert fact.kernel is not None
    (result,) = emit_levels(fact.kernel, levels=(Level.LOOP,))
    assert result.emission is not None
    with pytest.raises(NoObjectError, match="one thread"):
        device_code(fact.kernel, result.emission, [Shape((32, 1, 1))], arch="sm_90")
