from analyzer_units import analyze

from hipify_tile.ir.printer import print_expr


def shown(items):
    return [print_expr(i) if i is not None else None for i in items]


def facts(folder, host, kernel="__global__ void k(float* a, float* b, int n, float s) {}"):
    found = analyze(folder, f"#include <algorithm>\n#include <vector>\n{kernel}\n{host}\n")
    assert not [d for d in found.diagnostics if d.code == "TM0002"], found.diagnostics
    return found.launches


def test_single_definitions_fold_and_sizes_stay_symbols(tmp_path):
    (launch,) = facts(
        tmp_path,
        """
#define TILE 16
int main() {
  int n = 1000;
  const int t = 256;
  float *a, *b;
  cudaMalloc(&a, n * sizeof(float));
  cudaMalloc((void**)&b, 4 * TILE);
  int blocks = (n + t - 1) / t;
  k<<<blocks, t, t * sizeof(float)>>>(a, b, n, 0.5f);
}""",
    )
    assert shown(launch.grid) == ["uint32(((main:n + 256) - 1) / 256)", "uint32(1)", "uint32(1)"]
    assert shown(launch.block) == ["uint32(256)", "uint32(1)", "uint32(1)"]
    assert shown([launch.shared_bytes]) == ["uint64(1024)"]
    assert shown(launch.arguments) == [None, None, "main:n", "0.5f"]
    assert launch.hints == (("main:n", 1000),)
    assert launch.pointer_roots == ("main:a", "main:b", "", "")
    assert shown(launch.pointer_extents[:2]) == ["uint64(main:n) * uint64(4)", "uint64(64)"]
    assert (launch.grid_text, launch.block_text) == ("blocks", "t")


def test_forms_of_dim3(tmp_path):
    launches = facts(
        tmp_path,
        """
inline int up(int a, int b) { return (a + b - 1) / b; }
inline dim3 cover(int w, int h, dim3 b) { return dim3(up(w, b.x), up(h, b.y)); }
void f(float* p, int w, int h) {
  dim3 b(8, 4);
  dim3 braces = {(unsigned)up(w, 8), 2, 3};
  k<<<braces, b>>>(p, p, w, 0);
  k<<<cover(w, h, b), dim3(b.y, b.x, 2)>>>(p, p, w, 0);
  dim3 g; g.x = w / 2; g.y = std::min(h, 7);
  k<<<g, 1>>>(p, p, w, 0);
  k<<<w > 9 ? w : 9, b>>>(p, p, w, 0);
}""",
    )
    assert [shown(x.grid)[:2] for x in launches] == [
        ["uint32(((f:w + 8) - 1) / 8)", "uint32(2)"],
        ["uint32(((f:w + 8) - 1) / 8)", "uint32(((f:h + 4) - 1) / 4)"],
        ["uint32(f:w / 2)", "uint32((7 < f:h) ? 7 : f:h)"],
        ["uint32((f:w > 9) ? f:w : 9)", "uint32(1)"],
    ]
    assert [shown(x.block) for x in launches[:2]] == [
        ["uint32(8)", "uint32(4)", "uint32(1)"],
        ["uint32(4)", "uint32(8)", "uint32(2)"],
    ]


def test_parameters_are_followed_into_the_only_call(tmp_path):
    (launch,) = facts(
        tmp_path,
        """
static void start(float* x, float* y, int n) { k<<<(int)ceil(n / 64.0), 64>>>(x, y, n, 1); }
int main() { int m = 77; float* d; cudaMalloc(&d, m * 4); start(d, d, m); }""",
    )
    assert shown(launch.arguments)[2] == "main:m"
    assert launch.pointer_roots[:2] == ("main:d", "main:d")
    assert shown(launch.pointer_extents)[0] == "uint64(main:m * 4)"
    assert shown(launch.grid)[0] == "uint32(int32(ceil<float64>(float64(main:m) / 64.0)))"


