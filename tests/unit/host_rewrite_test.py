"""Host rewriting: what each launch, kernel and declaration becomes, byte for byte."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from hipify_tile.analyzer.analyze import analyze_unit
from hipify_tile.analyzer.model import CompileUnit, UnitAnalysis
from hipify_tile.compat import include_dir
from hipify_tile.rewriter.emit.host import HostRewrite, rewrite_host

LAUNCHES = [
    ("k<<<g, b>>>(x);", "TM_LAUNCH((k), (g, b), (x))"),
    ("k<float, 4><<<g, b, 0, s>>>(x, y);", "TM_LAUNCH((k<float, 4>), (g, b, 0, s), (x, y))"),
    ("k << <g, b, 0, s >> >(x);", "TM_LAUNCH((k ), ( g, b, 0, s ), (x))"),
    ("k<4> <<  < g, b>>  > (x, n >> 1);", "TM_LAUNCH((k<4> ), (   g, b),   (x, n >> 1))"),
    ("ns::k<<<1, 1>>> (x);", "TM_LAUNCH((ns::k), (1, 1), (x))"),
    ("::k<<<1, 1>>>();", "TM_LAUNCH((::k), (1, 1), ())"),
    ("if (n) k<<<1, 1>>>(x);", "if (n) TM_LAUNCH((k), (1, 1), (x))"),
    ("if (n) (fp)<<<1, 1>>>(x);", "if (n) TM_LAUNCH(((fp)), (1, 1), (x))"),
    ("table[i].run<<<1, 1>>>(x);", "TM_LAUNCH((table[i].run), (1, 1), (x))"),
    ("p->run<<<1, 1>>>(x);", "TM_LAUNCH((p->run), (1, 1), (x))"),
    ("pick<T>(n)<<<1, 1>>>(x);", "TM_LAUNCH((pick<T>(n)), (1, 1), (x))"),
    ("k<<<n < 64 ? n : 64, 8>>>(x);", "TM_LAUNCH((k), (n < 64 ? n : 64, 8), (x))"),
    ("k<<<{1, 2}, {32}>>>(x);", "TM_LAUNCH((k), ({1, 2}, {32}), (x))"),
    ("k<<<a<b<c<1>>>(2), 3>>>(x);", "TM_LAUNCH((k), (a<b<c<1>>>(2), 3), (x))"),
    ("return k<<<1, 1>>>(x), 0;", "return TM_LAUNCH((k), (1, 1), (x))"),
    ("k<<<g, /* ) */ b>>>(\")\");", 'TM_LAUNCH((k), (g, /* ) */ b), (")"))'),
    ("k /*a*/ <<<g,\\\n b>>>\\\n(x);", "TM_LAUNCH((k /*a*/ ), (g,\\\n b),\\\n(x))"),
    ("#define L(k, ...) k##_t<<<1, 1>>>(__VA_ARGS__)\n",
     "#define L(k, ...) TM_LAUNCH((k##_t), (1, 1), (__VA_ARGS__))"),
    ("#define CFG(g, b) <<<g, b>>>\n",
     "#define CFG(g, b) TM_CONFIGURATION( /* tile-migrate: <<< */ g, b)"),
]  # fmt: skip


def _text_only(source: str) -> HostRewrite:
    unit = CompileUnit("/p/a.cu", "/p")
    analysis = UnitAnalysis(unit, (), (), (), (), (), ("/p/a.cu",), ())
    return rewrite_host([analysis], {"/p/a.cu": source.encode()}, line_of=False)


@pytest.mark.parametrize(("source", "expected"), LAUNCHES)
def test_launch(source: str, expected: str) -> None:
    content = _text_only(source).files["/p/a.cu"].content.decode()
    first, _, rest = content.partition("\n")
    assert first.startswith('#include "tm_rewritten.h"')
    assert rest.startswith(expected)


def test_no_launch_is_seen_where_there_is_none() -> None:
    source = 'std::ostream &operator<<<T>(S &s); // k<<<1, 1>>>(x)\nputs("k<<<1, 1>>>(x)");\n'
    source += (
        'cout << "a" << f<int>(x) << /* > */ << y; cin >> a /* */ >> b; x = cout << "b" < y;\n'
    )
    assert not _text_only(source).files


def test_unfinished_launch_is_refused() -> None:
    (problem,) = _text_only("int f() { k<<<1, 2; }").diagnostics
    assert problem.code == "TM6001"


def _rewrite(folder: Path, source: bytes) -> bytes:
    path = folder / "a.cu"
    path.write_bytes(source)
    analysis = analyze_unit(CompileUnit(str(path), str(folder), root=str(folder)))
    outcome = rewrite_host([analysis], {str(path): source}, line_of=False)
    assert not outcome.diagnostics
    return outcome.files[str(path)].content


def test_kernels_get_an_entry(tmp_path: Path) -> None:
    source = b"""\
