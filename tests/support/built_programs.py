"""Programs built once a session by ``tile-migrate build``, and runs of them in every mode."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tool import migrate, once

Json = dict[str, Any]
ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "samples" / "programs"
# What g++ needs beside the folder's own sources.
FLAGS = {"04_image_pipeline": ("-Ifilters", "-Iequalise")}


@dataclass(frozen=True, slots=True)
class Ran:
    """The outcome of a run: its status and output, and the events that the runtime traced."""

    status: int
    out: str
    err: str
    events: tuple[Json, ...] = field(default=())

    def ran(self, kernel: str) -> dict[str, int]:
        """Launches of the kernel by implementation, over all instances named so."""
        total: dict[str, int] = {}
        for event in self.events:
            if event["event"] == "kernel" and plain_name(event["kernel"]) == kernel:
                for kind, count in event["ran"].items():
                    total[kind] = total.get(kind, 0) + count
        return total

    @property
    def kernels(self) -> set[str]:
        """Plain names of the kernels that were launched."""
        events = [e for e in self.events if e["event"] == "kernel"]
        return {plain_name(e["kernel"]) for e in events}


def plain_name(signature: str) -> str:
    """``(anonymous namespace)::scale<float>`` → ``scale``."""
    return signature.split("<")[0].split("::")[-1]


def build(
    source: Path, factory: pytest.TempPathFactory, config: pytest.Config, *flags: str
) -> Path:
    """Return the executable of ``source`` (a folder or a file), built once for all workers."""

    def make(folder: Path) -> Json:
        app = folder / "app"
        top = source if source.is_dir() else source.parent
        more = [f"-I{top / f[2:]}" if f.startswith("-I") else f for f in flags]
        result = migrate("build", source, "-o", app, *(("--", *more) if more else ()), cwd=folder)
        return {
            "app": str(app),
            "status": result.returncode,
            "said": result.stdout + result.stderr,
        }

    name = "-".join(("built", source.parent.name, source.stem, *flags)).replace("/", "_")
    made = once(name, factory, config, make)
    assert made["status"] == 0, made["said"]
    return Path(made["app"])


def run(
    app: Path,
    folder: Path,
    *args: str,
    timeout: float = 120,
    loader: dict[str, str] | None = None,
    **switches: str,
) -> Ran:
    """Run ``app`` with ``TILE_MIGRATE_<switch>`` set and nothing of Python or CUDA in reach.

    ``loader`` is further environment.
    """
    trace = folder / f"trace-{os.urandom(4).hex()}.jsonl"
    environment = {
        "PATH": "",
        **(loader or {}),
        "TILE_MIGRATE_TRACE": str(trace),
        **{f"TILE_MIGRATE_{key}": value for key, value in switches.items()},
    }
    done = subprocess.run(
        [str(app), *args],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    lines = trace.read_text(encoding="utf-8").splitlines() if trace.exists() else []
    return Ran(done.returncode, done.stdout, done.stderr, tuple(json.loads(x) for x in lines))


def needs_gxx() -> pytest.MarkDecorator:
    """Skip where there is no g++."""
    return pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
