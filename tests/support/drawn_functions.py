"""Functions drawn by a grammar, each with places at which it can be changed.

A program is a value in layers round it: how it is held, and how it is used. Each layer is a text
for its module and an expression of `x`, and may have spots, `«one|other»`: one of all that a
program has is the change. The inner layers may stand in a module of their own. A value may come
from outside, so that its change changes no text. The layers stand in `drawn_functions.txt`.
"""

import linecache
import re
import sys
from dataclasses import dataclass
from importlib.abc import InspectLoader
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec
from pathlib import Path
from random import Random
from types import CodeType
from typing import Any

PRELUDE = """\
import abc, array, asyncio, collections, contextlib, copy, dataclasses, datetime, decimal, enum
import fractions, functools, inspect, itertools, json, operator, pathlib, pydoc, re, threading
import types, typing, uuid
from contextvars import ContextVar
import msgspec, pydantic
def text(value): return re.sub(" at 0x[0-9a-f]+", "", repr(value))
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
_PARTS = re.split(r"^== .*\n", _GRAMMAR, flags=re.MULTILINE)[1:]

KINDS = _PARTS[0].splitlines()
USED, HIDDEN = map(_entries, _PARTS[2:4])
HELD = _entries(_PARTS[1]) + HIDDEN
REFUSED = [(text, *line.rsplit(" # ", 1)) for text, line in _entries(_PARTS[4])]
IMPORTED = _entries(_PARTS[5])
_SPOT = re.compile(r"«([^«»|]*)\|([^«»]*)»")


@dataclass(frozen=True)
class Program:
    inner: str
    outer: str
    spots: int
    given: tuple[str, ...] = ()


class _Drawing:
    def __init__(self, seed: int, changed: int | None) -> None:
        self.random = Random(seed)
        self.changed = changed
        self.spots = 0
        self.names = 0
        self.modules = [PRELUDE]
        self.given: list[str] = []
        self.kinds = KINDS

    def filled(self, text: str, expression: str = "") -> str:
        def value(_: re.Match[str]) -> str:
            text = self.filled(self.random.choice(self.kinds))
            if self.kinds is KINDS and self.random.random() < 0.5:
                return text
            self.given.append(text)
            return f"G{len(self.given) - 1}"

        def spot(found: re.Match[str]) -> str:
            self.spots += 1
            return found[2] if self.spots - 1 == self.changed else found[1]

        text = _SPOT.sub(spot, text)
        return re.sub(r"\bV\b", value, text).replace("\0", expression)

    def layer(self, entry: tuple[str, str], expression: str) -> str:
        self.names += 1
        joined = re.sub(r"\bE\b", "\0", "\n---\n".join(entry))
        joined = self.filled(joined.replace("$", f"n{self.names}_"), expression)
        text, _, used = joined.rpartition("\n---\n")
        self.modules[-1] += text + "\n"
        return used


def drawn(seed: int, changed: int | None = None) -> Program:
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
    return Program("".join(inner), outer, drawing.spots, tuple(drawing.given))


def drawn_of(entry: tuple[str, str], changed: int | None = None) -> Program:
    drawing = _Drawing(0, changed)
    drawing.kinds = ["«1|22»"]
    expression = drawing.layer(entry, "")
    text = f"{drawing.modules[0]}def fn(x):\n    return {expression}\n"
    return Program("", text, drawing.spots, tuple(drawing.given))


def _over(drawing: _Drawing, expression: str) -> str:
    drawing.modules[-1] += f"def of(x):\n    return {expression}\n"
    text, used = drawing.random.choice(IMPORTED)
    drawing.modules.append(f"{PRELUDE}{text}\n")
    return used


class Texts(InspectLoader):
    def __init__(self, name: str, text: str) -> None:
        self.name, self.text, self.file = name, text, f"/nowhere/{name}.py"

    def get_source(self, fullname: str) -> str:
        return self.text

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.text, self.file)


def loaded(program: Program) -> Any:
    given: dict[str, Any] = {}
    exec(PRELUDE, given)  # noqa: S102 - drawn here
    for number, text in enumerate(program.given):
        given[f"G{number}"] = eval(text, given)  # noqa: S307 - drawn here
    for name, text in (("drawn_inner", program.inner), ("drawn_outer", program.outer)):
        loader = Texts(name, text)
        spec = ModuleSpec(name, loader, origin=loader.file)
        spec.has_location = True
        sys.modules[name] = module = module_from_spec(spec)
        vars(module).update({each: given[each] for each in given if re.fullmatch(r"G\d+", each)})
        loader.exec_module(module)
    linecache.clearcache()
    return sys.modules["drawn_outer"].fn


def results(fn: Any) -> str:
    return re.sub(" at 0x[0-9a-f]+", "", repr([_result(fn, x) for x in (0, 1, 2, 5)]))


def _result(fn: Any, x: int) -> Any:
    try:
        return fn(x)
    except Exception as error:
        return type(error), str(error)
