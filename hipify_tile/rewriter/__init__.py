"""simt.Kernel to loop.Nest to tile.Program to TileLang source."""
