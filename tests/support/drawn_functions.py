"""Functions drawn by a grammar, each with one place at which it can be changed.

A program is a value in layers round it: how it is held, and how it is used. Each layer is a text
for its module and an expression of `x`, and may have spots, `«one|other»`: one of all that a
program has is the change. The inner layers may stand in a module of their own. The layers stand in
`drawn_functions.txt`.
"""

import ast
import io
import re
import sys
import tokenize
from dataclasses import dataclass
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

PRELUDE = """\
import array, asyncio, collections, contextlib, dataclasses, datetime, decimal, enum, fractions
import functools, itertools, operator, pathlib, re, threading, types, typing, uuid
from contextvars import ContextVar
import msgspec
"""


def _entries(text: str) -> list[tuple[str, str]]:
    entries, before = [], []
    for line in text.strip("\n").splitlines():
        head, mark, expression = line.partition("--- ")
        before += [head.rstrip()] if head else []
        if mark:
            entries.append(("\n".join(before), expression))
            before = []
    return entries


_GRAMMAR = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8")
_VALUES, _HOLDERS, _USERS = re.split(r"^== .*\n", _GRAMMAR, flags=re.MULTILINE)[1:]

KINDS = _VALUES.splitlines()
HELD = _entries(_HOLDERS)
USED = _entries(_USERS)
IMPORTED = [
    ("import drawn_inner", "drawn_inner.@(x)"),
    ("import drawn_inner as other", "other.@(x)"),
    ("from drawn_inner import @", "@(x)"),
    ("from drawn_inner import @ as @o", "(lambda: @o(x))()"),
    ("def @u(x):\n    import drawn_inner\n    return drawn_inner.@(x)", "@u(x)"),
    ("def @u(x):\n    import drawn_inner as o\n    return [o.@(x) for _ in 'a']", "@u(x)"),
    ("def @u(x):\n    from drawn_inner import @ as o\n    return o(x)", "@u(x)"),
    ("import drawn_inner", "getattr(drawn_inner, ''.join('@'))(x)"),
    ("from drawn_inner import *", "globals()['@'](x)"),
]
_SPOT = re.compile(r"«([^«»|]*)\|([^«»]*)»")


@dataclass(frozen=True)
class Program:
    """The texts of its two modules, and in how many places it can be changed."""

    inner: str
    outer: str
    spots: int


class _Drawing:
    def __init__(self, seed: int, changed: int | None) -> None:
        self.random = Random(seed)
        self.changed = changed
        self.spots = 0
        self.names = 0
        self.modules = [PRELUDE]

    def filled(self, text: str, expression: str = "") -> str:
        def value(_: re.Match[str]) -> str:
            return self.filled(self.random.choice(KINDS))

        def spot(found: re.Match[str]) -> str:
            self.spots += 1
            return found[2] if self.spots - 1 == self.changed else found[1]

        text = _SPOT.sub(spot, text)
        return re.sub(r"\bV\b", value, text).replace("\0", expression)

    def layer(self, entry: tuple[str, str], expression: str) -> str:
        self.names += 1
        joined = re.sub(r"\bE\b", "\0", "\n---\n".join(entry))
        joined = self.filled(_named(joined, f"n{self.names}_"), expression)
        text, _, used = joined.rpartition("\n---\n")
        self.modules[-1] += text + "\n"
        return used


_DECORATOR = re.compile(
    r"^(\s*)@(functools|contextlib|dataclasses|property|staticmethod|classmethod|@)"
)


def _named(text: str, name: str) -> str:
    """A text with a name for each mark that is no decorator's."""
    lines = []
    for line in text.splitlines():
        found = _DECORATOR.match(line)
        begin = len(found[1]) + 1 if found else 0
        lines.append(line[:begin] + line[begin:].replace("@", name))
    return "\n".join(lines)


def drawn(seed: int, changed: int | None = None) -> Program:
    """A program; `changed` says which of its spots has its other text."""
    drawing = _Drawing(seed, changed)
    random = drawing.random
    expression = drawing.layer(random.choice(HELD), "")
    goes_over = random.random() < 0.5
    for _ in range(random.randint(0, 3)):
        expression = drawing.layer(random.choice(USED), expression)
        if goes_over and len(drawing.modules) == 1 and random.random() < 0.6:
            expression = _over(drawing, expression)
    if random.random() < 0.3:
        held = drawing.layer(random.choice(HELD), "")
        expression = f"({expression}, {held})"
    *inner, outer = drawing.modules
    outer += f"def fn(x):\n    return {expression}\n"
    return Program("".join(inner), outer, drawing.spots)


def _over(drawing: _Drawing, expression: str) -> str:
    name = "reached"
    drawing.modules[-1] += f"def {name}(x):\n    return {expression}\n"
    text, used = drawing.random.choice(IMPORTED)
    drawing.modules.append(PRELUDE)
    drawing.names += 1
    text, used = (
        each.replace("@u", "use").replace("@o", "o").replace("@", name) for each in (text, used)
    )
    drawing.modules[-1] += text + "\n"
    return used


def loaded(program: Program) -> Any:
    for name, text in (("drawn_inner", program.inner), ("drawn_outer", program.outer)):
        module = ModuleType(name)
        sys.modules[name] = module
        exec(compile(text, f"/nowhere/{name}.py", "exec"), vars(module))  # noqa: S102 - drawn here
    return sys.modules["drawn_outer"].fn


def results(fn: Any) -> str:
    """What it gives for some values, without addresses."""
    return re.sub(" at 0x[0-9a-f]+", "", repr([_result(fn, x) for x in (0, 1, 2, 5)]))


def _result(fn: Any, x: int) -> Any:
    try:
        return fn(x)
    except Exception as error:
        return type(error), str(error)


def laid_out(text: str, random: Random) -> str:
    """The same text with other lines, comments, docstrings and parentheses, further down."""
    text = ast.unparse(ast.parse(text)) if random.random() < 0.5 else text
    found, depth, strings = [], 0, 0
    lines = text.splitlines(keepends=True)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        kind = tokenize.tok_name[token.type]
        strings += (kind == "FSTRING_START") - (kind == "FSTRING_END")
        if not strings:
            depth += (token.string in {"(", "[", "{"}) - (token.string in {")", "]", "}"})
            if depth and kind in {"OP", "NAME", "NUMBER"} and random.random() < 0.3:
                found.append((token.end, "  # so\n"))
            elif kind == "NEWLINE" and random.random() < 0.3:
                found.append((token.start, "  # why"))
    for (row, column), more in reversed(found):
        line = lines[row - 1]
        lines[row - 1] = line[:column] + more + line[column:]
    return '"""Of late."""\n\n' + "# More.\n" * 3 + "".join(lines)
