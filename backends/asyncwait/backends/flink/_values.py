"""Tokens for Python's values, keys, records and errors in Java, and Python's errors for Java's."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from typing import Any

from asyncwait.backends.flink._jvm import java
from asyncwait.backends.flink._stage import Stage
from asyncwait.backends.flink._surroundings import proxy
from asyncwait.spec import AsyncWaitError, CallFailed, CallTimedOut, OperatorError, Record
from asyncwait.spec.texts import one_line, shown
from asyncwait.toolkit import ByKey, invalid_key


class Tokens:
    """Objects that Python keeps, and the tokens that represent them in Java."""

    def __init__(self) -> None:
        self._things: dict[str, Any] = {}
        self._parts: dict[str, list[str]] = {}
        self._numbers = 0

    def of(self, thing: Any, owner: str = "", mark: str = "") -> str:
        """Return a new token for `thing`."""
        self._numbers += 1
        token = f"t{self._numbers}{mark}"
        self._things[token] = thing
        if owner:
            self._parts.setdefault(owner, []).append(token)
        return token

    def meaning(self, token: Any) -> Any:
        """Return the object of a token; None for an unknown token."""
        return self._things.get(str(token))

    def of_record(self, record: Record) -> str:
        """Return a new token for a record."""
        return self.of(record)

    def of_stored(self, record: Record) -> str:
        """Return a new token for a record to restore."""
        return self.of_record(record)

    def stored(self, token: Any) -> Record:
        """Return the record of a token in a snapshot."""
        return self.meaning(token)  # type: ignore[no-any-return]

    def taken(self, token: Any) -> Any:
        """Return the object of a token, and forget it with all tokens that it owns."""
        for part in self._parts.pop(str(token), ()):
            self._things.pop(part, None)
        return self._things.pop(str(token), None)

    def thrown(self, error: BaseException, owner: str = "") -> Any:
        """Return a Java exception that represents an error of Python's."""
        return java("java.lang.RuntimeException")(self.of(error, owner))

    def through_java(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function for Java to call, whose errors are thrown in Java."""

        @wraps(function)
        def call(*args: Any) -> Any:
            try:
                return function(*args)
            except Exception as error:
                if isinstance(error, java("java.lang.Throwable")):
                    raise
                raise self.thrown(error) from None

        return call


class Result:
    """One result, and its record."""

    __slots__ = ("record", "value")

    def __init__(self, record: Record, value: Any) -> None:
        self.record, self.value = record, value


class Collection:
    """The results of one call, as a Java collection, which Flink reads when it emits them (EL-6).

    It drops the results once they are read, because Java's collector may keep it for long.
    """

    def __init__(
        self, given: Sequence[Any], token: Callable[[Any], str], on_end: Callable[[], object]
    ) -> None:
        self.given = given
        self._token: Callable[[Any], str] | None = token
        self._on_end = on_end

    def iterator(self) -> Any:
        """Return a Java iterator over the tokens of the results."""
        from jpype import JProxy

        assert self._token is not None
        tokens = _Ahead(map(self._token, self.given), self._read)
        return JProxy("java.util.Iterator", inst=tokens)

    def _read(self) -> None:
        self.given, self._token = (), None
        self._on_end()

    def isEmpty(self) -> bool:  # noqa: N802 - as Java has it
        """Return whether it has no results."""
        return not self.given

    def hashCode(self) -> int:  # noqa: N802
        """Return a hash of its identity."""
        return id(self) % 2**31

    def equals(self, other: object) -> bool:
        """Return whether `other` is the same object."""
        return self is other

    def toString(self) -> str:  # noqa: N802
        """Return a description."""
        return "the results of a call"


class _Ahead:
    """An iterator that reads one token ahead, because Java asks whether more follow."""

    def __init__(self, tokens: Iterator[str], on_end: Callable[[], object]) -> None:
        self._tokens, self._on_end = tokens, on_end
        self._next: str | None = None

    def hasNext(self) -> bool:  # noqa: N802
        if self._next is None:
            self._next = next(self._tokens, None)
            if self._next is None:
                self._tokens = iter(())
                self._on_end()
        return self._next is not None

    def next(self) -> Any:
        token, self._next = self._next, None
        return java("java.lang.String")(token)


def java_collection(collection: Collection) -> Any:
    """Return a collection as an object of Java."""
    from jpype import JProxy

    return JProxy("java.util.Collection", inst=collection, convert=True)


def java_null() -> Any:
    """Return Java's null, typed as a collection."""
    from jpype import JObject

    return JObject(None, java("java.util.Collection"))


_TOKEN = re.compile(r"Record @ \S+ : (\w+(?:@\w+)?)")
"""Flink's text for a record; the key-ordered operator wraps the record (KO-9)."""


class FlinkFailed(AsyncWaitError, RuntimeError):
    """Flink's task has failed with an error that names no record; its text is Flink's."""


def failure_of(
    record: Record, cause: BaseException | None, attempts: int, sentence: str, *, is_late: bool
) -> OperatorError:
    """Return the error with which a record fails; it may be the cause itself."""
    if isinstance(cause, OperatorError) and cause.record is record:
        return cause.after(attempts)
    failure = CallTimedOut if is_late else CallFailed
    error = failure(record, sentence, attempts)
    error.__cause__ = cause
    return error


class Failures:
    """Converts errors of Java."""

    def __init__(self, tokens: Tokens, attempts: Any) -> None:
        self._tokens = tokens
        self._attempts = attempts

    def of_cluster(self, thrown: Any) -> BaseException:
        """Return the error that Flink reports to its cluster (FA-3), mostly about a record.

        Flink names the record in a sentence, and adds the error of its call as the cause.
        """
        text = str(thrown.getMessage())
        named = _TOKEN.search(text)
        token = "" if named is None else named[1]
        record = self._tokens.meaning(token)
        if not isinstance(record, Record):
            return self.plain(thrown)
        cause = self._python(thrown)
        sentence = f"Flink: {one_line(text.partition(':')[0]) if cause is None else shown(cause)}"
        attempts = self._attempts(token)
        return failure_of(record, cause, attempts, sentence, is_late=cause is None)

    def plain(self, thrown: Any) -> BaseException:
        """Return the error that Flink has raised: Python's own error, or Java's error in words."""
        from jpype import JClass

        if not isinstance(thrown, JClass("java.lang.Throwable")):
            return thrown  # type: ignore[no-any-return]
        if isinstance(bare := self._tokens.meaning(thrown.getMessage()), BaseException):
            return bare
        failure = FlinkFailed(" <- ".join(one_line(each.toString()) for each in _chain(thrown)))
        failure.__cause__ = self._python(thrown)
        return failure

    def error_of(self, thrown: Any) -> BaseException:
        """Return the error that a predicate of the user takes."""
        return self._python(thrown) or TimeoutError(str(thrown.getMessage()))

    def _python(self, thrown: Any) -> BaseException | None:
        for each in _chain(thrown):
            if isinstance(found := self._tokens.meaning(each.getMessage()), BaseException):
                return found
        return None


def _chain(thrown: Any) -> Iterator[Any]:
    while thrown is not None:
        yield thrown
        thrown = thrown.getCause()


_MARK = "@"


class _Key:
    """A key of a record in flight or in a snapshot."""

    __slots__ = ("is_stored", "records", "token")

    def __init__(self, token: str) -> None:
        self.token = token
        self.records = 0
        self.is_stored = False


class KeyedTokens(Tokens):
    """Tokens of records with keys: keys that are equal in Python (KEY-8) share one token.

    A record or key that was in a snapshot, or is restored from one, is never forgotten: Flink
    overwrites the state of a key only when a record of the key comes again, and all snapshots until
    then contain the old state (KO-12).
    """

    def __init__(self, stage: Stage) -> None:
        super().__init__()
        self._stage = stage
        self._keys: ByKey[_Key] = ByKey()
        self._known: dict[str, _Key] = {}
        self._stored: set[str] = set()
        self._count = 0

    def of_record(self, record: Record) -> str:
        """Return a new token for a record; its key is read only here.

        Raises:
            InvalidKey: the key can't be compared with others.
        """
        key = self._stage.ask(lambda: self._key_of(record))
        key.records += 1
        return self.of(record, mark=_MARK + key.token)

    def _key_of(self, record: Record) -> _Key:
        try:
            key = self._keys.get(record.key)
            if key is None:
                self._count += 1
                key = _Key(f"k{self._count}")
                self._keys.put(record.key, key)
        except Exception as error:
            raise invalid_key(record, error) from error
        self._known[key.token] = key
        return key

    def of_stored(self, record: Record) -> str:
        """Return a new token for a record to restore."""
        token = self.of_record(record)
        self.stored(token)
        return token

    def stored(self, token: Any) -> Record:
        """Return the record of a token in a snapshot."""
        self._stored.add(str(token))
        self._known[key_of(token)].is_stored = True
        return super().stored(token)

    def taken(self, token: Any) -> Any:
        """Return the record of a token and forget it, and its key with its last record."""
        thing = self.meaning(token)
        key = self._known.get(key_of(token))
        if str(token) not in self._stored:
            super().taken(token)
        if key is not None:
            key.records -= 1
            if not key.records and not key.is_stored:
                self._forget(thing.key, key)
        return thing

    def _forget(self, given: Any, key: _Key) -> None:
        del self._known[key.token]
        self._stage.ask(lambda: self._keys.remove(given, key))


def key_of(token: Any) -> str:
    """Return the token of the key of the record with `token`."""
    return str(token).partition(_MARK)[2]


def key_selector() -> Any:
    """Return the object by which Flink reads the key of a record."""
    return proxy("api.java.functions.KeySelector", {"getKey": key_of})
