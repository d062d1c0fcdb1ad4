"""What code names: globals, with what it takes of them if they are modules, and its own imports."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import CodeType

from asyncwait.backends.journal._version._code import Operation, after_jumps, operations

Chain = tuple[str, ...]
"""Attributes that are taken one of the other; empty where a thing is taken as it is."""

_GLOBAL = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"}
_LOCAL = {"LOAD_FAST", "LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF"}
_ATTRIBUTE = {"LOAD_ATTR", "LOAD_METHOD"}


@dataclass(frozen=True)
class Import:
    """An import inside of a function.

    Args:
        level: how many dots stand before the name of the module.
        module: its name.
        item: what is taken of it; "" for the package that the name begins with, None for the
            module itself.
        bound: the name that it gets.
        escapes: that is no local one, so that anybody may use it.
    """

    level: int
    module: str
    item: str | None
    bound: str
    escapes: bool


@dataclass
class Reach:
    """What a code and all code in it names.

    Args:
        names: global ones, and ones that a class may have itself, and what is taken of each.
        variables: the same of local ones.
        mentioned: attributes of anything, globals, and texts, which may be names.
        imports: in the order in which they stand.
    """

    names: dict[str, set[Chain]] = field(default_factory=lambda: defaultdict(set))
    variables: dict[str, set[Chain]] = field(default_factory=lambda: defaultdict(set))
    mentioned: set[str] = field(default_factory=set)
    imports: list[Import] = field(default_factory=list)


def reach_of(code: CodeType) -> Reach:
    """Return what a code names."""
    reach = Reach()
    _add(reach, code)
    return reach


def _add(reach: Reach, code: CodeType) -> None:
    all_of = operations(code)
    for index, each in enumerate(all_of):
        if each.name in _GLOBAL:
            name = each.argument[0] if isinstance(each.argument, tuple) else each.argument
            reach.names[name].add(_chain(all_of, index))
            reach.mentioned.add(name)
        elif each.name in _LOCAL and not _makes_a_closure(each, code):
            reach.variables[each.argument].add(_chain(all_of, index))
        elif each.name in _ATTRIBUTE:
            reach.mentioned.add(_attribute(each))
        elif each.name == "IMPORT_NAME":
            reach.imports += _imports(all_of, index)
        elif each.name == "LOAD_CONST" and isinstance(each.argument, CodeType):
            _add(reach, each.argument)
        elif each.name == "LOAD_CONST" and isinstance(each.argument, str):
            reach.mentioned.add(each.argument)


def _makes_a_closure(each: Operation, code: CodeType) -> bool:
    """Whether a cell is loaded as such, as Python 3.13 and later do it."""
    return each.name == "LOAD_FAST" and each.argument in {*code.co_cellvars, *code.co_freevars}


def _attribute(each: Operation) -> str:
    return str(each.argument[0] if isinstance(each.argument, tuple) else each.argument)


def _chain(all_of: Sequence[Operation], index: int) -> Chain:
    chain: list[str] = []
    while (each := all_of[after_jumps(all_of, index + 1)]).name in _ATTRIBUTE:
        index = after_jumps(all_of, index + 1)
        chain.append(_attribute(each))
    return tuple(chain)


def _imports(all_of: Sequence[Operation], index: int) -> Iterator[Import]:
    """Yield what the import at an index binds: it is told by what stands round it."""
    module, level = all_of[index].argument, all_of[index - 2].argument
    items = all_of[index - 1].argument
    item: str | None = ""
    for each in all_of[index + 1 :]:
        if each.name == "IMPORT_FROM":
            item = each.argument if items else None
        elif each.name.startswith("STORE_"):
            escapes = each.name in {"STORE_GLOBAL", "STORE_NAME"}
            yield Import(level, module, item, each.argument, escapes)
            item = ""
            if not items:
                return
        elif not (each.name == "SWAP" or (each.name == "POP_TOP" and not items)):
            return
