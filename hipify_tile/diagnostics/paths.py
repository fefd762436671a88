"""How an absolute path is shown: relative and with forward slashes where that is possible."""

from __future__ import annotations

import os
from pathlib import Path


def relative_to(path: str, base: str) -> str:
    """Return ``path`` relative to directory ``base``, or unchanged if it lies outside."""
    if not path or not os.path.isabs(path):
        return path
    for root in (base, os.path.realpath(base)):
        if path == root or path.startswith(root.rstrip(os.sep) + os.sep):
            return Path(os.path.relpath(path, root)).as_posix()
    return Path(path).as_posix()


def base_directory(root: str) -> str:
    """Return the directory that paths of a report on ``root`` are relative to."""
    absolute = os.path.abspath(root)
    return absolute if os.path.isdir(absolute) else os.path.dirname(absolute)
