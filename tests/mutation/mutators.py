"""Mutants of an emitted TileLang module: one small semantic change each, made on the Python AST.

Only the body of the prim_func is changed, never its signature or the allocations. Whether a
mutant is equivalent to its original is not decided here.
"""

from __future__ import annotations

import ast
import copy
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """``source`` differs from the emitted module by ``what`` at ``line``."""

    operator: str
    line: int
    what: str
    source: str


_BINARY = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
_COMPARE = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
}
_CALLS = {
    "truncdiv": "truncmod",
    "truncmod": "truncdiv",
    "min": "max",
    "max": "min",
    "atomic_add": "atomic_max",
    "exp": "exp2",
    "sqrt": "rsqrt",
}
_EXTERN = {"fminf": "fmaxf", "fmaxf": "fminf", "fmin": "fmax", "fmax": "fmin"}
_ALLOCATES = ("alloc_var", "alloc_local", "alloc_shared", "alloc_fragment", "match_buffer")


def mutants(source: str) -> list[Mutant]:
    """Return every mutant of ``source``, in source order."""
    tree = ast.parse(source)
    out: list[Mutant] = []
    for number, (node, operator, what, change) in enumerate(list(_sites(tree))):
        clone, target = _clone(tree, number)
        assert type(target) is type(node)
        change(target)
        text = ast.unparse(ast.fix_missing_locations(clone))
        if text != ast.unparse(tree):
            out.append(Mutant(operator, getattr(node, "lineno", 0), what, text))
    return out


Site = tuple[ast.AST, str, str, Callable[[ast.AST], None]]


def _clone(tree: ast.Module, number: int) -> tuple[ast.Module, ast.AST]:
    clone = copy.deepcopy(tree)
    for i, site in enumerate(_sites(clone)):
        if i == number:
            return clone, site[0]
    raise AssertionError("site not found in the clone")


def _sites(tree: ast.Module) -> Iterator[Site]:
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef) and _is_prim_func(function):
            types = _variable_types(function)
            for stmt in function.body:
                yield from _in(stmt, types)


def _is_prim_func(function: ast.FunctionDef) -> bool:
    return any("prim_func" in ast.unparse(d) for d in function.decorator_list)


def _variable_types(function: ast.FunctionDef) -> dict[str, str]:
    """Scalar variables by name with their dtype text."""
    types: dict[str, str] = {}
    for arg in function.args.args:
        text = ast.unparse(arg.annotation) if arg.annotation is not None else ""
        if text.startswith("T.") and "Tensor" not in text:
            types[arg.arg] = text.removeprefix("T.").strip("'\"")
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            value = node.value
            if isinstance(value, ast.Call) and _name(value).endswith("alloc_var") and value.args:
                types[node.targets[0].id] = ast.unparse(value.args[0]).strip("'\"")
        if isinstance(node, ast.For) and isinstance(node.target, ast.Name):
            types[node.target.id] = "int32"
    return types


def _name(call: ast.Call) -> str:
    return ast.unparse(call.func)


def _allocates(stmt: ast.stmt) -> bool:
    value = getattr(stmt, "value", None)
    return isinstance(value, ast.Call) and _name(value).rsplit(".", 1)[-1] in _ALLOCATES


def _in(stmt: ast.stmt, types: dict[str, str]) -> Iterator[Site]:
    if _allocates(stmt):
        return
    if isinstance(stmt, (ast.Assign, ast.AugAssign, ast.Expr)) and not _is_docstring(stmt):
        barrier = "sync_threads" in ast.unparse(stmt)
        operator = "drop-barrier" if barrier else "drop-statement"
        yield stmt, operator, f"drop `{ast.unparse(stmt)[:60]}`", _drop
    if isinstance(stmt, ast.If):
        yield stmt, "negate-condition", f"not ({ast.unparse(stmt.test)[:60]})", _negate
    bodies = [b for b in (getattr(stmt, "body", None), getattr(stmt, "orelse", None)) if b]
    for body in bodies:
        for first, second in itertools.pairwise(body):
            if (
                isinstance(first, ast.For)
                and isinstance(second, ast.For)
                and ast.dump(first.target) == ast.dump(second.target)
                and ast.dump(first.iter) == ast.dump(second.iter)
                and len(bodies) == 1
            ):
                at = body.index(first)
                yield stmt, "merge-regions", f"merge loops over {first.target.id}", _merge(at)
    for child in ast.iter_child_nodes(stmt):
        if isinstance(child, ast.stmt):
            yield from _in(child, types)
        else:
            yield from _expr(child, types)


def _is_docstring(stmt: ast.stmt) -> bool:
    return isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Constant)


