"""The canonical form of code: what it does, however its text is laid out.

Where lines end changes the bytecode: jumps are shortened, ends of functions copied and pairs of
instructions merged within a line only, and lines that do nothing else get a NOP. So code is taken
as a graph here: its nodes are runs of operations up to a branch, its edges lead over jumps and
NOPs, and nodes from which the same follows are one. Arguments are names and constants, not their
places in a table; places, line numbers and docstrings are no part of it.
"""

import dis
import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from types import CodeType
from typing import Any, NamedTuple

_SKIPPED = {"CACHE", "EXTENDED_ARG", "NOP", "NOT_TAKEN"}
_JUMPS = {"JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT"}
_ENDS = {"RETURN_VALUE", "RAISE_VARARGS", "RERAISE"}
_PLACES = {"__doc__", "__firstlineno__", "__module__", "__static_attributes__"}
"""What the body of a class notes of itself; what its text says of other things is kept."""
_FLAGS = sum(
    (
        inspect.CO_OPTIMIZED,
        inspect.CO_NEWLOCALS,
        inspect.CO_VARARGS,
        inspect.CO_VARKEYWORDS,
        inspect.CO_GENERATOR,
        inspect.CO_COROUTINE,
        inspect.CO_ITERABLE_COROUTINE,
        inspect.CO_ASYNC_GENERATOR,
    )
)
_LOW_BITS = {"LOAD_GLOBAL": 1, "LOAD_ATTR": 1 if sys.version_info >= (3, 12) else 0}
_LOW_BITS["LOAD_SUPER_ATTR"] = 3
"""What an argument tells beside a name."""


class Operation(NamedTuple):
    """One of a code's operations.

    Args:
        name: of it; one name for all forms that differ in speed only.
        argument: a name, a constant, or a number.
        jump: the index of the operation that it may jump to.
        handler: the index of the operation that goes on if it raises, and how the stack is then.
    """

    name: str
    argument: Any
    jump: int | None
    handler: tuple[int, int, bool] | None


def operations(code: CodeType) -> Sequence[Operation]:
    """Return the operations of a code, without what only tells places."""
    found: list[tuple[str, Any, int | None, int]] = []
    index_at: dict[int, int] = {}
    for each in dis.get_instructions(code):
        index_at[each.offset] = len(found)
        if each.opname not in _SKIPPED:
            jump = each.argval if each.opcode in _JUMPING else None
            found += [(*plain, jump, each.offset) for plain in _plain(each, code)]
        if _notes_a_place(found):
            del found[-2:]
    handlers: dict[int, tuple[int, int, bool]] = {}
    bytecode: Any = dis.Bytecode(code)
    for entry in bytecode.exception_entries:
        at = (index_at[entry.target], entry.depth, entry.lasti)
        handlers |= dict.fromkeys(range(entry.start, entry.end, 2), at)
    return tuple(
        Operation(name, argument, None if jump is None else index_at[jump], handlers.get(offset))
        for name, argument, jump, offset in found
    )


_JUMPING = {*dis.hasjrel, *dis.hasjabs} - {dis.opmap.get("END_ASYNC_FOR")}


def _plain(of: dis.Instruction, code: CodeType) -> Iterator[tuple[str, Any]]:
    """Yield the name and the argument of an instruction, of each that it is made of."""
    name = of.opname
    if name == "RETURN_CONST":
        yield "LOAD_CONST", code.co_consts[of.arg or 0]
        yield "RETURN_VALUE", None
    elif of.opcode in dis.haslocal and isinstance(of.argval, tuple):
        first, second = name.replace("_BORROW", "").split("_FAST_", 1)
        yield from zip((f"{first}_FAST", second), of.argval, strict=True)
    elif name.startswith("POP_JUMP_"):
        yield name.replace("_FORWARD", "").replace("_BACKWARD", ""), None
    elif of.opcode in _JUMPING:
        yield name, None
    elif name in {"LOAD_FAST_CHECK", "LOAD_FAST_BORROW"}:
        yield "LOAD_FAST", of.argval
    elif name == "LOAD_SMALL_INT":
        yield "LOAD_CONST", of.arg
    elif of.opcode in dis.hasconst:
        yield name, code.co_consts[of.arg or 0]
    elif of.opcode in dis.hasname and (bits := _LOW_BITS.get(name, 0)):
        yield name, (of.argval, (of.arg or 0) & bits)
    else:
        is_named = of.opcode in {*dis.hasname, *dis.haslocal, *dis.hasfree}
        yield name, of.argval if is_named else of.arg


