"""Launch sites as facts: configuration, arguments, allocations behind pointers.

Turns the inventory's launches into picklable ``LaunchFact`` values. Kernels that are reached
through a function pointer, a table or a parameter are resolved here; one fact is made for each
kernel that a launch may start.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from clang.cindex import CursorKind

from hipify_tile.analyzer.clang import binary_op, evaluate, unary_op, unwrap, var_init, walk
from hipify_tile.analyzer.importing.canonicalize import fold_cast, simplify
from hipify_tile.analyzer.inventory import Call, Inventory
from hipify_tile.analyzer.inventory_functions import Function, Key, key
from hipify_tile.analyzer.inventory_launches import Launch, kernel_references
from hipify_tile.analyzer.launch_facts_values import HostValues, Scope, is_pointer
from hipify_tile.analyzer.model import LaunchFact
from hipify_tile.ir.expr import Binary, BinaryOp, Const, Expr
from hipify_tile.ir.types import I64

_SHOWN = 120


_HERE = Const(0, I64)


@dataclass(frozen=True, slots=True)
class _Pointer:
    root: str
    extent: Expr | None
    offset: Expr | None = _HERE
    owned: bool = False


class LaunchFacts:
    """Makes the facts of one unit."""

    def __init__(self, inventory: Inventory) -> None:
        """Read launches and allocations from ``inventory``."""
        self._inventory = inventory
        self._values = HostValues(inventory)
        self._allocations = _allocations(inventory)

    def facts(self) -> Iterator[LaunchFact]:
        """Yield the facts of every launch with concrete types, in source order."""
        launches = sorted(self._inventory.launches, key=lambda a: a.cursor.extent.start.offset)
        for launch in launches:
            kernels = launch.kernels or self.through_pointer(launch.pointer, launch.function)
            for kernel in kernels or (None,):
                yield self._fact(launch, kernel)

    def through_pointer(self, pointer: Any | None, function: Function) -> tuple[Any, ...]:
        """Return the kernels that a variable callee may hold, () if that is not known.

        ``void (*f)(int*) = k;``, tables of kernels, and parameters that every caller passes a
        kernel for are understood.
        """
        if pointer is None:
            return ()
        variables = [
            node.referenced
            for node in (pointer, *walk(pointer))
            if node.kind == CursorKind.DECL_REF_EXPR
            and node.referenced is not None
            and node.referenced.kind in (CursorKind.VAR_DECL, CursorKind.PARM_DECL)
        ]
        found: dict[str, Any] = {}
        # The first variable of `table[i]` is the table, and of `*f` the pointer.
        for variable in variables[:1]:
            for source in self._sources(variable, function):
                kernels = kernel_references(source)
                if not kernels:
                    return ()
                found.update((k.get_usr(), k) for k in kernels)
        return tuple(found.values())

    def _sources(self, variable: Any, function: Function) -> list[Any]:
        changes = function.assignments.get(key(variable), [])
        sources = [c for c in changes if c is not None]
        if len(sources) != len(changes):
            return []
        if variable.kind == CursorKind.VAR_DECL:
            init = var_init(variable)
            return [*([init] if init is not None else []), *sources]
        parameters = [key(p) for p in function.cursor.get_arguments()]
        if key(variable) in parameters:
            position = parameters.index(key(variable))
            for call in self._inventory.calls.get(function.usr, []):
                arguments = list(call.cursor.get_arguments())
                if position < len(arguments):
                    sources.append(arguments[position])
        return sources

    def _fact(self, launch: Launch, kernel: Any | None) -> LaunchFact:
        values = self._values
        scope = values.scope(launch.function)
        values.hints.clear()
        grid = values.dim3(launch.grid, scope)
        block = values.dim3(launch.block, scope)
        arguments = self._arguments(launch)
        scalars = tuple(None if is_pointer(a) else values.scalar(a, scope) for a in arguments)
        pointers = [self._pointer(a, scope) for a in arguments]
        shared = values.scalar(launch.shared, scope)
        spelled = unwrap(launch.pointer).spelling if launch.pointer is not None else ""
        return LaunchFact(
            kernel_usr=kernel.get_usr() if kernel is not None else "",
            kernel_name=kernel.spelling if kernel is not None else spelled,
            span=self._inventory.spans(launch.cursor),
            grid=grid,
            block=block,
            shared_bytes=shared,
            stream=self._text(launch.stream),
            arguments=scalars,
            hints=tuple(sorted(values.hints.items())),
            pointer_extents=tuple(p.extent for p in pointers),
            pointer_roots=tuple(p.root for p in pointers),
            pointer_offsets=tuple(p.offset for p in pointers),
            pointer_owned=tuple(p.owned for p in pointers),
            grid_text=self._text(launch.grid),
            block_text=self._text(launch.block),
            shared_text=self._text(launch.shared),
            resolved=kernel is not None,
            settled=tuple(sorted(values.settled & set(values.hints))),
        )

    def _arguments(self, launch: Launch) -> tuple[Any, ...]:
        if launch.arguments is not None:
            return launch.arguments
        # cudaLaunchKernel: `void *args[] = {&a, &n};`
        passed = list(launch.cursor.get_arguments())
        table = unwrap(passed[3]) if len(passed) > 3 else None
        if table is None or table.kind != CursorKind.DECL_REF_EXPR or table.referenced is None:
            return ()
        init = var_init(table.referenced)
        if init is None or init.kind != CursorKind.INIT_LIST_EXPR:
            return ()
        items = []
        for item in init.get_children():
            inner = _strip_casts(item)
            operand = next(iter(inner.get_children()), None)
            if unary_op(inner) != "&" or operand is None:
                return ()
            items.append(operand)
        return tuple(items)

    def _pointer(self, cursor: Any, scope: Scope) -> _Pointer:
        if not is_pointer(cursor):
            return _Pointer("", None)
        return self._pointer_of(cursor, scope, 0)

    def _pointer_of(self, cursor: Any, scope: Scope, depth: int) -> _Pointer:
        inner = _strip_casts(cursor)
        moved = self._moved(inner, scope, depth)
        if moved is not None:
            return moved
        if inner.kind == CursorKind.MEMBER_REF_EXPR and inner.referenced is not None:
            owners = [c for c in inner.get_children() if c.kind.is_expression()]
            root = self._values.name(inner.referenced, scope)
            if owners:
                # One field of several objects: only the text tells them apart.
                root = f"{scope.function.cursor.spelling}:{self._text(inner)}"
            extent = self._extent(inner.referenced, inner)
            return _Pointer(root, extent, owned=self._owns(inner.referenced, inner))
        if inner.kind != CursorKind.DECL_REF_EXPR or inner.referenced is None:
            return _Pointer("", None)
        decl = inner.referenced
        bound = scope.bindings.get(key(decl))
        if bound is not None and key(decl) not in scope.function.assignments and depth < 4:
            followed = self._pointer_of(bound[0], bound[1], depth + 1)
            if followed.root:
                return followed
        extent = self._extent(decl, inner)
        if extent is None and decl.kind == CursorKind.VAR_DECL and depth < 4:
            source = self._values.definition(decl, scope)
            if source is not None:
                followed = self._pointer_of(source, scope, depth + 1)
                if followed.root:
                    return followed
        return _Pointer(self._values.name(decl, scope), extent, owned=self._owns(decl, inner))

    def _moved(self, cursor: Any, scope: Scope, depth: int) -> _Pointer | None:
        """Follow ``p + n``, ``p - n`` and ``&p[n]`` to ``p``; None for any other expression."""
        parts = [c for c in cursor.get_children() if c.kind.is_expression()]
        op: str | None = None
        size = cursor.type.get_canonical().get_pointee().get_size()
        if cursor.kind == CursorKind.BINARY_OPERATOR and len(parts) == 2:
            op = binary_op(cursor)
            if op == "+" and not is_pointer(parts[0]):
                parts.reverse()
        elif unary_op(cursor) == "&" and len(parts) == 1:
            element = _strip_casts(parts[0])
            if element.kind == CursorKind.ARRAY_SUBSCRIPT_EXPR:
                op, parts = "+", list(element.get_children())
        if op not in ("+", "-") or len(parts) != 2 or not is_pointer(parts[0]) or depth > 4:
            return None
        base = self._pointer_of(parts[0], scope, depth + 1)
        steps = self._values.scalar(parts[1], scope)
        if not base.root or base.offset is None or steps is None or size <= 0:
            return _Pointer(base.root, None, None, base.owned)
        moved = Binary(BinaryOp.MUL, fold_cast(steps, I64), Const(size, I64), I64)
        sign = BinaryOp.ADD if op == "+" else BinaryOp.SUB
        start = base.offset
        offset = moved if (op, start) == ("+", _HERE) else Binary(sign, start, moved, I64)
        return _Pointer(base.root, None, simplify(offset), base.owned)

    def _owns(self, decl: Any, cursor: Any) -> bool:
        """Whether an allocation is stored into the variable, and nothing else is."""
        stored = self._allocations.get(key(decl), [])
        if cursor.kind == CursorKind.MEMBER_REF_EXPR:
            stored = [s for s in stored if self._text(s.target) == self._text(cursor)]
        functions = self._inventory.functions.values()
        changes = [v for f in functions for v in f.assignments.get(key(decl), [])]
        # Each allocation shows as a change to an unknown value, through the variable's address.
        return bool(stored) and changes == [None] * len(stored)

    def _extent(self, decl: Any, cursor: Any) -> Expr | None:
        sizes = self._allocations.get(key(decl), [])
        if cursor.kind == CursorKind.MEMBER_REF_EXPR:
            # The same field may belong to several objects.
            sizes = [s for s in sizes if self._text(s.target) == self._text(cursor)]
        if len(sizes) != 1:
            return None
        return self._values.scalar(sizes[0].bytes, self._values.scope(sizes[0].call.function))

    def _text(self, cursor: Any | None) -> str:
        """Return an expression's own text; of a macro's argument that, of a constant its value."""
        inner = cursor
        while inner is not None:
            span = self._inventory.spans(inner)
            if span.end > span.start and not span.in_macro:
                text = self._inventory.source(span.file)[span.start : span.end]
                return " ".join(text.decode("utf-8", "replace").split())[:_SHOWN]
            parts = [c for c in inner.get_children() if c.kind.is_expression()]
            inner = parts[0] if len(parts) == 1 else None
        value = evaluate(cursor) if cursor is not None else None
        return "" if value is None else str(value)


@dataclass(frozen=True, slots=True)
class _Allocation:
    target: Any
    bytes: Any
    call: Call


def _allocations(inventory: Inventory) -> dict[Key, list[_Allocation]]:
    found: dict[Key, list[_Allocation]] = {}
    for function in inventory.functions.values():
        if function.dependent:
            continue
        for node in function.allocations:
            arguments = list(node.get_arguments())
            if len(arguments) < 2:
                continue
            pointer = _strip_casts(arguments[0])
            operand = next(iter(pointer.get_children()), None)
            if unary_op(pointer) != "&" or operand is None:
                continue
            target = unwrap(operand)
            if target.referenced is not None:
                entry = _Allocation(target, arguments[1], Call(node, function))
                found.setdefault(key(target.referenced), []).append(entry)
    return found


def _strip_casts(cursor: Any) -> Any:
    casts = (
        CursorKind.UNEXPOSED_EXPR,
        CursorKind.PAREN_EXPR,
        CursorKind.CSTYLE_CAST_EXPR,
        CursorKind.CXX_STATIC_CAST_EXPR,
        CursorKind.CXX_REINTERPRET_CAST_EXPR,
        CursorKind.CXX_CONST_CAST_EXPR,
    )
    while cursor.kind in casts:
        inner = [c for c in cursor.get_children() if c.kind.is_expression()]
        if not inner:
            return cursor
        cursor = inner[-1]
    return cursor
