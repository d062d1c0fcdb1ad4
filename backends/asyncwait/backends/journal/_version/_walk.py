"""Walk over everything that a function consists of and reaches; each object counts once."""

import re
import struct
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from hashlib import blake2b
from types import BuiltinFunctionType, FunctionType, GenericAlias, MethodType, ModuleType
from typing import Any

from asyncwait.backends.journal._version._origin import PYTHON, origin_of
from asyncwait.backends.journal._version._source import Entry, Modules, Undetermined

_EXACT: dict[type, Callable[[Any], bytes]] = {
    str: lambda each: each.encode("utf-8", "surrogatepass"),
    int: lambda each: b"%x" % each,  # decimal digits have a limit
    float: lambda each: struct.pack(">d", each),
    complex: lambda each: struct.pack(">dd", each.real, each.imag),
    bytes: bytes,
    **dict.fromkeys(map(type, (True, None, ..., NotImplemented)), lambda each: b"%a" % each),
}
"""Plain values as bytes: those of different types are different, and so are 0.0 and -0.0."""

_FINDERS = {"builtins", "importlib", "sys"}
"""Modules that find code by a text, so code may not pass them around."""
_LOADERS = re.compile(
    r"builtins\.(__import__|compile|eval|exec)|importlib\.(_bootstrap\.__import__|import_module)"
    r"|importlib\.metadata\.entry_points|pkgutil\.resolve_name|pydoc\.locate|runpy\.run_.*"
)
_ID = re.compile(r"(?<=:)[0-9]{7,20}")
"""A number that may be an id, as in pydantic's name of a model, "module.Model:140234866534912"."""
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def _framed(kind: str, data: bytes) -> bytes:
    return b"%s %d " % (kind.encode(), len(data)) + data


def _digest() -> Any:
    return blake2b(digest_size=16, person=b"asyncwait src 1")


