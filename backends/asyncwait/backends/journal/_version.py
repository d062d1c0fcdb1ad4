"""The version of a function: a digest of its sources, of installed versions and of its values."""

import asyncio
import copyreg
import dis
import importlib
import inspect
import re
import struct
import sys
import threading
import weakref
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from hashlib import blake2b
from linecache import getlines
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

from asyncwait.backends.journal._sources import (
    PYTHON,
    Entry,
    Scan,
    Sources,
    Undetermined,
    found,
    origin_of,
    scanned,
    words,
)
from asyncwait.spec import InvalidConfig
from asyncwait.spec.texts import shown

_RULE = f"source-2:{sys.version_info.major}.{sys.version_info.minor}"
_SCRIPTS = {"__main__", "__mp_main__"}
"""Modules of which only the definitions count that a function reaches: scripts and notebooks."""

_EXACT: dict[type, Callable[[Any], bytes]] = {
    str: lambda each: each.encode("utf-8", "surrogatepass"),
    int: lambda each: b"%x" % each,  # decimal digits have a limit
    float: lambda each: struct.pack(">d", each),
    complex: lambda each: struct.pack(">dd", each.real, each.imag),
    bytes: bytes,
    **dict.fromkeys(map(type, (True, None, ..., NotImplemented)), lambda each: b"%a" % each),
}
"""Plain values as bytes: values of different types differ, and so do 0.0 and -0.0."""

_DATA: dict[type, Callable[[Any], Iterable[tuple[Any, Any]]]] = {
    str: lambda thing: [(0, str.__str__(thing))],
    bytes: lambda thing: [(0, bytes.__getitem__(thing, slice(None)))],
    int: lambda thing: [(0, int.__index__(thing))],
    float: lambda thing: [(0, float.__float__(thing))],
    complex: lambda thing: [(0, complex.__complex__(thing))],
    tuple: lambda thing: enumerate(tuple.__iter__(thing)),
    list: lambda thing: enumerate(list.__iter__(thing)),
    dict: dict.items,
    set: lambda thing: enumerate(sorted(set.__iter__(thing), key=_order)),
    frozenset: lambda thing: enumerate(sorted(frozenset.__iter__(thing), key=_order)),
    object: lambda _: (),
}
"""Keys and values of objects, whatever the methods of a class derived from these say."""

_BY_KIND = (
    *(type(threading.Lock()), type(threading.RLock())),
    *(threading.Condition, threading.Event, threading.Semaphore),
    *(asyncio.Lock, asyncio.Condition, asyncio.Event, asyncio.Semaphore),
    *(asyncio.AbstractEventLoop, Executor),
    *(weakref.WeakKeyDictionary, weakref.WeakValueDictionary, weakref.WeakSet),
)
"""Objects that count by their class: their state changes with each use, and no result with it."""

_PARTS: dict[type, tuple[str, ...]] = {
    property: ("fget", "fset", "fdel"),
    staticmethod: ("__func__",),
    classmethod: ("__func__",),
    MethodType: ("__func__", "__self__"),
    ForwardRef: ("__forward_arg__",),
    threading.local: ("__dict__",),
}
_FIELDS = {"__annotations__", "__attrs_attrs__", "__dataclass_fields__", "__pydantic_fields__"}
_FIELDS |= {"__doc__", "__struct_defaults__"}
"""Dunder attributes of a class that hold data of the user; of all others only functions count."""

_NO_PART = {"__dict__", "__weakref__", "_abc_impl", "_value2member_map_", "__objclass__"}
"""Attributes that say nothing of an object, or grow with its use."""

