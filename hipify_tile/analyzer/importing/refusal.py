"""How the importer gives up on a kernel: an exception that becomes a ``Diagnostic``."""

from __future__ import annotations

from hipify_tile.diagnostics.model import Diagnostic
from hipify_tile.diagnostics.registry import diagnostic
from hipify_tile.ir.span import Span


class Refusal(Exception):
    """The kernel holds a construct that is not imported; ``span`` may be filled in on the way."""

    def __init__(
        self,
        code: str,
        headline: str = "",
        span: Span | None = None,
        *,
        notes: tuple[str, ...] = (),
        help: str = "",
    ) -> None:
        super().__init__(code, headline)
        self.code = code
        self.headline = headline
        self.span = span
        self.notes = notes
        self.help = help

    def diagnostic(self, kernel: str) -> Diagnostic:
        """Return the finding about the kernel instance whose id is ``kernel``."""
        return diagnostic(
            self.code,
            self.span,
            headline=self.headline,
            kernel=kernel,
            notes=self.notes,
            help=self.help,
        )