class Walk:
    """Adds objects to a digest.

    A further reference to an object that is mutable, or compared by identity, adds its number, so
    two equal lists differ from one list with two names. Functions and classes wait in a queue, so
    the length of a chain of calls does not matter.

    Args:
        add: adds one object, and has this walk go on to its parts.

    Attributes:
        mentions: attributes and texts in code; they may name values of modules that code holds.
        is_computed: some code may ask a module for any name.
    """

    def __init__(self, add: "Callable[[Walk, Any], None]") -> None:
        self.entries: list[Entry] = []
        self.modules = Modules()
        self.mentions: set[str] = set()
        self.is_computed = False
        self._add = add
        self._digest = _digest()
        self._met: dict[int, tuple[int, Any]] = {}  # objects are held: no other gets their ids
        self._queue = deque[tuple[Any, list[str]]]()
        self._path: list[str] = []
        self._is_apart = False
        self._held: dict[str, ModuleType] = {}
        self._used = set[tuple[str, str]]()

    @property
    def path(self) -> str:
        """The steps to where the walk is, or has failed."""
        return "".join(self._path)

    def through(self, thing: Any, name: str) -> str:
        """Add an object, and everything that it reaches; return the digest of all."""
        self.of(thing, name)
        while self._queue or self._use_mentions():
            while self._queue:
                each, self._path = self._queue.popleft()
                kind = "class" if isinstance(each, type) else "function"
                kind = kind if origin_of(each.__module__) is None else "installed"
                with self._entry(kind, f"{each.__module__}.{each.__qualname__}"):
                    self._add(self, each)
        for entry in self.modules.entries():
            self.tag(*entry)
            self.entries.append(entry)
        return str(self._digest.hexdigest())

    def of(self, thing: Any, label: str = "") -> None:
        """Add an object with its parts."""
        if type(thing) is str:
            thing = _ID.sub(self._known, thing)  # Ids are others in each process.
        if (exact := _EXACT.get(type(thing))) is not None:
            self._digest.update(_framed(type(thing).__name__, exact(thing)))
        else:
            with self.at(label):
                self._once(thing)

    def _known(self, found: re.Match[str]) -> str:
        known = self._met.get(int(found[0]))
        return found[0] if known is None else f"as {known[0]}"

    def value(self, thing: Any, label: str) -> None:
        """Add a value that code holds: of a module only what code uses."""
        if isinstance(thing, ModuleType):
            with self.at(label):
                self.module(thing)
        elif isinstance(thing, FunctionType | type) or thing is None:
            self.of(thing, label)
        else:
            with self._entry("value", f"{self.path}{label} ({type(thing).__name__})"):
                self.of(thing, label)

    @contextmanager
    def _entry(self, kind: str, name: str) -> Generator[None]:
        """List what is added meanwhile as an entry of its own."""
        outer, self._digest = self._digest, _digest()
        yield
        done = self._digest.digest()
        outer.update(done)
        self._digest = outer
        self.entries.append(Entry(kind, name, done.hex()))

    @contextmanager
    def at(self, label: str) -> Generator[None]:
        """Go on to an object behind a label; after an error the walk stays there."""
        self._path.append(label)
        yield
        self._path.pop()

    def _once(self, thing: Any) -> None:
        kind = type(thing)
        if _is_identity(kind):
            if id(thing) in self._met:
                self.tag(f"as {self._met[id(thing)][0]}")
                return
            self._meet(thing)
            if not self._is_apart and (kind is FunctionType or issubclass(kind, type)):
                self.tag("later")
                self._queue.append((thing, [*self._path]))
                return
        elif kind is GenericAlias or kind.__module__ == "typing":
            self._meet(thing)
        self._add(self, thing)

    def _meet(self, thing: Any) -> None:
        _ = self._met.setdefault(id(thing), (len(self._met), thing))

    def tag(self, *texts: str) -> None:
        """Add texts that say what follows."""
        for text in texts:
            self._digest.update(_framed("", text.encode("utf-8", "surrogatepass")))

    def items(self, kind: str, things: Iterable[Any]) -> None:
        """Add objects in their order."""
        self.pairs(kind, enumerate(things))

    def pairs(self, kind: str, things: Iterable[tuple[Any, Any]]) -> None:
        """Add keys and values in their order."""
        things = list(things)
        self.tag(f"{kind} of {len(things)}")
        for key, each in things:
            self.of(key, ".keys()")
            self.of(each, f"[{key!r}]" if type(key) in {str, int} else "[...]")

    def attributes(self, things: Mapping[str, Any], but: Iterable[str] = ()) -> None:
        """Add names and their values, in their order."""
        told = {name: each for name, each in things.items() if name not in but}
        self.tag(f"attributes, {len(told)}", *told)
        for name, each in told.items():
            is_doc = name == "__doc__" and isinstance(each, str)
            # Dataclasses write the defaults of fields into their docstrings.
            self.of(_ADDRESS.sub("", each) if is_doc else each, f".{name}")

    def unordered(self, things: Iterable[Any]) -> None:
        """Add objects without order: the hash of a text is another in each process."""
        digests = sorted(map(self.apart, things))
        self.tag(f"set of {len(digests)}", *digests)

    def apart(self, thing: Any) -> str:
        """Return a digest of an object by itself, whatever was added before."""
        before = self._digest, self._is_apart, len(self._met), len(self._path), len(self.entries)
        self._digest, self._is_apart = _digest(), True
        try:
            self.of(thing, ".{...}")
            return str(self._digest.hexdigest())
        finally:
            self._digest, self._is_apart, known, steps, entries = before
            del self._path[steps:], self.entries[entries:]
            while len(self._met) > known:
                self._met.popitem()

    def installed(self, origin: str, *names: str) -> None:
        """Add an object of an installed distribution by its name."""
        self.modules.installed(origin)
        self.tag("installed", origin, *names)

    def module(self, module: ModuleType, *, is_whole: bool = False) -> None:
        """Add a module, and of its values those that code uses.

        Args:
            module: the user's own, or installed.
            is_whole: it is a value itself, so that code may use all of it.
        """
        origin = origin_of(module)
        if origin is None:
            self.modules.source(vars(module))
        else:
            self.modules.installed(origin)
        self.tag("module", module.__name__)
        self._held.setdefault(module.__name__, module)
        if is_whole and origin is None:
            self.scope(vars(module))
        elif is_whole and origin == PYTHON and module.__name__ in _FINDERS:
            raise Undetermined("a module that finds code by a text", is_whole=False)

    def scope(self, names: Mapping[str, Any]) -> None:
        """Add all globals of a module of the user's own."""
        for name in _public(names):
            self.tag(name)
            self.value(names[name], f".{name}")

    def _use_mentions(self) -> bool:
        """Add values of modules that attributes and texts in code may name; say whether any do.

        Of an installed module count plain values, functions and classes of the user's own.
        """
        before = len(self._used)
        for module in [*self._held.values()]:
            names, is_own = vars(module), origin_of(module) is None
            every = is_own and self.is_computed
            used = {n for n in _public(names) if every or n in self.mentions}
            used |= {"__getattr__"} & {*names} if is_own else set()
            for key in sorted({(module.__name__, name) for name in used} - self._used):
                self._used.add(key)
                thing = names[key[1]]
                require_import(thing, ".".join(key))
                is_named = isinstance(thing, FunctionType | type)
                is_of_user = is_named and origin_of(thing.__module__) is None
                if is_own or type(thing) in _EXACT or is_of_user:
                    self._path = [f" -> {key[0]}"]
                    self.tag(*key)
                    self.value(thing, f".{key[1]}")
        return len(self._used) > before


def require_import(thing: Any, name: str) -> None:
    """Refuse an object that runs or finds code by a text."""
    named = f"{getattr(thing, '__module__', None)}.{getattr(thing, '__qualname__', None)}"
    if thing is sys.modules or _LOADERS.fullmatch(named):
        raise Undetermined(f"the code uses {name}, which loads code that no import shows")


def _public(names: Mapping[str, Any]) -> list[str]:
    return sorted(name for name in names if not name[:2] == name[-2:] == "__")


def _is_identity(kind: type) -> bool:
    if issubclass(kind, MethodType | BuiltinFunctionType):  # made anew wherever it is asked for
        return False
    if issubclass(kind, type) or kind.__hash__ in {None, object.__hash__}:
        return True
    return origin_of(kind.__module__) is None
