"""Mutants of an emitted TileLang module: one small semantic change each, made on the Python AST.

Only the body of the prim_func is changed, never its signature or the allocations. Whether a
mutant is equivalent to its original is not decided here. ``guards.py`` has the mutants that are
wrong for rare launches only.
"""

from __future__ import annotations

import ast
import copy
import difflib
import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from guards import Site, guard_sites


@dataclass(frozen=True)
class Mutant:
    """``source`` differs from the emitted module by ``diff``; ``kept``: never sampled away."""

    operator: str
    diff: str
    source: str
    kept: bool


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
_EVERY = ("barrier-merge", "barrier-drop", "rare-partial-block", "rare-last-element",
          "rare-uncovered", "rare-overcovered", "rare-third-sweep")  # fmt: skip
"""Operators whose sites are never sampled away."""


def mutants(source: str, key: str) -> Iterator[Mutant]:
    """Yield the mutants of ``source``: those of ``_EVERY`` first, then one operator after another.

    ``key`` seeds the order of the sites of an operator.
    """
    tree = ast.parse(source)
    plain = ast.unparse(tree)
    for node, operator, change in _ordered(_sites(tree), key):
        memo: dict[int, ast.AST] = {}
        clone = copy.deepcopy(tree, memo)
        change(memo[id(node)])
        text = ast.unparse(ast.fix_missing_locations(clone))
        if text != plain:
            yield Mutant(operator, _difference(plain, text), text, operator in _EVERY)


def _ordered(sites: Iterator[Site], key: str) -> Iterator[Site]:
    by_operator: dict[str, list[Site]] = {}
    for site in sites:
        by_operator.setdefault(site[1], []).append(site)
    for operator in _EVERY:
        yield from by_operator.pop(operator, ())
    rng = random.Random(key)
    columns = list(by_operator.values())
    rng.shuffle(columns)
    for column in columns:
        rng.shuffle(column)
    for row in itertools.zip_longest(*columns):
        yield from (site for site in row if site is not None)


def _difference(before: str, after: str) -> str:
    lines = difflib.ndiff(before.splitlines(), after.splitlines())
    changed = [f"{x[0]} {x[2:].strip()}" for x in lines if x[:2] in ("- ", "+ ")]
    return " | ".join(changed[:8])


def _sites(tree: ast.Module) -> Iterator[Site]:
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef) and _is_prim_func(function):
            types = _variable_types(function)
            yield from guard_sites(function)
            for stmt in function.body:
                yield from _in(stmt, types)


def _is_prim_func(function: ast.FunctionDef) -> bool:
    return any("prim_func" in ast.unparse(d) for d in function.decorator_list)


def _variable_types(function: ast.FunctionDef) -> dict[str, str]:
    """Scalar parameters and variables by name with their dtype text; no loop variables."""
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
    return types


def _name(call: ast.Call) -> str:
    return ast.unparse(call.func)


def _allocates(stmt: ast.stmt) -> bool:
    value = getattr(stmt, "value", None)
    if not isinstance(value, ast.Call):
        return False
    name = _name(value).rsplit(".", 1)[-1]
    return name in _ALLOCATES or name.startswith("annotate_")


def _in(stmt: ast.stmt, types: dict[str, str]) -> Iterator[Site]:
    if _allocates(stmt):
        return
    if isinstance(stmt, ast.For) and isinstance(stmt.target, ast.Name):
        types = types | {stmt.target.id: "int32"}
    if _droppable(stmt, types):
        barrier = "sync_threads" in ast.unparse(stmt)
        yield stmt, "barrier-drop" if barrier else "statement", _drop
    if isinstance(stmt, ast.If):
        yield stmt, "condition", _negate
    for name in ("body", "orelse"):
        body = getattr(stmt, name, None) or []
        for at, (first, second) in enumerate(itertools.pairwise(body)):
            if _same_loop(first, second) and _name(first.iter).endswith("serial"):
                yield stmt, "barrier-merge", _merge(name, at)
    for child in ast.iter_child_nodes(stmt):
        if isinstance(child, ast.stmt):
            yield from _in(child, types)
        else:
            yield from _expr(child, types)


def _same_loop(first: ast.stmt, second: ast.stmt) -> bool:
    return (
        isinstance(first, ast.For)
        and isinstance(second, ast.For)
        and ast.dump(first.target) == ast.dump(second.target)
        and ast.dump(first.iter) == ast.dump(second.iter)
        and "block_" in ast.unparse(first.iter)
    )


def _droppable(stmt: ast.stmt, types: dict[str, str]) -> bool:
    """A call, a store or an assignment to a variable: not what defines a name or says something."""
    match stmt:
        case ast.Assign():
            target = stmt.targets[0]
            return isinstance(target, ast.Subscript) or ast.unparse(target) in types
        case ast.Expr():
            return isinstance(stmt.value, ast.Call)
        case _:
            return isinstance(stmt, ast.AugAssign)


def _expr(root: ast.AST, types: dict[str, str]) -> Iterator[Site]:
    unseen = {
        k.value for n in ast.walk(root) if isinstance(n, ast.Call) for k in n.keywords
        if k.arg == "threads"
    }  # fmt: skip
    for node in ast.walk(root):
        match node:
            case ast.Constant() if node in unseen:
                continue  # how many threads of a GPU share the work is nothing on a CPU
            case ast.BinOp():
                if type(node.op) in _BINARY:
                    yield node, "operator", _set_op
                if isinstance(node.op, (ast.Sub, ast.LShift, ast.RShift, ast.Div)):
                    yield node, "operands", _swap_operands
            case ast.Compare():
                yield node, "comparison", _flip
            case ast.BoolOp():
                yield node, "logic", _logic
            case ast.IfExp():
                yield node, "arms", _swap_arms
            case ast.Subscript():
                yield node, "index", _shift_index(1)
                yield node, "index", _shift_index(-1)
            case ast.Call():
                yield from _call(node)
            case ast.Name(ctx=ast.Load()) if node.id in types:
                same = [n for n, t in types.items() if t == types[node.id] and n != node.id]
                if same:
                    other = same[(node.lineno + node.col_offset) % len(same)]
                    yield node, "variable", _rename(other)
            case ast.Constant() if isinstance(node.value, (int, float)) and not isinstance(
                node.value, bool
            ):
                yield node, "literal", _add_one


def _call(node: ast.Call) -> Iterator[Site]:
    short = _name(node).rsplit(".", 1)[-1]
    if short in ("truncdiv", "truncmod"):
        yield node, "operands", _swap_args
    if short == "if_then_else":
        yield node, "arms", _swap_call_arms
    if short in _CALLS:
        yield node, "function", _other_function
    if short == "call_pure_extern" and ast.unparse(node.args[1]).strip("'") in _EXTERN:
        yield node, "function", _other_extern
    if short in ("serial", "range", "Parallel", "unroll", "Pipelined"):
        yield node, "bound", _shift_bound(-1)
        yield node, "bound", _shift_bound(1)


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


def _merge(name: str, at: int) -> Callable[[ast.AST], None]:
    """Run two loops over the same threads as one, down to the innermost common one."""

    def change(node: ast.AST) -> None:
        body = getattr(node, name)
        first, second = body[at], body[at + 1]
        while (
            len(first.body) == len(second.body) == 1
            and _same_loop(first.body[0], second.body[0])
        ):  # fmt: skip
            first, second = first.body[0], second.body[0]
        first.body.extend(second.body)
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


def _swap_call_arms(node: ast.AST) -> None:
    assert isinstance(node, ast.Call)
    node.args[1], node.args[2] = node.args[2], node.args[1]


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