_IN_C = (GetSetDescriptorType, MemberDescriptorType)
_PICKLING = ("__reduce_ex__", "__reduce__", "__getstate__", "__getnewargs__", "__getnewargs_ex__")
_HEAP_TYPE = 1 << 9
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
_ID = re.compile(r"(?<=:)[0-9]{7,20}")
"""A number that may be an id, as in pydantic's name of a model, "module.Model:140234866534912"."""
_LOADING = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"}
_FINDERS = {"builtins", "importlib", "sys"}
"""Modules that code may name, but not pass on: then no name shows their use."""
_COMPUTED = {"__dict__", "attrgetter", "dir", "getmembers", "vars"}
"""Names by which code may read any attribute of a module."""


def version_of(
    fn: Any, *, asker: str = "journal", way_out: str = 'Journal(path, job, version="1")'
) -> str:
    """Return a version of a function for a `Journal`.

    The version is a digest of the source text of the function's module and of all modules of the
    user that this module imports; of a script or a notebook, it covers the definitions that the
    function reaches, and their code where no source exists. It is also a digest of the values that
    the function binds (closures, defaults, `partial`, the object of a method, globals that the code
    names), and of the versions of Python and of the installed distributions. A part without a
    digest, such as a socket, raises an error that names `version=`.

    So a changed comment is another version, too. Data outside of Python is no part of it:
    environment, files, services.

    Args:
        fn: a function or any other object that can be called.
        asker: the part of asyncwait that needs the version, for errors.
        way_out: how to give a version explicitly, for errors.

    Returns:
        For example "source-2:3.11:" and 32 hexadecimal digits.

    Raises:
        InvalidConfig: a part has no digest: code is loaded from a text or by names that no import
            shows, or a value such as a socket has no state to compare.
    """
    return explained(fn, asker=asker, way_out=way_out)[0]


def explained(
    fn: Any, *, asker: str = "journal", way_out: str = 'Journal(path, job, version="1")'
) -> tuple[str, list[Entry]]:
    """Return the version of a function, and the parts of which it is a digest."""
    if not callable(fn) and not hasattr(fn, "async_invoke"):
        raise InvalidConfig.of("fn", fn, "a function, or an object that can be called")
    walk = _Walk()
    name = getattr(fn, "__qualname__", type(fn).__qualname__)
    try:
        digest = walk.through(fn, name)
    except Exception as error:
        what = str(error)
        if not isinstance(error, Undetermined):
            what = f"a value can't be read ({type(error).__name__}: {error})"
        text = f"{asker}: the version of {name} can't be determined: {what}; use {way_out}"
        raise InvalidConfig(text) from error
    return f"{_RULE}:{digest}", walk.entries


def _digest() -> Any:
    return blake2b(digest_size=16, person=b"asyncwait src 2")


