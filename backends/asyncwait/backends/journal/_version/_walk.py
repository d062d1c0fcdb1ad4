"""A walk over all that a function consists of and reaches, each thing once."""

import re
import struct
from collections import deque
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from hashlib import blake2b
from types import BuiltinFunctionType, FunctionType, GenericAlias, MethodType, NoneType
from typing import Any

from asyncwait.backends.journal._version._origin import origin_named

_EXACT: dict[type, Callable[[Any], bytes]] = {
    str: lambda each: each.encode("utf-8", "surrogatepass"),
    int: lambda each: b"%x" % each,  # decimal digits have a limit
    float: lambda each: struct.pack(">d", each),
    complex: lambda each: struct.pack(">dd", each.real, each.imag),
    bool: lambda each: b"%d" % each,
    bytes: bytes,
    NoneType: lambda _: b"",
    type(Ellipsis): lambda _: b"",
    type(NotImplemented): lambda _: b"",
}
"""Plain values as bytes: those of different types are different, and so are 0.0 and -0.0."""


def plain(thing: Any) -> bytes | None:
    """Return the bytes of a value that consists of nothing else; None for any other thing."""
    of_kind = _EXACT.get(type(thing))
    return None if of_kind is None else framed(type(thing).__name__, of_kind(thing))


def constant(thing: Any) -> bytes:
    """Return the bytes of a constant in code: what is plain, and tuples, sets and slices of it."""
    if (data := plain(thing)) is not None:
        return data
    if isinstance(thing, slice):
        thing = (thing.start, thing.stop, thing.step, slice.__name__)
    parts = [constant(each) for each in thing]
    if isinstance(thing, frozenset):
        parts.sort()
    return framed(type(thing).__name__, b"".join(parts))


def framed(kind: str, data: bytes) -> bytes:
    """Return data with its kind and its length before it."""
    return b"%s %d " % (kind.encode(), len(data)) + data


def digest() -> Any:
    """Return what bytes are added to."""
    return blake2b(digest_size=16, person=b"asyncwait code 2")


_ID = re.compile(r"(?<=:)([0-9]{7,20})")
"""What may be the id of a thing: short where the heap begins right behind a program at 0x400000."""


class Untold(Exception):
    """There is no telling what something is."""

    def __init__(self, what: str, label: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.label = label


class Walk:
    """Adds to a digest what it comes by.

    Things that can change, or are compared by what they are, are met once: where one is met again
    its number is added, so that two lists are no list that is named twice. Functions and classes
    wait in a queue, however long the chain is in which each names the next one.

    Args:
        add: adds one thing, and has this walk go on to what it consists of.
        docs: docstrings count.

    Attributes:
        asks_for_docs: code was met that reads docstrings.
    """

    def __init__(self, add: "Callable[[Walk, Any], None]", *, docs: bool) -> None:
        self.digest = digest()
        self.docs = docs
        self.asks_for_docs = False
        self._add = add
        self._met: dict[int, tuple[int, Any]] = {}  # things are kept: no other gets their ids
        self._queue = deque[tuple[Any, list[str]]]()
        self._path: list[str] = []
        self._is_apart = False

    @property
    def path(self) -> str:
        """What leads to where the walk is, or has failed."""
        return "".join(self._path)

    def through(self, thing: Any) -> None:
        """Add a thing and all that it leads to."""
        self.of(thing)
        while self._queue:
            each, self._path = self._queue.popleft()
            self._add(self, each)

    def of(self, thing: Any, label: str = "") -> None:
        """Add a thing, with all that it consists of."""
        if type(thing) is str and (pieces := self._with_ids(thing)):
            self.tag("ids", *pieces)
        elif (data := plain(thing)) is not None:
            self.digest.update(data)
        else:
            with self.at(label):
                self._once(thing)

    def _with_ids(self, text: str) -> list[str] | None:
        """Return a text with numbers of what was met in place of ids; None where it has none.

        Ids are others in each process. Pydantic names models so in their schemas, for example
        "module.Model:140234866534912".
        """
        pieces = _ID.split(text)
        met = {
            place: self._met[int(pieces[place])][0]
            for place in range(1, len(pieces), 2)
            if int(pieces[place]) in self._met
        }
        told = (f"as {met[place]}" if place in met else piece for place, piece in enumerate(pieces))
        return [*told] if met else None

    @contextmanager
    def at(self, label: str) -> Generator[None, None, None]:
        """Go on to what a label leads to; where that fails the walk stays there."""
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
        elif kind is GenericAlias:
            self._meet(thing)
        self._add(self, thing)

    def _meet(self, thing: Any) -> None:
        _ = self._met.setdefault(id(thing), (len(self._met), thing))

    def tag(self, *texts: str) -> None:
        """Add texts that say what comes."""
        for text in texts:
            self.digest.update(framed("", text.encode("utf-8", "surrogatepass")))

    def items(self, kind: str, things: Iterable[Any]) -> None:
        """Add things in their order."""
        things = list(things)
        self.tag(f"{kind} of {len(things)}")
        for index, each in enumerate(things):
            self.of(each, f"[{index}]")

    def mapping(self, kind: str, things: Mapping[Any, Any]) -> None:
        """Add keys and values in their order."""
        self.tag(f"{kind} of {len(things)}")
        for key, each in list(things.items()):
            self.of(key, ".keys()")
            self.of(each, f"[{key!r}]" if type(key) in {str, int} else "[...]")

    def attributes(self, things: Mapping[str, Any], but: Iterable[str] = ()) -> None:
        """Add names and what has them, in their order."""
        told = {name: each for name, each in things.items() if name not in but}
        self.tag(f"attributes, {len(told)}")
        for name, each in told.items():
            self.of(name)
            self.of(each, f".{name}")

    def unordered(self, things: Iterable[Any]) -> None:
        """Add what has no order: text has another hash in each process."""
        digests = sorted(map(self.apart, things))
        self.tag(f"set of {len(digests)}")
        self.digest.update(b"".join(digests))

    def apart(self, thing: Any) -> bytes:
        """Return a digest of a thing by itself, which tells whatever was met before."""
        before = self.digest, self._is_apart, len(self._met), len(self._path)
        self.digest, self._is_apart = digest(), True
        try:
            self.of(thing, ".{...}")
            return bytes(self.digest.digest())
        finally:
            self.digest, self._is_apart, known, steps = before
            del self._path[steps:]
            while len(self._met) > known:
                self._met.popitem()


def _is_identity(kind: type) -> bool:
    if issubclass(kind, MethodType | BuiltinFunctionType):  # made anew wherever it is asked for
        return False
    if issubclass(kind, type) or kind.__hash__ in {None, object.__hash__}:
        return True
    return origin_named(kind.__module__) is None
