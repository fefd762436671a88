"""Scheduling passes: loop.Nest to tile.Program."""
