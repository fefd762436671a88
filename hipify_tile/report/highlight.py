"""Syntax colouring for the HTML report: CUDA C++ or Python text → HTML with five classes.

``k`` keyword, ``t`` type or built-in, ``n`` number, ``s`` string, ``c`` comment. It is lexical only
and never changes the text.
"""

from __future__ import annotations

import re

from markupsafe import Markup, escape

_CPP_KEYWORDS = (
    "alignas auto break case class const constexpr continue default delete do else enum extern for "
    "goto if inline namespace new operator private public return sizeof static static_cast "
    "struct switch template this typedef typename union using volatile while reinterpret_cast "
    "__global__ __device__ __host__ __shared__ __constant__ __restrict__ __forceinline__ "
    "__launch_bounds__ __syncthreads"
)
_CPP_TYPES = (
    "bool char double float int long short signed unsigned void half size_t int8_t int16_t int32_t "
    "int64_t uint8_t uint16_t uint32_t uint64_t dim3 float2 float4 int2 int4 threadIdx blockIdx "
    "blockDim gridDim true false nullptr"
)
_PYTHON_KEYWORDS = (
    "and as assert break class continue def del elif else except finally for from if import in is "
    "lambda not or pass raise return try while with yield"
)
_PYTHON_TYPES = "True False None bool float int str tuple range len min max T tilelang"

_CPP = re.compile(
    r"(?P<c>//[^\n]*|/\*.*?\*/)|(?P<s>\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')"
    r"|(?P<n>\b(?:0[xX][\da-fA-F']+|\d[\d']*\.?\d*(?:[eE][+-]?\d+)?)[fFuUlL]*\b)"
    r"|(?P<p>^[ \t]*#[^\n]*)|(?P<w>\b[A-Za-z_]\w*\b)",
    re.DOTALL | re.MULTILINE,
)
_PYTHON = re.compile(
    r"(?P<c>\#[^\n]*)|(?P<s>\"\"\".*?\"\"\"|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')"
    r"|(?P<n>\b\d+\.?\d*(?:[eE][+-]?\d+)?\b)|(?P<w>\b[A-Za-z_]\w*\b)",
    re.DOTALL,
)


def cuda(text: str) -> Markup:
    """Return CUDA C++ ``text`` as coloured HTML."""
    return _colour(text, _CPP, frozenset(_CPP_KEYWORDS.split()), frozenset(_CPP_TYPES.split()))


def python(text: str) -> Markup:
    """Return Python ``text`` as coloured HTML."""
    keywords, types = frozenset(_PYTHON_KEYWORDS.split()), frozenset(_PYTHON_TYPES.split())
    return _colour(text, _PYTHON, keywords, types)


def _colour(
    text: str, tokens: re.Pattern[str], keywords: frozenset[str], types: frozenset[str]
) -> Markup:
    out: list[Markup] = []
    position = 0
    for match in tokens.finditer(text):
        out.append(escape(text[position : match.start()]))
        word = match.group()
        kind = match.lastgroup or ""
        if kind == "w":
            kind = "k" if word in keywords else "t" if word in types else ""
        elif kind == "p":
            kind = "k"
        out.append(
            Markup('<span class="{}">{}</span>').format(kind, word) if kind else escape(word)
        )
        position = match.end()
    out.append(escape(text[position:]))
    return Markup("").join(out)
