"""Guards made loop bounds: the same elements are touched, also where index arithmetic wraps."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from hipify_tile.build.blocks import cut
from hipify_tile.build.bounds import tighten

GUARDS = [
    "(((bx * step) + i) < n)",
    "((lo <= ((bx * step) + i)) && (((bx * step) + i) <= n))",
    "(((0 < i) && (i < (n - 1))) && (lo < n))",
    "((lo < (i)) && ((i) < 900))",
]
SIGNATURE = "int32_t* out, int32_t grid_x, int32_t n, int32_t lo, int32_t step"
TEXT = """\
int32_t k_kernel({signature}) {{
  for (int32_t bx = 0; bx < grid_x; ++bx) {{
    for (int32_t i = 0; i < 1000; ++i) {{
      if {guard} {{
        out[i] = out[i] + bx + 1;
      }}
    }}
  }}
  return 0;
}}
"""
MAIN = """\
int main() {
  static int32_t a[1000], b[1000];
  const int32_t values[] = {-2147483647 - 1, -2147483000, -5, 0, 1, 7, 500, 999, 1000, 1001,
                            1073741824, 2147483000, 2147483647};
  for (int32_t n : values) for (int32_t lo : values) for (int32_t step : values) {
    memset(a, 0, sizeof a), memset(b, 0, sizeof b);
    k_kernel(a, 4, n, lo, step);
    tm_run(b, 4, n, lo, step, 0, tm_count(b, 4, n, lo, step));
    if (memcmp(a, b, sizeof a) != 0) return printf("%d %d %d\\n", n, lo, step), 1;
  }
}
"""


@pytest.mark.parametrize("guard", GUARDS)
def test_bounds_equal_guards(tmp_path: Path, guard: str) -> None:
    text = TEXT.format(guard=guard, signature=SIGNATURE)
    found = cut(text, "k_kernel", SIGNATURE, ("bx",))
    assert found is not None
    assert "tm_plain" in found.run
    source = tmp_path / "a.cpp"
    includes = "#include <stdint.h>\n#include <stdio.h>\n#include <string.h>\n"
    source.write_text(f"{includes}{text}{found.count}\n{found.run}\n{MAIN}")
    command = ["g++", "-O1", "-w", "-fwrapv", str(source), "-o", str(tmp_path / "a")]
    subprocess.run(command, check=True)
    done = subprocess.run([tmp_path / "a"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    "guard",
    [
        "(t[0] < n)",  # memory may change
        "((i * 2) < n)",
        "((n - i) < lo)",
        "((i < n) || (i < lo))",
        "((i + i) < n)",
        "((i / n) < lo)",
        "(((int64_t)i) < n)",
        "(i < size)",  # of a type that is not known
        "(i == n)",
        "!(i < n)",
    ],
)
def test_other_guards_stay(guard: str) -> None:
    lines = TEXT.format(guard=guard, signature=SIGNATURE).splitlines()
    assert tighten(lines, SIGNATURE) == lines
