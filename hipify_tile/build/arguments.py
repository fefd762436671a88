"""The values of a lowered function, unpacked from the arguments of the CUDA kernel, as C++ text.

What CPU and GPU objects have in common: launch conditions, scalars and pointers of the CUDA
parameters, extents of buffers, and the registration of the result. It lowers nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hipify_tile.build.c_expressions import UnprintableError, c_text
from hipify_tile.ir.simt import Kernel
from hipify_tile.ir.types import BY_NAME, ScalarType
from hipify_tile.rewriter.model import ArgumentRole, Emission
from hipify_tile.verify.lowering import Lowered


class NoObjectError(Exception):
    """The emission cannot become an object; the text says why."""


Variable = Callable[[str], tuple[str, str]]
"""From a device variable's qualified name to a declaration (or "") and its address; may raise."""


def unpacked(
    kernel: Kernel,
    emission: Emission,
    lowered: Lowered,
    types: Mapping[str, str],
    shared_bytes: int,
    variable: Variable,
) -> tuple[list[str], list[str]]:
    """Return statements that declare the lowered function's values, and launch conditions.

    ``types`` gives the C++ type of each of its parameters. Raises ``NoObjectError``.
    """
    lines = [
        f"  const int32_t {kind}_{a} = (int32_t)tm_self->{kind}[{i}];"
        for kind in ("grid", "block")
        for i, a in enumerate("xyz")
    ]
    lines.append(
        "  (void)grid_x, (void)grid_y, (void)grid_z, (void)block_x, (void)block_y, (void)block_z;"
    )
    lines.append(
        "  const int32_t shared_bytes = (int32_t)tm_self->shared_bytes; (void)shared_bytes;"
    )
    by_name = {a.name: a for a in emission.arguments}
    checks = (
        [f"tm_self->shared_bytes <= {shared_bytes}ull"]
        if "shared_bytes" in emission.options
        else []
    )
    declared: set[str] = set()
    for leaf in kernel.params:
        at = f"static_cast<const char *>(tm_arguments[{leaf.argument}]) + {leaf.offset}"
        if leaf.pointer:
            lines.append(f"  void *{leaf.name}_pointer; memcpy(&{leaf.name}_pointer, {at}, 8);")
            lines.append(f"  (void){leaf.name}_pointer;")
            continue
        argument = by_name.get(leaf.name)
        type_ = types.get(leaf.name) or _leaf_type(leaf.dtype.name)
        if type_ is None:
            continue
        if argument is not None and BY_NAME[argument.dtype].bytes != leaf.dtype.bytes:
            raise NoObjectError(f"{leaf.name} has another size in the emission")
        lines.append(f"  {type_} {leaf.name}; memcpy(&{leaf.name}, {at}, sizeof {leaf.name});")
        lines.append(f"  (void){leaf.name};")
        declared.add(leaf.name)
    for parameter in lowered.parameters:
        name = parameter.name
        argument = by_name.get(name)
        if argument is None:
            extent = _extent(name, emission)
            lines.append(f"  {types[name]} {name} = ({types[name]})({extent});")
            if extent.startswith("tm_extent") and types[name] == "int32_t":
                checks.append(f"{extent} <= INT32_MAX")
        elif argument.role is ArgumentRole.BUFFER:
            value = f"{argument.source}_pointer"
            lines.append(f"  {types[name]} {name} = ({types[name]}){value};")
        elif argument.role is ArgumentRole.GLOBAL:
            declaration, address = variable(argument.source)
            lines += [declaration] if declaration else []
            lines.append(f"  {types[name]} {name} = ({types[name]}){address};")
        elif argument.role is ArgumentRole.SCALAR and name not in declared:
            raise NoObjectError(f"the scalar {name} has no leaf")
    try:
        checks += [c_text(condition) for condition in emission.assumes]
    except UnprintableError as error:
        raise NoObjectError(f"a launch condition cannot be checked: {error}") from error
    return lines, checks


