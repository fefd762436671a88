"""nvcc and host compiler command lines, translated to what a parse needs.

``nvcc -arch sm_80 -Iinc -Xcompiler=-DX,-fPIC k.cu -c -o k.o  →  -I/abs/inc -DX``. Only flags that
change the meaning of the source survive: include folders, macros, dialect and forced includes. The
rest is listed as dropped; flags of the driver alone (output names, dependency files) are not worth
listing.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_RESPONSE_DEPTH = 8
_LAUNCHERS = frozenset({"ccache", "sccache", "distcc", "env", "icecc"})

# nvcc's long spellings of the flags that survive.
_LONG = {
    "--include-path": "-I",
    "--system-include": "-isystem",
    "--define-macro": "-D",
    "--undefine-macro": "-U",
    "--pre-include": "-include",
    "--std": "-std",
    "--compiler-options": "-Xcompiler",
    "--options-file": "-optf",
    "--x": "-x",
}
_PATH_FLAGS = ("-isystem", "-iquote", "-idirafter", "-include", "-I")
# Flags followed by a value that is dropped with them.
_VALUE_DROPPED = frozenset(
    {
        "-gencode", "--generate-code", "-arch", "--gpu-architecture", "-code", "--gpu-code",
        "-ccbin", "--compiler-bindir", "-Xptxas", "--ptxas-options", "-Xlinker", "--linker-options",
        "-Xnvlink", "--nvlink-options", "-Xarchive", "--archive-options", "-Xcudafe", "-Xfatbin",
        "-maxrregcount", "--maxrregcount", "-t", "--threads", "-L", "--library-path", "-l",
        "--library", "-m", "--machine", "-cudart", "--cudart", "-cudadevrt", "--cudadevrt",
        "-diag-suppress", "--diag-suppress", "-diag-error", "--diag-error", "-diag-warn",
        "--diag-warn", "-default-stream", "--default-stream", "-rdc", "--relocatable-device-code",
        "-O", "--optimize", "-Werror", "--Werror", "-ldir", "--libdevice-directory", "-lto",
        "-brand", "-isysroot", "--sysroot", "-target", "-march", "-Xclang", "-mllvm", "-imacros",
        "-dopt", "--dopt",
    }
)  # fmt: skip
# Of the above, those that may also stand without a value.
_VALUE_OPTIONAL = frozenset({"-O", "-m", "-l", "-L", "-march", "-lto", "-target", "-rdc"})
# The compiler driver's own business.
_SILENT_VALUE = frozenset(
    {"-o", "--output-file", "-MF", "-MT", "-MQ", "-x", "-odir", "--output-directory", "-dD"}
)
_SILENT = frozenset(
    {
        "-c", "--compile", "-dc", "--device-c", "-dw", "-M", "-MD", "-MM", "-MMD", "-MP", "-MG",
        "-E", "-S", "-forward-unknown-to-host-compiler", "--forward-unknown-to-host-compiler",
        "--forward-unknown-to-host-linker", "-forward-unknown-to-host-linker", "-v", "--verbose",
        "--expt-relaxed-constexpr", "-expt-relaxed-constexpr", "--expt-extended-lambda",
        "-expt-extended-lambda", "--extended-lambda", "-extended-lambda", "--",
    }
)  # fmt: skip
_SOURCE = (".cu", ".cuh", ".c", ".cc", ".cpp", ".cxx", ".C", ".h", ".hpp", ".o", ".a", ".so")
_OLD_DIALECTS = ("c++98", "c++03", "c++0x", "c++11", "c++1y", "c++14")


@dataclass(frozen=True, slots=True)
class Command:
    """One entry of a compile database; ``file`` is absolute."""

    file: str
    directory: str
    arguments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Translation:
    """``args`` that a parse understands, with absolute paths, and the flags left out."""

    args: tuple[str, ...]
    dropped: tuple[str, ...]
    cuda: bool


def read_database(path: Path) -> tuple[Command, ...]:
    """Read a compile_commands.json; raises ``ValueError`` when it is not one, ``OSError``."""
    try:
        entries = json.loads(path.read_bytes())
    except json.JSONDecodeError as error:
        raise ValueError(f"not valid JSON: {error}") from error
    if not isinstance(entries, list):
        raise ValueError("not a list of commands")
    commands = []
    for entry in entries:
        if not isinstance(entry, dict) or not isinstance(entry.get("file"), str):
            raise ValueError("an entry has no file")
        directory = str(entry.get("directory", path.parent))
        directory = os.path.join(path.parent, directory)
        raw = entry.get("arguments")
        if isinstance(raw, list):
            arguments = tuple(str(a) for a in raw)
        else:
            arguments = tuple(shlex.split(str(entry.get("command", ""))))
        file = os.path.normpath(os.path.join(directory, entry["file"]))
        commands.append(Command(file, directory, arguments))
    return tuple(commands)


def find_database(start: Path) -> Path | None:
    """Return the compile database in ``start``, a folder above, or one of their ``build``."""
    start = start.resolve()
    folder = start if start.is_dir() else start.parent
    for candidate in (folder, *folder.parents):
        for place in (candidate, candidate / "build"):
            database = place / "compile_commands.json"
            if database.is_file():
                return database
    return None


def translate(command: Command) -> Translation:
    """Translate one command line (nvcc, clang or gcc)."""
    words = list(command.arguments)
    while words and Path(words[0]).name in _LAUNCHERS:
        words.pop(0)
    while words and "=" in words[0] and not words[0].startswith("-"):
        words.pop(0)
    compiler = Path(words[0]).name if words and not words[0].startswith("-") else ""
    words = words[1:] if compiler else words
    translator = _Translator(command.directory)
    translator.run(words, 0)
    cuda = "nvcc" in compiler or translator.language in ("cu", "cuda")
    return Translation(tuple(translator.args), tuple(dict.fromkeys(translator.dropped)), cuda)


def _is_toolkit(folder: str) -> bool:
    """Whether an include folder holds NVIDIA's CUDA headers, whose place our own take."""
    marks = ("cuda_runtime_api.h", os.path.join("crt", "host_config.h"))
    return all(os.path.isfile(os.path.join(folder, mark)) for mark in marks)


