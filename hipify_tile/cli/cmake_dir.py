"""``tile-migrate cmake-dir``: where the CMake package and the make fragment are."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import typer


def cmake_dir() -> None:
    """Print the folder of the CMake package and make fragment."""
    typer.echo(folder())


def folder() -> Path:
    """Return the folder; it is part of the package."""
    # A folder may be several in an editable install, a file is one.
    return Path(str(files("hipify_tile").joinpath("cmake", "HipifyTileConfig.cmake"))).parent
