"""Guards of innermost loops become loop bounds, so that the compiler vectorises without masks.

    for (int32_t i = 0; i < 1024; ++i) {        low, high from the guard in 64 bits
      if (((bx * 1024) + i) < n) { body }   →   for (int32_t i = low; i < high; ++i) { body }
    }

Only conjunctions of int32 comparisons are taken, in which the loop's variable stands alone or as
the last summand of one side. Where that sum could wrap, the loop runs as written.
"""

from __future__ import annotations

import re

_LOOP = re.compile(
    r"^(?P<pad> *)for \(int32_t (?P<var>\w+) = 0; (?P=var) < (?P<extent>\w+); \+\+(?P=var)\) \{$"
)
_IF = re.compile(r"^ *if \((?P<cond>.+)\) \{$")
_COMPARE = re.compile(r" (<=?) ")
_ALLOWED = re.compile(r"[\w\s()+*<=-]+")
_DECLARED = re.compile(r"\b(\w+) (\w+) = ")


def tighten(lines: list[str], signature: str) -> list[str]:
    """Return ``lines`` with the guards of innermost loops made bounds, where that is possible.

    ``signature`` is the enclosing function's parameter list, which gives the types of names.
    """
    names = _int32_names(lines, signature)
    out: list[str] = []
    at = 0
    while at < len(lines):
        found = _guarded_loop(lines, at)
        bounds = None
        if found is not None:
            head, condition, end = found
            bounds = _bounds(condition, head["var"], head["extent"], names)
        if found is None or bounds is None:
            out.append(lines[at])
            at += 1
            continue
        head, _, end = found
        pad, var = head["pad"], head["var"]
        out += [f"{pad}{{", *(f"{pad}  {line}" for line in bounds)]
        out.append(f"{pad}  if (tm_plain) {{")
        loop = f"for (int32_t {var} = (int32_t)tm_low; {var} < (int32_t)tm_high; ++{var}) {{"
        out += [f"{pad}  {loop}", *lines[at + 2 : end - 1], f"{pad}  }}", f"{pad}  }} else {{"]
        out += [*lines[at : end + 1], f"{pad}  }}", f"{pad}}}"]
        at = end + 1
    return out


def _guarded_loop(lines: list[str], at: int) -> tuple[re.Match[str], str, int] | None:
    """The loop at ``at`` if its body is one ``if`` without loops: head, condition, last line."""
    head = _LOOP.match(lines[at])
    guard = _IF.match(lines[at + 1]) if head is not None and at + 1 < len(lines) else None
    if head is None or guard is None or not lines[at + 1].startswith(head["pad"] + "  if"):
        return None
    for end in range(at + 2, len(lines) - 1):
        line = lines[end]
        if re.search(r"\b(?:for|while|do|goto)\b", line):
            return None
        if line.startswith(head["pad"] + "  }"):
            closed = line == head["pad"] + "  }" and lines[end + 1] == head["pad"] + "}"
            return (head, guard["cond"], end + 1) if closed else None
    return None


def _int32_names(lines: list[str], signature: str) -> frozenset[str]:
    types: dict[str, set[str]] = {}
    for parameter in signature.split(", "):
        type_, _, name = parameter.rpartition(" ")
        types.setdefault(name, set()).add(type_)
    for line in lines:
        for type_, name in _DECLARED.findall(line):
            types.setdefault(name, set()).add(type_)
    # Block variables are int32 too; the cut declares them.
    return frozenset(n for n, t in types.items() if t == {"int32_t"}) | {"bx", "by", "bz"} - {
        n for n, t in types.items() if t != {"int32_t"}
    }


def _bounds(cond: str, var: str, extent: str, names: frozenset[str]) -> list[str] | None:
    """Statements that set tm_low, tm_high and tm_plain; None where the guard is no range."""
    words = set(re.findall(r"[A-Za-z_]\w*", f"{cond} {extent}"))
    if not words <= names or re.search(r"\d\w*[a-zA-Z.]", cond):
        return None
    lines = [f"int64_t tm_low = 0, tm_high = {extent}; bool tm_plain = true;"]
    ranges = 0
    for term in _conjuncts(cond):
        if not _ALLOWED.fullmatch(term):
            return None
        sides = _sides(term)
        if sides is None:
            return None
        left, op, right = sides
        inside = [bool(re.search(rf"\b{var}\b", side)) for side in (left, right)]
        if not any(inside):
            lines.append(f"if (!({term})) tm_high = 0;")
            continue
        base = _base(left if inside[0] else right, var)
        if all(inside) or base is None:
            return None
        other = right if inside[0] else left
        difference = f"(int64_t)({other}) - (int64_t)({base})"
        if inside[0]:
            value = f"{difference} + {int(op == '<=')}"
            lines.append(f"if ({value} < tm_high) tm_high = {value};")
        else:
            value = f"{difference} + {int(op == '<')}"
            lines.append(f"if ({value} > tm_low) tm_low = {value};")
        lines.append(f"tm_plain = tm_plain && (int64_t)({base}) + {extent} <= 2147483647;")
        ranges += 1
    lines.append(f"if (tm_high < 0) tm_high = 0; if (tm_low > {extent}) tm_low = {extent};")
    return lines if ranges else None


def _conjuncts(cond: str) -> list[str]:
    """The operands of ``&&``, nested ones too."""
    cond = _bare(cond)
    parts = _split(cond, " && ")
    if len(parts) == 1:
        return parts
    return [term for part in parts for term in _conjuncts(part)]


def _sides(term: str) -> tuple[str, str, str] | None:
    found = [m for m in _COMPARE.finditer(term) if _depth(term, m.start()) == 0]
    if len(found) != 1:
        return None
    return _bare(term[: found[0].start()]), found[0][1], _bare(term[found[0].end() :])


def _base(side: str, var: str) -> str | None:
    """``P`` of ``P + var``; "0" for ``var`` alone."""
    if side == var:
        return "0"
    base, plus, last = side.rpartition(" + ")
    if not plus or _bare(last) != var or _depth(side, len(base)) != 0:
        return None
    return None if re.search(rf"\b{var}\b", base) else base


def _bare(text: str) -> str:
    text = text.strip()
    while text.startswith("(") and text.endswith(")") and _closes(text) == len(text) - 1:
        text = text[1:-1].strip()
    return text


def _closes(text: str) -> int:
    depth = 0
    for i, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if depth == 0:
            return i
    return -1


def _depth(text: str, at: int) -> int:
    return text.count("(", 0, at) - text.count(")", 0, at)


def _split(text: str, mark: str) -> list[str]:
    parts: list[str] = []
    start = 0
    for found in re.finditer(re.escape(mark), text):
        if _depth(text, found.start()) == 0:
            parts.append(text[start : found.start()])
            start = found.end()
    return [*parts, text[start:]]
