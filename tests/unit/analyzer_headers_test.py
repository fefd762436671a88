"""Headers that frameworks include exist, agree, and refuse what they only declare."""

import pytest
from analyzer_units import analyze

COMPLEX = """
#include <cusolver_common.h>
#include <cusolverDn.h>
#include <thrust/complex.h>
template <class T> struct mine {{
  T x, y;
  template <class U> operator thrust::complex<U>() const {{ return thrust::complex<U>(x, y); }}
}};
__global__ void k(float* p) {{
  thrust::complex<float> a(p[0], p[1]), b(p[2], 0.5f);
  a = {0};
  p[0] = a.real(); p[1] = a.imag();
}}
cusolverStatus_t status() {{ return CUSOLVER_STATUS_INVALID_VALUE; }}
int main() {{ float* p; cudaMalloc(&p, 12); k<<<1, 1>>>(p); }}
"""


def test_sums_of_thrust_complex_are_understood(tmp_path):
    found = analyze(tmp_path, COMPLEX.format("conj(a) - b"))
    assert not found.diagnostics
    assert found.kernels[0].kernel is not None


@pytest.mark.parametrize("value", ["a * b", "thrust::sqrt(a)", "thrust::polar(p[0], p[1])"])
def test_what_thrust_complex_only_declares_is_refused(tmp_path, value):
    found = analyze(tmp_path, COMPLEX.format(value))
    assert not found.diagnostics
    (kernel,) = found.kernels
    assert kernel.kernel is None and not kernel.unparsed
    assert {d.code for d in kernel.diagnostics} <= {"TM1103", "TM1104"}


def test_a_thrust_algorithm_in_a_kernel_is_refused_not_a_parse_error(tmp_path):
    found = analyze(
        tmp_path,
        """
#include <thrust/binary_search.h>
#include <thrust/execution_policy.h>
__global__ void k(const int* p, int n, bool* out) {
  out[0] = thrust::binary_search(thrust::seq, p, p + n, 3);
}
int main() { int* p; cudaMalloc(&p, 12); k<<<1, 1>>>(p, 3, nullptr); }
""",
    )
    assert not found.diagnostics
    (kernel,) = found.kernels
    assert not kernel.unparsed
    assert [d.code for d in kernel.diagnostics] in (["TM1103"], ["TM1104"])
