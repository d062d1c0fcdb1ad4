"""Which version of a function it is, as far as that can be told from the outside."""

import inspect
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from datetime import date, time, timedelta, tzinfo
from decimal import Decimal
from enum import Enum
from functools import partial
from hashlib import blake2b
from pathlib import PurePath
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any
from uuid import UUID

from asyncwait.spec import InvalidConfig, shown

_PLAIN = (str, bytes, int, float, complex, Decimal, date, time, timedelta, tzinfo, PurePath, UUID)
"""What says all that it is when it is shown."""


def version_of(fn: Any) -> str:
    """Return a digest of the source of `fn`, and of all that it was made with.

    That is what is bound to it, by whichever way: closures, defaults, `partial`, the object of a
    method, attributes; and what it uses of its own module: functions, classes, constants. Not what
    it imports.

    Raises:
        InvalidConfig: some of that can't be told.
    """
    try:
        text = _Description().of(fn)
    except _Untold as error:
        (what,) = error.args
        part = "" if what is fn else f", of {shown(fn)},"
        text = (
            f"journal: there is no telling the version of {shown(what)}{part} from its source or "
            "its attributes; use Journal(path, job, version)"
        )
        raise InvalidConfig(text) from error
    return blake2b(text.encode(errors="backslashreplace"), digest_size=8).hexdigest()


class _Untold(Exception):
    """What this is given says nothing of itself that lasts."""


class _Description:
    """Describes things by what they consist of, each of them once."""

    def __init__(self) -> None:
        self._seen: dict[int, Any] = {}

    def of(self, thing: Any) -> str:
        """Return a text that is another one for another version of `thing`."""
        if thing is None or isinstance(thing, _PLAIN) or thing is Ellipsis:
            return f"{type(thing).__qualname__} {thing!r}"
        if id(thing) in self._seen:
            return f"as {list(self._seen).index(id(thing))}"
        self._seen[id(thing)] = thing  # kept, so that nothing else gets its number
        parts = self._parts(thing)
        return f"({type(thing).__qualname__} {', '.join(parts)})"

    def _parts(self, thing: Any) -> list[str]:
        match thing:
            case Enum():
                return [type(thing).__qualname__, thing.name]
            case list() | tuple():
                return [self.of(each) for each in thing]
            case Mapping():
                return [f"{self.of(name)}: {self.of(each)}" for name, each in thing.items()]
            case AbstractSet():
                return sorted(_Description().of(each) for each in thing)
            case partial():
                return [self.of(each) for each in (thing.func, thing.args, thing.keywords)]
            case MethodType():
                return [self.of(thing.__func__), self.of(thing.__self__)]
            case FunctionType():
                return self._function(thing)
            case type():
                return self._class(thing)
            case ModuleType():
                return [thing.__name__]
        return self._object(thing)

    def _function(self, fn: FunctionType) -> list[str]:
        fn = inspect.unwrap(fn) if hasattr(fn, "__wrapped__") else fn
        names = inspect.getclosurevars(fn)
        made_with = [fn.__defaults__, fn.__kwdefaults__, dict(names.nonlocals), dict(vars(fn))]
        used = {name: each for name, each in names.globals.items() if _is_of(each, fn.__module__)}
        code = self._code(fn.__code__) if fn.__name__ == "<lambda>" else ""
        told = [self._told(name, each) for name, each in sorted(used.items())]
        return [_source(fn), code, *map(self.of, made_with), *told]

    def _told(self, name: str, thing: Any) -> str:
        """Describe what a function only uses, as far as that goes."""
        try:
            return f"{name}: {self.of(thing)}"
        except _Untold:
            return name

    def _code(self, code: CodeType) -> str:
        """Describe one of the lambdas that share a line of source."""
        inner = [self._code(each) for each in code.co_consts if isinstance(each, CodeType)]
        plain = [repr(each) for each in code.co_consts if not isinstance(each, CodeType)]
        return f"{code.co_code!r} {code.co_names} {plain} {inner}"

    def _class(self, cls: type) -> list[str]:
        """Describe a class by its source, and by those of its bases that are its own module's."""
        own = [base for base in cls.__mro__ if _is_of(base, cls.__module__)]
        methods = [each for base in own for each in vars(base).values()]
        functions = [each for each in methods if isinstance(each, FunctionType)]
        used = [self._told(each.__name__, each) for each in functions]
        return [*map(_source, own), *used]

    def _object(self, thing: Any) -> list[str]:
        cls = type(thing)
        slots = [name for base in cls.__mro__ for name in _slots(base) if hasattr(thing, name)]
        attributes = {**getattr(thing, "__dict__", {}), **{n: getattr(thing, n) for n in slots}}
        if not attributes and not _is_python(cls):
            raise _Untold(thing)
        kind = self.of(cls) if _is_python(cls) and cls.__module__ != "builtins" else cls.__name__
        return [kind, *(f"{name}: {self.of(each)}" for name, each in sorted(attributes.items()))]


def _slots(cls: type) -> tuple[str, ...]:
    slots = cls.__dict__.get("__slots__", ())
    named = (slots,) if isinstance(slots, str) else tuple(slots)
    return tuple(name for name in named if name not in ("__dict__", "__weakref__"))


def _is_of(thing: Any, module: str) -> bool:
    """Whether a thing is of a module: it is defined there, or is a constant of it."""
    if isinstance(thing, ModuleType):
        return False
    if isinstance(thing, FunctionType | type):
        return thing.__module__ == module
    return True


def _is_python(cls: type) -> bool:
    """Whether a class is written in Python, so that its source can be read."""
    try:
        inspect.getsource(cls)
    except (OSError, TypeError):
        return False
    return True


def _source(thing: Any) -> str:
    try:
        return inspect.cleandoc(inspect.getsource(thing))
    except (OSError, TypeError) as error:
        raise _Untold(thing) from error
