"""Whether a run of a program passed: by exit status, by output, or by a command that judges it."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hipify_tile.programs.process import Ended


@dataclass(frozen=True, slots=True)
class Judge:
    """A run passes if it ends by itself and, in this order: ``command`` says so, else status 0.

    ``command`` is a shell command; it gets the program's output as its input and
    ``PROGRAM_STATUS``, ``PROGRAM_STDOUT`` and ``PROGRAM_STDERR`` (files), and passes a run by
    status 0. ``output`` is what the program has to write to standard output, None where that is
    not compared.
    """

    command: str = ""
    output: bytes | None = None
    timeout: float = 0.0

    def verdict(self, ended: Ended, environment: Mapping[str, str], scratch: Path) -> str:
        """Return why the run fails, empty if it passes."""
        if ended.timed_out:
            return ended.text
        if self.command:
            why = self._asked(ended, environment, scratch)
        else:
            why = ended.text if ended.status else ""
        if not why and self.output is not None:
            why = _first_difference(self.output, ended.out)
        return why

    def _asked(self, ended: Ended, environment: Mapping[str, str], scratch: Path) -> str:
        with tempfile.TemporaryDirectory(dir=scratch) as name:
            out, err = Path(name, "out"), Path(name, "err")
            out.write_bytes(ended.out)
            err.write_bytes(ended.err)
            status = ended.status if ended.status >= 0 else 128 - ended.status
            given = {
                "PROGRAM_STATUS": str(status),
                "PROGRAM_STDOUT": str(out),
                "PROGRAM_STDERR": str(err),
            }
            with out.open("rb") as stream:
                try:
                    done = subprocess.run(
                        ["/bin/sh", "-c", self.command],
                        stdin=stream,
                        stdout=subprocess.DEVNULL,
                        stderr=subprocess.DEVNULL,
                        env={**environment, **given},
                        cwd=os.getcwd(),
                        timeout=self.timeout or None,
                        check=False,
                    )
                except subprocess.TimeoutExpired:
                    return "the judge did not end"
        return f"the judge said {done.returncode}" if done.returncode else ""


def _first_difference(expected: bytes, found: bytes) -> str:
    """Where the outputs differ first, by line; empty where they do not."""
    if expected == found:
        return ""
    before, after = expected.splitlines(), found.splitlines()
    for number, (a, b) in enumerate(zip(before, after, strict=False), 1):
        if a != b:
            return f"output differs in line {number}"
    return f"output has {len(after)} lines, kept {len(before)}"
