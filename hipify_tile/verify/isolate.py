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
from typing import NoReturn, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Lost:
    """The child gave no answer: ``timeout``, ``signal <n>``, or the text of its exception."""

    reason: str
    error: str = ""


def isolated(function: Callable[[], T], seconds: float) -> T | Lost:
    """Return ``function()`` as computed by a child process, or why there is no answer.

    The child is killed after ``seconds``. What ``function`` returns must pickle.
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
        data = _read(stream.fileno(), time.monotonic() + seconds)
    if data is None:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if data is None:
        return Lost("timeout")
    if not data:
        died = os.WIFSIGNALED(status)
        return Lost(f"signal {os.WTERMSIG(status)}" if died else "no answer")
    answer: T | Lost = pickle.loads(data)
    return answer


def _read(reader: int, deadline: float) -> bytes | None:
    """Read until the writer closes; None when the deadline passes first."""
    chunks: list[bytes] = []
    while True:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([reader], [], [], left)[0]:
            return None
        chunk = os.read(reader, 1 << 16)
        if not chunk:
            return b"".join(chunks)
        chunks.append(chunk)


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
