"""Large files, large libraries and code left out: analysis looks at what may hold device code."""

from pathlib import Path

from analyzer_units import cache_folder

from hipify_tile.analyzer import clang_parse
from hipify_tile.analyzer.analyze import analyze_unit
from hipify_tile.analyzer.inventory_text import Lines
from hipify_tile.analyzer.model import CompileUnit

KERNEL = "__global__ void k{0}(float* a, int n) {{ if (threadIdx.x < n) a[threadIdx.x] += {0}; }}\n"


def unit(path: Path, root: Path, *args: str) -> CompileUnit:
    return CompileUnit(str(path), str(path.parent), args, str(root))


def test_lines_of_a_file_are_indexed_once_however_many_kernels_it_holds(tmp_path, monkeypatch):
    indexed = []
    original = Lines.__init__

    def counting(self, source):
        indexed.append(len(source))
        original(self, source)

    monkeypatch.setattr(Lines, "__init__", counting)
    main = tmp_path / "main.cu"
    main.write_text("".join(KERNEL.format(i) for i in range(40)))
    found = analyze_unit(unit(main, tmp_path), cache=cache_folder())
    assert [k.span.line for k in found.kernels] == list(range(1, 41))
    # Twice: the inventory's, and that of the calls that only the text shows.
    assert len(indexed) <= 2


def test_headers_outside_the_root_are_walked_only_for_device_code(tmp_path):
    root, library = tmp_path / "project", tmp_path / "library"
    root.mkdir()
    library.mkdir()
    (library / "plain.h").write_text("inline int twice(int n) { return 2 * n; }  // __global__\n")
    (library / "device.cuh").write_text(
        "#define BOTH __host__ __device__\n"
        "__global__ void theirs(int* p) { p[0] = 1; }\n"
        "BOTH inline int thrice(int n) { return 3 * n; }\n"
    )
    (root / "own.h").write_text("inline int four() { return 4; }\n")
    main = root / "main.cu"
    main.write_text(
        '#include "plain.h"\n#include "device.cuh"\n#include "own.h"\n'
        "__global__ void ours(int* p) { p[0] = thrice(p[1]); }\n"
        "int main() { int* p; cudaMalloc(&p, 8); ours<<<four(), twice(2)>>>(p); }\n"
    )
    found = analyze_unit(unit(main, root, "-I", str(library)), cache=cache_folder())
    assert {k.name for k in found.kernels} == {"ours", "theirs"}
    assert all(k.kernel is not None for k in found.kernels)
    assert {Path(f).name for f in found.user_files} == {"main.cu", "own.h", "device.cuh"}
    assert not found.diagnostics


def test_kernels_left_out_by_a_macro_are_reported_once_a_file(tmp_path):
    main = tmp_path / "main.cu"
    main.write_text(
        "#ifdef WITH_GPU\n__global__ void a(int* p) { p[0] = 1; }\n"
        "__global__ void b(int* p) { p[0] = 1; }\n#else\n"
        "__global__ void other(int* p) { p[0] = 2; }\n#endif\n"
        "#if 0\n__global__ void old(int* p) { p[0] = 3; }\n#endif\n"
        "#if __CUDA_ARCH__ < 300\n__global__ void other(int* p) { p[0] = 4; }\n#endif\n"
    )
    found = analyze_unit(unit(main, tmp_path), cache=cache_folder())
    (note,) = found.diagnostics
    assert (note.code, note.span.line) == ("TM0012", 2)
    assert note.headline == "a and 1 more left out by #ifdef WITH_GPU"
    found = analyze_unit(unit(main, tmp_path, "-DWITH_GPU"), cache=cache_folder())
    assert [d.headline for d in found.diagnostics] == ["other left out by #else"]


def test_a_unit_is_parsed_again_only_where_precompiled_headers_may_be_the_cause(
    tmp_path, monkeypatch
):
    tried = []
    every = clang_parse._preludes

    def counted(*arguments):
        for attempt in every(*arguments):
            tried.append(attempt)
            yield attempt

    monkeypatch.setattr(clang_parse, "_preludes", counted)
    own = "struct A {}; void f(A); void f(A, int = 0); void g(A a) { f(a); }\n"
    standard = "#include <vector>\nusing namespace std;\nint size; int g() { return size; }\n"
    file = tmp_path / "k.cu"
    for text, parses in ((own, 1), ("#include <vector>\n" + own, 1), (standard, 2)):
        tried.clear()
        file.write_text(text)
        unit = CompileUnit(str(file), str(tmp_path), ("-std=c++17",))
        found = clang_parse.parse(unit, cache_dir=cache_folder())
        assert len(tried) == parses, text
        assert any("ambiguous" in e.notes[0] for e in found.errors), found.errors
