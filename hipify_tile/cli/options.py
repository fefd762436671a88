"""Options that several commands share, as annotated types."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Format(StrEnum):
    """Output formats of a report."""

    TEXT = "text"
    CONCISE = "concise"
    JSON = "json"
    SARIF = "sarif"
    GITHUB = "github"
    HTML = "html"


class LevelName(StrEnum):
    """Rungs of the ladder, as typed."""

    TILE = "tile"
    LOOP = "loop"
    SIMT = "simt"


class TargetName(StrEnum):
    """Targets of the matrix, as typed."""

    CUDA = "cuda"
    HIP = "hip"
    METAL = "metal"
    WEBGPU = "webgpu"
    CPU = "cpu"
    ASCEND = "ascend"


def _opt(*names: str, help: str, metavar: str | None = None) -> typer.models.OptionInfo:
    info: typer.models.OptionInfo = typer.Option(*names, help=help, metavar=metavar)
    return info


def _natural(value: int) -> int:
    if value < 0:
        raise typer.BadParameter("has to be 0 or more")
    return value


Paths = Annotated[
    list[Path],
    typer.Argument(help="CUDA files and folders.", show_default=False, metavar="PATH"),
]
Only = Annotated[list[str], _opt("--only", help="Migrate only kernels that match.", metavar="NAME")]
Keep = Annotated[list[str], _opt("--keep", help="Keep matching kernels CUDA.", metavar="NAME")]
Level = Annotated[LevelName | None, _opt("--level", help="Use this level only.")]
Target = Annotated[TargetName | None, _opt("--target", help="Use levels that run there.")]
OutputFormat = Annotated[Format, _opt("--format", help="Format of the output.")]
OutputFile = Annotated[
    Path | None, _opt("--output-file", help="Write the output here.", metavar="FILE")
]
Jobs = Annotated[
    int,
    typer.Option(
        "-j", "--jobs", help="Processes; 0 is one a core.", metavar="N", callback=_natural
    ),
]
Database = Annotated[
    Path | None,
    _opt("-p", help="Folder of compile_commands.json.", metavar="DIR"),
]
ConfigFile = Annotated[Path | None, _opt("--config", help="Configuration file.", metavar="FILE")]
NoCache = Annotated[bool, _opt("--no-cache", help="Neither read nor write the cache.")]
Quiet = Annotated[bool, _opt("-q", "--quiet", help="Findings only, no progress.")]
Verbose = Annotated[int, typer.Option("-v", "--verbose", count=True, help="List everything.")]
Seed = Annotated[int | None, _opt("--seed", help="Seed of the generated inputs.", metavar="N")]
BaselineFile = Annotated[
    Path | None,
    _opt("--baseline", help="Hide findings of this JSON report.", metavar="FILE"),
]
Results = Annotated[
    list[Path],
    _opt("--results", help="Count this report of mode check.", metavar="FILE"),
]
Replay = Annotated[
    Path | None,
    _opt("--replay", help="Replay launches that mode record saved.", metavar="DIR"),
]
SaveFailures = Annotated[
    Path | None,
    _opt("--save-failures", help="Write cases that differ here (no cache).", metavar="DIR"),
]