def _leaf_type(name: str) -> str | None:
    return {"bool": "bool", "float32": "float", "float64": "double"}.get(
        name, f"{name}_t" if "int" in name else None
    )


def _extent(name: str, emission: Emission) -> str:
    for argument in emission.arguments:
        for dimension, extent in enumerate(argument.extents):
            if extent != name:
                continue
            shape = argument.shape[dimension] if dimension < len(argument.shape) else None
            if shape is not None:
                try:
                    return c_text(shape)
                except UnprintableError as error:
                    raise NoObjectError(f"the extent {name} has no text: {error}") from error
            if argument.role is not ArgumentRole.BUFFER:
                raise NoObjectError(f"the extent {name} of a variable is unknown")
            item = BY_NAME[argument.dtype].bytes
            return f"tm_extent({argument.source}_pointer) / {item}"
    raise NoObjectError(f"the lowered function takes an unknown parameter {name}")


def registration(kernel: Kernel, kind: str, entry: str, source: str) -> list[str]:
    """Return the text of an object that registers ``entry`` of a kind (``enum tm_kind``)."""
    quoted = source.replace("\\", "\\\\").replace('"', '\\"')
    written = {b.storage or b.name for b in kernel.buffers if b.written}
    rows = []
    for i, size in enumerate(kernel.argument_sizes):
        leaves = [p for p in kernel.params if p.argument == i]
        pointer = int(size == 8 and len(leaves) == 1 and leaves[0].pointer)
        name = leaves[0].source_name or leaves[0].name if leaves else ""
        writes = int(any(p.pointer and p.name in written for p in leaves))
        rows.append(f'{{"{name}", {size}, {pointer}, {writes}, {_element(kernel, i)}}}')
    rows.append("{nullptr, 0, 0, 0, 0}")
    return [
        "namespace {",
        f"const tm_parameter tm_parameters[] = {{{', '.join(rows)}}};",
        "tm_kernel_record tm_record() {",
        "  tm_kernel_record record = {};",
        f"  record.abi = TM_ABI_VERSION, record.kind = {kind};",
        f'  record.mangled = "{kernel.mangled}", record.implementation = &{entry};',
        "  record.parameters = tm_parameters;",
        f"  record.parameter_count = {len(kernel.argument_sizes)};",
        f"  record.max_threads = {kernel.launch_bounds[0]};",
        f'  record.source = "{quoted}";',
        "  return record;",
        "}",
        "struct tm_registration {",
        "  tm_kernel_record record = tm_record();",
        "  tm_registration() { tm_register_kernel(&record); }",
        "  ~tm_registration() { tm_unregister_kernel(&record); }",
        "} tm_registered;",
        "}  // namespace",
    ]


def _element(kernel: Kernel, argument: int) -> str:
    """The ``enum tm_element`` of a scalar argument, or of what a pointer argument points to."""
    leaves = [p for p in kernel.params if p.argument == argument]
    if len(leaves) != 1:
        return "TM_ELEMENT_UNKNOWN"
    (leaf,) = leaves
    views = {b.dtype for b in kernel.buffers if (b.storage or b.name) == leaf.name}
    if leaf.pointer and len(views) > 1:
        return "TM_ELEMENT_UNKNOWN"
    dtype = views.pop() if leaf.pointer and views else leaf.dtype
    if leaf.pointer and leaf.pointee_bytes not in (0, dtype.bytes):
        return "TM_ELEMENT_UNKNOWN"
    return element_name(dtype)


def element_name(dtype: ScalarType) -> str:
    """Return the ``enum tm_element`` of a type."""
    name = dtype.name.upper()
    return f"TM_ELEMENT_{name}" if name in _ELEMENTS else "TM_ELEMENT_UNKNOWN"


_ELEMENTS = frozenset(
    ["FLOAT16", "BFLOAT16", "FLOAT32", "FLOAT64"]
    + [f"{sign}INT{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)]
)
