"""All public names: what users may import, with the parameters of what they may call.

    python tests/support/public_names.py --write

writes `tests/layout/names.txt` anew, to be read as a diff; docs/stability.md says what is promised.
A line is a module; or, indented, a name of it, and below a class what its instances have. The value
of a default is left out, and so are annotations: both differ from one Python to another.
"""

import enum
import functools
import importlib
import inspect
import re
import sys
import typing
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from msgspec import Struct
from package_modules import Module, find_modules, portions

FILE = Path(__file__).resolve().parents[1] / "layout/names.txt"

# Modules that a tool runs, or that are found and collected; nobody imports names from them.
COLLECTED = re.compile(r"\.(__main__|conftest|test_\w+|areas\.\w+\.\w+)$")


def public_modules(modules: Iterable[Module]) -> list[Module]:
    return [
        module
        for module in modules
        if module.is_public and module.bound and not COLLECTED.search(module.name)
    ]


def told(modules: Iterable[Module]) -> str:
    return "".join(
        f"{line}\n"
        for module in sorted(modules, key=lambda each: each.name)
        for line in _of(module)
    )


def _of(module: Module) -> Iterator[str]:
    there = importlib.import_module(module.name)
    yield module.name
    for name in module.exports or ():
        for line in _lines(name, getattr(there, name)):
            yield f"    {line}"


def _lines(name: str, item: Any) -> Iterator[str]:
    gone = " deprecated" if hasattr(item, "__deprecated__") else ""
    if isinstance(item, ModuleType):
        yield f"module {name}"
    elif isinstance(item, type) and not typing.get_origin(item):
        yield f"{_kind(item)} {name}{_constructor(item)}{gone}"
        yield from (f"    {line}" for line in _members(item))
    elif isinstance(item, FunctionType | type(functools.cache(len))):
        yield f"{'async def' if _is_async(item) else 'def'} {name}{_parameters(item)}{gone}"
    else:
        yield f"{'type' if name[:1].isupper() and not name.isupper() else 'value'} {name}"


def _is_async(item: Any) -> bool:
    return inspect.iscoroutinefunction(item) or inspect.isasyncgenfunction(item)


def _kind(item: type) -> str:
    kinds = {"enum": enum.Enum, "error": BaseException, "struct": Struct}
    if getattr(item, "_is_protocol", False):
        return "protocol"
    return next((kind for kind, base in kinds.items() if issubclass(item, base)), "class")


def _constructor(item: type) -> str:
    has_own = any("__init__" in vars(each) for each in _ours(item)) or hasattr(item, "_fields")
    is_plain = _kind(item) in {"enum", "protocol"}
    return _parameters(item) if not is_plain and (has_own or issubclass(item, Struct)) else ""


def _ours(item: type) -> list[type]:
    return [each for each in item.__mro__ if each.__module__.partition(".")[0] == "asyncwait"]


def _members(item: type) -> Iterator[str]:
    found: dict[str, Any] = {}
    for each in reversed(_ours(item)):
        found.update(vars(each))
    fields = {*getattr(item, "__struct_fields__", ()), *getattr(item, "_fields", ())}
    for name in sorted(found):
        if (not name.startswith("_") or name == "__call__") and name not in fields:
            yield _member(name, found[name])


def _member(name: str, item: Any) -> str:
    if isinstance(item, classmethod | staticmethod):
        item = item.__func__
    if isinstance(item, FunctionType):
        return f"{'async ' if _is_async(item) else ''}.{name}{_parameters(item)}"
    return f".{name}"


def _parameters(item: Callable[..., Any]) -> str:
    signature = inspect.signature(item)
    bare = [
        each.replace(annotation=each.empty, default=_default(each))
        for each in signature.parameters.values()
        if each.name not in {"self", "cls"}
    ]
    return str(signature.replace(parameters=bare, return_annotation=signature.empty))


def _default(parameter: inspect.Parameter) -> Any:
    return parameter.empty if parameter.default is parameter.empty else _Some()


class _Some:
    def __repr__(self) -> str:
        return ""


if __name__ == "__main__":
    text = told(public_modules(find_modules(portions()).values()))
    if "--write" in sys.argv:
        FILE.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