def test_what_changes_is_not_folded(tmp_path):
    launches = facts(
        tmp_path,
        """
int total = 5;
void read(int& x);
int main(int argc, char** argv) {
  int n = 10, m = 20, o = 30;
  n = 40; ++m; read(o);
  int twice = n * 2;
  const int size = argc > 1 ? atoi(argv[1]) : 1024;
  std::vector<int> v(3);
  float* p = nullptr;
  for (int i = 0; i < 3; i++) k<<<i, n>>>(p, p + 1, m, o);
  k<<<twice, size>>>(p, p, total, 0);
  k<<<v.size(), 1>>>(p, p, argc, 0);
}""",
    )
    assert shown(launches[0].grid)[0] == "uint32(main:i)"
    assert shown(launches[0].block)[0] == "uint32(main:n)"
    assert shown(launches[0].arguments)[2:] == ["main:m", "float32(main:o)"]
    assert launches[0].pointer_roots[:2] == ("main:p", "main:p")
    assert shown(launches[1].grid)[0] == "uint32(main:n) * uint32(2)"
    assert dict(launches[1].hints)["main:size"] == 1024
    assert shown(launches[1].arguments)[2] == ":total"
    assert shown(launches[2].grid)[0] == "uint32(main:v.size())"


def test_reallocated_pointers_have_no_extent(tmp_path):
    (launch,) = facts(
        tmp_path,
        """
int main() {
  float *a, *b;
  cudaMalloc(&a, 4); cudaMalloc(&a, 8);
  b = a;
  k<<<1, 1>>>(a, b, 1, 1);
}""",
    )
    assert launch.pointer_extents[:2] == (None, None)
    assert launch.pointer_roots[:2] == ("main:a", "main:a")


def test_instances_have_facts_of_their_own(tmp_path):
    launches = facts(
        tmp_path,
        """
template <class T> __global__ void t(T* a) {}
template <class T, int N> void run() {
  T* p; cudaMalloc(&p, N * sizeof(T)); t<<<N, sizeof(T)>>>(p);
}
int main() { run<double, 3>(); run<char, 4>(); }""",
    )
    assert [(x.grid[0].value, x.block[0].value) for x in launches] == [(3, 8), (4, 1)]
    assert [x.pointer_extents[0].value for x in launches] == [24, 4]


def test_pointers_into_one_allocation_have_offsets(tmp_path):
    launches = facts(
        tmp_path,
        """
void wrap(float* x, float* y) { k<<<1, 1>>>(x, y, 1, 1); }
int main(int argc, char** argv) {
  int n = atoi(argv[1]);
  float *a, *b, *c;
  cudaMalloc(&a, n * 8); cudaMalloc(&b, n * 4); cudaMalloc(&c, n * 4);
  k<<<1, 1>>>(a, a + 1, n, 1);
  k<<<1, 1>>>(&a[n], 2 + a - 1, n, 1);
  float* half = a + n;
  k<<<1, 1>>>(half, a + rand(), n, 1);
  k<<<1, 1>>>(b, c, n, 1);
  c = b;
  wrap(a, b); wrap(b, a);
}""",
    )
    of = {f.span.line: f for f in launches}
    wrap, one, moved, half, two = (of[line] for line in sorted(of))
    assert one.pointer_roots[:2] == ("main:a", "main:a")
    assert shown(one.pointer_offsets[:2]) == ["int64(0)", "int64(4)"]
    assert shown(moved.pointer_offsets[:2]) == ["int64(main:n) * int64(4)", "int64(4)"]
    assert half.pointer_roots[:2] == ("main:a", "main:a")
    assert shown(half.pointer_offsets[:2]) == ["int64(main:n) * int64(4)", None]
    assert one.pointer_owned[:2] == (True, True)
    assert two.pointer_owned[:2] == (True, False), "c is also assigned b"
    assert wrap.pointer_owned[:2] == (False, False)


def test_settled_are_the_sizes_that_never_change(tmp_path):
    (launch,) = facts(
        tmp_path,
        """
int main(int argc, char** argv) {
  int n = 1000, total = 1;
  total *= argc;
  float *a, *b;
  cudaMalloc(&a, n * sizeof(float));
  cudaMalloc(&b, total * sizeof(float));
  k<<<4, 256>>>(a, b, n, 0.5f);
}""",
    )
    assert launch.hints == (("main:n", 1000), ("main:total", 1))
    assert launch.settled == ("main:n",)
