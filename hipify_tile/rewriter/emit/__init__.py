"""Printers of TileLang source."""
