"""Diagnostics are data: model, registry, suppression and renderers."""
