import pytest
from analyzer_units import analyze

MACROS = """
#define CHECK(x) do { cudaError_t e_ = (x); if (e_) return e_; } while (0)
#define LAUNCH(k, g, b, ...) k<<<(g), (b)>>>(__VA_ARGS__)
#define NAME scale<int, float>
#define ROUND_TRIP(p, n) cudaMalloc(&p, n); cudaFree(p)
template <class A, class B> __global__ void scale(A* a, int n, B f) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = a[i] * f;
}
int run(int* a, int n) {
  LAUNCH((scale<int, double>), (n + 31) / 32, 32, a, n, 2.0);
  NAME<<<dim3{1, 2}, 64>>>(a, n, 3.0f);
  CHECK(cudaMemset(a, 0, n));
  CHECK(cudaGetLastError()); CHECK(cudaDeviceSynchronize());
  int* q; ROUND_TRIP(q, 16);
  return 0;
}
"""


def at(text, word, nth=0):
    position = -1
    for _ in range(nth + 1):
        position = text.index(word, position + 1)
    return position


def test_launches_and_calls_inside_macros_have_true_positions(tmp_path):
    found = analyze(tmp_path, MACROS)
    assert [k.spelling for k in found.kernels] == ["scale<int, double>", "scale<int, float>"]
    assert all(k.kernel is not None for k in found.kernels)
    first, second = found.launches
    assert first.span.in_macro and first.span.start == at(MACROS, "LAUNCH((")
    assert MACROS[first.span.start : first.span.end].endswith("2.0)")
    assert second.grid[1] is not None and second.grid[1].value == 2
    assert second.grid_text == "dim3{1, 2}"
    starts = {(c.api, c.span.start) for c in found.calls}
    assert ("cudaMemset", at(MACROS, "cudaMemset")) in starts
    assert ("cudaDeviceSynchronize", at(MACROS, "cudaDeviceSynchronize")) in starts
    whole = at(MACROS, "ROUND_TRIP(q")
    assert {("cudaMalloc", whole), ("cudaFree", whole)} <= starts
    assert len(found.calls) == 5
    assert not found.diagnostics


def test_bytes_of_any_encoding_keep_their_offsets(tmp_path):
    text = (
        b"\xef\xbb\xbf// caf\xe9\r\n"
        b'static const char* s = "\xe9 <<< __global__";\r\n'
        b"__global__ void k(float* a) { a[0] = 1; } // \xe9 __global__\r\n"
        b"int main() { float* p; cudaMalloc(&p, 4); k<<<1, 2>>>(p); }\r\n"
    )
    found = analyze(tmp_path, text)
    assert [k.name for k in found.kernels] == ["k"] and not found.diagnostics
    kernel, launch = found.kernels[0], found.launches[0]
    assert text[kernel.span.start : kernel.span.end] == b"k"
    assert text[launch.span.start : launch.span.end] == b"k<<<1, 2>>>(p)"
    assert kernel.cuda_source == "__global__ void k(float* a) { a[0] = 1; }"
    body = found.host_bodies[0]
    assert text[body.start : body.end] == b"{ float* p; cudaMalloc(&p, 4); k<<<1, 2>>>(p); }"


def test_names_of_instances(tmp_path):
    found = analyze(
        tmp_path,
        """
namespace ns { enum class E { A, B };
namespace { struct Q {}; template <class T, bool B, unsigned U, E e> __global__ void k(T* a) {} }
void f() { k<Q, true, 7u, E::B><<<1, 1>>>(nullptr); } }
__global__ void o(int* a) {}
__global__ void o(float* a) {}
extern "C" __global__ void plain(int) {}
template <int (*F)(int)> __global__ void through(int* a) {}
template <class... T> __global__ void pack(T... t) {}
__host__ __device__ int sq(int x) { return x * x; }
template <class F> __global__ void functor(F f) {}
int main() { through<sq><<<1, 1>>>(0); pack<<<1, 1>>>(1, 2.0);
  struct L {}; functor<<<1, 1>>>(L{}); }
template <class T, int N> __global__ void explicitly(T* a) { a[0] = N; }
template __global__ void explicitly<double, 3>(double*);
""",
    )
    spelled = {k.mangled: k.spelling for k in found.kernels}
    assert spelled == {
        "_ZN2ns12_GLOBAL__N_11kINS0_1QELb1ELj7ELNS_1EE1EEEvPT_": "ns::k<ns::Q, true, 7, (ns::E)1>",
        "_Z1oPi": "*static_cast<void (*)(int *)>(o)",
        "_Z1oPf": "*static_cast<void (*)(float *)>(o)",
        "plain": "plain",
        "_Z7throughIXadL_Z2sqiEEEvPi": "through<&sq>",
        "_Z4packIJidEEvDpT_": "pack<int, double>",
        "_Z7functorIZ4mainE1LEvT_": "",
        "_Z10explicitlyIdLi3EEvPT_": "explicitly<double, 3>",
    }
    assert len({k.id for k in found.kernels}) == len(found.kernels)


