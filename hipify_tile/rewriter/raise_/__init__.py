"""Raising passes: simt.Kernel to loop.Nest and named operations."""
