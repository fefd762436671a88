"""What a translation unit contains: kernels, launches, functions, symbols, and who refers to whom.

Walks the user's code only. Templates are followed into their specialisations from the code that
uses them, so launches inside templated host functions are seen with concrete types. It holds
libclang cursors and lives as long as the unit; ``analyze.py`` turns it into facts.
"""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clang.cindex import CursorKind

from hipify_tile.analyzer.clang import (
    Spans,
    expansion_file,
    has_attribute,
    plain_path,
    specialized_template,
    template_argument_count,
    unary_op,
    walk,
)
from hipify_tile.analyzer.clang_parse import ParsedUnit
from hipify_tile.analyzer.inventory_functions import (
    Function,
    record_assignment,
    record_change,
    record_reference_arguments,
)
from hipify_tile.analyzer.inventory_launches import (
    CONFIGURE_CALLS,
    Launch,
    api_launch,
    launch_expression,
)
from hipify_tile.analyzer.inventory_text import Lines, blank, has_device_code
from hipify_tile.compat import include_dir

# Allocation functions: the pointer is argument 0, its size in bytes argument 1.
ALLOCATIONS = (
    "cudaMalloc", "cudaMallocManaged", "cudaMallocHost", "cudaHostAlloc", "cudaMallocAsync",
)  # fmt: skip
_FUNCTIONS = (
    CursorKind.FUNCTION_DECL, CursorKind.CXX_METHOD, CursorKind.CONSTRUCTOR, CursorKind.DESTRUCTOR,
    CursorKind.CONVERSION_FUNCTION, CursorKind.FUNCTION_TEMPLATE,
)  # fmt: skip
_SCOPES = (
    CursorKind.NAMESPACE, CursorKind.LINKAGE_SPEC, CursorKind.UNEXPOSED_DECL,
    CursorKind.STRUCT_DECL, CursorKind.CLASS_DECL, CursorKind.UNION_DECL, CursorKind.CLASS_TEMPLATE,
    CursorKind.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION, CursorKind.FRIEND_DECL,
)  # fmt: skip
_TEMPLATES = (CursorKind.CLASS_TEMPLATE, CursorKind.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION)
_REFERENCES = (CursorKind.DECL_REF_EXPR, CursorKind.MEMBER_REF_EXPR, CursorKind.TYPE_REF)
_SYSTEM = ("/usr/include/", "/usr/lib/", "/lib/", "/include/", "/usr/local/include/", "/usr/lib64/")

