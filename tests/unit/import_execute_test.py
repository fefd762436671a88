"""Import alone, by execution: the original kernel against the imported one printed as C++.

Each file of ``import_kernels`` holds kernels without cross-thread dependences. Both versions run on
the same random memory, thread by thread, and every byte must agree (a NaN's payload aside).
"""

import re
import subprocess
from pathlib import Path

import pytest
from imported import kernels_of
from simt_to_c import PRELUDE, Printer

FOLDER = Path(__file__).with_name("import_kernels")
FILES = sorted(FOLDER.glob("*.cu"))
BYTES = 8192
FLAGS = ["-std=c++17", "-O1", "-fwrapv", "-fno-strict-aliasing", "-ffp-contract=off"]
FLAGS += ["-w", "-fpermissive"]


def driver(cursor, kernel):
    """C++ that runs both versions of one kernel from the same state and compares."""
    name = kernel.name
    lines = [f"static int check_{name}() {{ int bad = 0; for (int seed = 0; seed < 6; ++seed) {{"]
    lines.append("srand(seed); static char memory[2][8][BYTES]; void *args[2][16];")
    calls = []
    for i, parameter in enumerate(cursor.get_arguments()):
        spelled = parameter.type.get_canonical().spelling
        if "*" in spelled:
            # Half the elements are small integers, so that indices and counts stay in range.
            element = re.sub(r"const |\*.*", "", spelled).strip()
            fill = f"fill<{element}>(memory[0][{i}], seed)"
            lines.append(f"{fill}; memcpy(memory[1][{i}], memory[0][{i}], BYTES);")
            for side in (0, 1):
                lines.append(f"static char *p{i}_{side}; p{i}_{side} = memory[{side}][{i}];")
                lines.append(f"args[{side}][{i}] = &p{i}_{side};")
            calls.append(f"*({spelled.replace('__restrict', '')}*)args[0][{i}]")
        else:
            plain = re.sub(r"\bconst ", "", spelled)
            lines.append(f"static char a{i}[64]; fill_scalar<{plain}>(a{i}, seed);")
            lines.append(f"args[0][{i}] = args[1][{i}] = a{i};")
            calls.append(f"*({plain}*)a{i}")
    lines.append("FOR_THREADS {")
    lines.append(f"SNAPSHOT {name}({', '.join(calls)}); imported_{name}(args[1]); }}")
    lines.append(f'bad += differ(memory, seed, "{name}"); }} return bad; }}')
    return "\n".join(lines)


HARNESS = r"""
enum { BYTES = 8192 };
template <class T> static void put(T *p, int i, int seed) {
  unsigned char *b = (unsigned char *)(p + i);
  if constexpr (std::is_integral_v<T>) { p[i] = (T)(rand() % 61 - (std::is_signed_v<T> ? 20 : 0)); }
  else if constexpr (std::is_floating_point_v<T>) {
    static const double special[] =
      {0.0, -0.0, INFINITY, -INFINITY, NAN, 1e30, 1e-30, -7.5, 16777217};
    int r = rand();
    p[i] = (T)((r & 15) == 0 && seed & 1 ? special[(r >> 4) % 9] : (r % 20001 - 10000) / 256.0);
  } else for (size_t k = 0; k + 4 <= sizeof(T); k += 4) *(float *)(b + k) = (rand() % 2001) / 64.0f;
}
template <class T> static void fill(char *m, int seed) {
  for (int i = 0; i < BYTES / (int)sizeof(T); ++i) put((T *)m, i, seed);
  if (std::is_integral_v<T> && seed == 5) for (int i = 0; i < BYTES; ++i) m[i] = (char)rand();
}
template <class T> static void fill_scalar(char *m, int seed) {
  put((T *)m, 0, 0);
  if constexpr (std::is_integral_v<T>) *(T *)m = (T)(seed == 0 ? 33 : rand() % 50);
}
static int differ(char memory[2][8][BYTES], int seed, const char *name) {
  for (int i = 0; i < 8; ++i)
    for (int at = 0; at < BYTES; at += 4) {
      unsigned a, b; memcpy(&a, memory[0][i] + at, 4); memcpy(&b, memory[1][i] + at, 4);
      if (a == b) continue;
      float fa, fb; memcpy(&fa, &a, 4); memcpy(&fb, &b, 4);
      if (fa != fa && fb != fb) continue;
      double da, db;
      memcpy(&da, memory[0][i] + (at & ~7), 8); memcpy(&db, memory[1][i] + (at & ~7), 8);
      if (da != da && db != db) continue;
      printf("%s: seed %d argument %d byte %d: %08x %08x\n", name, seed, i, at, a, b); return 1;
    }
  return 0;
}
#define SNAPSHOT
#define FOR_THREADS for (unsigned g = 0; g < 3; ++g) for (unsigned t = 0; t < 32; ++t) if ( \
  x_blockIdx[0] = g, x_threadIdx[0] = t % 16, x_threadIdx[1] = t / 16, x_blockDim[0] = 16, \
  x_blockDim[1] = 2, x_blockDim[2] = 1, x_gridDim[0] = 3, x_gridDim[1] = x_gridDim[2] = 1, true)
"""


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_imported_kernel_computes_the_same(path, tmp_path):
    results = list(kernels_of(path))
    assert [(c.spelling, r.diagnostics) for c, r in results if r.kernel is None] == []
    kernels = [(c, r.kernel) for c, r in results]
    assert kernels
    parts = [PRELUDE, HARNESS, path.read_text()]
    parts += [Printer(k).function(f"imported_{k.name}") for _, k in kernels]
    parts += [driver(c, k) for c, k in kernels]
    checks = " + ".join(f"check_{k.name}()" for _, k in kernels)
    parts.append(f"int main() {{ return ({checks}) != 0; }}")
    source, program = tmp_path / "both.cpp", tmp_path / "both"
    source.write_text("\n".join(parts))
    subprocess.run(["g++", *FLAGS, str(source), "-o", str(program)], check=True, timeout=120)
    run = subprocess.run([str(program)], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stdout + run.stderr
