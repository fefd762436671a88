"""CUDA-compatible headers and native libraries. Locates them; loads nothing at import."""

from __future__ import annotations

from pathlib import Path


def include_dir() -> Path:
    """Return the folder of our CUDA headers (declarations for libclang and g++)."""
    return Path(__file__).resolve().parent / "include"


def runtime_source_dir() -> Path:
    """Return the folder of the CPU executor's C++ sources."""
    return Path(__file__).resolve().parent / "runtime" / "src"
