"""Printing of one kernel as the text of a factory with one ``T.prim_func``, and its ``Emission``.

``loop.Nest`` prints at level ``loop`` (thread loops, one thread a block), ``simt.Kernel`` at level
``simt`` (one thread a thread, block dimensions fixed when the factory is called).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from hipify_tile.ir.expr import Cast, Expr, Index, IndexKind, Var
from hipify_tile.ir.loop import Nest
from hipify_tile.ir.simt import Buffer, Kernel, Param, Scope
from hipify_tile.ir.stmt import For, Stmt, walk_stmts
from hipify_tile.ir.types import BOOL, I32, U32, ScalarType
from hipify_tile.rewriter.emit.atomics import GPU_INCLUDES, AtomicPrinter
from hipify_tile.rewriter.emit.bindings import bindings
from hipify_tile.rewriter.emit.expressions import ExpressionPrinter
from hipify_tile.rewriter.emit.literals import F32_HELPER, F64_HELPER
from hipify_tile.rewriter.emit.materialize import materialize
from hipify_tile.rewriter.emit.nesting import Nesting
from hipify_tile.rewriter.emit.outline import Outliner
from hipify_tile.rewriter.emit.provenance import Provenance
from hipify_tile.rewriter.emit.statements import INDENT, WIDTH, StatementPrinter, declaration
from hipify_tile.rewriter.model import Argument, ArgumentRole, Emission, Level, Target
from hipify_tile.rewriter.names import Namer
from hipify_tile.rewriter.raise_.demote import demote_unsigned
from hipify_tile.rewriter.raise_.launch_axes import launch_axes, map_body
from hipify_tile.rewriter.raise_.narrow import Narrower

_DIMS = ("x", "y", "z")
_GPU = (Target.CUDA, Target.HIP)


@dataclass(slots=True)
class Function:
    """What both levels print from."""

    level: Level
    name: str
    params: tuple[Param, ...]
    buffers: tuple[Buffer, ...]
    locals: tuple[tuple[str, ScalarType], ...]
    body: tuple[Stmt, ...]
    thread: tuple[str, str, str]
    block: tuple[str, str, str]
    threads: int
    names: dict[str, str] = field(default_factory=dict)


def emit_nest(nest: Nest, provenance: Provenance) -> Emission:
    """Print a nest at level ``loop``."""
    z, y, x = (a.var.name for a in nest.block)
    bz, by, bx = (a.var.name for a in nest.grid)
    function = Function(
        Level.LOOP, nest.name, nest.params, nest.buffers, (*nest.block_locals, *nest.locals),
        nest.body, (x, y, z), (bx, by, bz), 1024,
    )  # fmt: skip
    return _emit(function, provenance)


def emit_kernel(kernel: Kernel, provenance: Provenance) -> Emission:
    """Print a structured kernel at level ``simt``."""
    axes = launch_axes(kernel)
    z, y, x = (a.var.name for a in axes.block)
    bz, by, bx = (a.var.name for a in axes.grid)
    function = Function(
        Level.SIMT, kernel.name, kernel.params, kernel.buffers, kernel.locals, kernel.body,
        (x, y, z), (bx, by, bz), kernel.launch_bounds[0] or 1024,
    )  # fmt: skip
    return _emit(function, provenance)


def _emit(function: Function, provenance: Provenance) -> Emission:
    names = _python_names(function)
    launch = {**dict.fromkeys(function.thread, (0, function.threads - 1))}
    launch |= dict.fromkeys(function.block, (0, 2**31 - 2))
    launch |= {f"block_{d}": (1, function.threads) for d in _DIMS}
    launch |= {f"grid_{d}": (1, 2**31 - 1) for d in _DIMS}
    body = map_body(function.body, lambda e: _launch_symbol(e, function))
    body, locals_, ranges = demote_unsigned(body, function.locals, launch)
    body = Narrower(ranges).body(body)
    taken = set(names) | set(names.values()) | set(launch)
    immutable = set(launch) | {p.name for p in function.params if not p.pointer}
    namer = Namer(taken)
    done = materialize(body, locals_, immutable, namer, frozenset(launch))
    bound = bindings(done.body, locals_, immutable)
    names |= {n: n for n, _ in done.locals if n not in names}
    printer = ExpressionPrinter(names)
    outliner = Outliner(printer, namer, list(done.locals))
    body = outliner.body(done.body, 3)
    nesting = Nesting(namer)
    shallow = nesting.limit(body)
    if nesting.flags:
        body, bound = shallow, bound & bindings(shallow, locals_, immutable)
        printer.names = {**printer.names, **{n: n for n in nesting.flags}}
    names = dict(printer.names)
    atomics = AtomicPrinter(printer, {b.name: b.dtype for b in function.buffers})
    lines = list(StatementPrinter(printer, atomics).lines(body, 3))
    head = [
        f"{INDENT * 3}{declaration(names[n], t)}"
        for n, t in (*outliner.locals, *((n, BOOL) for n in nesting.flags))
        if n not in bound and _is_variable(n, body)
    ]
    text = FactoryText(function, names, printer, atomics, provenance)
    return text.emission((*text.allocations(), *head, *lines))


def _is_variable(name: str, body: tuple[Stmt, ...]) -> bool:
    """Whether a local is more than a loop variable."""
    return not any(isinstance(s, For) and s.var.name == name for s in walk_stmts(body))


def _python_names(function: Function) -> dict[str, str]:
    namer = Namer({f"{k}_{d}" for k in ("grid", "block") for d in _DIMS})
    names: dict[str, str] = {}
    wanted = [p.name for p in function.params if not p.pointer]
    wanted += [b.name for b in function.buffers]
    wanted += [*function.thread, *function.block]
    wanted += [name for name, _ in function.locals]
    for name in wanted:
        if name not in names:
            names[name] = namer.fresh(name)
    return names


def _launch_symbol(expr: Expr, function: Function) -> Expr:
    match expr:
        case Index(kind=IndexKind.THREAD, axis=axis):
            return Cast(Var(function.thread[axis], I32), U32, expr.span)
        case Index(kind=IndexKind.BLOCK, axis=axis):
            return Cast(Var(function.block[axis], I32), U32, expr.span)
        case Index(kind=kind, axis=axis):
            name = "block" if kind is IndexKind.BLOCK_DIM else "grid"
            return Cast(Var(f"{name}_{_DIMS[axis]}", I32), U32, expr.span)
        case _:
            return expr


@dataclass(slots=True)
class FactoryText:
    """Lays out the factory around the printed body."""

    function: Function
    names: dict[str, str]
    printer: ExpressionPrinter
    atomics: AtomicPrinter
    provenance: Provenance

    def emission(self, body: tuple[str, ...]) -> Emission:
        """Assemble the emission."""
        function = self.function
        factory = Namer().fresh(function.name)
        options = self._options()
        definition = "\n".join(self._definition(factory, options, body)) + "\n"
        prelude = self.prelude()
        source = module_text(self.provenance.module_docstring, prelude, (definition,))
        targets = _GPU if function.level is Level.SIMT else (Target.CPU, *_GPU)
        if not self.depends_on_target() and not self.calls_by_name():
            targets = (*targets, Target.METAL, Target.WEBGPU)
        return Emission(
            level=function.level,
            factory=factory,
            source=source,
            prelude=prelude,
            definition=definition,
            options=options,
            arguments=self.arguments(),
            targets=targets,
        )

    def allocations(self) -> tuple[str, ...]:
        """Return the lines that allocate on-chip buffers."""
        return tuple(self._allocations())

    def _allocations(self) -> Iterator[str]:
        pad = INDENT * 3
        tensors = self._tensors()
        aliased = [b for b in tensors if not b.restrict or b.name != (b.storage or b.name)]
        if aliased and len(tensors) > 1 and any(b.written for b in tensors):
            yield f"{pad}# May overlap: not __restrict__."
            arguments = ", ".join(self.names[b.name] for b in aliased)
            yield f"{pad}T.annotate_restrict_buffers({arguments})"
        storages: dict[str, list[Buffer]] = {}
        for b in self.function.buffers:
            if b.scope not in (Scope.PARAM, Scope.GLOBAL):
                storages.setdefault(b.storage or b.name, []).append(b)
        for views in storages.values():
            base = max(views, key=lambda b: b.dtype.bits)
            name, maker = self.names[base.name], self._allocator(base)
            dtype = f'"{base.dtype}"{self._scope(base)}'
            yield f"{pad}{name} = {maker}({self._shape(base)}, {dtype})"
            for view in views:
                if view is not base:
                    alias, dtype = self.names[view.name], f'dtype="{view.dtype}"'
                    yield f"{pad}{alias} = T.view({name}, {self._shape(view)}, {dtype})"

    def _allocator(self, buffer: Buffer) -> str:
        shared = buffer.scope in (Scope.SHARED, Scope.DYNAMIC_SHARED)
        return "T.alloc_shared" if shared and self.function.level is Level.SIMT else "T.alloc_local"

    def _scope(self, buffer: Buffer) -> str:
        static = buffer.scope is Scope.SHARED and self.function.level is Level.SIMT
        return ', scope="shared"' if static else ""

    def _shape(self, buffer: Buffer) -> str:
        if buffer.scope is Scope.DYNAMIC_SHARED:
            return f"(shared_bytes // {buffer.dtype.bytes},)"
        dims = ", ".join(map(str, buffer.shape))
        return f"({dims},)" if len(buffer.shape) == 1 else f"({dims})"

    def _options(self) -> tuple[str, ...]:
        options = ["block"] if self.function.level is Level.SIMT else []
        if any(b.scope is Scope.DYNAMIC_SHARED for b in self.function.buffers):
            options.append("shared_bytes")
        if self.depends_on_target():
            options.append("target")
        return tuple(options)

    def depends_on_target(self) -> bool:
        """Whether the factory must know its target."""
        calls = any(s.depends_on_target for s in self.printer.intrinsics.values())
        return bool(self.atomics.used) or calls

    def calls_by_name(self) -> bool:
        """Whether a function is called that TileLang has no operator for."""
        return any(not s.is_portable for s in self.printer.intrinsics.values())

    def prelude(self) -> tuple[str, ...]:
        """Return the module-level lines that the factory needs."""
        lines: list[str] = []
        if self.printer.helpers:
            lines += ["import struct", ""]
        lines.append("import tilelang.language as T")
        for helper, text in (("f32", F32_HELPER), ("f64", F64_HELPER)):
            if helper in self.printer.helpers:
                lines += ["", "", *text.rstrip("\n").split("\n")]
        return tuple(lines)

    def _tensors(self) -> tuple[Buffer, ...]:
        return tuple(b for b in self.function.buffers if b.scope in (Scope.PARAM, Scope.GLOBAL))

    def _definition(
        self, factory: str, options: tuple[str, ...], body: tuple[str, ...]
    ) -> Iterator[str]:
        function = self.function
        defaults = {"block": "block", "shared_bytes": "shared_bytes=0", "target": 'target="c"'}
        if function.level is Level.SIMT:
            defaults["target"] = 'target="cuda"'
        yield from self.provenance.comment_lines()
        yield f"def {factory}({', '.join(defaults[o] for o in options)}):"
        tensors = self._tensors()
        for b in tensors:
            yield f'{INDENT}{self._extent(b)} = T.dynamic("{self._extent(b)}")'
        if function.level is Level.SIMT:
            dims = ", ".join(_if_used(f"block_{d}", body) for d in _DIMS)
            yield f"{INDENT}if tuple(block) == (1, 1, 1):"
            message = '"TileLang miscompiles blocks of one thread: use level loop"'
            yield f"{INDENT * 2}raise ValueError({message})"
            yield f"{INDENT}{dims} = map(T.int32, block)"
        prelude = list(self.target_helpers())
        yield from (f"{INDENT}{line}" if line else "" for line in prelude)
        yield ""
        yield f"{INDENT}@T.prim_func"
        yield f"{INDENT}def {factory}("
        for name, annotation in self.signature():
            yield f"{INDENT * 2}{name}: {annotation},"
        yield f"{INDENT}):"
        grid = ", ".join(f"grid_{d}" for d in _DIMS)
        threads = "block" if function.level is Level.SIMT else "1"
        extra = ", prelude=prelude" if prelude else ""
        blocks = [_if_used(self.names[b], body) for b in function.block]
        head = f"{INDENT * 2}with T.Kernel({grid}, threads={threads}{extra}) as ("
        if len(head) + len(", ".join(blocks)) + 2 > WIDTH:
            yield from (head, *(f"{INDENT * 3}{b}," for b in blocks), f"{INDENT * 2}):")
        else:
            yield f"{head}{', '.join(blocks)}):"
        if function.level is Level.SIMT:
            threads = ", ".join(_if_used(self.names[t], body) for t in function.thread)
            yield f"{INDENT * 3}{threads} = T.get_thread_bindings()"
        yield from body
        yield ""
        yield f"{INDENT}return {factory}"

    def target_helpers(self) -> Iterator[str]:
        """Yield the lines that choose names and helper functions by target."""
        calls = [s for s in self.printer.intrinsics.values() if s.depends_on_target]
        chosen = [(s.name, s.gpu, s.c_name, s.helper, "") for s in calls]
        chosen += [
            (s.name, s.gpu, s.c_name, s.helper, s.gpu_helper) for s in self.atomics.used.values()
        ]
        if not chosen:
            return
        for name, gpu, c_name, _, _ in chosen:
            choice = f'"{c_name}"' if gpu == c_name else f'"{c_name}" if target == "c" else "{gpu}"'
            yield f"{name} = {choice}"
        yield "prelude = None"
        yield 'if target == "c":'
        yield f'{INDENT}prelude = """'
        yield from _raw("".join(dict.fromkeys(t for _, _, _, t, _ in chosen)))
        gpu_text = "".join(dict.fromkeys(t for *_, t in chosen if t))
        if gpu_text:
            yield "else:"
            yield f'{INDENT}prelude = """'
            yield from _raw(GPU_INCLUDES + gpu_text)

    def signature(self) -> Iterator[tuple[str, str]]:
        """Yield the prim_func's parameters with their annotations."""
        for p in self.function.params:
            if p.pointer:
                for b in self._tensors():
                    if (b.storage or b.name) == p.name:
                        yield self.names[b.name], self._annotation(b)
            else:
                yield self.names[p.name], f"T.{p.dtype}"
        for b in self._tensors():
            if b.scope is Scope.GLOBAL:
                yield self.names[b.name], self._annotation(b)
        for kind in ("grid", "block") if self.function.level is Level.LOOP else ("grid",):
            for d in _DIMS:
                yield f"{kind}_{d}", "T.int32"

    def _annotation(self, buffer: Buffer) -> str:
        return f'T.Tensor(({self._extent(buffer)},), "{buffer.dtype}")'

    def _extent(self, buffer: Buffer) -> str:
        return f"{self.names[buffer.name]}_len"

    def arguments(self) -> tuple[Argument, ...]:
        """Describe the prim_func's parameters."""
        out: list[Argument] = []
        by_name = {self.names[b.name]: b for b in self._tensors()}
        scalars = {self.names[p.name]: p for p in self.function.params if not p.pointer}
        for name, _ in self.signature():
            if name in by_name:
                b = by_name[name]
                role = ArgumentRole.GLOBAL if b.scope is Scope.GLOBAL else ArgumentRole.BUFFER
                source = b.symbol if b.scope is Scope.GLOBAL else (b.storage or b.name)
                out.append(
                    Argument(
                        name, role, str(b.dtype), source, 0, (f"{name}_len",), (None,), b.written
                    )
                )
            elif name in scalars:
                p = scalars[name]
                out.append(Argument(name, ArgumentRole.SCALAR, str(p.dtype), p.name))
            else:
                role = ArgumentRole.GRID if name.startswith("grid") else ArgumentRole.BLOCK
                out.append(Argument(name, role, "int32", "", _DIMS.index(name[-1])))
        return tuple(out)


def _if_used(name: str, body: tuple[str, ...]) -> str:
    """Return ``name``, with an underscore in front where no line of ``body`` reads it."""
    word = re.compile(rf"\b{name}\b")
    return name if any(word.search(line) for line in body) else f"_{name}"


def _raw(text: str) -> Iterator[str]:
    lines = text.replace("\\", "\\\\").rstrip("\n").split("\n")
    yield from lines
    yield '"""'


def module_text(docstring: str, prelude: tuple[str, ...], definitions: tuple[str, ...]) -> str:
    """Compose a module: docstring, imports and helpers, definitions two lines apart."""
    parts = [f'"""{docstring}"""\n', "\n".join(prelude)]
    return "\n".join(parts) + "\n" + "".join(f"\n\n{d}" for d in definitions)
