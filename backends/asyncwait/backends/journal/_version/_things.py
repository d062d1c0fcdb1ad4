"""What things of all other kinds are: classes by what is in them, objects by class and state."""

import copyreg
import functools
import gc
import sys
import threading
from _abc import _get_dump  # type: ignore[import-not-found] # the only way to what is registered
from abc import ABCMeta
from collections.abc import Callable
from contextvars import Context, ContextVar, copy_context
from enum import Enum
from struct import Struct
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
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
    add_annotations,
    add_builtin,
    add_cell,
    add_code,
    add_function,
    add_module,
)
from asyncwait.backends.journal._version._origin import PYTHON, found, origin_named, origin_of
from asyncwait.backends.journal._version._walk import Untold, Walk
from asyncwait.spec.texts import shown

_LOCKS = (type(threading.Lock()), type(threading.RLock()), threading.local)
_NO_PART = {
    "__dict__",
    "__weakref__",
    "__module__",
    "__doc__",
    "__firstlineno__",
    "__static_attributes__",
    "__slotnames__",  # `copyreg` keeps it there
    "__annotations_cache__",
    "__msgspec_cache__",
    "__signature__",
    "_abc_impl",
    "_value2member_map_",  # grows as combinations of flags are met
}
"""Names in a class that say nothing of it."""

_HEAP_TYPE = 1 << 9
_FACTORY = type(defstruct("_", [("a", list, field(default_factory=list))]).__struct_defaults__[0])


def _public(kind: type) -> tuple[str, ...]:
    return tuple(name for name in vars(kind) if not name.startswith("_"))


_PARTS: dict[type, tuple[str, ...]] = {
    property: ("fget", "fset", "fdel"),
    staticmethod: ("__func__",),
    classmethod: ("__func__",),
    MethodType: ("__func__", "__self__"),
    functools.cached_property: ("func", "attrname"),
    functools.singledispatchmethod: ("dispatcher", "func"),
    ForwardRef: ("__forward_arg__",),
    _FACTORY: ("factory",),
    Meta: _public(Meta),
    StructConfig: _public(StructConfig),
    Struct: ("format",),
    json.Decoder: ("type", "strict", "dec_hook", "float_hook"),
    json.Encoder: ("enc_hook", "decimal_format", "uuid_format", "order"),
    msgpack.Decoder: ("type", "strict", "dec_hook", "ext_hook"),
    msgpack.Encoder: ("enc_hook", "decimal_format", "uuid_format", "order"),
}
"""What makes things of some kinds that can't be pickled, or say too much then."""

_ADDED: dict[type, Callable[[Walk, Any], None]] = {
    tuple: lambda walk, thing: walk.items("tuple", thing),
    list: lambda walk, thing: walk.items("list", thing),
    dict: lambda walk, thing: walk.mapping("dict", thing),
    MappingProxyType: lambda walk, thing: walk.items("mappingproxy", gc.get_referents(thing)),
    FunctionType: add_function,
    BuiltinFunctionType: add_builtin,
    CellType: add_cell,
    CodeType: add_code,
}


def add(walk: Walk, thing: Any) -> None:
    """Add a thing of any kind that is no plain value."""
    kind = type(thing)
    if (add_it := _ADDED.get(kind)) is not None:
        add_it(walk, thing)
    elif kind in _PARTS:
        walk.tag(kind.__name__)
        walk.attributes({name: getattr(thing, name) for name in _PARTS[kind]})
    elif issubclass(kind, type):
        _add_class(walk, thing)
    elif issubclass(kind, ModuleType):
        add_module(walk, thing)
    elif issubclass(kind, set | frozenset):
        walk.of(kind)
        walk.unordered(thing)
        walk.attributes(getattr(thing, "__dict__", {}))
    else:
        _add_instance(walk, thing, kind)


def _add_class(walk: Walk, cls: type) -> None:
    module = sys.modules.get(cls.__module__)
    if module is not None and (origin := origin_of(module)) is not None:
        walk.tag("installed", origin, cls.__module__, cls.__qualname__)
        is_static = not cls.__flags__ & _HEAP_TYPE
        if is_static or found(vars(module), cls.__qualname__) is cls:
            return
    walk.tag("class", cls.__name__, cls.__qualname__)
    walk.of(type(cls), ".__class__")
    walk.items("bases", cls.__bases__)
    if walk.docs or _is_of_others(cls):
        walk.of(vars(cls).get("__doc__"), ".__doc__")
    walk.attributes(vars(cls), _NO_PART)
    walk.attributes({name: getattr(cls, name, None) for name in _hidden(type(cls))})
    if isinstance(cls, ABCMeta):
        registered = [each() for each in _get_dump(cls)[0]]
        walk.unordered(each for each in registered if each is not None)
    annotations = vars(cls).get("__annotations__", {})
    add_annotations(walk, cls, annotations, {} if module is None else vars(module))


