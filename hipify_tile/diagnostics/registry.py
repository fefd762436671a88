"""Every diagnostic code, with its name, default severity and default effort.

Codes are stable and never reused. Ranges: TM0xxx set-up and parsing, TM1xxx analysis, TM2xxx
raising and scheduling, TM3xxx libraries, TM4xxx ONNX, TM5xxx verification, TM6xxx host code and
building, TM9xxx our own bug.
Each code has a page ``docs/diagnostics/<code>.md``.
"""

from __future__ import annotations

from dataclasses import dataclass

from hipify_tile.diagnostics.model import Diagnostic, Effort, Label, Severity
from hipify_tile.ir.span import Span

_E, _W, _N = Severity.ERROR, Severity.WARNING, Severity.NOTE
_none, _min, _hours, _rewrite = Effort.NONE, Effort.MINUTES, Effort.HOURS, Effort.REWRITE


@dataclass(frozen=True, slots=True)
class Code:
    """A registered code: ``headline`` is the default text, which a site may replace."""

    code: str
    name: str
    severity: Severity
    effort: Effort
    headline: str


_TABLE = (
    # Set-up and parsing.
    Code("TM0001", "missing-header", _E, _min, "an included header was not found"),
    Code("TM0002", "parse-error", _E, _min, "the compiler front end reports an error"),
    Code("TM0003", "unreadable-file", _E, _min, "the file cannot be read as CUDA source"),
    Code("TM0004", "kernel-in-error", _E, _min, "a parse error lies inside this kernel"),
    Code(
        "TM0005", "dropped-flag", _N, _none, "a compiler flag has no meaning here and was dropped"
    ),
    Code("TM0006", "bad-configuration", _E, _min, "the configuration is not valid"),
    Code("TM0007", "no-system-headers", _W, _min, "no C++ standard library headers were found"),
    Code("TM0008", "header-conflict", _W, _hours, "a header's kernel differs between includers"),
    Code("TM0009", "no-sources", _E, _min, "no CUDA source was found"),
    Code("TM0010", "kept-by-request", _N, _none, "kept as CUDA because you asked for it"),
    Code("TM0011", "unused-suppression", _W, _min, "this suppression hides nothing"),
    Code("TM0012", "inactive-kernel", _W, _min, "a kernel stands in code left out by a macro"),
    Code("TM0013", "unmatched-pattern", _W, _min, "a pattern names no kernel"),
    Code("TM0014", "level-left-out", _N, _none, "only levels that were not asked for can be had"),
    # Analysis.
    Code("TM1001", "unsupported-statement", _E, _hours, "this statement is not supported"),
    Code("TM1002", "unsupported-expression", _E, _hours, "this expression is not supported"),
    Code("TM1003", "unsupported-type", _E, _hours, "this type is not supported"),
    Code("TM1004", "pointer-escapes", _E, _hours, "this pointer's buffer cannot be determined"),
    Code("TM1005", "type-punning", _E, _hours, "memory is accessed through an incompatible type"),
    Code("TM1101", "recursion", _E, _rewrite, "a device function calls itself"),
    Code("TM1102", "indirect-call", _E, _rewrite, "a device function is called through a pointer"),
    Code("TM1103", "no-body", _E, _hours, "a called device function has no body here"),
    Code("TM1104", "unknown-intrinsic", _E, _hours, "this device intrinsic is not supported"),
    Code("TM1105", "warp-operation", _E, _hours, "warp-level operations are not supported yet"),
    Code("TM1106", "inline-assembly", _E, _rewrite, "inline PTX assembly has no equivalent"),
    Code("TM1107", "texture", _E, _hours, "texture and surface access is not supported"),
    Code("TM1108", "device-side-effect", _E, _hours, "printf, assert or trap is not supported"),
    Code("TM1109", "cooperative-groups", _E, _hours, "cooperative groups are not supported yet"),
    Code("TM1110", "device-memory-management", _E, _rewrite, "device-side allocation or launch"),
    Code("TM1201", "not-instantiated", _W, _min, "a kernel template is never instantiated"),
    Code("TM1202", "unresolved-launch", _W, _min, "the kernel of a launch cannot be determined"),
    Code("TM1204", "divergent-barrier", _E, _hours, "barrier is reached by only some threads"),
    Code("TM1205", "unstructured-control", _E, _hours, "goto or irregular control flow"),
    # Raising and scheduling.
    Code("TM2001", "no-loop-level", _W, _hours, "the thread loop cannot be made explicit"),
    Code("TM2002", "not-raised", _N, _none, "no tile operation matches; kept as loops"),
    Code("TM2003", "reassociated", _N, _none, "a floating-point sum is reassociated"),
    Code("TM2401", "target-lacks-construct", _N, _none, "a target lacks a construct used here"),
    Code("TM2402", "emission-failed", _E, _hours, "TileLang does not accept the emitted program"),
    # Libraries.
    Code("TM3001", "library-call-unknown", _W, _hours, "this library call has no equivalent yet"),
    # Verification.
    Code("TM5001", "mismatch", _E, _hours, "the rewritten kernel computes other values"),
    Code("TM5002", "no-original", _W, _min, "the original cannot be built as C++ to compare with"),
    Code(
        "TM5003", "no-inputs", _W, _hours, "no inputs were found that keep the original in bounds"
    ),
    Code("TM5004", "order-dependent", _W, _hours, "the original's result depends on thread order"),
    Code("TM5005", "timeout", _W, _min, "execution took longer than the limit"),
    Code("TM5006", "no-compiler", _W, _min, "no C++ compiler was found; nothing was executed"),
    Code("TM5007", "not-observable", _W, _hours, "the inputs exercise too little of the kernel"),
    Code("TM5008", "not-executed", _N, _none, "verification was not asked for"),
    Code("TM5009", "beyond-allocation", _W, _min, "a launch reaches beyond what it allocates"),
    Code("TM5010", "program-differs", _E, _hours, "a launch of a whole program differs"),
    Code("TM5011", "results-do-not-fit", _N, _none, "results of a program do not fit the sources"),
    Code("TM5012", "not-replayed", _N, _none, "a recorded launch was not compared"),
    # Host code and building.
    Code(
        "TM6001", "host-not-rewritten", _E, _hours, "this host or kernel text cannot be rewritten"
    ),
    Code("TM6002", "in-place-refused", _E, _min, "the sources are not safe to edit in place"),
    Code("TM6003", "build-failed", _E, _min, "the program does not compile or link"),
    Code("TM6004", "kept-at-run-time", _N, _none, "no object code was made of a migrated kernel"),
    Code("TM6005", "object-differs", _W, _none, "object code differs from the original (our bug)"),
    # Our own bugs.
    Code("TM9001", "internal-error", _E, _none, "tile-migrate failed on this kernel (our bug)"),
    Code("TM9002", "invalid-ir", _E, _none, "an intermediate program is malformed (our bug)"),
)

REGISTRY: dict[str, Code] = {row.code: row for row in _TABLE}


def diagnostic(
    code: str,
    span: Span | None = None,
    *,
    headline: str = "",
    kernel: str = "",
    labels: tuple[Label, ...] = (),
    notes: tuple[str, ...] = (),
    help: str = "",
    severity: Severity | None = None,
    effort: Effort | None = None,
) -> Diagnostic:
    """Make a diagnostic with the defaults of its registered code; KeyError if unknown."""
    row = REGISTRY[code]
    return Diagnostic(
        code=code,
        headline=headline or row.headline,
        severity=severity or row.severity,
        effort=effort or row.effort,
        span=span,
        kernel=kernel,
        labels=labels,
        notes=notes,
        help=help,
    )