_WORD = re.compile(rb"(?<![\w.])[A-Za-z_]\w*")
_TYPE_WORDS = frozenset(
    (b"float", b"double", b"int", b"unsigned", b"signed", b"char", b"short", b"long", b"true",
     b"false", b"bool")
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a function of the user's own, or of an API when ``function`` is lexical."""

    cursor: Any
    function: Function


class Inventory:
    """The contents of one parsed unit."""

    def __init__(self, parsed: ParsedUnit) -> None:
        """Walk ``parsed``; see the attributes for what is found."""
        self.parsed = parsed
        self.kernels: dict[str, Any] = {}
        self.kernel_templates: dict[str, Any] = {}
        self.kernel_declarations: list[Any] = []
        self.functions: dict[str, Function] = {}
        self.lexical: list[Function] = []
        self.launches: list[Launch] = []
        self.dependent_launches: list[Any] = []
        self.api_calls: list[Call] = []
        self.calls: dict[str, list[Call]] = {}
        self.variables: list[Any] = []
        self.initialisers = Function(parsed.tu.cursor, "", None, False, False, False)
        self.files: dict[str, bool] = {}
        self._handles: dict[int, bool] = {}
        self.macros: set[str] = set()
        self._sources = {parsed.unit.path: parsed.source}
        self._blanked: dict[str, bytes] = {}
        self._lines: dict[str, Lines] = {}
        self._pending: deque[Function] = deque()
        self._queued: set[str] = set()
        self._excluded = _library_folders(parsed)
        self.top = [c for c in parsed.tu.cursor.get_children() if self._in_user_file(c)]
        self.user_files = self._user_files()
        self.spans = Spans(self.top)
        for cursor in self.top:
            if cursor.kind == CursorKind.MACRO_DEFINITION:
                self.macros.add(cursor.spelling)
            else:
                self._declaration(cursor, dependent=False)
        while self._pending:
            function = self._pending.popleft()
            self.functions[function.usr] = function
            self._scan(function, lexical=False)

    def source(self, file: str) -> bytes:
        """Return the bytes of a user file, b"" if it is gone."""
        if file not in self._sources:
            try:
                self._sources[file] = Path(file).read_bytes()
            except OSError:
                self._sources[file] = b""
        return self._sources[file]

    def blanked(self, file: str) -> bytes:
        """Return a user file's text without comments and literals, offsets kept."""
        if file not in self._blanked:
            self._blanked[file] = blank(self.source(file))
        return self._blanked[file]

    def lines(self, file: str) -> Lines:
        """Return the line index of a user file."""
        if file not in self._lines:
            self._lines[file] = Lines(self.source(file))
        return self._lines[file]

    def is_user_file(self, name: str) -> bool:
        """Whether ``name`` is a file of the user's project, not of a library.

        A header outside the project's root that has no device code is a library's, however it was
        found: walking the headers of a framework costs minutes and yields nothing.
        """
        known = self.files.get(name)
        if known is None:
            known = name == self.parsed.unit.path or self._is_users(name)
            self.files[name] = known
        return known

    def _is_users(self, name: str) -> bool:
        # libclang names libstdc++ relative to its own place: /../lib/gcc/….
        path = os.path.normpath(os.path.join(self.parsed.unit.directory, name))
        if not name or os.path.normpath(name).startswith(self._excluded):
            return False
        root = self.parsed.unit.root
        inside = not root or path.startswith(os.path.join(os.path.normpath(root), ""))
        if inside or not has_device_code(self.source(name)):
            return inside
        return has_device_code(self.blanked(name))

    def definition(self, usr: str) -> Function | None:
        """Return the function with this USR if its body was seen."""
        return self.functions.get(usr)

    def _in_user_file(self, cursor: Any) -> bool:
        handle = expansion_file(cursor.location)
        known = self._handles.get(handle)
        if known is None:
            file = cursor.location.file
            known = file is not None and self.is_user_file(file.name)
            self._handles[handle] = known
        return known

    def _user_files(self) -> tuple[str, ...]:
        names = {self.parsed.unit.path: None}
        for inclusion in self.parsed.tu.get_includes():
            name = plain_path(inclusion.include.name)
            if self.is_user_file(name):
                names[name] = None
        return tuple(names)

    def _declaration(self, cursor: Any, *, dependent: bool) -> None:
        kind = cursor.kind
        if kind in _FUNCTIONS:
            self._function(cursor, dependent=dependent or kind == CursorKind.FUNCTION_TEMPLATE)
        elif kind in _SCOPES:
            inner = dependent or kind in _TEMPLATES
            for child in cursor.get_children():
                if child.kind.is_declaration():
                    self._declaration(child, dependent=inner)
        elif kind in (CursorKind.VAR_DECL, CursorKind.FIELD_DECL):
            if kind == CursorKind.VAR_DECL:
                self.variables.append(cursor)
            if self._names_something(cursor):
                self._scan_nodes(self.initialisers, walk(cursor), lexical=not dependent)

    def _names_something(self, cursor: Any) -> bool:
        """Whether a variable's initialiser is more than literals (generated tables are not)."""
        extent = cursor.extent
        file = extent.start.file
        if file is None:
            return False
        text = self.blanked(plain_path(file.name))[extent.start.offset : extent.end.offset]
        initialiser = text.partition(b"=")[2]
        return any(m.group() not in _TYPE_WORDS for m in _WORD.finditer(initialiser))

    def _function(self, cursor: Any, *, dependent: bool) -> None:
        kernel = has_attribute(cursor, CursorKind.CUDAGLOBAL_ATTR)
        body = _body(cursor)
        usr = cursor.get_usr()
        if kernel:
            if body is None:
                self.kernel_declarations.append(cursor)
            elif dependent:
                self.kernel_templates[usr] = cursor
            else:
                self.kernels[usr] = cursor
        if body is None or (not dependent and usr in self._queued):
            return
        device = has_attribute(cursor, CursorKind.CUDADEVICE_ATTR)
        function = Function(cursor, usr, body, kernel, device, dependent)
        # The local declarations of a unit include its implicit and explicit instantiations.
        written = not is_instance(cursor)
        if written:
            self.lexical.append(function)
        if not dependent:
            self.functions[usr] = function
            self._queued.add(usr)
        self._scan(function, lexical=written)

    def _scan(self, function: Function, *, lexical: bool) -> None:
        self._scan_nodes(function, walk(function.cursor), lexical=lexical)

    def _scan_nodes(self, function: Function, nodes: Iterator[Any], *, lexical: bool) -> None:
        for node in nodes:
            kind = node.kind
            if kind == CursorKind.CALL_EXPR:
                self._call(node, function, lexical=lexical)
            elif kind in _REFERENCES:
                self._reference(node.referenced, function)
            elif kind == CursorKind.OVERLOADED_DECL_REF:
                function.names.add(node.spelling)
            elif kind in (CursorKind.BINARY_OPERATOR, CursorKind.COMPOUND_ASSIGNMENT_OPERATOR):
                record_assignment(node, function)
            elif kind == CursorKind.UNARY_OPERATOR and unary_op(node)[-2:] in ("++", "--", "&"):
                record_change(node, function)

    def _reference(self, target: Any, function: Function) -> None:
        if target is None or not self._in_user_file(target):
            return
        usr = target.get_usr()
        if not usr or usr in function.uses:
            return
        function.uses[usr] = target
        if target.kind not in _FUNCTIONS or target.kind == CursorKind.FUNCTION_TEMPLATE:
            return
        if usr in self._queued or function.dependent:
            return
        self._queued.add(usr)
        definition = target.get_definition() or target
        body = _body(definition)
        if body is None:
            return
        specialised = template_argument_count(definition) > 0 or (
            specialized_template(definition) is not None
        )
        if not specialised:
            # A plain function is walked where it is written.
            self._queued.discard(usr)
            return
        kernel = has_attribute(definition, CursorKind.CUDAGLOBAL_ATTR)
        if kernel:
            self.kernels[usr] = definition
        device = has_attribute(definition, CursorKind.CUDADEVICE_ATTR)
        self._pending.append(Function(definition, usr, body, kernel, device, False))

    def _call(self, node: Any, function: Function, *, lexical: bool) -> None:
        children = list(node.get_children())
        if any(c.kind == CursorKind.CALL_EXPR and c.spelling in CONFIGURE_CALLS for c in children):
            if function.dependent:
                self.dependent_launches.append(node)
            else:
                self.launches.append(launch_expression(node, children, function))
            return
        target = node.referenced
        if target is None or target.kind not in _FUNCTIONS:
            if lexical:
                self.api_calls.append(Call(node, function))
            return
        if target.spelling.startswith("cudaLaunch") and not function.dependent:
            found = api_launch(node, function)
            if found is not None:
                self.launches.append(found)
        if self._in_user_file(target):
            self._reference(target, function)
            if not function.dependent:
                self.calls.setdefault(target.get_usr(), []).append(Call(node, function))
        else:
            if target.spelling in ALLOCATIONS:
                function.allocations.append(node)
            if lexical:
                self.api_calls.append(Call(node, function))
        record_reference_arguments(node, target, function)


def is_instance(cursor: Any) -> bool:
    """Whether a function was made from a template (and not written as a specialisation)."""
    pattern = specialized_template(cursor)
    return pattern is not None and pattern.location.offset == cursor.location.offset


def _library_folders(parsed: ParsedUnit) -> tuple[str, ...]:
    args = parsed.unit.args
    own = [str(Path(args[i + 1])) + "/" for i, a in enumerate(args[:-1]) if a == "-isystem"]
    root = parsed.unit.root
    # A system folder inside the project (vendored) is still a library's.
    return (*_SYSTEM, str(include_dir()) + "/", *(f for f in own if f != root + "/"))


def _body(cursor: Any) -> Any | None:
    body = None
    for child in cursor.get_children():
        if child.kind == CursorKind.COMPOUND_STMT:
            body = child
    return body