def _expr(root: ast.AST, types: dict[str, str]) -> Iterator[Site]:
    for node in ast.walk(root):
        text = ast.unparse(node)[:60]
        match node:
            case ast.BinOp():
                if type(node.op) in _BINARY:
                    yield node, "operator", f"other operator in `{text}`", _set_op
                if isinstance(node.op, (ast.Sub, ast.LShift, ast.RShift, ast.Div)):
                    yield node, "swap-operands", f"swap `{text}`", _swap_operands
            case ast.Compare():
                yield node, "comparison", f"flip `{text}`", _flip
            case ast.BoolOp():
                yield node, "logic", f"and/or in `{text}`", _logic
            case ast.IfExp():
                yield node, "swap-arms", f"swap arms of `{text}`", _swap_arms
            case ast.Subscript():
                last = node.slice.elts[-1] if isinstance(node.slice, ast.Tuple) else node.slice
                if not (isinstance(last, ast.Constant) and last.value == 0):
                    yield node, "index", f"index + 1 in `{text}`", _shift_index(1)
                    yield node, "index", f"index - 1 in `{text}`", _shift_index(-1)
            case ast.Call():
                yield from _call(node, text)
            case ast.Name(ctx=ast.Load()) if node.id in types:
                same = [n for n, t in types.items() if t == types[node.id] and n != node.id]
                if same:
                    other = same[len(text) % len(same)]
                    yield node, "variable", f"`{node.id}` becomes `{other}`", _rename(other)
            case ast.Constant() if isinstance(node.value, (int, float)) and not isinstance(
                node.value, bool
            ):
                yield node, "literal", f"`{text}` + 1", _add_one


def _call(node: ast.Call, text: str) -> Iterator[Site]:
    short = _name(node).rsplit(".", 1)[-1]
    if short in ("truncdiv", "truncmod"):
        yield node, "swap-operands", f"swap `{text}`", _swap_args
    if short in _CALLS:
        yield node, "function", f"other function in `{text}`", _other_function
    if short == "call_pure_extern" and ast.unparse(node.args[1]).strip("'") in _EXTERN:
        yield node, "function", f"other function in `{text}`", _other_extern
    if short in ("serial", "range", "Parallel", "unroll"):
        yield node, "bound", f"bound - 1 in `{text}`", _shift_bound(-1)
        yield node, "bound", f"bound + 1 in `{text}`", _shift_bound(1)


def _drop(node: ast.AST) -> None:
    """Turn the statement into ``pass`` in place."""
    node.__class__ = ast.Pass  # type: ignore[assignment]
    node.__dict__ = {k: v for k, v in node.__dict__.items() if "lineno" in k or "col" in k}


def _negate(node: ast.AST) -> None:
    assert isinstance(node, ast.If)
    if node.orelse:
        node.body, node.orelse = node.orelse, node.body
    else:
        node.body, node.orelse = [ast.Pass()], node.body


def _merge(at: int) -> Callable[[ast.AST], None]:
    def change(node: ast.AST) -> None:
        body = node.body  # type: ignore[attr-defined]
        body[at].body.extend(body[at + 1].body)
        del body[at + 1]

    return change


def _set_op(node: ast.AST) -> None:
    assert isinstance(node, ast.BinOp)
    node.op = _BINARY[type(node.op)]()


def _swap_operands(node: ast.AST) -> None:
    assert isinstance(node, ast.BinOp)
    node.left, node.right = node.right, node.left


def _flip(node: ast.AST) -> None:
    assert isinstance(node, ast.Compare)
    node.ops[0] = _COMPARE.get(type(node.ops[0]), type(node.ops[0]))()


def _logic(node: ast.AST) -> None:
    assert isinstance(node, ast.BoolOp)
    node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()


def _swap_arms(node: ast.AST) -> None:
    assert isinstance(node, ast.IfExp)
    node.body, node.orelse = node.orelse, node.body


def _plus(node: ast.expr, by: int) -> ast.expr:
    op = ast.Add() if by > 0 else ast.Sub()
    return ast.BinOp(left=node, op=op, right=ast.Constant(abs(by)))


def _shift_index(by: int) -> Callable[[ast.AST], None]:
    def change(node: ast.AST) -> None:
        assert isinstance(node, ast.Subscript)
        if isinstance(node.slice, ast.Tuple):
            node.slice.elts[-1] = _plus(node.slice.elts[-1], by)
        else:
            node.slice = _plus(node.slice, by)

    return change


def _shift_bound(by: int) -> Callable[[ast.AST], None]:
    def change(node: ast.AST) -> None:
        assert isinstance(node, ast.Call)
        at = min(1, len(node.args) - 1)
        node.args[at] = _plus(node.args[at], by)

    return change


def _swap_args(node: ast.AST) -> None:
    assert isinstance(node, ast.Call)
    node.args[0], node.args[1] = node.args[1], node.args[0]


def _other_function(node: ast.AST) -> None:
    assert isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    node.func.attr = _CALLS[node.func.attr]


def _other_extern(node: ast.AST) -> None:
    assert isinstance(node, ast.Call) and isinstance(node.args[1], ast.Constant)
    node.args[1].value = _EXTERN[str(node.args[1].value)]


def _rename(other: str) -> Callable[[ast.AST], None]:
    def change(node: ast.AST) -> None:
        assert isinstance(node, ast.Name)
        node.id = other

    return change


def _add_one(node: ast.AST) -> None:
    assert isinstance(node, ast.Constant)
    node.value = node.value + 1