def _notes_a_place(found: list[tuple[str, Any, int | None, int]]) -> bool:
    if len(found) < 2 or found[-1][0] != "STORE_NAME" or found[-1][1] not in _PLACES:  # noqa: PLR2004 - a pair
        return False
    name, argument = found[-2][:2]
    return name == "LOAD_CONST" or (name, argument) == ("LOAD_NAME", "__name__")


class _Run(NamedTuple):
    """What is done from one branch to the next."""

    labels: tuple[Any, ...]
    edges: tuple["_Start", ...]


class _Start(NamedTuple):
    """Where a run begins: at an operation, after the top of the stack was dropped or not."""

    at: int
    drops: bool = False


def digest_of(code: CodeType, told: Callable[[Any], bytes]) -> bytes:
    """Return a digest of what a code does, and all code in it.

    Args:
        code: of a function, a class or a lambda.
        told: tells a constant of it that is no code.
    """
    arguments = code.co_argcount + code.co_kwonlyargcount
    arguments += bool(code.co_flags & inspect.CO_VARARGS)
    arguments += bool(code.co_flags & inspect.CO_VARKEYWORDS)
    head = (
        (code.co_name, code.co_qualname, code.co_flags & _FLAGS, code.co_freevars),
        (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount),
        code.co_varnames[:arguments],
    )
    return _hash(repr(head), *_graph(code, told))


def _graph(code: CodeType, told: Callable[[Any], bytes]) -> Iterator[Any]:
    """Yield the runs of a code, equal ones once, in the order in which they are met."""
    runs = _runs(operations(code), lambda each: _constant(each, told))
    kinds = {start: _hash(*run.labels) for start, run in runs.items()}
    while True:
        finer = {at: _hash(kinds[at], *map(kinds.get, run.edges)) for at, run in runs.items()}
        if len(set(finer.values())) == len(set(kinds.values())):
            break
        kinds = finer
    numbers = {kinds[_Start(0)]: 0}
    first = [_Start(0)]
    for start in first:
        for edge in runs[start].edges:
            if kinds[edge] not in numbers:
                numbers[kinds[edge]] = len(numbers)
                first.append(edge)
        yield from runs[start].labels
        yield [numbers[kinds[edge]] for edge in runs[start].edges]


def _constant(each: Operation, told: Callable[[Any], bytes]) -> Any:
    if each.name not in {"LOAD_CONST", "KW_NAMES"}:
        return each.argument
    constant = each.argument
    return digest_of(constant, told) if isinstance(constant, CodeType) else told(constant)


def _runs(all_of: Sequence[Operation], argument: Callable[[Operation], Any]) -> dict[_Start, _Run]:
    runs: dict[_Start, _Run] = {}
    to_do = [_Start(0)]
    while to_do:
        if (start := to_do.pop()) not in runs:
            runs[start] = _run(all_of, start, argument)
            to_do += runs[start].edges
    return runs


def _run(all_of: Sequence[Operation], start: _Start, argument: Callable[[Operation], Any]) -> _Run:
    labels: list[Any] = [("POP_TOP", None, None)] if start.drops else []
    handlers: dict[tuple[int, int, bool], int] = {}
    edges: list[_Start] = []
    met = set[int]()
    index = after_jumps(all_of, start.at)
    while index not in met:
        met.add(index)
        each = all_of[index]
        handler = None
        if each.handler is not None and each.name != "POP_TOP":
            handler = (handlers.setdefault(each.handler, len(handlers)), *each.handler[1:])
        if each.name not in _EITHER:
            labels.append((each.name, argument(each), handler))
        if each.name in _JUMPS:  # round and round: it leads nowhere else
            break
        if each.jump is not None:
            edges = _branch(all_of, index, labels, handler)
            break
        if each.name in _ENDS:
            break
        index = after_jumps(all_of, index + 1)
    else:
        edges = [_Start(index)]
    labels.append(len(edges))
    return _Run(tuple(labels), (*edges, *(_Start(target) for target, *_ in handlers)))


