"""One renderer a file; all read the same diagnostics."""
