"""Differential testing of emitted TileLang against the original source."""
