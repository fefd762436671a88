"""TileLang-backed kernel libraries (GEMM, collectives) and their testing tools."""
