"""Objects of all other kinds: classes by their contents, instances by class, data and state."""

import asyncio
import copyreg
import gc
import sys
import threading
from _abc import _get_dump  # type: ignore[import-not-found] # the only way to registered classes
from abc import ABCMeta
from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from contextlib import suppress
from contextvars import Context, ContextVar, copy_context
from enum import Enum
from struct import Struct
from types import (
    BuiltinFunctionType,
    CellType,
    FunctionType,
    GetSetDescriptorType,
    MappingProxyType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any, ForwardRef

from msgspec import Meta, defstruct, field, json, msgpack
from msgspec.structs import StructConfig

from asyncwait.backends.journal._version._functions import (
    add_builtin,
    add_cell,
    add_class_source,
    add_function,
)
from asyncwait.backends.journal._version._origin import PYTHON, found, origin_of
from asyncwait.backends.journal._version._source import Undetermined
from asyncwait.backends.journal._version._walk import Walk
from asyncwait.spec.texts import shown

_LOCKS = (type(threading.Lock()), type(threading.RLock()), threading.local)
_RUNNERS = (asyncio.AbstractEventLoop, Executor)
"""What calls run on; results do not depend on its state, which changes with each use."""
_NO_PART = {"__dict__", "__weakref__", "__module__", "__firstlineno__", "__static_attributes__"}
_NO_PART |= {"__slotnames__", "__annotations_cache__", "__msgspec_cache__", "__signature__"}
_NO_PART |= {"_abc_impl", "__objclass__", "_value2member_map_"}
"""Names in a class, or an object, that say nothing of it: places, and what grows with use."""

_HEAP_TYPE, _NEVER_CALLED = 1 << 9, 1 << 7
_PICKLING = ("__reduce_ex__", "__reduce__", "__getstate__")
_IN_C = {GetSetDescriptorType, MemberDescriptorType}
_ENCODERS = (json.Encoder, msgpack.Encoder)
_FACTORY = type(defstruct("_", [("a", list, field(default_factory=list))]).__struct_defaults__[0])

_PARTS: dict[type, tuple[str, ...]] = {
    property: ("fget", "fset", "fdel"),
    staticmethod: ("__func__",),
    classmethod: ("__func__",),
    MethodType: ("__func__", "__self__"),
    ForwardRef: ("__forward_arg__",),
    _FACTORY: ("factory",),
    **{kind: tuple(n for n in vars(kind) if n[0] != "_") for kind in (Meta, StructConfig)},
    Struct: ("format",),
    json.Decoder: ("type", "strict", "dec_hook", "float_hook"),
    msgpack.Decoder: ("type", "strict", "dec_hook", "ext_hook"),
    **dict.fromkeys(_ENCODERS, ("enc_hook", "decimal_format", "uuid_format", "order")),
}
"""Parts of objects whose pickle is refused, or says too much."""

_ADDED: dict[type, Callable[[Walk, Any], None]] = {
    MappingProxyType: lambda walk, thing: walk.items("mappingproxy", gc.get_referents(thing)),
    FunctionType: add_function,
    BuiltinFunctionType: add_builtin,
    CellType: add_cell,
}
_DATA: dict[type, Callable[[Walk, Any], None]] = {
    str: lambda walk, thing: walk.of(str.__str__(thing)),
    bytes: lambda walk, thing: walk.of(bytes.__getitem__(thing, slice(None))),
    int: lambda walk, thing: walk.of(int.__index__(thing)),
    float: lambda walk, thing: walk.of(float.__float__(thing)),
    complex: lambda walk, thing: walk.of(complex.__complex__(thing)),
    tuple: lambda walk, thing: walk.items("tuple", tuple.__iter__(thing)),
    list: lambda walk, thing: walk.items("list", list.__iter__(thing)),
    dict: lambda walk, thing: walk.pairs("dict", dict.items(thing)),
    set: lambda walk, thing: walk.unordered(set.__iter__(thing)),
    frozenset: lambda walk, thing: walk.unordered(frozenset.__iter__(thing)),
    object: lambda _walk, _thing: None,
}
"""Underlying data of objects, whatever the methods of a class derived from these say."""


def add(walk: Walk, thing: Any) -> None:
    """Add an object of any kind that is no plain value."""
    kind = type(thing)
    if (add_it := _ADDED.get(kind)) is not None:
        add_it(walk, thing)
    elif kind in _PARTS:
        walk.tag(kind.__name__)
        walk.attributes({name: getattr(thing, name) for name in _PARTS[kind]})
    elif issubclass(kind, type):
        _add_class(walk, thing)
    elif issubclass(kind, ModuleType):
        walk.module(thing, is_whole=True)
    elif kind in _DATA:
        walk.tag(kind.__name__)
        _DATA[kind](walk, thing)
    else:
        _add_instance(walk, thing, kind)


def _add_class(walk: Walk, cls: type) -> None:
    module = sys.modules.get(cls.__module__)
    if module is not None and (origin := origin_of(module)) is not None:
        walk.installed(origin, cls.__module__, cls.__qualname__)
        is_static = not cls.__flags__ & _HEAP_TYPE
        if is_static or found(vars(module), cls.__qualname__) is cls:
            return
    else:
        scopes = [{"__name__": cls.__module__}] if module is None else [vars(module)]
        if module is None:  # A pickle brought the class, and the globals of its methods.
            methods = [each for each in vars(cls).values() if isinstance(each, FunctionType)]
            scopes = [each.__globals__ for each in methods] + scopes
        add_class_source(walk, cls, scopes[0])
    walk.tag("class", cls.__name__, cls.__qualname__)
    walk.of(type(cls), ".__class__")
    walk.items("bases", cls.__bases__)
    walk.attributes(vars(cls), _NO_PART)
    metaclass: Any = type(cls)
    of_metaclass = (each for each in metaclass.__mro__ if each not in {type, object})
    walk.attributes(_hidden(cls, of_metaclass, _IN_C))
    if isinstance(cls, ABCMeta):
        registered = [each() for each in _get_dump(cls)[0]]
        walk.unordered(each for each in registered if each is not None)


def _hidden(thing: Any, kinds: Iterable[type], of: set[Any]) -> dict[str, Any]:
    """Return what slots hold, or a class in C, in the order of the classes."""
    names = (name for kind in kinds for name, each in vars(kind).items() if type(each) in of)
    return {n: getattr(thing, n) for n in names if n not in _NO_PART and hasattr(thing, n)}


def _add_instance(walk: Walk, thing: Any, kind: type) -> None:
    origin = origin_of(kind.__module__)
    if issubclass(kind, _LOCKS):
        walk.of(kind)
        walk.attributes(getattr(thing, "__dict__", {}))
    elif issubclass(kind, _RUNNERS) and origin is not None:
        walk.of(kind)
    elif any(thing is each for each in (sys.stdin, sys.stdout, sys.stderr)):
        walk.tag("stream")
    elif kind is ContextVar:
        runs = (copy_context().run, Context().run)  # what it is now, and its default
        walk.items(f"variable {thing.name}", [_value(thing, run) for run in runs])
    elif origin == PYTHON and (name := _name_of(thing, kind)):
        walk.installed(PYTHON, kind.__module__, name)
    elif kind.__name__ == "Broadcast" and kind.__module__.startswith("pyspark."):
        walk.of(thing.value, ".value")  # Its pickle says a number only.
    else:
        _add_parts(walk, thing, kind, origin)


def _value(variable: ContextVar[Any], run: Any) -> Any:
    try:
        return (run(variable.get),)
    except LookupError:
        return None


def _name_of(thing: Any, kind: type) -> str | None:
    """Return the name of what the standard library has once, such as `os.environ`."""
    names = vars(sys.modules[kind.__module__])
    return next((name for name, each in names.items() if each is thing), None)


def _native(kind: type) -> type:
    for base in kind.__mro__:
        made = vars(base).get("__new__")
        is_in_c = not base.__flags__ & _HEAP_TYPE or base.__flags__ & _NEVER_CALLED
        if is_in_c or getattr(made, "__self__", None) is base:
            return base
    return object


def _add_parts(walk: Walk, thing: Any, kind: type, origin: str | None) -> None:
    """Add the class of an object, its data in C, its pickle if the class makes one, its attributes.

    What such a pickle leaves out counts as far as it can be determined, and else with its type; of
    classes of the standard library not at all.
    """
    native = _native(kind)
    derived = kind.__mro__[: kind.__mro__.index(native)]
    attributes = _hidden(thing, derived, {MemberDescriptorType})
    if kind.__dictoffset__:
        with suppress(AttributeError):  # Since Python 3.12 a TypeVar hides its `__dict__`.
            attributes |= object.__getattribute__(thing, "__dict__")
    is_own = any(getattr(kind, n, 0) is not getattr(native, n, 0) for n in _PICKLING)
    told = None
    walk.of(kind)
    try:
        if native in _DATA:
            _DATA[native](walk, thing)
        if native not in _DATA and not (is_own and origin == PYTHON):  # Its own pickle says all.
            _add_pickle(walk, thing, kind, _pickled(thing, native))
        elif native is object and not is_own:
            _pickled(thing, native)  # Python refuses an object with more than attributes.
        if is_own and not issubclass(kind, Enum):
            told = _own_pickle(thing, kind, origin)
    except (TypeError, ValueError, AttributeError) as error:
        what = f"{shown(thing)} ({kind.__name__}), whose state can't be read"
        raise Undetermined(what, is_whole=False) from error
    if not isinstance(told, str | tuple):
        walk.attributes(attributes, _NO_PART)
        return
    _add_pickle(walk, thing, kind, told)
    states = told[2:3] if isinstance(told, tuple) else ()
    states = states[0] if states and isinstance(states[0], tuple) else states
    known = {key: each for part in states if isinstance(part, dict) for key, each in part.items()}
    is_whole = origin == PYTHON and not isinstance(told, str)
    for name, each in () if is_whole else attributes.items():
        is_known = known.get(name, _ADDED) is each
        if not (is_known or _is_hash(name, each) or ("cache" in name and origin)):
            with suppress(Undetermined):
                walk.tag(walk.apart(each))
            walk.tag(name, type(each).__qualname__)


def _own_pickle(thing: Any, kind: type, origin: str | None) -> Any:
    """Return the pickle that an object makes of itself; None if it makes none.

    Raises:
        TypeError: its class is of the standard library, and refuses to be pickled.
    """
    try:
        return _pickled(thing, kind)
    except Exception as error:
        if origin == PYTHON and isinstance(error, TypeError):
            raise
        return None


def _is_hash(name: str, value: Any) -> bool:
    """Say whether an attribute is a kept hash, which is another in each process."""
    return name.strip("_").endswith("hash") and type(value) is int and abs(value) >= 1 << 32


def _pickled(thing: Any, base: Any) -> Any:
    if (reducer := copyreg.dispatch_table.get(base)) is not None:
        return reducer(thing)
    if base.__reduce_ex__ is not object.__reduce_ex__:
        return base.__reduce_ex__(thing, 4)
    if base.__reduce__ is not object.__reduce__:
        return base.__reduce__(thing)
    if type(thing).__reduce__ is not object.__reduce__:
        raise TypeError("a derived class hides the state of a class in C")
    return object.__reduce_ex__(thing, 4)


def _add_pickle(walk: Walk, thing: Any, kind: type, told: Any) -> None:
    if not isinstance(told, str):
        parts: list[Any] = [*told, None, None, None]
        walk.items("pickle", parts[:3])
        walk.items("items", parts[3] or ())
        walk.pairs("pairs", parts[4] or ())
        walk.of(getattr(thing, "__cause__", None) if isinstance(thing, BaseException) else None)
        return
    module = str(getattr(thing, "__module__", None) or kind.__module__)
    is_found = found(vars(sys.modules.get(module, sys)), told) is thing
    if is_found and (origin := origin_of(module)) is not None:
        walk.installed(origin, module, told)
    elif not is_found and origin_of(kind.__module__) not in {None, PYTHON}:
        raise TypeError("the name in its pickle leads to something else")
    else:
        walk.tag("named", module, told)
        walk.attributes(_hidden(thing, kind.__mro__[:-1], _IN_C))