class _Walk:
    """Adds an object and all that it reaches to a digest.

    A further reference to an object that is mutable, or compared by identity, adds its number, so
    two equal lists differ from one list with two names. Functions and classes wait in a queue, so
    the length of a chain of calls does not matter.
    """

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self._sources = Sources()
        self._hash = _digest()
        self._met: dict[int, tuple[int, Any]] = {}  # objects are held: no other gets their ids
        self._queue = deque[tuple[Any, str]]()
        self._held: dict[str, ModuleType] = {}
        self._named: set[str] = set()
        """Attributes and words in texts of the code; they may name values of a held module."""
        self._is_computed = False
        self._used: set[tuple[str, str]] = set()

    def through(self, thing: Any, path: str) -> str:
        """Add an object, and everything that it reaches; return the digest of all."""
        self._add(thing, path)
        while self._queue or self._use_named():
            while self._queue:
                each, path = self._queue.popleft()
                is_class = isinstance(each, type)
                kind = "installed" if origin_of(each.__module__) else "class" * is_class
                with self._entry(kind or "function", f"{each.__module__}.{each.__qualname__}"):
                    (self._add_class if is_class else self._add_function)(each, path)
        for entry in self._sources.entries():
            self._tag(*entry)
            self.entries.append(entry)
        return str(self._hash.hexdigest())

    @contextmanager
    def _entry(self, kind: str, name: str) -> Generator[None]:
        outer, self._hash = self._hash, _digest()
        yield
        done, self._hash = self._hash.digest(), outer
        self._hash.update(done)
        self.entries.append(Entry(kind, name, done.hex()))

    def _tag(self, *texts: str) -> None:
        for text in texts:
            data = text.encode("utf-8", "surrogatepass")
            self._hash.update(b"%d " % len(data) + data)

    def _add(self, thing: Any, path: str) -> None:
        """Add an object with its parts."""
        kind = type(thing)
        if kind is str:
            thing = _ID.sub(self._known, thing)  # Ids are others in each process.
        if kind in _EXACT:
            data = _EXACT[kind](thing)
            self._hash.update(b"%s %d " % (kind.__name__.encode(), len(data)) + data)
            return
        if _is_identity(kind):
            if id(thing) in self._met:
                self._tag(f"as {self._met[id(thing)][0]}")
                return
            self._met[id(thing)] = len(self._met), thing
        if isinstance(thing, FunctionType | type):
            self._queue.append((thing, path))
        elif isinstance(thing, ModuleType):
            if thing.__name__ in _FINDERS:
                raise Undetermined(f"{path} is a module that finds code by a text")
            self._hold(thing)
        else:
            self._tag(kind.__name__)
            self._add_object(thing, kind, path)

    def _known(self, match: re.Match[str]) -> str:
        known = self._met.get(int(match[0]))
        return match[0] if known is None else f"as {known[0]}"

    def _add_bound(self, thing: Any, path: str) -> None:
        """Add a value that code binds, with an entry of its own."""
        if isinstance(thing, ModuleType):
            self._hold(thing)
        elif isinstance(thing, FunctionType | type) or thing is None:
            self._add(thing, path)
        else:
            with self._entry("value", f"{path} ({type(thing).__name__})"):
                self._add(thing, path)

    def _add_pairs(self, pairs: Iterable[tuple[Any, Any]], path: str) -> None:
        pairs = list(pairs)
        self._tag(f"{len(pairs)} pairs")
        for key, each in pairs:
            self._add(key, f"{path}.keys()")
            self._add(each, f"{path}[{key!r}]" if type(key) in {str, int} else f"{path}[...]")

    def _add_items(self, items: Iterable[Any], path: str) -> None:
        self._add_pairs(enumerate(items), path)

    def _add_attributes(self, attributes: Mapping[str, Any], path: str) -> None:
        self._tag(f"{len(attributes)} attributes", *attributes)
        for name, each in attributes.items():
            self._add(each, f"{path}.{name}")

    def _hold(self, module: ModuleType) -> None:
        """Add a module; only its values that code names count, see `_use_named`."""
        self._tag("module", module.__name__)
        self._held.setdefault(module.__name__, module)
        if (origin := origin_of(vars(module))) is not None:
            self._sources.installed(origin)
        else:
            self._sources.module(module.__name__)

    def _use_named(self) -> bool:
        """Add values of held modules that the code names; return True if any were added.

        Of an installed module count plain values, functions and classes of the user.
        """
        before = len(self._used)
        for module in [*self._held.values()]:
            names, is_own = vars(module), origin_of(vars(module)) is None
            used = {n for n in _public(names) if n in self._named or (is_own and self._is_computed)}
            used |= {"__getattr__"} & {*names} if is_own else set()
            for key in sorted({(module.__name__, name) for name in used} - self._used):
                self._used.add(key)
                thing = names[key[1]]
                is_code = isinstance(thing, FunctionType | type)
                if is_own or type(thing) in _EXACT or (is_code and not origin_of(thing.__module__)):
                    self._tag(*key)
                    self._add_bound(thing, ".".join(key))
        return len(self._used) > before

    def _add_function(self, fn: FunctionType, path: str) -> None:
        names, code = fn.__globals__, fn.__code__
        self._tag(str(names.get("__name__")), fn.__qualname__)
        if (origin := origin_of(names)) is not None:
            self._sources.installed(origin)
            self._tag(origin)
            if found(names, fn.__qualname__) is fn:
                return
        elif fn.__name__ == "__hash__" and code.co_filename[0] == "<":
            return  # attrs writes the hash of a text into it, another in each process.
        for each in _codes(code):  # The text on the disk may be a newer one, or none exists.
            counts = each.co_flags, each.co_argcount, each.co_posonlyargcount
            tables = each.co_names, each.co_varnames, each.co_freevars, each.co_cellvars
            rest = each.co_kwonlyargcount, each.co_code, each.co_exceptiontable
            self._tag(each.co_qualname, repr((*counts, *tables, *rest)))
            self._add_items((one for one in each.co_consts if type(one) is not CodeType), path)
        for name in ("__doc__", "__defaults__", "__kwdefaults__"):
            self._add_bound(getattr(fn, name), f"{path}.{name}")
        for name, cell in zip(code.co_freevars, fn.__closure__ or (), strict=True):
            self._add_bound(cell, f"{path}.{name}")
        self._add_attributes(fn.__dict__, path)
        if origin is None:
            self._add(getattr(fn, "__annotate__", None) or fn.__annotations__, path)
            self._add_reached(fn, path)

    def _add_reached(self, fn: FunctionType, path: str) -> None:
        """Add the source of a user's function, the globals that it names, and its imports."""
        names, codes = fn.__globals__, [*_codes(fn.__code__)]
        scan = self._scan(fn, {line for each in codes for *_, line in each.co_lines()})
        steps = (step for each in codes for step in dis.get_instructions(each))
        used = {step.argval for step in steps if step.opname in _LOADING}
        for each in codes:
            self._named.update(each.co_names, words(each.co_consts))
        self._is_computed |= bool(_COMPUTED & self._named or scan.computed)
        if "globals" in used:
            used.update(_public(names))
        for name in sorted(used & names.keys()):
            self._tag(name)
            self._add_bound(names[name], f"{path} -> {name}")
        for imported in scan.imports:
            for name in imported.modules(names.get("__package__") or ""):
                self._import(name)

    def _scan(self, fn: FunctionType, lines: set[int | None]) -> Scan:
        """Add the source of a function, and return the scan of its lines.

        In a script or a notebook the source is the function's definition, else its whole module.
        """
        names, code, where = fn.__globals__, fn.__code__, f"the source of {fn.__qualname__}"
        name = str(names.get("__name__"))
        if name not in _SCRIPTS:
            scan = self._sources.module(name)
            lines = set() if code.co_filename[0] == "<" else lines  # Its text is a generated one.
        else:
            text = "".join(getlines(code.co_filename, names))
            is_there = not text or _defines(text, code)
            scan = scanned(text) if text and is_there else None
            self._tag(_source(fn) if is_there else "")
        if scan is not None:
            scan = scan.on(lines)
            self._sources.imports(scan, names.get("__package__") or "", where)
            return scan
        if any(dis.opmap["IMPORT_NAME"] in each.co_code[::2] for each in _codes(code)):
            place = f"{code.co_filename}, line {code.co_firstlineno}"
            raise Undetermined(f"{where} ({place}) is not found, and it imports modules")
        return Scan()

    def _import(self, name: str) -> None:
        """Hold a module of the user that a function imports when it is called."""
        if package := name.rpartition(".")[0]:
            self._import(package)
        if self._sources.is_own(name):
            try:
                self._hold(importlib.import_module(name))
            except Exception as error:
                what = f"module {name} can't be imported here ({type(error).__name__}: {error})"
                raise Undetermined(what) from error

    def _add_class(self, cls: type, path: str) -> None:
        module = sys.modules.get(cls.__module__)
        self._tag(cls.__module__, cls.__qualname__)
        if (origin := origin_of(cls.__module__)) is not None:
            self._sources.installed(origin)
            self._tag(origin)
            is_static = not cls.__flags__ & _HEAP_TYPE
            if is_static or found(vars(module or sys), cls.__qualname__) is cls:
                return
        elif cls.__module__ in _SCRIPTS:
            self._tag(_source(cls))
        elif module is not None:  # Else a pickle brought the class, and its methods' globals.
            self._sources.module(cls.__module__)
        self._add_items((type(cls), *cls.__bases__), path)
        defaults = getattr(cls, "__struct_defaults__", ())
        attributes = {**vars(cls), "__struct_defaults__": defaults}
        if isinstance(doc := attributes.get("__doc__"), str):
            attributes["__doc__"] = _ADDRESS.sub("", doc)  # Dataclasses write defaults into it.
        counted = {name: each for name, each in attributes.items() if _counts(name, each)}
        self._add_attributes(counted, path)

    def _add_object(self, thing: Any, kind: type, path: str) -> None:
        """Add an object that is no plain value, function, class or module."""
        if kind is CellType:
            with suppress(ValueError):  # It is empty.
                self._add(thing.cell_contents, path)
        elif kind is BuiltinFunctionType:
            self._add_builtin(thing, path)
        elif kind in _PARTS:
            self._add_attributes({name: getattr(thing, name) for name in _PARTS[kind]}, path)
        elif kind is MappingProxyType:
            self._add(dict(thing), path)
        elif kind is ContextVar:
            self._tag(thing.name)
            with suppress(LookupError):
                self._add(thing.get(), path)
        elif kind.__module__.partition(".")[0] == "msgspec":  # Pickles refuse most of them.
            names = [name for name, each in vars(kind).items() if isinstance(each, _IN_C)]
            self._add_attributes({name: getattr(thing, name) for name in names}, path)
        elif kind.__name__ == "Broadcast" and kind.__module__.startswith("pyspark."):
            self._add(thing.value, path)  # Its pickle has only a number.
        elif kind in _DATA:
            self._add_pairs(_DATA[kind](thing), path)
        else:
            self._add_instance(thing, kind, path)

    def _add_builtin(self, thing: Any, path: str) -> None:
        self._is_computed |= thing is getattr
        self._tag(thing.__qualname__)
        if thing.__self__ is not None and not isinstance(thing.__self__, ModuleType):
            self._add(thing.__self__, f"{path}.__self__")
        elif thing.__module__ is not None:
            if (origin := origin_of(thing.__module__)) is None:
                raise Undetermined(f"{path} is {shown(thing)}, which is no Python code")
            self._sources.installed(origin)
            self._tag(thing.__module__)

    def _add_instance(self, thing: Any, kind: type, path: str) -> None:
        """Add the class of an object, and its state.

        An object of an installed class counts by its pickle. An object of the user's class counts
        by the data of the class in C below it and by all its attributes, whatever its pickle holds.
        """
        origin = origin_of(kind.__module__)
        self._add(kind, path)
        if isinstance(thing, BaseException):
            self._add(thing.__cause__, f"{path}.__cause__")
        if origin is not None:
            singletons = vars(sys.modules[kind.__module__]).items() if origin == PYTHON else ()
            name = next((name for name, each in singletons if each is thing), None)
            if name is not None:
                self._tag(name)  # The standard library has it once, such as `os.environ`.
            elif not isinstance(thing, _BY_KIND):
                self._add_pickle(thing, kind, path)
            return
        native = _native(kind)
        derived = kind.__mro__[: kind.__mro__.index(native)]
        if native in _DATA:
            self._add_pairs(_DATA[native](thing), path)
        elif any(name in vars(each) for each in derived for name in _PICKLING):
            raise Undetermined(f"{path} is {shown(thing)}, whose class hides its state")
        else:
            self._add_pickle(thing, kind, path)
        self._add_state(thing, derived, path)

    def _add_state(self, thing: Any, derived: tuple[type, ...], path: str) -> None:
        """Add the attributes; an attribute that the pickle leaves out counts at least by its type.

        A client that is opened later, for example, is left out.
        """
        attributes = dict(getattr(thing, "__dict__", {}))
        for name, slot in ((name, slot) for each in derived for name, slot in vars(each).items()):
            if isinstance(slot, MemberDescriptorType) and hasattr(thing, name):
                attributes[name] = getattr(thing, name)
        attributes = {name: each for name, each in attributes.items() if name not in _NO_PART}
        left_out: set[str] = set()
        if any("__getstate__" in vars(each) for each in derived):
            with suppress(Exception):
                left_out = attributes.keys() - thing.__getstate__().keys()
        for name in sorted(left_out):
            self._tag(name, type(attributes[name]).__qualname__)
            with suppress(Undetermined):
                self._add(attributes[name], f"{path}.{name}")
            del attributes[name]
        self._add_attributes(attributes, path)

    def _add_pickle(self, thing: Any, kind: type, path: str) -> None:
        try:
            reducer = copyreg.dispatch_table.get(kind)
            pickle: Any = thing.__reduce_ex__(4) if reducer is None else reducer(thing)
        except Exception as error:
            what = f"{path} is {shown(thing)} ({kind.__name__}), whose state can't be read"
            raise Undetermined(what) from error
        if isinstance(pickle, str):
            module = str(getattr(thing, "__module__", None) or kind.__module__)
            is_found = found(vars(sys.modules.get(module, sys)), pickle) is thing
            if not is_found and origin_of(kind.__module__) != PYTHON:
                raise Undetermined(f"{path} is {shown(thing)}, whose name leads to another object")
            self._tag(module, pickle)
            if not is_found or origin_of(module) is None:
                self._add_attributes(getattr(thing, "__dict__", {}), path)
            return
        parts: list[Any] = [*pickle, None, None, None]
        made, arguments, state, items, pairs = parts[:5]
        self._add_items((made, arguments), path)
        self._add(state, path)
        self._add_items(items or (), path)
        self._add_pairs(pairs or (), path)


