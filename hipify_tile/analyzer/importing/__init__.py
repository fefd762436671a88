"""AST import: libclang cursors of one kernel instance → ``simt.Kernel``."""

from hipify_tile.analyzer.importing.kernel import ImportResult, import_kernel

__all__ = ["ImportResult", "import_kernel"]
