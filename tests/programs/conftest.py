"""Whole programs need the runtime library: without it there is nothing to run them on."""

import pytest

from hipify_tile.compat import library_path


def _has_runtime() -> bool:
    try:
        library_path("cudart")
    except OSError:
        return False
    return True


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if _has_runtime():
        return
    for item in items:
        if "tests/programs/" in item.path.as_posix():
            item.add_marker(pytest.mark.skip(reason="libtm_cudart is not part of this build"))