def _is_of_others(cls: type) -> bool:
    """Whether an installed package has a hand in it, which may make a prompt of its docstring."""
    origins = {origin_named(base.__module__) for base in (type(cls), *cls.__mro__)}
    return bool(origins - {None, PYTHON})


def _hidden(kind: type) -> list[str]:
    """Return the names of what a class that is written in C, or has slots, keeps of each."""
    kinds = [each for each in kind.__mro__ if each not in {type, object}]
    names = (name for each in kinds for name, of in vars(each).items() if type(of) in _DESCRIPTORS)
    return [name for name in names if name not in _NO_PART]


_DESCRIPTORS = {GetSetDescriptorType, MemberDescriptorType}


def _add_instance(walk: Walk, thing: Any, kind: type) -> None:
    if any(issubclass(kind, each) for each in _LOCKS):
        walk.of(kind)
        walk.attributes(getattr(thing, "__dict__", {}))
    elif any(thing is each for each in (sys.stdin, sys.stdout, sys.stderr)):
        walk.tag("stream")
    elif issubclass(kind, Enum):
        walk.of(kind)
        walk.attributes(vars(thing), ("__objclass__",))
    elif kind is ContextVar:
        runs = (copy_context().run, Context().run)  # what it is now, and its default
        walk.items(f"variable {thing.name}", [_value(thing, run) for run in runs])
    elif origin_named(kind.__module__) == PYTHON and (name := _name_of(thing, kind)):
        walk.tag("installed", PYTHON, kind.__module__, name)
    elif kind.__name__ == "Broadcast" and kind.__module__.startswith("pyspark."):
        walk.of(thing.value, ".value")  # Its pickle says a number only.
    else:
        _add_state(walk, thing, kind)


def _value(variable: ContextVar[Any], run: Any) -> Any:
    try:
        return (run(variable.get),)
    except LookupError:
        return None


def _name_of(thing: Any, kind: type) -> str | None:
    """Return the name of what the standard library has once, such as `os.environ`."""
    names = vars(sys.modules[kind.__module__])
    return next((name for name, each in names.items() if each is thing), None)


def _add_state(walk: Walk, thing: Any, kind: type) -> None:
    """Add what a thing says of itself where it is pickled."""
    try:
        reducer = copyreg.dispatch_table.get(kind)
        told = thing.__reduce_ex__(4) if reducer is None else reducer(thing)
    except Exception as error:
        raise Untold(f"{shown(thing)} ({kind.__name__})") from error
    but = () if walk.docs else ("__doc__", "__module__")
    if isinstance(told, str):
        module = str(getattr(thing, "__module__", None) or kind.__module__)
        is_found = found(vars(sys.modules.get(module, sys)), told) is thing
        if is_found and (origin := origin_named(module)) is not None:
            walk.tag("installed", origin, module, told)
            return
        if not is_found and origin_named(kind.__module__) not in {None, PYTHON}:
            raise Untold(f"{shown(thing)} ({kind.__name__})")
        walk.of(kind)
        walk.tag("named", module, told)
        walk.attributes(getattr(thing, "__dict__", {}), but)
        walk.attributes({name: getattr(thing, name, None) for name in _hidden(kind)})
        return
    parts: list[Any] = [*told, None, None, None]
    make, args, state, items, pairs = parts[:5]
    walk.of(make)
    walk.of(args)
    if isinstance(state, dict):
        walk.attributes(state, but)
    else:
        walk.of(state)
    walk.items("items", items or ())
    walk.items("pairs", pairs or ())
    if isinstance(thing, BaseException):
        walk.of(thing.__cause__, ".__cause__")
    if origin_named(kind.__module__) is None:
        _add_kept_back(walk, thing, state)


def _add_kept_back(walk: Walk, thing: Any, state: Any) -> None:
    """Add what a class of the user's own leaves out where it is pickled, as far as that is told."""
    slots = {name: getattr(thing, name) for name in _hidden(type(thing)) if hasattr(thing, name)}
    states = state if isinstance(state, tuple) else (state,)
    told = {id(each) for part in states if isinstance(part, dict) for each in part.values()}
    for name, each in {**getattr(thing, "__dict__", {}), **slots}.items():
        if id(each) not in told:
            try:
                walk.tag(name, walk.apart(each).hex())
            except Untold:
                walk.tag(name, "untold")
