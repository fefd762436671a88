"""Cut the block loops of TileLang's C output, so that several threads can share a grid.

    for (int32_t bx = 0; bx < gx; ++bx) {          tm_run(first, last):
      for (int32_t by = 0; by < gy; ++by) {   →      for (uint64_t tm_block = first; …) {
        body                                           const int32_t bx = …, by = …; body

The cut is made only where the text has exactly the structure that block loops have: everything else
gives None, and the kernel runs as one piece.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from hipify_tile.build.bounds import tighten
from hipify_tile.build.conversions import defined
from hipify_tile.build.thread_loops import rewrite

_LOOP = re.compile(
    r"^(?P<indent> *)for \(int32_t (?P<var>\w+) = 0; (?P=var) < (?P<extent>.+); \+\+(?P=var)\) \{$"
)
_LET = re.compile(r"^ *(?:int32_t|int64_t|bool) \w+ = [^;=]+;$")
_ARRAY = re.compile(r"^ *\w+ \w+\[\d+\];$")
_LEAVES = re.compile(r"\b(?:return|goto)\b")


@dataclass(frozen=True, slots=True)
class BlockFunction:
    """C++ text of two functions with the lowered function's parameters.

    ``count`` returns the number of blocks; ``run`` executes blocks [tm_first, tm_last).
    """

    count: str
    run: str
    fast: str = ""


@dataclass(frozen=True, slots=True)
class Freedom:
    """What the kernel allows: see ``thread_loops.rewrite``."""

    threads: bool
    interleave: bool
    per_thread: bool


def cut(
    source: str,
    entry: str,
    signature: str,
    variables: tuple[str, ...],
    freedom: Freedom | None = None,
) -> BlockFunction | None:
    """Cut the function ``entry`` of ``source`` along the loops over ``variables``.

    ``signature`` is the C++ parameter list for the new functions. None if the text is unexpected.
    With ``freedom`` there is a fast function too, where the text allows it.
    """
    body = function_body(source, entry)
    if body is None or not variables:
        return None
    lines = body.splitlines()
    while lines and not lines[-1].strip():
        lines.pop()
    if not lines or lines.pop().strip() != "return 0;":
        return None
    locals_: list[str] = []
    lets: list[str] = []
    loops: list[tuple[str, str]] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        loop = _LOOP.match(line)
        if loop is not None and loop["var"] in variables:
            if _END.format(indent=loop["indent"]) != lines[len(lines) - 1 - len(loops)]:
                return None
            loops.append((loop["var"], loop["extent"]))
        elif _ARRAY.match(line) and not loops:
            locals_.append(line)
        elif _LET.match(line) and len(loops) < len(variables):
            lets.append(line)
        else:
            break
        at += 1
    if tuple(v for v, _ in loops) != variables:
        return None
    inner = lines[at : len(lines) - len(loops)]
    types = {**_types(signature, lets, locals_), **dict.fromkeys(variables, "int32_t")}
    inner = defined(inner, types)
    text = "\n".join(inner)
    if _LEAVES.search(text) or _leaves_block(inner):
        return None
    words = set(re.findall(r"\w+", " ".join([*lets, *(e for _, e in loops)])))
    if words & set(variables):  # an extent that differs between blocks
        return None
    extents = [f"  const uint64_t tm_n{i} = (uint64_t)({e});" for i, (_, e) in enumerate(loops)]
    total = " * ".join(f"tm_n{i}" for i in range(len(loops)))
    divisor = ""
    indices = []
    for i, (name, _) in enumerate(loops):  # the first variable, blockIdx.x, runs fastest
        indices.append(f"    const int32_t {name} = (int32_t)(tm_block{divisor} % tm_n{i});")
        divisor += f" / tm_n{i}"
    count = "\n".join(
        [f"static uint64_t tm_count({signature}) {{", *lets, *extents, f"  return {total};", "}"]
    )
    tail = ", uint64_t tm_first, uint64_t tm_last"
    run = "\n".join(
        [
            f"static void tm_run({signature}{tail}) {{",
            *locals_,
            *lets,
            *extents,
            "  for (uint64_t tm_block = tm_first; tm_block < tm_last; ++tm_block) {",
            *indices,
            *tighten(inner, signature),
            "  }",
            "}",
        ]
    )
    fast = _fast(signature, [*lets, *extents], indices, inner, locals_, variables, freedom)
    return BlockFunction(count, run, fast)


def _types(signature: str, lets: list[str], arrays: Sequence[str] = ()) -> dict[str, str]:
    """The types of parameters, of ``type name = …;`` and of the elements of ``type name[n];``."""
    types = {}
    declared = [line.partition(" =")[0] for line in lets]
    declared += [line.partition("[")[0] for line in arrays]
    for parameter in [*signature.split(", "), *declared]:
        type_, _, name = parameter.strip().rpartition(" ")
        types[name] = type_.removeprefix("const ").removesuffix("*")
    return types


def _fast(
    signature: str,
    lets: list[str],
    indices: list[str],
    inner: list[str],
    locals_: list[str],
    variables: tuple[str, ...],
    freedom: Freedom | None,
) -> str:
    """``tm_run_fast``, whose pointers do not overlap; "" where the body is not understood."""
    if freedom is None:
        return ""
    body = rewrite(
        inner,
        locals_,
        _types(signature, lets),
        threads=freedom.threads,
        interleave=freedom.interleave,
        block=variables,
        per_thread=freedom.per_thread,
    )
    if body is None:
        return ""
    apart = re.sub(r"\* (\w+)", r"* __restrict__ \1", signature)
    end: list[str] = []
    start: list[str] = []
    first = variables[0]
    if body.joined:
        names = ", ".join(p.rpartition(" ")[2] for p in signature.split(", "))
        start.append(f"  if (tm_n0 * (uint64_t)({body.joined}) > INT32_MAX)")
        start.append(f"    return tm_run({names}, tm_first, tm_last);")
        end.append("    const uint64_t tm_more = tm_last - tm_block;")
        end.append(
            f"    const int32_t tm_bx_end = (int32_t)(tm_more < tm_n0 - {first} "
            f"? {first} + tm_more : tm_n0);"
        )
    return "\n".join(
        [
            f"static void tm_run_fast({apart}, uint64_t tm_first, uint64_t tm_last) {{",
            *(f"  {line}" for line in body.locals),
            *lets,
            *start,
            "  for (uint64_t tm_block = tm_first; tm_block < tm_last;) {",
            *indices,
            *end,
            *(f"    {line}" for line in body.lines),
            f"    tm_block += {f'tm_bx_end - {first}' if body.joined else '1'};",
            "  }",
            "}",
        ]
    )


_END = "{indent}}}"


def function_body(source: str, entry: str) -> str | None:
    """Return the text between the braces of the definition of ``entry``, which ends the source."""
    head = re.search(rf"^int32_t {re.escape(entry)}\([^;{{]*\) \{{\n", source, re.M)
    if head is None:
        return None
    end = source.find("\n}\n", head.end())
    return source[head.end() : end] if end >= 0 else None


def _leaves_block(lines: list[str]) -> bool:
    """Whether a ``break`` or ``continue`` belongs to no loop inside the block."""
    loops: list[bool] = []
    for line in lines:
        for token in re.findall(
            r"\b(?:for|while|do)\b[^{};]*\{|\bfor \(.*\{|\{|\}|\bbreak\b|\bcontinue\b", line
        ):
            if token.endswith("{"):
                loops.append(token != "{")
            elif token == "}":
                if not loops:
                    return True
                loops.pop()
            elif not any(loops):
                return True
    return False