def _order(thing: Any) -> str:
    """Return a sort key for members of a set that is equal in each process, unlike hashes."""
    if isinstance(thing, frozenset):
        return repr(sorted(map(_order, thing)))
    return f"{type(thing).__name__} {getattr(thing, '__qualname__', repr(thing))}"


def _is_identity(kind: type) -> bool:
    if issubclass(kind, MethodType | BuiltinFunctionType):  # Each access makes another one.
        return False
    if issubclass(kind, type) or kind.__hash__ in {None, object.__hash__}:
        return True
    return origin_of(kind.__module__) is None


def _native(kind: type) -> type:
    """Return the nearest class in C."""
    for base in kind.__mro__:
        made = vars(base).get("__new__")
        if not base.__flags__ & _HEAP_TYPE or getattr(made, "__self__", None) is base:
            return base
    return object


def _counts(name: str, attribute: Any) -> bool:
    """Return True for an attribute of a class that is its user's."""
    if name in _NO_PART or isinstance(attribute, _IN_C):
        return False
    is_code = isinstance(attribute, FunctionType | classmethod | staticmethod | property)
    return is_code or name in _FIELDS or not name[:2] == name[-2:] == "__"


def _public(names: Mapping[str, Any]) -> list[str]:
    return sorted(name for name in names if not name[:2] == name[-2:] == "__")


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _codes(each)


def _defines(text: str, code: CodeType) -> bool:
    """Return whether a text holds a function; generated code has `python -c` for its file."""
    last = max((line for *_, line in code.co_lines() if line), default=code.co_firstlineno)
    lines = text.splitlines()[code.co_firstlineno - 1 : last]
    return any(f"def {code.co_name}" in line or "lambda" in line for line in lines)


def _source(thing: Any) -> str:
    try:
        return inspect.getsource(thing)
    except (OSError, TypeError, SyntaxError):  # Notebooks and shells may keep none.
        return ""
