"""Small wrong changes of a Python module, enumerated in a fixed order.

A mutation is what a slip of the hand would do: another comparison, a flipped condition, a lost call, a
number off by one. Not changed are annotations, decorators, docstrings, `__all__`, probes, and texts for people
(strings with a blank or a letter beyond ASCII): their wording is no behaviour.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

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
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Add,
}
NOT_CHANGED = {
    "annotation",
    "returns",
    "decorator_list",
    "bases",
    "keywords_of_class",
    "type_params",
}
TYPE_FORMS = {"Literal", "Annotated", "TypeVar", "ParamSpec", "NewType", "TypeAliasType", "cast"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutation:
    """One change. `lines` are those of the statement it is in (1-based, both ends); `is_global` means
    that it runs when the module is imported, before any test. `change` edits the tree in place."""

    lines: tuple[int, int]
    is_global: bool
    before: str
    after: str
    change: Callable[[], None] = field(repr=False)


def mutations(tree: ast.Module) -> list[Mutation]:
    """All mutations of a module, in the order of the source."""
    return list(_walk(tree, statement=None, is_global=True))


def mutate(source: str, index: int) -> str:
    """The source with its mutation number `index`; comments and layout are lost."""
    tree = ast.parse(source)
    mutations(tree)[index].change()
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def _walk(node: ast.AST, statement: ast.stmt | None, is_global: bool) -> Iterator[Mutation]:
    for name, value in ast.iter_fields(node):
        if name in NOT_CHANGED or (name == "keywords" and isinstance(node, ast.ClassDef)):
            continue
        children = value if isinstance(value, list) else [value]
        for place, child in enumerate(children):
            if not isinstance(child, ast.AST) or _is_left_alone(child):
                continue
            near = child if isinstance(child, ast.stmt) else statement

            def put(new: ast.AST, name: str = name, value: object = value, at: int = place) -> None:
                if isinstance(value, list):
                    value[at] = new
                else:
                    setattr(node, name, new)

            for new in _changes(child):
                yield Mutation(
                    lines=_lines(near or child),
                    is_global=is_global,
                    before=_shown(child),
                    after=_shown(new),
                    change=lambda new=new, put=put: put(new),
                )
            inside = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
            yield from _walk(child, near, is_global and not inside)


def _changes(node: ast.AST) -> Iterator[ast.AST]:
    """What may stand in the place of `node`. The children are shared; only one change is ever made."""
    return _changed_statements(node) if isinstance(node, ast.stmt) else _changed_values(node)


def _changed_values(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Compare(left=left, ops=ops, comparators=right):
            for i, op in enumerate(ops):
                swapped = [*ops[:i], COMPARISONS[type(op)](), *ops[i + 1 :]]
                yield ast.Compare(left=left, ops=swapped, comparators=right)
        case ast.BoolOp(op=op, values=values):
            yield ast.BoolOp(op=ast.Or() if isinstance(op, ast.And) else ast.And(), values=values)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield operand
        case ast.IfExp(test=test, body=body, orelse=orelse) if not _is_negated(test):
            yield ast.IfExp(test=_negated(test), body=body, orelse=orelse)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in ARITHMETIC:
            yield ast.BinOp(left=left, op=ARITHMETIC[type(op)](), right=right)
        case ast.Constant(value=value):
            yield from _other_constants(value)
        case _:
            pass


def _changed_statements(node: ast.stmt) -> Iterator[ast.AST]:
    match node:
        case ast.If(test=test, body=body, orelse=orelse) if not _is_negated(test):
            yield ast.If(test=_negated(test), body=body, orelse=orelse)
        case ast.While(test=test, body=body, orelse=orelse) if not _is_negated(test):
            yield ast.While(test=_negated(test), body=body, orelse=orelse)
        case ast.AugAssign(target=target, op=op, value=value) if type(op) in ARITHMETIC:
            yield ast.AugAssign(target=target, op=ARITHMETIC[type(op)](), value=value)
        case ast.Return(value=ast.expr() as value) if not _is_none(value):
            yield ast.Return(value=ast.Constant(value=None))
        case ast.Expr(value=ast.Call() | ast.Await()) | ast.Raise():
            yield ast.Pass()
        case ast.Break():
            yield ast.Continue()
        case ast.Continue():
            yield ast.Break()
        case _:
            pass


def _is_negated(test: ast.expr) -> bool:
    return isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)


def _negated(test: ast.expr) -> ast.expr:
    return ast.UnaryOp(op=ast.Not(), operand=test)


def _other_constants(value: object) -> Iterator[ast.AST]:
    if isinstance(value, bool):
        yield ast.Constant(value=not value)
    elif isinstance(value, (int, float)):
        yield ast.Constant(value=value + 1)
    elif isinstance(value, str) and value.isascii() and value and not re.search(r"\s", value):
        yield ast.Constant(value=value + "~")


def _is_left_alone(node: ast.AST) -> bool:
    match node:
        case ast.Expr(value=ast.Constant()):  # docstrings, `...`
            return True
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="probe" | "_probe"))):
            return True  # only tells the fault suite, in other processes, where it may kill them
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name.startswith("__")
        case ast.AnnAssign(annotation=ast.Name(id="TypeAlias")):
            return True
        case ast.Subscript(value=ast.Name(id=name)) | ast.Call(func=ast.Name(id=name)):
            return name in TYPE_FORMS | {"assert_never"}
        case ast.If(test=ast.Name(id="TYPE_CHECKING")) | ast.JoinedStr():
            return True
        case _:
            return False


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _lines(node: ast.AST) -> tuple[int, int]:
    """First and last line; of a statement with a body, those of its head."""
    first: int = getattr(node, "lineno")  # noqa: B009 - every walked node has one
    last: int = getattr(node, "end_lineno", first) or first
    body = getattr(node, "body", None)
    if isinstance(node, ast.stmt) and isinstance(body, list) and body:
        last = max(first, body[0].lineno - 1)
    return first, last


def _shown(node: ast.AST) -> str:
    text = ast.unparse(ast.fix_missing_locations(node)).split("\n", 1)[0]
    return text if len(text) <= 90 else text[:87] + "..."
