"""The CPU formulas of the intrinsics table against our CUDA headers, bit for bit."""

import subprocess

from hipify_tile.compat import include_dir
from hipify_tile.ir.intrinsics import CPU_PRELUDE, CUDA_SPELLINGS
from hipify_tile.ir.types import BOOL, F32, F64, I32, I64, U32, U64

C = {F32: "float", F64: "double", I32: "int", U32: "unsigned", BOOL: "bool"}
C |= {I64: "long long", U64: "unsigned long long"}
FIXED = {
    I64: ("llmin", "llmax", "llabs", "labs", "__mul64hi"),
    U32: ("umin", "umax", "__umulhi", "__popc", "__clz", "__ffs", "__brev"),
    U64: ("ullmin", "ullmax", "__umul64hi", "__popcll", "__clzll", "__ffsll", "__brevll"),
    I32: ("__mulhi",),
}
GLIBC_ONLY = ("__isnan", "__isnanf", "__isinf", "__isinff", "__finite", "__finitef", "__signbitf")
HARNESS = r"""
template <class T> T any() {
  if constexpr (std::is_integral_v<T>) {
    T r = 0;
    for (int i = 0; i < 5; ++i) r = r * 65599u + rand();
    return rand() % 3 ? r : (T)(rand() % 40);
  } else {
    switch (rand() % 12) {
      case 0: return NAN;
      case 1: return INFINITY;
      case 2: return -0.0;
      case 3: return (T)(rand() % 5);
      case 4: return (T)((rand() % 20001 - 10000) / 1000.0);
      default: return (T)((rand() % 20001 - 10000) / 10000.0);
    }
  }
}
"""


def instances():
    for spelling, (row, type_) in CUDA_SPELLINGS.items():
        if spelling in GLIBC_ONLY:
            continue
        fixed = [t for t, names in FIXED.items() if spelling in names]
        for operand in fixed or ([type_] if type_ else row.types):
            yield spelling, row, operand


def check(spelling, row, type_):
    names = [f"a{i}" for i in range(row.arity)]
    types = [C[row.operand_type(i, type_)] for i in range(row.arity)]
    result = C[row.result_type(type_)]
    operands = " ".join(f"{t} {n} = any<{t}>();" for t, n in zip(types, names, strict=True))
    return (
        f"for (int it = 0; it < 400; ++it) {{ {operands} "
        f"{result} x = {spelling}({', '.join(names)}), y = {row.c_text(type_, *names)}; "
        f"if (memcmp(&x, &y, sizeof x) && !(x != x && y != y)) "
        f'{{ printf("{spelling} of {type_} differs\\n"); break; }} }}'
    )


def test_formulas_are_the_headers_functions(tmp_path):
    checks = "\n".join(check(*item) for item in instances())
    headers = "\n".join(f"#include <{h}>" for h in ("cmath", "cstdint", "cstdio", "cstring"))
    # A unit of CUDA leaves output to the runtime, which is not part of this program.
    output = "int puts(const char *t) { return fputs(t, stdout) + fputc('\\n', stdout); }\n"
    parts = (headers, "\n#include <cstdlib>\n", CPU_PRELUDE, HARNESS, output)
    text = f"{''.join(parts)}int main() {{\n{checks}\n}}\n"
    source, program = tmp_path / "all.cpp", tmp_path / "all"
    source.write_text(text)
    flags = ["-std=c++17", "-O1", "-fwrapv", "-ffp-contract=off", "-w"]
    prelude = ["-isystem", str(include_dir()), "-include", "tm_cuda_prelude.h"]
    command = ["g++", *flags, *prelude, str(source), "-o", str(program)]
    subprocess.run(command, check=True, timeout=120)
    run = subprocess.run([str(program)], capture_output=True, text=True, timeout=60)
    assert (run.returncode, run.stdout) == (0, "")
