"""``Report`` → JSON, schema 1 (``schema1.json`` beside this module is its JSON Schema).

Paths are relative to the report's root. Additions to the schema are allowed, removals are not.
"""

from __future__ import annotations

import json
import math
from importlib.resources import files
from typing import Any

from hipify_tile.diagnostics.paths import base_directory, relative_to
from hipify_tile.diagnostics.render import json as diagnostic_json
from hipify_tile.report.assemble import exit_code, exit_reasons
from hipify_tile.report.model import KernelReport, LevelReport, Report, Verdict
from hipify_tile.verify.model import Verification

SCHEMA = 1


def schema() -> dict[str, Any]:
    """Return the JSON Schema of schema 1."""
    text = files("hipify_tile.report").joinpath("schema1.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def render(report: Report) -> str:
    """Return the report as JSON text, keys in a fixed order, with a final newline."""
    return json.dumps(as_dict(report), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def as_dict(report: Report) -> dict[str, Any]:
    """Return the report as plain data."""
    base = base_directory(report.root)
    tool = report.tool
    return {
        "schema": SCHEMA,
        "tool": {
            "name": tool.name,
            "version": tool.version,
            "tilelang": tool.tilelang,
            "libclang": tool.libclang,
        },
        "root": report.root,
        "command": list(report.command),
        "files": [
            {"path": relative_to(f.path, base), "status": f.status, "ms": round(f.ms, 1)}
            for f in report.files
        ],
        "kernels": [_kernel(k, base) for k in report.kernels],
        "launches": [
            {
                "kernel": x.kernel,
                "file": relative_to(x.file, base),
                "line": x.line,
                "grid": x.grid,
                "block": x.block,
                "smem": x.smem,
                "stream": x.stream,
                "resolved": x.resolved,
            }
            for x in report.launches
        ],
        "calls": [
            {"api": c.api, "library": c.library, "count": c.count, "status": c.status}
            for c in report.calls
        ],
        "diagnostics": [diagnostic_json.as_dict(d, base) for d in report.diagnostics],
        "exit": {"status": exit_code(report), "reasons": exit_reasons(report)},
        "totals": {
            "kernels": {
                "all": len(report.kernels),
                **{v.value: report.count(v) for v in Verdict},
            },
            "launches": len(report.launches),
            "calls": sum(c.count for c in report.calls),
            "loc": report.loc,
            "seconds": round(report.seconds, 2),
            "suppressed": report.suppressed,
        },
    }


def _kernel(k: KernelReport, base: str) -> dict[str, Any]:
    return {
        "id": k.id,
        "name": k.name,
        "mangled": k.mangled,
        "file": relative_to(k.file, base),
        "line": k.line,
        "template_args": list(k.template_args),
        "instance_of": k.instance_of or None,
        "verdict": k.verdict.value,
        "level": k.level.value if k.level else None,
        "levels": {item.level.value: _level(item) for item in k.levels},
        "targets": {target.value: level for target, level in k.targets},
        "targets_executed": [t.value for t in k.executed],
        "verification": _verification(k.verification),
        "programs": [
            {
                "source": e.source,
                "level": e.level or None,
                "equal": e.equal,
                "different": e.different,
                "unchecked": e.unchecked,
                "first": e.first or None,
                "reason": e.reason or None,
                "outdated": e.outdated,
                "tolerance": _finite(e.tolerance),
            }
            for e in k.programs
        ],
        "loc_cuda": k.loc_cuda,
        "loc_tilelang": k.loc_tilelang,
        "diagnostics": [d.code for d in k.diagnostics],
        "effort": k.effort.value,
        "extra": dict(k.extra),
    }


def _level(item: LevelReport) -> dict[str, Any]:
    return {
        "emitted": item.emission is not None,
        "verified": item.verified,
        "diagnostics": [d.code for d in item.diagnostics],
    }


def _verification(v: Verification | None) -> dict[str, Any] | None:
    if v is None:
        return None
    return {
        "outcome": v.outcome.value,
        "inputs": v.inputs,
        "seed": v.seed,
        "max_abs_error": _finite(v.max_abs_error),
        "max_rel_error": _finite(v.max_rel_error),
        "tolerance": v.tolerance,
        "executor": v.executor,
        "seconds": round(v.seconds, 3),
        "cases": list(v.cases),
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
