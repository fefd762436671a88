"""Calls that are barriers of the block, and those that are not."""

from pathlib import Path

import pytest
from imported import kernels_of

from hipify_tile.ir.stmt import Barrier

KERNEL = """
__global__ void k(int *p, unsigned n) {{
  __shared__ int s[64];
  s[threadIdx.x] = p[threadIdx.x];
  {call};
  p[threadIdx.x] = s[63 - threadIdx.x];
}}
"""


@pytest.mark.parametrize(
    ("call", "code"),
    [
        ("__syncthreads()", None),
        ("__barrier_sync(0)", None),
        ("__barrier_sync(1)", "TM1105"),
        ("__barrier_sync(n)", "TM1105"),
        ("__barrier_sync_count(0, 64)", "TM1105"),
        ("__syncthreads_or(n)", "TM1105"),
    ],
)
def test_only_barrier_zero_is_a_barrier_of_the_block(
    call: str, code: str | None, tmp_path: Path
) -> None:
    path = tmp_path / "k.cu"
    path.write_text(KERNEL.format(call=call))
    ((_, result),) = kernels_of(path)
    assert [d.code for d in result.diagnostics] == ([code] if code else [])
    if code is None:
        assert sum(isinstance(s, Barrier) for s in result.kernel.body) == 1
