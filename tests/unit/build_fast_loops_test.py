"""Fast loops compute what plain ones do: wrapping indices, empty ranges, guards of all kinds."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from hipify_tile.build.blocks import Freedom, cut
from hipify_tile.build.vector_loops import SUPPORT

SIGNATURE = (
    "int32_t* out, int32_t* in, int32_t block_x, int32_t block_y, int32_t block_z, "
    "int32_t grid_x, int32_t grid_y, int32_t grid_z, int32_t n, int32_t m"
)
HEAD = """\
int32_t k_kernel({signature}) {{
  int32_t i[1];
  int32_t sum[1];
  int32_t s[1];
{tile}  for (int32_t bx = 0; bx < grid_x; ++bx) {{
    for (int32_t by = 0; by < grid_y; ++by) {{
      for (int32_t bz = 0; bz < grid_z; ++bz) {{
{body}
      }}
    }}
  }}
  return 0;
}}
"""
NEST = """\
for (int32_t tz{0} = 0; tz{0} < block_z; ++tz{0}) {{
  for (int32_t ty{0} = 0; ty{0} < block_y; ++ty{0}) {{
    for (int32_t tx{0} = 0; tx{0} < block_x; ++tx{0}) {{
{1}
    }}
  }}
}}
"""
X, Y = "((bx * block_x) + tx)", "((by * block_y) + ty)"
# Guards keep accesses in range; the values of n and m include the extremes of int32. No two threads
# write one element: their order is free.
POINT = f"""\
if (((0 <= (({Y} * 400) + {X})) && ((({Y} * 400) + {X}) < 4096)) && ({X} < n)) {{
  if ((({X} == 0) || ({Y} == m)) || ({X} == (n - 1))) {{
    out[(({Y} * 400) + {X})] = 7;
  }} else {{
    out[(({Y} * 400) + {X})] = (in[(({Y} * 400) + {X})] + {X});
  }}
}}
"""
CLAMP = f"""\
int32_t v_ = {X} + m;
int32_t v__1 = (v_) > (0) ? (v_) : (0);
int32_t v__2 = (v__1) < (255) ? (v__1) : (255);
if ((({X} <= n) && ((({Y} * 400) + {X}) < 4096)) && (0 <= (({Y} * 400) + {X}))) {{
  out[(({Y} * 400) + {X})] = in[((int64_t)v__2)];
}}
"""
SHORT = f"""\
i[0] = {X};
sum[0] = 0;
for (int32_t d = -1; d < 2; ++d) {{
  sum[0] = (sum[0] + in[((((int64_t)i[(int64_t)0]) & (int64_t)1023) + ((int64_t)(d + 1)))]);
}}
if (i[0] < n) {{
  if ((0 <= i[0]) && (i[0] < 4096)) {{
    out[i[(int64_t)0]] = sum[0];
  }}
}}
"""
LOOP = f"""\
sum[0] = 0;
for (int32_t k = 0; k < (n & 31); ++k) {{
  sum[0] = (sum[0] + (in[((int64_t)k)] * in[((((int64_t)k) * (int64_t)64) + ((int64_t)tx))]));
}}
out[((({Y} * 400) + {X}) & 4095)] = sum[0];
"""
RAGGED = f"""\
sum[0] = 1;
for (int32_t k = 0; k < (((n & 255) - tx) >> 3); ++k) {{
  sum[0] = (sum[0] + in[((((int64_t)k) * (int64_t)8) + ((int64_t)tx))]);
}}
out[((({Y} * 400) + {X}) & 4095)] = sum[0];
"""
STRIDED = """\
i[0] = ((bx * 8) + tx);
while (1) {
  if (!((i[0] < n))) { break; }
  if (!((i[0] < 2048))) { break; }
  out[(i[0] & 4095)] = (out[(i[0] & 4095)] + in[(i[0] & 1023)]);
  i[0] = (i[0] + (block_x + 64));
}
"""
COUNTED = """\
i[0] = ((bx * 8) + tx);
while (1) {
  if (!((i[0] < (m & 1023)))) { break; }
  out[i[(int64_t)0]] = (out[i[(int64_t)0]] + in[i[(int64_t)0]]);
  i[0] = (i[0] + (block_x + n));
}
"""
TREE = (
    NEST.format("", "tile[tx] = in[((bx * 7) + tx)];")
    + "s[0] = 32;\nwhile (1) {\n  if (!((0 < s[0]))) { break; }\n"
    + NEST.format(
        "_1",
        "if (tx_1 < s[0]) {\n"
        "tile[tx_1] = (tile[tx_1] + tile[(((int64_t)tx_1) + ((int64_t)s[(int64_t)0]))]);\n}",
    )
    + "  s[0] = (s[0] >> 1);\n}\n"
    + NEST.format("_2", "if (tx_2 == 0) {\nout[(bx & 4095)] = tile[0];\n}")
)
BODIES = {
    "point": NEST.format("", POINT),
    "clamp": NEST.format("", CLAMP),
    "short": NEST.format("", SHORT),
    "loop": NEST.format("", LOOP),
    "ragged": NEST.format("", RAGGED),
    "strided": NEST.format("", STRIDED),
    "counted": NEST.format("", COUNTED),
    "tree": TREE,
}
MAIN = """\
static int32_t in[8192], a[8192], b[8192];
int main() {{
  const int32_t values[] = {{-2147483647 - 1, -2147483000, -5, 0, 1, 7, 63, 64, 500, 1001,
                            1073741824, 2147483000, 2147483647}};
  const int32_t blocks[][2] = {{{{1, 1}}, {{16, 2}}, {{64, 1}}, {{33, 3}}}};
  for (int i = 0; i < 8192; ++i) in[i] = i * 2654435761u;
  for (int32_t n : values) for (int32_t m : values) for (auto &block : blocks) {{
    if ({skip}) continue;
    const int32_t bx = block[0], by = block[1];
    memset(a, 1, sizeof a), memset(b, 1, sizeof b);
    const uint64_t count = tm_count(a, in, bx, by, 1, 5, 3, 1, n, m);
    tm_run(a, in, bx, by, 1, 5, 3, 1, n, m, 0, count);
    tm_run_fast(b, in, bx, by, 1, 5, 3, 1, n, m, 0, 4);
    tm_run_fast(b, in, bx, by, 1, 5, 3, 1, n, m, 4, count);
    if (memcmp(a, b, sizeof a) != 0) return printf("%d %d %d\\n", n, m, bx), 1;
  }}
}}
"""
SKIP = {"counted": "n < -1 || n > 2000000", "tree": "block[0] != 64"}
INCLUDES = "#include <math.h>\n#include <stdint.h>\n#include <stdio.h>\n#include <string.h>\n"


@pytest.mark.parametrize("name", BODIES)
def test_fast_blocks_compute_what_blocks_do(tmp_path: Path, name: str) -> None:
    lines = "\n".join("        " + line for line in BODIES[name].splitlines())
    tile = "  int32_t tile[64];\n" if name == "tree" else ""
    text = HEAD.format(signature=SIGNATURE, body=lines, tile=tile)
    freedom = Freedom(threads=True, interleave=True, per_thread=False)
    found = cut(text, "k_kernel", SIGNATURE, ("bx", "by", "bz"), freedom)
    assert found is not None
    assert "tm_run_fast" in found.fast
    expected = {
        "loop": "tm_strip",
        "ragged": "_rises",
        "counted": "_rises",
        "point": "tm_bx_end",
        "clamp": "tm_linear",
    }
    assert expected.get(name, "") in found.fast
    source = tmp_path / "a.cpp"
    main = MAIN.format(skip=SKIP.get(name, "false"))
    source.write_text(f"{INCLUDES}{SUPPORT}{found.count}\n{found.run}\n{found.fast}\n{main}")
    command = ["g++", "-O1", "-w", "-fwrapv", "-fsanitize=address", str(source)]
    subprocess.run([*command, "-o", str(tmp_path / "a")], check=True)
    done = subprocess.run([tmp_path / "a"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr[:2000]


FLOATS = f"""\
float v_ = a[{X}];
if ({X} < n) {{
  out[{X}] = (((v_ - b[{X}]) + (c * v_)) + ((float){X}));
}}
"""


def test_sums_of_floats_keep_their_order() -> None:
    types = "block_x", "block_y", "block_z", "grid_x", "grid_y", "grid_z", "n"
    parts = ["float* out", "float* a", "float* b", "float c", *(f"int32_t {t}" for t in types)]
    signature = ", ".join(parts)
    lines = "\n".join("        " + line for line in NEST.format("", FLOATS).splitlines())
    text = HEAD.format(signature=signature, body=lines, tile="")
    freedom = Freedom(threads=True, interleave=True, per_thread=False)
    found = cut(text, "k_kernel", signature, ("bx", "by", "bz"), freedom)
    assert found is not None and "tm_bx_end" in found.fast
    sums = [line for line in found.fast.splitlines() if "out[" in line]
    assert sums
    for line in sums:
        subtracted, added, last = line.index("- b["), line.index("+ (c *"), line.index("(float)")
        assert subtracted < added < last, line
