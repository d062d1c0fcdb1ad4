"""What Flink fails with, as the errors of the contract."""

import re
from collections.abc import Iterator
from typing import Any

from asyncwait.backends.flink._values import Tokens
from asyncwait.spec import AsyncWaitError, CallFailed, CallTimedOut, OperatorError, Record
from asyncwait.spec.texts import one_line, shown

_TOKEN = re.compile(r"Record @ \S+ : (\w+(?:@\w+)?)")
"""How Flink names a record, in key-ordered mode within a wrapper of its own (KO-9)."""


class FlinkFailed(AsyncWaitError, RuntimeError):
    """Flink's task has failed with an error that names no record; its text is Flink's."""


class Failures:
    """Tells what an error of Java stands for."""

    def __init__(self, tokens: Tokens, attempts: Any) -> None:
        self._tokens = tokens
        self._attempts = attempts

    def of_cluster(self, thrown: Any) -> BaseException:
        """Return what Flink has told its cluster about (FA-3): a record that failed, mostly.

        Flink names the record in a sentence, and gives what its call has raised as the cause.
        """
        text = str(thrown.getMessage())
        named = _TOKEN.search(text)
        token = "" if named is None else named[1]
        record = self._tokens.meaning(token)
        if not isinstance(record, Record):
            return self.plain(thrown)
        cause = self._python(thrown)
        attempts = self._attempts(token)
        if isinstance(cause, OperatorError) and cause.record is record:
            return cause.after(attempts)
        failure: type[OperatorError] = CallTimedOut if cause is None else CallFailed
        sentence = f"Flink: {one_line(text.partition(':')[0]) if cause is None else shown(cause)}"
        error = failure(record, sentence, attempts)
        error.__cause__ = cause
        return error

    def plain(self, thrown: Any) -> BaseException:
        """Return what was raised out of Flink: an error of Python's itself, or Java's in words."""
        from jpype import JClass

        if not isinstance(thrown, JClass("java.lang.Throwable")):
            return thrown  # type: ignore[no-any-return]
        if isinstance(bare := self._tokens.meaning(thrown.getMessage()), BaseException):
            return bare
        failure = FlinkFailed(" <- ".join(one_line(each.toString()) for each in _chain(thrown)))
        failure.__cause__ = self._python(thrown)
        return failure

    def error_of(self, thrown: Any) -> BaseException:
        """Return what a predicate of the user's is asked about."""
        return self._python(thrown) or TimeoutError(str(thrown.getMessage()))

    def _python(self, thrown: Any) -> BaseException | None:
        """Return the error of Python's that is behind one of Java's."""
        for each in _chain(thrown):
            if isinstance(found := self._tokens.meaning(each.getMessage()), BaseException):
                return found
        return None


def _chain(thrown: Any) -> Iterator[Any]:
    while thrown is not None:
        yield thrown
        thrown = thrown.getCause()
