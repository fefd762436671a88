"""The format of ``case.toml``: what tile-migrate must conclude about a folder of CUDA sources.

Sample programs (``expected.toml``) use its ``[[kernel]]`` tables. A kernel table holds ``name``,
``verdict`` (one, or a list of allowed ones), ``level`` (the lowest acceptable rung), ``not_level``
(a rung it must not reach), ``codes`` (diagnostics it must carry) and ``instances``. Whole programs
add ``why`` a kernel stays, ``order = "any"`` where its threads race for places of their results or
add floats, ``launched = false`` where the program leaves it out on a CPU, and a ``[program]``
table: how many ``devices`` it runs on.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

RUNGS = ("simt", "loop", "tile")
Json = dict[str, Any]


def load(path: Path) -> Json:
    """Return the parsed expectations; a misspelt key must not make a check vanish."""
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    known = {
        "title", "cases", "alone", "exit", "launches", "calls", "calls_exact", "diagnostics",
        "files", "distinct_ids", "kernel", "program",
    }  # fmt: skip
    assert set(data) <= known, f"{path}: unknown keys {set(data) - known}"
    kernel_keys = {"name", "verdict", "level", "not_level", "codes", "instances"}
    kernel_keys |= {"order", "why", "launched"}
    for kernel in data.get("kernel", []):
        assert set(kernel) <= kernel_keys, f"{path}: unknown keys {set(kernel) - kernel_keys}"
        assert {"name", "verdict"} <= set(kernel), f"{path}: a kernel lacks name or verdict"
    return data


def kernel_problems(expected: list[Json], found: list[Json]) -> list[str]:
    """Compare the kernels of a JSON report with the expectations; return what differs."""
    problems = []
    names = {kernel["name"] for kernel in expected}
    problems += [f"unexpected kernel {k['id']}" for k in found if k["name"] not in names]
    for want in expected:
        instances = [k for k in found if k["name"] == want["name"]]
        if len(instances) != want.get("instances", 1):
            problems.append(
                f"{want['name']}: {len(instances)} instances, expected {want.get('instances', 1)}"
            )
        for kernel in instances:
            problems += _instance_problems(want, kernel)
    return problems


def _instance_problems(want: Json, kernel: Json) -> list[str]:
    problems = []
    allowed = want["verdict"] if isinstance(want["verdict"], list) else [want["verdict"]]
    found = f"{kernel['id']}: {kernel['verdict']} at {kernel['level']}, {kernel['diagnostics']}"
    if kernel["verdict"] not in allowed:
        problems.append(f"{found}; expected {' or '.join(allowed)}")
    level = kernel["level"]
    if "level" in want and (level is None or RUNGS.index(level) < RUNGS.index(want["level"])):
        problems.append(f"{found}; expected level {want['level']} or above")
    if level is not None and level == want.get("not_level"):
        problems.append(f"{found}; must not reach level {level}")
    missing = Counter(want.get("codes", [])) - Counter(kernel["diagnostics"])
    problems += [f"{found}; expected {code}" for code in missing]
    return problems
