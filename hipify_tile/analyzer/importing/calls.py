"""Calls of functions, methods, constructors and operators, and lambdas."""

from __future__ import annotations

from typing import Any

from clang.cindex import CursorKind

from hipify_tile.analyzer import clang
from hipify_tile.analyzer.importing.construction import Construction
from hipify_tile.analyzer.importing.conversions import K, operands
from hipify_tile.analyzer.importing.types import (
    PointerType,
)
from hipify_tile.analyzer.importing.values import (
    Closure,
    MemoryPlace,
    Place,
    PointerPlace,
    RecordPlace,
    ScalarPlace,
    Value,
    ValuePlace,
)

_FUNCTIONS = (
    CursorKind.FUNCTION_DECL,
    CursorKind.CXX_METHOD,
    CursorKind.CONVERSION_FUNCTION,
    CursorKind.CONSTRUCTOR,
)


class Calls(Construction):
    """Calls of functions that have a body in this translation unit."""

    def call(self, cursor: Any, wanted: bool) -> Value | Place:
        """Import a call; a Place when it returns a reference."""
        callee = cursor.referenced
        if callee is None:
            raise self.refuse(cursor, "TM1103", "the function of this call is not known")
        if callee.kind not in _FUNCTIONS:
            raise self.refuse(cursor, "TM1102")
        if callee.kind == K.CONSTRUCTOR:
            return self._constructed(cursor, callee)
        if callee.is_virtual_method():
            raise self.refuse(cursor, "TM1102", "a virtual function is called")
        if self.is_system(callee):
            result = self.builtin(cursor, callee, wanted)
            if result is not None:
                return result
        this, arguments = self._arguments(cursor, callee)
        return self.inline(cursor, callee, this, arguments)

    def _arguments(self, cursor: Any, callee: Any) -> tuple[Place | None, list[Any]]:
        arguments = list(cursor.get_arguments())
        if callee.kind == K.FUNCTION_DECL or callee.is_static_method():
            return None, arguments
        head = clang.unwrap(operands(cursor)[0]) if operands(cursor) else None
        if head is not None and head.kind == K.MEMBER_REF_EXPR and head.referenced == callee:
            inner = operands(head)
            if not inner:
                return self.frame.this, arguments
            base = self.ctype(inner[0])
            if isinstance(base, PointerType):
                return self.dereference(self.rvalue(inner[0]), base.pointee), arguments
            return self.lvalue(inner[0]), arguments
        if not arguments:
            raise self.refuse(cursor, "TM1102")
        return self.lvalue(arguments[0]), arguments[1:]

    def closure(self, cursor: Any) -> Value:
        """Import a lambda: captured copies are taken now, the rest is seen through."""
        tokens = [t.spelling for t in cursor.get_tokens()]
        if tokens[:1] != ["["] or "]" not in tokens:
            raise self.refuse(cursor, "TM1002", "a lambda inside a macro is not supported")
        end = tokens.index("]")
        captures = tokens[1:end]
        environment = dict(self.frame.environment)
        by_default = "=" in captures[:1]
        named = {t for i, t in enumerate(captures) if t.isidentifier() and captures[i - 1] != "&"}
        seen_through = {t for i, t in enumerate(captures) if i and captures[i - 1] == "&"}
        if "=" in captures[1:]:
            raise self.refuse(cursor, "TM1002", "an init-capture is not supported")
        for node in clang.walk(cursor):
            if node.kind not in (K.DECL_REF_EXPR, K.VARIABLE_REF) or node.referenced is None:
                continue
            key = node.referenced.hash
            place = environment.get(key)
            copied = node.spelling in named or (by_default and node.spelling not in seen_through)
            if place is None or not copied:
                continue
            if isinstance(place, ScalarPlace | RecordPlace | PointerPlace):
                value = self.snapshot(self.load(place), node.spelling)
                environment[key] = ValuePlace(value, self.types.of(node.referenced.type))
            elif isinstance(place, MemoryPlace) and not _is_shared(self, place):
                raise self.refuse(cursor, "TM1002", "an array is captured by copy")
        return Closure(cursor, environment, self.frame.this)


def _is_shared(calls: Calls, place: MemoryPlace) -> bool:
    return calls.storages[place.address.storage].scope.value in (
        "shared",
        "dynamic_shared",
        "global",
    )