template <class T, int, class... A> __global__ void k(T *x, int, A... rest) { }
template <class T> __global__ void s(T *x) { }
template <> __global__ void s<float>(float *x) { }
__global__ void only_declared(int n);
extern "C" __global__ void none() {}
"""
    text = _rewrite(tmp_path, source).decode()
    assert "template <class T, int tm_t1 , class... A>" in text
    assert "int tm_p1 , A... rest) { TM_KERNEL_ENTRY((k<T, tm_t1, A...>), " in text
    assert "(decltype(x), decltype(tm_p1), decltype(rest)...), (x, tm_p1, rest...))" in text
    assert "TM_KERNEL_ENTRY((s<T>), " in text
    assert "TM_KERNEL_ENTRY((s<float>), " in text
    assert "TM_KERNEL_ENTRY((none), (), ())" in text
    assert "only_declared(int n);" in text


def test_dynamic_shared_memory(tmp_path: Path) -> None:
    source = b"""\
extern __shared__ double outer[];
template <class T> __global__ void k(T *x) {
  extern __shared__ __align__(16) unsigned char raw[];
  extern volatile __shared__ float rows[][4];
  x[0] = (T)(raw[0] + rows[1][2] + outer[3]);
}
"""
    text = _rewrite(tmp_path, source).decode()
    assert "extern __shared__ double outer[];" in text
    assert "TM_DYNAMIC_SHARED(raw, , __align__(16) unsigned char) /*" in text
    assert "TM_DYNAMIC_SHARED(rows, [4], volatile float) /*" in text
    assert "/* tile-migrate: kernel */ TM_DYNAMIC_SHARED_VIEW(outer) /*" in text


@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
@pytest.mark.parametrize("head", [b"", b"\xef\xbb\xbf"])
def test_other_bytes_stay(tmp_path: Path, newline: bytes, head: bytes) -> None:
    lines = (b"// caf\xe9", b"__global__ void k(int *x)", b"{ *x = 1; }",
             b"void f(int *x) { k<<<1, 1>>>(x); }\t ", b"")  # fmt: skip
    source = head + newline.join(lines)
    content = _rewrite(tmp_path, source)
    assert content.startswith(head + b'#include "tm_rewritten.h"')
    assert content.count(newline) == source.count(newline) + 1
    for piece in (b"// caf\xe9", b"__global__ void k(int *x)" + newline, b" *x = 1; }", b"}\t "):
        assert piece in content


def test_a_second_time_changes_nothing(tmp_path: Path) -> None:
    source = b"__global__ void k(int *x) { *x = 1; }\nvoid f(int *x) { k<<<1, 1>>>(x); }\n"
    once = _rewrite(tmp_path, source)
    path = tmp_path / "a.cu"
    path.write_bytes(once)
    arguments = ("-I", str(include_dir()))
    analysis = analyze_unit(CompileUnit(str(path), str(tmp_path), arguments, root=str(tmp_path)))
    assert [k.kernel is not None for k in analysis.kernels] == [True]
    assert not rewrite_host([analysis], {str(path): once}, line_of=False).files


def test_ptx_is_kept_from_the_assembler(tmp_path: Path) -> None:
    source = b"""\
__global__ void lane(unsigned *x) {
  unsigned v;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(v));
  x[0] = v;
}
unsigned host() { unsigned v = 0; asm volatile("nop" : "+r"(v)); return v; }
"""
    content = _rewrite(tmp_path, source)
    assert content.count(b"TM_DEVICE_ASM(asm volatile") == 1
    path = tmp_path / "b.cpp"
    path.write_bytes(content)
    command = ["g++", "-std=c++17", "-w", f"-I{include_dir()}", "-include", "tm_cuda_prelude.h"]
    subprocess.run([*command, "-c", str(path), "-o", str(tmp_path / "b.o")], check=True)
