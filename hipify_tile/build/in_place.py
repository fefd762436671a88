"""Editing the user's own files: only what a clean git work tree can give back."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path

from hipify_tile.diagnostics.model import Diagnostic
from hipify_tile.diagnostics.registry import diagnostic
from hipify_tile.rewriter.emit.host import HostRewrite


def guard(paths: Iterable[Path]) -> tuple[Diagnostic, ...]:
    """Return TM6002 for each folder whose files git does not track unchanged; () if all is well."""
    folders: dict[Path, list[Path]] = {}
    for path in paths:
        folders.setdefault(path.parent, []).append(path)
    found = []
    for folder, files in sorted(folders.items()):
        problem = _problem(folder, files)
        if problem:
            headline = f"{folder}: not edited in place"
            help = "commit your changes first, or use `tile-migrate build`, which works on copies"
            found.append(diagnostic("TM6002", headline=headline, notes=(problem,), help=help))
    return tuple(found)


def write(rewritten: HostRewrite) -> tuple[str, ...]:
    """Write the rewritten files over the originals; return their paths."""
    for path, file in rewritten.files.items():
        Path(path).write_bytes(file.content)
    return tuple(rewritten.files)


def _problem(folder: Path, files: list[Path]) -> str:
    names = [file.name for file in files]
    try:
        tracked = _git(folder, "ls-files", "--error-unmatch", "--", *names)
        changed = _git(folder, "status", "--porcelain", "--", *names)
    except FileNotFoundError:
        return "git was not found"
    if tracked.returncode:
        message = tracked.stderr.strip().splitlines()
        return message[0] if message else "git does not track these files"
    return "changes are not committed: " + changed.stdout.strip()[:200] if changed.stdout else ""


def _git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)
