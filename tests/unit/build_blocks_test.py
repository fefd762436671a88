"""Cutting block loops: the expected text is cut, every other structure is left in one piece."""

from __future__ import annotations

import pytest

from hipify_tile.build.blocks import cut

GOOD = """\
int32_t k_kernel(float* x, int32_t grid_x, int32_t grid_y, int32_t n);
int32_t k_kernel(float* x, int32_t grid_x, int32_t grid_y, int32_t n) {
  float t[4];
  int32_t v_ = n + 1;
  for (int32_t bx = 0; bx < grid_x; ++bx) {
    int32_t v_1 = grid_y * 2;
    for (int32_t by = 0; by < v_1; ++by) {
      while (1) {
        if (!((x[bx] < v_))) { break; }
        x[bx] = x[bx] + t[0];
      }
    }
  }
  return 0;
}
"""
SIGNATURE = "float* x, int32_t grid_x, int32_t grid_y, int32_t n"


def test_loops_become_ranges() -> None:
    found = cut(GOOD, "k_kernel", SIGNATURE, ("bx", "by"))
    assert found is not None
    assert "return tm_n0 * tm_n1;" in found.count
    assert "const int32_t bx = (int32_t)(tm_block % tm_n0);" in found.run
    assert "const int32_t by = (int32_t)(tm_block / tm_n0 % tm_n1);" in found.run
    assert found.run.count("{") == found.run.count("}")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("int32_t v_ = n + 1;", "t[0] = 1.0f;"),  # state before the loops
        ("    int32_t v_1 = grid_y * 2;", "    x[0] = 1.0f;"),  # work between the loops
        ("by < v_1", "by < bx"),  # an extent that differs between blocks
        ("      while (1) {", "      {"),  # a break out of a block loop
        ("        x[bx] = x[bx] + t[0];", "        return 0;"),
        ("  return 0;\n}\n", "  x[0] = 1.0f;\n  return 0;\n}\n"),  # work behind the loops
        ("++bx", "bx += 2"),
    ],
)
def test_other_structures_are_not_cut(old: str, new: str) -> None:
    assert old in GOOD
    assert cut(GOOD.replace(old, new, 1), "k_kernel", SIGNATURE, ("bx", "by")) is None


def test_other_variables_are_not_cut() -> None:
    assert cut(GOOD, "k_kernel", SIGNATURE, ("by", "bx")) is None
    assert cut(GOOD, "k_kernel", SIGNATURE, ()) is None
