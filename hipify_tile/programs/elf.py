"""What an ELF file says about the CUDA runtime it uses: names, sections, strings.

Only what the dynamic linker and the CUDA runtime act on is read. Machine code is not looked
at, nothing is run.
"""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerDefSection, GNUVerNeedSection
from elftools.elf.sections import SymbolTableSection

_FATBIN = (".nv_fatbin", ".nvFatBinSegment")
_BASE_NODE = 1  # VER_FLG_BASE: the file itself, no symbols
# Words that libcudart_static.a leaves in a stripped program too: names of its own errors and files.
_STATIC_WORDS = (b"cudaErrorCudartUnloading\0", b"/cudart.shm.")
# What our runtime leaves in a program that it is linked into.
_OUR_WORD = b"TILE_MIGRATE_MODE\0"
_MANGLED = re.compile(rb"(?<![^\0])(_Z[0-9A-Za-z_]{2,2000})\0")


class NotElfError(Exception):
    """The file is no ELF file, or a damaged one; the text says which."""


@dataclass(frozen=True, slots=True)
class Binary:
    """The facts of one ELF file.

    ``needed``, ``rpath`` and ``runpath`` are as in the dynamic section, with ``$ORIGIN`` replaced.
    ``undefined`` and ``defined`` are dynamic symbols, ``versions`` the version nodes asked for by
    library, ``nodes`` those that the file itself defines. ``device_code`` says
    that code for GPUs is embedded, ``static_runtime`` that a CUDA runtime is linked in,
    ``our_runtime`` that it is ours.
    ``mangled`` are mangled C++ names among its strings: a kernel's is there because the program
    registers it by name.
    """

    path: Path
    machine: str
    dynamic: bool
    soname: str
    needed: tuple[str, ...]
    rpath: tuple[str, ...]
    runpath: tuple[str, ...]
    undefined: frozenset[str]
    defined: frozenset[str]
    versions: tuple[tuple[str, tuple[str, ...]], ...]
    nodes: tuple[str, ...]
    device_code: bool
    static_runtime: bool
    our_runtime: bool
    mangled: frozenset[str]

    @property
    def registers_kernels(self) -> bool:
        """It hands device code to a CUDA runtime outside of it."""
        return "__cudaRegisterFatBinary" in self.undefined


def read(path: Path) -> Binary:
    """Return the facts of the file; raises NotElfError, OSError."""
    with path.open("rb") as stream:
        try:
            return _facts(path, ELFFile(stream))
        except (ELFError, UnicodeDecodeError, ValueError, KeyError) as error:
            raise NotElfError(f"{path}: not an ELF file ({error})") from error


def _facts(path: Path, elf: ELFFile) -> Binary:
    origin = str(path.resolve().parent)
    needed: list[str] = []
    paths: dict[str, tuple[str, ...]] = {}
    soname = ""
    undefined: set[str] = set()
    defined: set[str] = set()
    local: set[str] = set()
    versions: list[tuple[str, tuple[str, ...]]] = []
    nodes: list[str] = []
    strings = b""
    names = set()
    for section in elf.iter_sections():
        names.add(section.name)
        match section:
            case DynamicSection():
                for tag in section.iter_tags():
                    match tag.entry.d_tag:
                        case "DT_NEEDED":
                            needed.append(tag.needed)
                        case "DT_SONAME":
                            soname = tag.soname
                        case "DT_RPATH":
                            paths["rpath"] = _split(tag.rpath, origin)
                        case "DT_RUNPATH":
                            paths["runpath"] = _split(tag.runpath, origin)
            case GNUVerNeedSection():
                for library, wanted in section.iter_versions():
                    versions.append((library.name, tuple(asked.name for asked in wanted)))
            case GNUVerDefSection():
                for definition, auxiliaries in section.iter_versions():
                    if not definition["vd_flags"] & _BASE_NODE:
                        nodes += [auxiliary.name for auxiliary in auxiliaries][:1]
            case SymbolTableSection() if section.name == ".dynsym":
                for symbol in section.iter_symbols():
                    where = undefined if symbol.entry.st_shndx == "SHN_UNDEF" else defined
                    where.add(symbol.name)
            case SymbolTableSection():
                local |= {s.name for s in section.iter_symbols() if s["st_shndx"] != "SHN_UNDEF"}
        if section.name.startswith(".rodata"):
            strings += section.data()
    device_code = any(name in names for name in _FATBIN)
    ours = _OUR_WORD in strings
    own = "__cudaRegisterFatBinary" in local | defined or any(w in strings for w in _STATIC_WORDS)
    return Binary(
        path=path,
        machine=elf.get_machine_arch(),
        dynamic=bool(needed) or ".dynamic" in names,
        soname=soname,
        needed=tuple(needed),
        rpath=paths.get("rpath", ()),
        runpath=paths.get("runpath", ()),
        undefined=frozenset(undefined - {""}),
        defined=frozenset(defined - {""}),
        versions=tuple(versions),
        nodes=tuple(nodes),
        device_code=device_code,
        static_runtime=own and not ours and not _is_runtime(soname or path.name),
        our_runtime=ours,
        mangled=frozenset(m.decode() for m in _MANGLED.findall(strings)),
    )