_EITHER = {"JUMP_IF_FALSE_OR_POP": False, "JUMP_IF_TRUE_OR_POP": True}
_OPPOSITES = {
    "POP_JUMP_IF_TRUE": "POP_JUMP_IF_FALSE",
    "POP_JUMP_IF_NOT_NONE": "POP_JUMP_IF_NONE",
}
_POPPING = {"POP_JUMP_IF_FALSE": False, "POP_JUMP_IF_TRUE": True}


def after_jumps(all_of: Sequence[Operation], index: int) -> int:
    """Return the index of the operation that is really next where that of `index` is."""
    met = set[int]()
    while all_of[index].name in _JUMPS and index not in met:
        met.add(index)
        index = all_of[index].jump or 0
    return index


def _branch(
    all_of: Sequence[Operation], index: int, labels: list[Any], handler: Any
) -> list[_Start]:
    """Return where it goes on: without the jump, and with it."""
    each = all_of[index]
    jump = each.jump or 0
    if each.name in _EITHER:  # Python 3.11: told as later versions do
        truth = _EITHER[each.name]
        labels += [("COPY", 1, handler), (f"POP_JUMP_IF_{str(truth).upper()}", None, handler)]
        edges = [_Start(after_jumps(all_of, index + 1), drops=True), _known(all_of, jump, truth)]
    elif each.name in _POPPING and (copied := _uncopied(labels[:-1])) is not None:
        truth = _POPPING[each.name]
        labels[:] = [*copied, ("COPY", 1, handler), labels[-1]]
        edges = [_known(all_of, index + 1, not truth), _known(all_of, jump, truth)]
    else:
        edges = [_Start(after_jumps(all_of, index + 1)), _Start(after_jumps(all_of, jump))]
    if all(edge.drops for edge in edges):  # Nobody wants the copy.
        del labels[-2]
        edges = [_Start(edge.at) for edge in edges]
    if (opposite := _OPPOSITES.get(labels[-1][0])) is not None:
        labels[-1] = (opposite, *labels[-1][1:])
        edges.reverse()
    return edges


def _uncopied(labels: list[Any]) -> list[Any] | None:
    """Return what stands before the copy that is tested; None if it is no copy."""
    end = len(labels) - (labels[-1:] != [] and labels[-1][0] == "TO_BOOL")
    is_copied = end > 0 and labels[end - 1][:2] == ("COPY", 1)
    return labels[: end - 1] if is_copied else None


def _known(all_of: Sequence[Operation], index: int, truth: bool) -> _Start:  # noqa: FBT001 - private
    """Return where it goes on with a top of the stack that is known to be true, or false."""
    for _ in all_of:
        index = after_jumps(all_of, index)
        each = all_of[index]
        if each.name == "POP_TOP":
            return _Start(after_jumps(all_of, index + 1), drops=True)
        if each.name in _EITHER:
            if _EITHER[each.name] != truth:
                return _Start(after_jumps(all_of, index + 1), drops=True)
            index = each.jump or 0
            continue
        is_copy = (each.name, each.argument) == ("COPY", 1)
        test = index + is_copy
        test += all_of[test].name == "TO_BOOL"
        if (when := _POPPING.get(all_of[test].name)) is None:
            break
        index = (all_of[test].jump or 0) if when == truth else test + 1
        if not is_copy:
            return _Start(after_jumps(all_of, index), drops=True)
    return _Start(index)


def _hash(*parts: Any) -> bytes:
    digest = blake2b(digest_size=16)
    for part in parts:
        text = repr(part).encode(errors="backslashreplace")
        digest.update(len(text).to_bytes(8, "little") + text)
    return digest.digest()
