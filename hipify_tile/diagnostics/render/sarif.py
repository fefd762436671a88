"""Diagnostics → SARIF 2.1.0, as code-scanning services read it.

URIs are relative to ``SRCROOT``. A fingerprint holds the code, the file and the text of the
line, so an alert survives edits elsewhere in the file; equal ones are numbered. A rule carries its
page as help text, so that the log needs no address of a documentation site.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from hipify_tile.diagnostics import page
from hipify_tile.diagnostics.model import Diagnostic, Edit, Severity
from hipify_tile.diagnostics.paths import relative_to
from hipify_tile.diagnostics.registry import REGISTRY
from hipify_tile.diagnostics.source import SourceLines, decode
from hipify_tile.ir.span import Span

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVEL = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}


def render(diagnostics: Iterable[Diagnostic], base: str, *, version: str) -> str:
    """Return a SARIF log of the tool at ``version``."""
    return json.dumps(as_dict(diagnostics, base, version=version), indent=2) + "\n"


def as_dict(diagnostics: Iterable[Diagnostic], base: str, *, version: str) -> dict[str, Any]:
    """Return the SARIF log as plain data."""
    found = list(diagnostics)
    rules = sorted({d.code for d in found})
    seen: Counter[str] = Counter()
    results = [_result(d, base, rules, seen) for d in found]
    driver = {
        "name": "tile-migrate",
        "version": version,
        "semanticVersion": version,
        "rules": [_rule(code) for code in rules],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "utf16CodeUnits",
        "originalUriBaseIds": {"SRCROOT": {"description": {"text": "the root of the sources"}}},
        "results": results,
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(code: str) -> dict[str, Any]:
    row = REGISTRY[code]
    return {
        "id": code,
        "name": "".join(part.capitalize() for part in row.name.split("-")),
        "shortDescription": {"text": row.headline},
        "help": {
            "text": f"Run: tile-migrate explain {code}",
            "markdown": page.read(code).text,
        },
        "defaultConfiguration": {"level": _LEVEL[row.severity]},
    }


def _result(d: Diagnostic, base: str, rules: list[str], seen: Counter[str]) -> dict[str, Any]:
    text = " ".join((d.headline + ".", *d.notes, *((f"Help: {d.help}.",) if d.help else ())))
    result: dict[str, Any] = {
        "ruleId": d.code,
        "ruleIndex": rules.index(d.code),
        "level": _LEVEL[d.severity],
        "message": {"text": text},
        "partialFingerprints": {"tileMigrate/v1": _fingerprint(d, base, seen)},
    }
    if d.span is not None:
        result["locations"] = [_location(d.span, base)]
    if d.labels:
        result["relatedLocations"] = [
            {"id": i, "message": {"text": x.text}, **_location(x.span, base)}
            for i, x in enumerate(d.labels)
        ]
    if d.edits:
        result["fixes"] = [_fix(d.edits, base)]
    return result


def _location(span: Span, base: str) -> dict[str, Any]:
    return {
        "physicalLocation": {
            "artifactLocation": _artifact(span, base),
            "region": {"startLine": span.line, "startColumn": _utf16_column(span)},
        }
    }


def _artifact(span: Span, base: str) -> dict[str, Any]:
    path = relative_to(span.file, base)
    if path.startswith("/"):
        return {"uri": f"file://{quote(path)}"}
    return {"uri": quote(path, errors="surrogateescape"), "uriBaseId": "SRCROOT"}


def _fix(edits: Iterable[Edit], base: str) -> dict[str, Any]:
    changes = [
        {
            "artifactLocation": _artifact(edit.span, base),
            "replacements": [
                {
                    "deletedRegion": {
                        "byteOffset": edit.span.start,
                        "byteLength": edit.span.end - edit.span.start,
                    },
                    "insertedContent": {"text": edit.text},
                }
            ],
        }
        for edit in edits
    ]
    return {"artifactChanges": changes}


def _utf16_column(span: Span) -> int:
    source = SourceLines.read(span.file)
    if source is None or not 1 <= span.line <= len(source.lines):
        return max(span.column, 1)
    before = decode(source.lines[span.line - 1][: max(span.column - 1, 0)])
    return len(before.encode("utf-16-le")) // 2 + 1


def _fingerprint(d: Diagnostic, base: str, seen: Counter[str]) -> str:
    parts = [d.code, d.kernel.rpartition(":")[2]]
    if d.span is not None:
        source = SourceLines.read(d.span.file)
        parts += [relative_to(d.span.file, base)]
        parts += [source.text(d.span.line).strip() if source else str(d.span.line)]
    key = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:32]
    seen[key] += 1
    return f"{key}:{seen[key]}"
