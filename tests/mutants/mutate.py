"""Small slips in a module, one at a time: what a tired programmer could have written instead.

Libraries for mutation testing replace operators and constants; most slips in code that waits and
wakes are lines that are missing, so statements are deleted here, too.
"""

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
METHODS = {
    "append": "appendleft",
    "appendleft": "append",
    "popleft": "pop",
    "min": "max",
    "max": "min",
    "any": "all",
    "all": "any",
}
DELETED = (ast.Expr, ast.Assign, ast.AugAssign, ast.Delete, ast.Raise, ast.Break, ast.Continue)


@dataclass(frozen=True)
class Mutant:
    line: int
    slip: str
    source: str


def mutants(source: str) -> Iterator[Mutant]:
    tree = ast.parse(source)
    spots = [node for node in _bodies(tree) if hasattr(node, "lineno")]
    found = [mutant for node in spots for mutant in _slips(tree, node)]
    yield from sorted(found, key=lambda mutant: mutant.line)


def _bodies(tree: ast.Module) -> Iterator[ast.AST]:
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for statement in function.body:
                if not _is_text(statement):
                    yield from _below(statement)


def _below(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return  # It is walked by itself.
    yield node
    for name, value in ast.iter_fields(node):
        if name not in {"annotation", "returns", "exc", "msg"}:
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST) and not _is_text(child):
                    yield from _below(child)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _slips(tree: ast.Module, node: ast.AST) -> Iterator[Mutant]:
    for slip, changed in _changes(node):
        line = node.lineno  # type: ignore[attr-defined]
        source = ast.unparse(ast.fix_missing_locations(_replaced(tree, node, changed)))
        yield Mutant(line, f"{slip}: {ast.unparse(node).splitlines()[0][:70]}", source)


def _replaced(tree: ast.Module, old: ast.AST, new: ast.AST) -> ast.Module:
    memo = {id(old): new}
    return copy.deepcopy(tree, memo)


def _changes(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    match node:
        case ast.If() | ast.While() | ast.IfExp() if not isinstance(node.test, ast.Constant):
            opposite = ast.UnaryOp(ast.Not(), node.test)
            yield "negated", type(node)(**{**vars(node), "test": opposite})
        case ast.Compare(ops=[operator]) if type(operator) in COMPARISONS:
            yield (
                "compared",
                ast.Compare(node.left, [COMPARISONS[type(operator)]()], node.comparators),
            )
        case ast.BoolOp():
            other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
            yield "and/or", ast.BoolOp(other, node.values)
            if len(node.values) > 1:
                yield "shortened", node.values[0]
        case ast.BinOp(op=ast.Add() | ast.Sub()):
            sign = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
            yield "signed", ast.BinOp(node.left, sign, node.right)
        case ast.Constant(value=bool()):
            yield "flipped", ast.Constant(not node.value)
        case ast.Constant(value=int()):
            yield "one off", ast.Constant(node.value + 1)
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            yield "nothing returned", ast.Return(ast.Constant(None))
        case ast.Name(id=name) if name in METHODS:
            yield "renamed", ast.Name(METHODS[name], node.ctx)
        case ast.Attribute(attr=name) if name in METHODS:
            yield "renamed", ast.Attribute(node.value, METHODS[name], node.ctx)
        case ast.stmt() if isinstance(node, DELETED):
            yield "deleted", ast.Pass()
        case _:
            pass
