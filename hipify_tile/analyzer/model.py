"""What analysis of one translation unit yields. Everything here pickles; no libclang objects."""

from __future__ import annotations

from dataclasses import dataclass, field

from hipify_tile.diagnostics.model import Diagnostic
from hipify_tile.ir.expr import Expr
from hipify_tile.ir.simt import Kernel
from hipify_tile.ir.span import Span


@dataclass(frozen=True, slots=True)
class CompileUnit:
    """A translation unit to analyse: absolute ``path`` and clang-ready ``args``.

    ``args`` holds only what affects parsing (-I -isystem -iquote -D -U -std -include);
    ``directory`` is the working directory the args are relative to; ``dropped`` lists flags of
    the original command that were ignored. ``root`` is the project root that reports are
    relative to. ``language`` is ``cuda``, or ``c``/``c++`` for host sources that are only
    inventoried.
    """

    path: str
    directory: str
    args: tuple[str, ...] = ()
    root: str = ""
    language: str = "cuda"
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FileStatus:
    """How one source file fared: ``parsed``, ``partial`` (errors, but usable) or ``unparsed``."""

    path: str
    status: str
    ms: float


@dataclass(frozen=True, slots=True)
class LaunchFact:
    """One launch site (per template instance of the enclosing host function).

    ``grid``, ``block`` (three each), ``shared_bytes`` and ``arguments`` are expressions over
    *launch symbols*: ``Var`` nodes whose names are unique in the translation unit
    (``main:n``), for host variables whose values the analyzer does not know. A component that is no
    such expression (a pointer argument, a call) is None. ``hints`` gives each symbol the constant
    it is initialised with, where there is one: the program's real size. ``pointer_extents`` gives,
    for a pointer argument whose allocation was found (cudaMalloc of a host variable), its size in
    bytes as such an expression, in the order of ``arguments``. ``pointer_roots`` names the host
    variable behind each pointer argument ("" unknown) and ``pointer_offsets`` how many bytes after
    that variable's value it points (None unknown), so that equal names mean overlapping pointers.
    ``pointer_owned`` says that the root holds an allocation of its own: two such roots with
    different names are distinct, of any others nothing is known.
    ``settled`` names the symbols with a hint that never get another value.
    """

    kernel_usr: str
    kernel_name: str
    span: Span
    grid: tuple[Expr | None, Expr | None, Expr | None]
    block: tuple[Expr | None, Expr | None, Expr | None]
    shared_bytes: Expr | None
    stream: str
    arguments: tuple[Expr | None, ...]
    hints: tuple[tuple[str, int | float], ...] = ()
    pointer_extents: tuple[Expr | None, ...] = ()
    pointer_roots: tuple[str, ...] = ()
    pointer_offsets: tuple[Expr | None, ...] = ()
    pointer_owned: tuple[bool, ...] = ()
    grid_text: str = ""
    block_text: str = ""
    shared_text: str = ""
    resolved: bool = True
    settled: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LibraryCall:
    """A call of a CUDA library or runtime function at its true position."""

    api: str
    library: str
    span: Span


@dataclass(frozen=True, slots=True)
class SymbolFact:
    """A ``__device__``, ``__constant__`` or ``__managed__`` variable.

    ``defined`` is false for a declaration (``extern``) of a variable that another unit defines.
    """

    name: str
    qualified: str
    kind: str
    type: str
    span: Span
    defined: bool = True


@dataclass(frozen=True, slots=True)
class KernelFact:
    """One kernel instance, imported or refused.

    ``id`` is stable over runs: ``<relative file>:<qualified name><template args>``. ``spelling`` is
    the C++ expression that names the instance at the end of its own translation unit
    (``ns::k<float, 64>``). ``kernel`` is None where ``diagnostics`` hold an error.
    ``cuda_source`` is the kernel's source text as decoded for display.
    """

    id: str
    usr: str
    name: str
    qualified: str
    spelling: str
    mangled: str
    template_args: tuple[str, ...]
    instance_of: str
    span: Span
    cuda_source: str
    kernel: Kernel | None
    diagnostics: tuple[Diagnostic, ...] = ()
    unparsed: bool = False


@dataclass(frozen=True, slots=True)
class StrippedBody:
    """A function's body as a byte range of a file; oracles have those of host functions emptied."""

    file: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class NamedPlace:
    """A parameter: its name ("" for none) and the byte where the name is, or has to go."""

    name: str
    offset: int
    pack: bool = False


@dataclass(frozen=True, slots=True)
class KernelDefinition:
    """A kernel's definition as written.

    ``body`` is the byte offset of its ``{`` on ``line``, ``name_end`` the byte after its name (-1
    where a macro spells it). ``internal`` says that other units do not see it; ``scope`` is what
    its name is looked up in from anywhere (``::`` or ``::ns::Class::``). A macro's invocation may
    make the body, from byte ``body`` to ``macro_end``; -1: or more of the definition, or less.
    """

    name: str
    file: str
    body: int
    line: int
    name_end: int
    templates: tuple[NamedPlace, ...] = ()
    parameters: tuple[NamedPlace, ...] = ()
    internal: bool = False
    scope: str = "::"
    macro_end: int = 0


@dataclass(frozen=True, slots=True)
class SharedView:
    """A function (``{`` at byte ``body``) that uses namespace-scope dynamic shared arrays."""

    file: str
    body: int
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UnitAnalysis:
    """All that is known of a translation unit.

    ``user_files`` are the project's own files that the unit read, absolute, main file first;
    ``host_bodies`` are the bodies of pure host functions in them. ``definitions``,
    ``shared_views`` and ``device_bodies`` are where host rewriting edits kernels. ``device_names``
    are the mangled names of what only device code has: functions and variables defined here.
    """

    unit: CompileUnit
    files: tuple[FileStatus, ...]
    kernels: tuple[KernelFact, ...]
    launches: tuple[LaunchFact, ...]
    calls: tuple[LibraryCall, ...]
    symbols: tuple[SymbolFact, ...]
    user_files: tuple[str, ...]
    host_bodies: tuple[StrippedBody, ...]
    diagnostics: tuple[Diagnostic, ...] = ()
    milliseconds: float = 0.0
    extra: dict[str, str] = field(default_factory=dict)
    definitions: tuple[KernelDefinition, ...] = ()
    shared_views: tuple[SharedView, ...] = ()
    device_bodies: tuple[StrippedBody, ...] = ()
    device_names: tuple[str, ...] = ()
