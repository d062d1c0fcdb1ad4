"""The text of each exception class is printable, whatever its fields hold; new classes included."""

import inspect
import pkgutil
import traceback
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

import asyncwait
from asyncwait.backends.journal import Failure
from asyncwait.spec import AsyncWaitError, Record
from asyncwait.spec.carry import InFlight
from asyncwait.spec.texts import MARK

HOSTILE = "\x1b[2J\nverdict: conformant\u202e"

FIELDS: dict[str, Any] = {
    "int": 1,
    "float": 1.0,
    "Record": Record(HOSTILE),
    "Failure": Failure(b"k", HOSTILE, HOSTILE, 1),
    "InFlight": InFlight((1, 1), HOSTILE.encode()),
    "OSError": OSError(HOSTILE),
    "Mapping": {HOSTILE: (HOSTILE, HOSTILE)},
    "list": [HOSTILE],
    "Terms": [HOSTILE],
}
"""A value of each type that a field may have, by the type's name; of all others the text itself."""


def all_classes() -> set[type[AsyncWaitError]]:
    found: set[type[AsyncWaitError]] = set()
    for module in pkgutil.walk_packages(asyncwait.__path__, "asyncwait."):
        if module.name.endswith("__main__"):
            continue
        try:
            names = vars(import_module(module.name)).values()
        except ImportError:  # An optional dependency is not installed.
            continue
        classes = (each for each in names if isinstance(each, type))
        found.update(each for each in classes if issubclass(each, AsyncWaitError))
    return found


def field_of(parameter: inspect.Parameter) -> Any:
    kind = str(getattr(parameter.annotation, "__name__", parameter.annotation))
    return next((value for name, value in FIELDS.items() if name in kind), HOSTILE)


def made_by(make: Any) -> Any:
    bound = inspect.signature(make).bind_partial()
    for each in bound.signature.parameters.values():
        if each.kind is not each.VAR_KEYWORD:
            given = field_of(each)
            bound.arguments[each.name] = (given,) if each.kind is each.VAR_POSITIONAL else given
    return make(*bound.args, **bound.kwargs)


def errors_of(kind: Any) -> Iterator[BaseException]:
    own = next(each for each in kind.__mro__ if "__init__" in vars(each))
    yield kind(HOSTILE) if own.__module__ == "builtins" else made_by(kind)
    for name, member in inspect.getmembers(kind, inspect.ismethod):
        if not name.startswith("_") and member.__self__ is kind:
            yield made_by(member)


CLASSES = sorted(all_classes(), key=lambda kind: f"{kind.__module__}.{kind.__qualname__}")


@pytest.mark.parametrize(
    "kind",
    CLASSES,
    ids=lambda kind: f"{kind.__module__.removeprefix('asyncwait.')}.{kind.__name__}",
)
def test_no_field_of_an_error_forges_a_line(kind: Any) -> None:
    for error in errors_of(kind):
        first, *others = str(error).split("\n")
        assert first.isprintable()
        assert all(line.isprintable() and line.lstrip(" ").startswith(MARK) for line in others)
        assert "\x1b" not in "".join(traceback.format_exception_only(error))
