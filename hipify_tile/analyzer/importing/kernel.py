"""Assembly of a ``simt.Kernel`` from a kernel instance: parameters, body, buffers, verification."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from clang.cindex import TypeKind

from hipify_tile.analyzer import clang
from hipify_tile.analyzer.importing.canonicalize import canonicalize
from hipify_tile.analyzer.importing.control import ControlFlow
from hipify_tile.analyzer.importing.conversions import K, operands
from hipify_tile.analyzer.importing.memory import Storage
from hipify_tile.analyzer.importing.mutation import changing_variables
from hipify_tile.analyzer.importing.refusal import Refusal
from hipify_tile.analyzer.importing.state import Frame
from hipify_tile.analyzer.importing.types import (
    ArrayType,
    CType,
    PointerType,
    RecordType,
    VoidType,
    first_scalar,
    size_of,
)
from hipify_tile.analyzer.importing.values import (
    Address,
    ArrayValue,
    MemoryPointer,
    RecordValue,
    Value,
    ValuePlace,
)
from hipify_tile.diagnostics.model import Diagnostic
from hipify_tile.diagnostics.registry import diagnostic
from hipify_tile.ir.expr import Expr, Load, Var, transform, walk
from hipify_tile.ir.simt import Kernel, Param, Scope
from hipify_tile.ir.span import Span
from hipify_tile.ir.stmt import (
    KERNEL,
    Assign,
    AtomicRMW,
    For,
    Stmt,
    Store,
    exprs,
    map_bodies,
    map_exprs,
    walk_stmts,
)
from hipify_tile.ir.types import U8, ScalarType
from hipify_tile.ir.verify import violations


@dataclass(frozen=True, slots=True)
class ImportResult:
    """An imported kernel, or the diagnostics that say why there is none.

    ``inlined`` are the spans of the functions whose bodies became part of the kernel.
    """

    kernel: Kernel | None
    diagnostics: tuple[Diagnostic, ...] = ()
    inlined: tuple[Span, ...] = ()


def import_kernel(
    cursor: Any,
    span_of: Callable[[Any], Span],
    *,
    name: str = "",
    mangled: str = "",
    kernel_id: str = "",
) -> ImportResult:
    """Import the kernel instance ``cursor``, a FUNCTION_DECL with a body.

    ``span_of`` gives the span of a cursor (``clang.Spans`` of the unit). ``name`` defaults to the
    function's, ``mangled`` to its mangled name; diagnostics carry ``kernel_id``.
    """
    importer = _KernelImporter(span_of)
    try:
        kernel = importer.run(cursor, name or cursor.spelling, mangled or _mangled(cursor))
    except Refusal as refusal:
        if refusal.span is None:
            refusal.span = span_of(cursor)
        found = (refusal.diagnostic(kernel_id),)
        return ImportResult(None, found, tuple(importer.inlined.values()))
    broken = violations(kernel)
    inlined = tuple(importer.inlined.values())
    if broken:
        bug = diagnostic("TM9002", span_of(cursor), kernel=kernel_id, notes=tuple(broken[:5]))
        return ImportResult(None, (bug,), inlined)
    return ImportResult(kernel, (), inlined)


def _mangled(cursor: Any) -> str:
    return str(cursor.mangled_name).replace("__device_stub__", "", 1)


class _KernelImporter(ControlFlow):
    def __init__(self, span_of: Callable[[Any], Span]) -> None:
        super().__init__(span_of)
        self.storages: dict[str, Storage] = {}
        self.declared_storage: dict[int, Address] = {}
        self.params: list[Param] = []

    def run(self, cursor: Any, name: str, mangled: str) -> Kernel:
        found = self._body(cursor)
        if found is None:
            raise self.refuse(cursor, "TM1103", "the kernel has no body here")
        definition, body = found
        self.changing |= changing_variables(definition)
        frame = Frame(usr=definition.get_usr(), label=KERNEL, environment={})
        frame.result_type = VoidType()
        self.frames.append(frame)
        arguments = list(definition.get_arguments())
        sizes = []
        for position, parameter in enumerate(arguments):
            with self.located(parameter):
                self._parameter_of_kernel(parameter, position)
                sizes.append(parameter.type.get_size())
        self.statement(body)
        statements = canonicalize(self._linearised(tuple(self.out)))
        written = {s.buffer for s in walk_stmts(statements) if isinstance(s, Store | AtomicRMW)}
        return Kernel(
            name=name,
            mangled=mangled,
            params=tuple(self.params),
            argument_sizes=tuple(sizes),
            buffers=self.buffers(written | _loaded(statements), written),
            locals=self._used_locals(statements),
            body=statements,
            launch_bounds=_launch_bounds(definition),
            span=self.span_of(definition),
        )

    def _linearised(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        def on_expr(expr: Expr) -> Expr:
            if isinstance(expr, Load):
                indices = self.linearise(expr.buffer, expr.indices)
                if indices is not expr.indices:
                    return Load(expr.buffer, indices, expr.type, expr.span)
            return expr

        result = []
        for stmt in body:
            done = map_exprs(stmt, lambda e: transform(e, on_expr))
            match done:
                case Store():
                    indices = self.linearise(done.buffer, done.indices)
                    done = Store(done.buffer, indices, done.value, done.span)
                case AtomicRMW():
                    indices = self.linearise(done.buffer, done.indices)
                    done = AtomicRMW(
                        done.op, done.buffer, indices, done.operands, done.result, done.span
                    )
                case _:
                    done = map_bodies(done, self._linearised)
            result.append(done)
        return tuple(result)

    def _used_locals(self, body: tuple[Stmt, ...]) -> tuple[tuple[str, ScalarType], ...]:
        used: set[str] = set()
        for stmt in walk_stmts(body):
            match stmt:
                case Assign():
                    used.add(stmt.target)
                case AtomicRMW() if stmt.result:
                    used.add(stmt.result)
                case For():
                    used.add(stmt.var.name)
                case _:
                    pass
            for expr in exprs(stmt):
                used |= {e.name for e in walk(expr) if isinstance(e, Var)}
        return tuple((n, t) for n, t in self.locals.items() if n in used)

    # -- parameters

    def _parameter_of_kernel(self, parameter: Any, position: int) -> None:
        type_ = self.ctype(parameter)
        name = parameter.spelling or f"arg{position}"
        span = self.span_of(parameter)
        value = self._leaf(type_, name, position, 0, parameter.type, span)
        changing = self.changing.get(parameter.hash, False)
        place: Any = ValuePlace(value, type_)
        if changing or _holds_array(type_):
            place = self.new_place(f"{name}_var" if changing else name, type_, parameter)
            if isinstance(value, MemoryPointer):
                self.assign_pointer(place, value, span)
            else:
                self.store(place, value, span)
        self.frame.environment[parameter.hash] = place

    def _leaf(
        self, type_: CType, name: str, position: int, offset: int, clang_type: Any, span: Span
    ) -> Value:
        match type_:
            case ScalarType():
                unique = self.unique(name)
                self.fixed.add(unique)
                self.params.append(
                    Param(unique, type_, position, offset, source_name=name, span=span)
                )
                return Var(unique, type_)
            case PointerType():
                return self._pointer_leaf(type_, name, position, offset, clang_type, span)
            case RecordType():
                types = {f.spelling: f.type for f in _all_fields(clang_type)}
                return RecordValue(
                    type_,
                    {
                        f.name: self._leaf(
                            f.type, f"{name}_{f.name}", position, offset + f.offset,
                            types[f.name], span,
                        )
                        for f in type_.fields
                    },
                )  # fmt: skip
            case ArrayType(count=int() as count) if count <= 64:
                element = clang_type.get_canonical().element_type
                stride = size_of(type_.element)
                leaves = (
                    self._leaf(
                        type_.element, f"{name}_{i}", position, offset + i * stride, element, span
                    )
                    for i in range(count)
                )
                return ArrayValue(type_, tuple(leaves))
            case _:
                raise Refusal("TM1003", "a parameter of this type is not supported", span)

    def _pointer_leaf(
        self,
        type_: PointerType,
        name: str,
        position: int,
        offset: int,
        clang_type: Any,
        span: Span,
    ) -> Value:
        canonical = clang_type.get_canonical()
        restrict = bool(clang_type.is_restrict_qualified() or canonical.is_restrict_qualified())
        pointee: CType = U8 if isinstance(type_.pointee, VoidType) else type_.pointee
        address = self.new_storage(name, pointee, Scope.PARAM, restrict=restrict, span=span)
        base = canonical.get_pointee()
        while base.kind in (TypeKind.CONSTANTARRAY, TypeKind.INCOMPLETEARRAY):
            base = base.element_type
        self.params.append(
            Param(
                address.storage,
                first_scalar(pointee),
                position,
                offset,
                pointer=True,
                const=bool(base.is_const_qualified()),
                source_name=name,
                pointee_bytes=size_of(pointee),
                span=span,
            )
        )
        return MemoryPointer(Address(address.storage), type_.pointee)


def _loaded(body: tuple[Stmt, ...]) -> set[str]:
    return {
        e.buffer
        for stmt in walk_stmts(body)
        for expr in exprs(stmt)
        for e in walk(expr)
        if isinstance(e, Load)
    }


def _holds_array(type_: CType) -> bool:
    match type_:
        case ArrayType():
            return True
        case RecordType():
            return any(_holds_array(f.type) for f in type_.fields)
        case _:
            return False


def _all_fields(type_: Any) -> list[Any]:
    canonical = type_.get_canonical()
    fields = []
    for child in canonical.get_declaration().get_children():
        if child.kind == K.CXX_BASE_SPECIFIER:
            fields += _all_fields(child.type)
    return fields + list(canonical.get_fields())


def _launch_bounds(definition: Any) -> tuple[int, int]:
    """Return (max threads, min blocks) of ``__launch_bounds__``, 0 where not known."""
    for child in definition.get_children():
        if child.kind == K.UNEXPOSED_ATTR:
            values = [clang.evaluate(c) for c in operands(child)]
            numbers = [v for v in values if isinstance(v, int)]
            if numbers and len(numbers) == len(values):
                return numbers[0], numbers[1] if len(numbers) > 1 else 0
    return (0, 0)