def test_kernels_through_pointers_tables_and_parameters(tmp_path):
    found = analyze(
        tmp_path,
        """
__global__ void a(int* p) {}
__global__ void b(int* p) {}
typedef void (*Kernel)(int*);
static void start(Kernel k, int* p) { k<<<3, 4>>>(p); }
template <Kernel K> void wrap(int* p) { K<<<5, 6>>>(p); }
void unknown(Kernel k, int* p) { k<<<7, 8>>>(p); }
int main() {
  int* p = nullptr;
  Kernel table[] = {a, b};
  table[1]<<<1, 2>>>(p);
  start(b, p);
  wrap<a>(p);
  void* args[] = {&p};
  cudaLaunchKernel((void*)a, dim3(9), dim3(10), args, 0, 0);
}
""",
    )
    by_block = {}
    for launch in found.launches:
        by_block.setdefault(launch.block[0].value, []).append(launch)
    assert {n: [x.kernel_name for x in xs] for n, xs in by_block.items()} == {
        2: ["a", "b"],
        4: ["b"],
        6: ["a"],
        8: ["k"],
        10: ["a"],
    }
    assert not by_block[8][0].resolved
    assert by_block[10][0].pointer_roots == ("main:p",)
    assert [d.code for d in found.diagnostics] == ["TM1202"]


def test_templates_are_followed_into_specialisations_or_reported(tmp_path):
    found = analyze(
        tmp_path,
        """
template <class T, int N> __global__ void k(T* a) { __shared__ T s[N]; s[0] = a[0]; a[1] = s[0]; }
template <class T> __global__ void never(T* a) { a[0] = 1; }
template <class T> struct Runner {
  T* data;
  void go() { inner<8>(); }
  template <int N> void inner() { k<T, N><<<1, N>>>(data); }
  void unused() { never<T><<<1, 1>>>(data); }
};
int main() { Runner<float> r; r.go(); Runner<int> s; s.go(); }
""",
    )
    assert sorted(k.spelling for k in found.kernels if k.kernel) == ["k<float, 8>", "k<int, 8>"]
    lacking = [k for k in found.kernels if k.kernel is None]
    assert [(k.name, [d.code for d in k.diagnostics]) for k in lacking] == [("never", ["TM1201"])]
    assert [d.code for d in found.diagnostics] == ["TM1202"]
    assert len(found.launches) == 2


def test_symbols(tmp_path):
    found = analyze(
        tmp_path,
        "namespace n { __device__ float d[3]; __constant__ int c; }\n"
        "__managed__ double m;\nextern __constant__ float e[2];\nfloat host;\n",
    )
    assert [(s.qualified, s.kind, s.type) for s in found.symbols] == [
        ("n::d", "device", "float[3]"),
        ("n::c", "constant", "int"),
        ("m", "managed", "double"),
        ("e", "constant", "float[2]"),
    ]
    assert [s.qualified for s in found.symbols if not s.defined] == ["e"]


HOST = """
#include <vector>
#define MADE(name) int name() { return 1; }
struct S { int n; S(int a) : n(a) { n += 1; } int get() const { return n; } };
constexpr int twice(int x) { return 2 * x; }
auto deduced() { return 3; }
auto trailing() -> int { return 4; }
template <class T> T generic(T x) { return x; }
MADE(made)
int at_start() { return 5; }
static int initial = at_start();
__device__ int device(int x) { return twice(x); }
__host__ __device__ int both(int x) { return x; }
__global__ void k(int* a) { a[0] = device(both(1)); }
#if 1
int guarded() {
#else
int guarded(int) {
#endif
  return 6;
}
int defines() {
#define LATER 7
  return 7;
}
int main() { auto f = [](int x) { return x; }; std::vector<int> v(3); return f(initial); }
"""


@pytest.mark.parametrize(
    "header, stripped",
    [
        ("template <auto K, class... A> void f(A &&...a)", True),
        ("template <class T> void f(std::array<T, 2> a)", True),
        ("void f(auto x)", True),
        ("auto f(int x) -> int", True),
        ("auto f(int x)", False),
        ("decltype(auto) f(int x)", False),
        ("template <auto K> auto f(int x)", False),
        ("constexpr int f(int x)", False),
    ],
)
def test_bodies_that_say_the_return_type_stay(tmp_path, header, stripped):
    body = "" if "void" in header else "return 1;"
    text = f"#include <array>\n{header} {{ {body} }}\n"
    assert bool(analyze(tmp_path, text).host_bodies) is stripped


def test_only_pure_host_bodies_are_stripped(tmp_path):
    found = analyze(tmp_path, HOST)
    assert not found.diagnostics
    texts = [HOST.encode()[b.start : b.end].decode() for b in found.host_bodies]
    assert texts == [
        "{ n += 1; }",
        "{ return n; }",
        "{ return 4; }",
        "{ return x; }",
        HOST[HOST.index("{ auto f") :].strip(),
    ]


@pytest.mark.parametrize("launch", ["k<<<n, 1>>>(p)", "(k)<<<n, 1>>>(p)", "(*&k)<<<n, 1>>>(p)"])
def test_spellings_of_a_launch(tmp_path, launch):
    text = f"__global__ void k(int* p) {{ p[0] = 1; }}\nvoid f(int* p, int n) {{ {launch}; }}\n"
    found = analyze(tmp_path, text)
    assert [x.kernel_name for x in found.launches] == ["k"] and not found.diagnostics
