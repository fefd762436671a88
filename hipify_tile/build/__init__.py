"""Whole programs: object code of migrated kernels, and executables that hold old and new ones."""
