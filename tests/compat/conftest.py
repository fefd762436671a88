"""The program runtime's objects, compiled once a session."""

from __future__ import annotations

from pathlib import Path

import pytest
from runtime_objects import build_objects


@pytest.fixture(scope="session")
def engine_objects(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return build_objects(tmp_path_factory.mktemp("runtime-objects"))
