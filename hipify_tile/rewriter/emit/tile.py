"""Print a tile program as a TileLang factory.

::

    def matmul(target="c", block_M=64, block_N=64, block_K=32):
        SMEM, FRAG, PAR = ("local", "local", T.grid) if target == "c" else (…)

        @T.prim_func
        def matmul(A_ptr: T.handle, …, M: T.int32, …, grid_x: T.int32, …, block_x: T.int32, …):
            rows = T.min(M, grid_y * block_y)
            A = T.match_buffer(A_ptr, (rows, depth), "float32")
            with T.Kernel(…) as (bx, by):
                …

The parameters are those of level ``loop``, so one caller serves both. A matrix is declared inside
the function because its shape depends on scalar parameters; the lowered parameter carries its name.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from hipify_tile.ir.expr import Call, Compare, CompareOp, Const, Expr, Var
from hipify_tile.ir.simt import Buffer, Scope
from hipify_tile.ir.tile import (
    Copy,
    Elementwise,
    Fill,
    Gemm,
    Program,
    Region,
    Serial,
    Tensor,
    TileOp,
    TileScope,
)
from hipify_tile.ir.types import ScalarType
from hipify_tile.rewriter.emit.atomics import AtomicPrinter
from hipify_tile.rewriter.emit.expressions import ExpressionPrinter
from hipify_tile.rewriter.emit.kernel import FactoryText, Function, module_text
from hipify_tile.rewriter.emit.materialize import materialize
from hipify_tile.rewriter.emit.outline import Outliner
from hipify_tile.rewriter.emit.provenance import Provenance
from hipify_tile.rewriter.emit.statements import INDENT, StatementPrinter, declaration
from hipify_tile.rewriter.model import Argument, ArgumentRole, Emission, Level, Target
from hipify_tile.rewriter.names import Namer
from hipify_tile.rewriter.raise_.narrow import Narrower
from hipify_tile.rewriter.schedule.legalise import legal_targets

_ALLOCATIONS = {
    TileScope.SHARED: ("T.alloc_shared", "SMEM"),
    TileScope.FRAGMENT: ("T.alloc_fragment", "FRAG"),
    TileScope.LOCAL: ("T.alloc_local", '"local"'),
}
_SYMBOLS = (
    'SMEM, FRAG, PAR = "shared.dyn", "local.fragment", T.Parallel',
    'if target == "c":',
    f'{INDENT}SMEM, FRAG, PAR = "local", "local", T.grid',
)
_WIDTH = 88
_EXTENT_CALLS = ("min", "max", "ceildiv")


def emit_program(program: Program, provenance: Provenance) -> Emission:
    """Print ``program`` as a stand-alone module with one factory."""
    names = _python_names(program)
    printer = ExpressionPrinter(names)
    atomics = AtomicPrinter(printer, {t.name: t.dtype for t in program.tensors})
    return _Printer(program, names, printer, atomics, provenance).emission()


def _python_names(program: Program) -> dict[str, str]:
    namer = Namer({symbol.name for symbol in program.launch})
    wanted = [p.name for p in program.params if not p.pointer]
    wanted += [t.name for t in program.tensors]
    wanted += [name for name, _ in program.tunables]
    wanted += [var.name for var, _ in program.definitions]
    wanted += [axis.var.name for axis in program.grid]
    wanted += [name for name, _ in program.locals]
    wanted += [alloc.name for alloc in program.allocs]
    for op in _walk(program.body):
        match op:
            case Elementwise():
                wanted += [axis.var.name for axis in op.axes]
                wanted += [var.name for var, _ in op.points]
            case Serial():
                wanted.append(op.axis.var.name)
            case _:
                continue
    return {name: namer.fresh(name) for name in dict.fromkeys(wanted)}


def _walk(body: tuple[TileOp, ...]) -> Iterator[TileOp]:
    for op in body:
        yield op
        if isinstance(op, Serial):
            yield from _walk(op.body)


@dataclass(slots=True)
class _Printer:
    program: Program
    names: dict[str, str]
    printer: ExpressionPrinter
    atomics: AtomicPrinter
    provenance: Provenance
    variables: list[tuple[str, ScalarType]] = field(default_factory=list)

    def emission(self) -> Emission:
        """Assemble the emission."""
        program = self.program
        body = tuple(line for op in program.body for line in self._op(op, 3))
        text = FactoryText(
            Function(
                Level.LOOP, program.name, program.params, tuple(map(_buffer, program.tensors)),
                (), (), ("", "", ""), ("", "", ""), program.threads,
            ),
            self.names, self.printer, self.atomics, self.provenance,
        )  # fmt: skip
        factory = Namer().fresh(program.name)
        uses_target = bool(program.allocs) or text.depends_on_target()
        definition = "\n".join(self._definition(text, factory, uses_target, body)) + "\n"
        prelude = text.prelude()
        targets = legal_targets(program)
        if text.calls_by_name():
            targets = tuple(t for t in targets if t not in (Target.METAL, Target.WEBGPU))
        return Emission(
            level=Level.TILE,
            factory=factory,
            source=module_text(self.provenance.module_docstring, prelude, (definition,)),
            prelude=prelude,
            definition=definition,
            options=(*(("target",) if uses_target else ()), *self._tunables()),
            arguments=tuple(map(self._argument, text.arguments())),
            targets=targets,
            assumes=program.assumes,
            ragged=bool(program.allocs),
        )

    def _tunables(self) -> tuple[str, ...]:
        return tuple(self.names[name] for name, _ in self.program.tunables)

    def _argument(self, argument: Argument) -> Argument:
        """A matrix has no symbolic extent of its own: its shape is made of scalar parameters."""
        shaped = {self.names[t.name] for t in self.program.tensors if len(t.shape) > 1}
        if argument.role is ArgumentRole.BUFFER and argument.name in shaped:
            return Argument(
                argument.name,
                argument.role,
                argument.dtype,
                argument.source,
                written=argument.written,
            )
        return argument

    def _definition(
        self, text: FactoryText, factory: str, uses_target: bool, body: tuple[str, ...]
    ) -> Iterator[str]:
        program = self.program
        matrices = {self.names[t.name]: t for t in program.tensors if len(t.shape) > 1}
        yield from self.provenance.comment_lines()
        if single := _single_axes(program.assumes):
            yield f"# Exact where {', '.join(single)} are 1."
        options = ['target="c"'] if uses_target else []
        defaults = [value for _, value in program.tunables]
        options += map("{}={}".format, self._tunables(), defaults)
        yield from _call(f"def {factory}(", options, "):", 0)
        for name, annotation in text.signature():
            if annotation.startswith("T.Tensor") and name not in matrices:
                yield f'{INDENT}{name}_len = T.dynamic("{name}_len")'
        if program.allocs:
            yield from (f"{INDENT}{line}" for line in _SYMBOLS)
        helpers = list(text.target_helpers())
        yield from (f"{INDENT}{line}" if line else "" for line in helpers)
        yield ""
        yield f"{INDENT}@T.prim_func"
        yield f"{INDENT}def {factory}("
        for name, annotation in text.signature():
            if name in matrices:
                yield f"{INDENT * 2}{_pointer(name)}: T.handle,"
            else:
                yield f"{INDENT * 2}{name}: {annotation},"
        yield f"{INDENT}):"
        for var, value in program.definitions:
            yield f"{INDENT * 2}{self.names[var.name]} = {self._extent(value)}"
        for name, tensor in matrices.items():
            yield from self._match(name, tensor)
        keywords = [f"threads={program.threads}", *(["prelude=prelude"] if helpers else [])]
        extents = [self._extent(axis.extent) for axis in program.grid]
        blocks = ", ".join(self.names[axis.var.name] for axis in program.grid)
        target = f"({blocks})" if len(program.grid) > 1 else blocks
        yield from _call("with T.Kernel(", [*extents, *keywords], f") as {target}:", 2)
        for alloc in program.allocs:
            maker, scope = _ALLOCATIONS[alloc.scope]
            shape = ", ".join(self.printer.value(size) for size in alloc.shape)
            name = self.names[alloc.name]
            arguments = [f"({shape})", f'"{alloc.dtype}"', f"scope={scope}"]
            yield from _call(f"{name} = {maker}(", arguments, ")", 3)
        for local, dtype in self.variables:
            yield f"{INDENT * 3}{declaration(self.names[local], dtype)}"
        yield from body
        yield ""
        yield f"{INDENT}return {factory}"

    def _match(self, name: str, tensor: Tensor) -> Iterator[str]:
        shape = ", ".join(self.printer.value(size) for size in tensor.shape)
        arguments = [_pointer(name), f"({shape})", f'"{tensor.dtype}"']
        if tensor.strides:
            strides = ", ".join(self.printer.value(stride) for stride in tensor.strides)
            arguments.append(f"strides=({strides})")
        yield from _call(f"{name} = T.match_buffer(", arguments, ")", 2)

    def _extent(self, expr: Expr) -> str:
        """Extents are integers, for which TileLang's own min, max and ceildiv are exact."""
        match expr:
            case Call(name=name, args=args) if name in _EXTENT_CALLS:
                return f"T.{name}({', '.join(map(self._extent, args))})"
            case _:
                return self.printer.value(expr)

    def _op(self, op: TileOp, depth: int) -> Iterator[str]:
        pad = INDENT * depth
        match op:
            case Fill(buffer=buffer):
                yield f"{pad}T.clear({self.names[buffer]})"
            case Copy(src=src, dst=dst):
                yield f"{pad}T.copy({self._region(src)}, {self.names[dst.buffer]})"
            case Gemm():
                flags = "".join(
                    f", {flag}=True"
                    for flag, on in (
                        ("transpose_A", op.transpose_a),
                        ("transpose_B", op.transpose_b),
                    )
                    if on
                )
                tiles = ", ".join(self.names[tile] for tile in (op.a, op.b, op.c))
                yield f"{pad}T.gemm({tiles}{flags})"
            case Serial(axis=axis, stages=stages):
                steps = self._extent(axis.extent)
                loop = f"T.Pipelined({steps}, num_stages={stages})"
                yield f"{pad}for {self.names[axis.var.name]} in {loop}:"
                for inner in op.body:
                    yield from self._op(inner, depth + 1)
            case Elementwise():
                yield from self._elementwise(op, depth)

    def _region(self, region: Region) -> str:
        return f"{self.names[region.buffer]}[{self.printer.index(region.origin)}]"

    def _elementwise(self, op: Elementwise, depth: int) -> Iterator[str]:
        program = self.program
        constants = {symbol.name for symbol in program.launch}
        constants |= {p.name for p in program.params if not p.pointer}
        constants |= {var.name for var, _ in (*program.definitions, *op.points)}
        constants |= {axis.var.name for axis in (*program.grid, *op.axes)}
        ranges = {var.name: (0, 2**31 - 1) for var, _ in op.points}
        ranges |= {s.name: (1, 2**31 - 1) for s in program.launch if s.name.startswith("grid_")}
        ranges |= {s.name: (1, 1024) for s in program.launch if s.name.startswith("block_")}
        body = Narrower(ranges).body(op.body)
        taken = set(self.names) | set(self.names.values()) | {s.name for s in program.launch}
        namer = Namer(taken)
        done = materialize(body, program.locals, constants, namer)
        self.names.update({name: name for name, _ in done.locals if name not in self.names})
        outliner = Outliner(self.printer, namer, list(done.locals))
        body = outliner.body(done.body, depth + 1)
        self.variables += [v for v in outliner.locals if v not in self.variables]
        self.names.update(self.printer.names)
        self.printer.names = self.names
        loop = "PAR" if program.allocs else "T.Parallel"
        points = ", ".join(self.names[axis.var.name] for axis in op.axes)
        sizes = ", ".join(self.printer.value(axis.extent) for axis in op.axes)
        yield f"{INDENT * depth}for {points} in {loop}({sizes}):"
        for var, value in op.points:
            yield f"{INDENT * (depth + 1)}{self.names[var.name]} = {self.printer.value(value)}"
        statements = StatementPrinter(self.printer, self.atomics)
        yield from statements.lines(body, depth + 1)


def _call(head: str, arguments: list[str], tail: str, depth: int) -> Iterator[str]:
    """A call on one line, or one argument a line where it would be too long."""
    pad = INDENT * depth
    line = f"{pad}{head}{', '.join(arguments)}{tail}"
    if len(line) <= _WIDTH:
        yield line
        return
    yield f"{pad}{head}"
    yield from (f"{pad}{INDENT}{argument}," for argument in arguments)
    yield f"{pad}{tail}"


def _single_axes(assumes: tuple[Expr, ...]) -> list[str]:
    """Launch dimensions that have to be 1: the program takes and ignores them."""
    return sorted(
        condition.lhs.name
        for condition in assumes
        if isinstance(condition, Compare)
        and isinstance(condition.lhs, Var)
        and condition.op is CompareOp.EQ
        and isinstance(condition.rhs, Const)
        and condition.rhs.value == 1
    )


def _pointer(name: str) -> str:
    return f"{name}_ptr"


def _buffer(tensor: Tensor) -> Buffer:
    scope = Scope.GLOBAL if tensor.symbol else Scope.PARAM
    return Buffer(
        tensor.name,
        tensor.dtype,
        scope,
        storage=tensor.storage,
        written=tensor.written,
        symbol=tensor.symbol,
    )