def _is_runtime(name: str) -> bool:
    return name.startswith(("libcudart.", "libtm_cudart."))


def _split(value: str, origin: str) -> tuple[str, ...]:
    folders = value.replace("${ORIGIN}", origin).replace("$ORIGIN", origin).split(":")
    return tuple(folder for folder in folders if folder)


def search_path(binary: Binary, environment: dict[str, str]) -> tuple[tuple[str, str], ...]:
    """Return (folder, where it comes from) in the order in which the dynamic linker looks."""
    rows: list[tuple[str, str]] = []
    if not binary.runpath:
        rows += [(folder, "RPATH") for folder in binary.rpath]
    given = environment.get("LD_LIBRARY_PATH", "")
    rows += [(folder, "LD_LIBRARY_PATH") for folder in given.split(":") if folder]
    rows += [(folder, "RUNPATH") for folder in binary.runpath]
    return tuple(rows)


def locate(
    name: str, binary: Binary, environment: dict[str, str], system: dict[str, str]
) -> tuple[str, str] | None:
    """Return (file, where it comes from) of a needed library, None if it is not found."""
    if "/" in name:
        return (name, "its path") if os.path.exists(name) else None
    for folder, origin in search_path(binary, environment):
        if os.path.exists(os.path.join(folder, name)):
            return os.path.join(folder, name), origin
    if name in system:
        return system[name], "the system"
    for folder in ("/lib", "/usr/lib", "/lib64", "/usr/lib64"):
        if os.path.exists(os.path.join(folder, name)):
            return os.path.join(folder, name), "the system"
    return None


def system_libraries() -> dict[str, str]:
    """Return the dynamic linker's cache: file by name; empty where ``ldconfig`` cannot be run."""
    for tool in ("ldconfig", "/sbin/ldconfig", "/usr/sbin/ldconfig"):
        try:
            done = subprocess.run([tool, "-p"], capture_output=True, text=True, check=False)
        except OSError:
            continue
        rows = re.findall(r"^\s+(\S+) \(([^)]*)\) => (\S+)$", done.stdout, re.MULTILINE)
        found: dict[str, str] = {}
        for name, kind, file in rows:
            if "x86-64" in kind or "AArch64" in kind or name not in found:
                found.setdefault(name, file)
        return found
    return {}


def closure(
    binary: Binary, environment: dict[str, str], system: dict[str, str]
) -> dict[str, Binary | None]:
    """Return every library that is needed, also indirectly, by name; None where it is not found.

    The C and C++ libraries of the system are left out. A library looks in its user's RPATH too.
    """
    found: dict[str, Binary | None] = {}
    waiting = [(name, binary) for name in binary.needed]
    while waiting:
        name, user = waiting.pop(0)
        if name in found or name.startswith(_SYSTEM):
            continue
        place = locate(name, user, environment, system) or locate(name, binary, environment, system)
        try:
            found[name] = read(Path(place[0])) if place else None
        except (NotElfError, OSError):
            found[name] = None
        library = found[name]
        if library is not None:
            waiting += [(more, library) for more in library.needed]
    return found


_SYSTEM = (
    "libc.so.", "libm.so.", "libstdc++.", "libgcc_s.", "libpthread.", "libdl.", "librt.",
    "ld-linux", "linux-vdso", "libgomp.", "libquadmath.",
)  # fmt: skip
