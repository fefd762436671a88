"""Runs of a program: its environment, its end, and what the runtime traced.

``watch`` passes a program's input, output, signals and exit status through; ``capture`` runs it
with a time limit and keeps what it prints.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from hipify_tile.programs.trace import Event, read_events

_FORWARDED = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGCONT)
_SWITCHES = ("MODE", "KERNELS", "TRACE", "CHECK_REPORT", "CHECK_EXIT", "RECORD")


class CannotRunError(Exception):
    """The program is not there or cannot be started; the text says why."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of a run: ``status`` is the exit status, or minus the signal that ended it.

    ``seconds`` is wall time. ``out`` and ``err`` are empty where the streams passed through.
    """

    status: int
    seconds: float
    timed_out: bool = False
    out: bytes = b""
    err: bytes = b""
    events: tuple[Event, ...] = field(default=())

    @property
    def text(self) -> str:
        """How the run ended, in words."""
        if self.timed_out:
            return f"no end within {self.seconds:.0f} s"
        if self.status < 0:
            return f"ended by {signal_name(-self.status)}"
        return f"exit status {self.status}"


def signal_name(number: int) -> str:
    """Return a signal's name, such as SIGSEGV."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def find_program(command: Sequence[str]) -> Path:
    """Return the file of a command; raises CannotRunError."""
    found = shutil.which(command[0])
    if found is None:
        there = Path(command[0])
        why = "is not executable" if there.is_file() else "was not found"
        raise CannotRunError(f"{command[0]} {why}")
    return Path(found)


def switched(base: Mapping[str, str], **switches: str) -> dict[str, str]:
    """Return ``base`` with these ``TILE_MIGRATE_<switch>`` and none else of those that choose."""
    names = {f"TILE_MIGRATE_{name}" for name in _SWITCHES}
    kept = {name: value for name, value in base.items() if name not in names}
    return kept | {f"TILE_MIGRATE_{name}": value for name, value in switches.items()}


def prepended(value: str, old: str) -> str:
    """Put ``value`` before the items of a colon-separated variable."""
    return f"{value}:{old}" if old else value


def capture(
    command: Sequence[str], environment: Mapping[str, str], timeout: float, scratch: Path
) -> Ended:
    """Run a command without input; all that it started ends with it. Raises CannotRunError.

    Its ``TILE_MIGRATE_TRACE`` is set to a file below ``scratch``. ``timeout`` is in seconds, 0
    means none.
    """
    number = tempfile.mkdtemp(dir=scratch)
    trace, out, err = (Path(number, name) for name in ("trace.jsonl", "out", "err"))
    started = time.monotonic()
    with out.open("wb") as to_out, err.open("wb") as to_err:
        process = _start(
            command,
            {**environment, "TILE_MIGRATE_TRACE": str(trace)},
            stdin=subprocess.DEVNULL,
            stdout=to_out,
            stderr=to_err,
            start_new_session=True,
        )
        timed_out = False
        try:
            process.wait(timeout or None)
        except subprocess.TimeoutExpired:
            timed_out = True
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    seconds = time.monotonic() - started
    ended = Ended(
        process.returncode,
        seconds,
        timed_out,
        out.read_bytes(),
        err.read_bytes(),
        read_events(trace),
    )
    shutil.rmtree(number)
    return ended


def watch(command: Sequence[str], environment: Mapping[str, str]) -> Ended:
    """Run a command on our own input and output; signals that end us go to it instead.

    Raises CannotRunError.
    """
    started = time.monotonic()
    with _passing_signals() as passed:
        process = _start(command, environment)
        passed.append(process)
        status = process.wait()
    return Ended(status, time.monotonic() - started)


def end_as(status: int) -> int:
    """Return the exit status that tells ``status``; end by the signal that ended the run."""
    if status >= 0:
        return status
    number = -status
    with contextlib.suppress(ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    with contextlib.suppress(OSError, ValueError):
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    return 128 + number


def _start(
    command: Sequence[str], environment: Mapping[str, str], **streams: object
) -> subprocess.Popen[bytes]:
    program = find_program(command)
    try:
        return subprocess.Popen(  # type: ignore[call-overload,no-any-return]
            list(command), executable=str(program), env=dict(environment), **streams
        )
    except OSError as error:
        raise CannotRunError(f"{command[0]} cannot be run: {error.strerror}") from error


@contextlib.contextmanager
def _passing_signals() -> Iterator[list[subprocess.Popen[bytes]]]:
    """Send signals on to the processes of the list.

    The terminal itself interrupts every process of its foreground group: then we only wait.
    """
    processes: list[subprocess.Popen[bytes]] = []

    def pass_on(number: int, frame: FrameType | None) -> None:
        for process in processes:
            process.send_signal(number)

    handlers = {number: signal.signal(number, pass_on) for number in _FORWARDED}
    for number in (signal.SIGINT, signal.SIGQUIT):
        action = _wait if _in_foreground() else pass_on
        handlers[number] = signal.signal(number, action)
    try:
        yield processes
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _wait(number: int, frame: FrameType | None) -> None:
    """Stay until the program has ended."""


def _in_foreground() -> bool:
    try:
        with open("/dev/tty", "rb") as terminal:
            return os.tcgetpgrp(terminal.fileno()) == os.getpgrp()
    except OSError:
        return False