class _Translator:
    def __init__(self, directory: str) -> None:
        self.directory = directory
        self.args: list[str] = []
        self.dropped: list[str] = []
        self.language = ""

    def run(self, words: list[str], depth: int) -> None:
        it = iter(words)
        for word in it:
            self.word(word, it, depth)

    def word(self, word: str, rest: Iterator[str], depth: int) -> None:
        if word.startswith("@"):
            self.response(word[1:], depth)
            return
        if not word.startswith("-"):
            if not word.endswith(_SOURCE):
                self.dropped.append(word)
            return
        name, equals, value = word.partition("=")
        name = _LONG.get(name, name)
        if name == "-optf":
            for file in (value if equals else next(rest, "")).split(","):
                self.response(file, depth)
        elif name == "-Xcompiler":
            inner = (value if equals else next(rest, "")).split(",")
            self.run([w for w in inner if w], depth + 1)
        elif name == "-std":
            self.dialect(value if equals else next(rest, ""))
        elif name in _PATH_FLAGS:
            self.path(name, value if equals else next(rest, ""))
        elif name in ("-D", "-U"):
            # `-D=X` is nvcc's, `--define-macro=X=1` its long form.
            text = value if equals else next(rest, "")
            self.args.append(f"{name}{text}")
        elif word[:2] in ("-D", "-U") and len(word) > 2:
            self.args.append(word)
        elif word.startswith("-I"):
            self.path("-I", word[2:])
        elif any(word.startswith(flag) for flag in ("-isystem", "-iquote", "-idirafter")):
            flag = next(f for f in ("-isystem", "-iquote", "-idirafter") if word.startswith(f))
            self.path(flag, word[len(flag) :])
        else:
            self.drop(word, name, bool(equals), value, rest)

    def drop(self, word: str, name: str, equals: bool, value: str, rest: Iterator[str]) -> None:
        if name in _SILENT_VALUE:
            text = value if equals else next(rest, "")
            if name == "-x":
                self.language = text
        elif word in _SILENT:
            pass
        elif name in _VALUE_DROPPED and not equals and name not in _VALUE_OPTIONAL:
            self.dropped.append(f"{word} {next(rest, '')}".rstrip())
        else:
            self.dropped.append(word)

    def dialect(self, value: str) -> None:
        plain = value.replace("gnu++", "c++")
        if plain in _OLD_DIALECTS:
            self.args.append("-std=c++17")
            self.dropped.append(f"-std={value}")
        elif plain.startswith("c++"):
            self.args.append(f"-std={value}")
        else:
            self.dropped.append(f"-std={value}")

    def path(self, flag: str, value: str) -> None:
        if not value:
            return
        # nvcc takes comma-separated lists; a folder may also have a comma in its name.
        whole = os.path.normpath(os.path.join(self.directory, value))
        values = [value] if "," not in value or os.path.exists(whole) else value.split(",")
        for item in values:
            path = os.path.normpath(os.path.join(self.directory, item))
            if flag == "-include" and not os.path.exists(path):
                path = item
            if flag != "-include" and _is_toolkit(path):
                self.dropped.append(f"{flag} {path}")
                continue
            if flag == "-I":
                self.args.append(f"-I{path}")
            else:
                self.args += [flag, path]

    def response(self, name: str, depth: int) -> None:
        path = Path(self.directory) / name
        if depth >= _RESPONSE_DEPTH:
            self.dropped.append(f"@{name}")
            return
        try:
            text = path.read_text(encoding="utf-8", errors="surrogateescape")
            words = shlex.split(text, comments=False)
        except (OSError, ValueError):
            self.dropped.append(f"@{name}")
            return
        self.run(words, depth + 1)
