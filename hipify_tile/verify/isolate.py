"""Run a function in a forked child, so that a crash or a hang of native code costs only its result.

The child inherits the loaded modules (importing TileLang takes seconds, forking milliseconds) and
sends its pickled answer through a pipe. Not for functions whose effects the parent needs.
"""

from __future__ import annotations

import os
import pickle
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn, TypeVar

T = TypeVar("T")

_POLL = 0.5


@dataclass(frozen=True, slots=True)
class Lost:
    """The child gave no answer: ``timeout``, ``stalled``, ``signal <n>``, or ``exception``, whose
    text is ``error``.
    """

    reason: str
    error: str = ""


def isolated(function: Callable[[], T], seconds: float, patience: float = 20.0) -> T | Lost:
    """Return ``function()`` as computed by a child process, or why there is no answer.

    The child is killed when it and the programs it ran have used ``seconds`` of CPU time, so that
    a busy machine does not change the answer, or, as one that waits for ever uses none, after
    ``patience`` times as long. What ``function`` returns must pickle.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _answer(function, writer)
    os.close(writer)
    with os.fdopen(reader, "rb", buffering=0) as stream:
        data = _read(stream.fileno(), child, seconds, time.monotonic() + seconds * patience)
    if isinstance(data, Lost):
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if isinstance(data, Lost):
        return data
    if not data:
        died = os.WIFSIGNALED(status)
        return Lost(f"signal {os.WTERMSIG(status)}" if died else "no answer")
    answer: T | Lost = pickle.loads(data)
    return answer


def _read(reader: int, child: int, seconds: float, deadline: float) -> bytes | Lost:
    """Read until the writer closes or ``child`` has had its time."""
    chunks: list[bytes] = []
    while True:
        if not select.select([reader], [], [], min(_POLL, seconds))[0]:
            if _cpu_seconds(child) > seconds:
                return Lost("timeout")
            if time.monotonic() > deadline:
                return Lost("stalled")
            continue
        chunk = os.read(reader, 1 << 16)
        if not chunk:
            return b"".join(chunks)
        chunks.append(chunk)


def _cpu_seconds(process: int) -> float:
    """CPU time of a process and of those it started and awaited; 0 where that is unknown."""
    try:
        # The second field is the program's name in parentheses and may hold anything.
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def _answer(function: Callable[[], object], writer: int) -> NoReturn:
    """Send the result, or the exception's text, and leave without the parent's exit handlers."""
    try:
        try:
            data = pickle.dumps(function())
        except BaseException:
            data = pickle.dumps(Lost("exception", traceback.format_exc()))
        with os.fdopen(writer, "wb") as stream:
            stream.write(data)
    finally:
        os._exit(0)
