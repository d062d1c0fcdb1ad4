"""The user's function, as PyFlink calls it, the records in flight, and the errors of PyFlink."""

from collections.abc import Callable, Iterable
from contextvars import Context, copy_context
from functools import partial
from itertools import count
from typing import Any

from asyncwait.backends.flink._function import ForeignCalls, Spawn
from asyncwait.backends.flink._stage import here
from asyncwait.backends.flink._values import failure_of
from asyncwait.backends.pyflink._asyncio import Call, Ending
from asyncwait.spec import AsyncWaitError, Record
from asyncwait.spec.texts import joined, shown
from asyncwait.toolkit import FunctionParts, call_scope, collect_results


class Held:
    """An input of PyFlink's: a record, and the name by which PyFlink's errors refer to it."""

    def __init__(self, record: Record, named: "dict[str, Held]", name: str) -> None:
        self.record, self._named, self._name = record, named, name
        self.attempts = 0
        """Number of calls of the function for the record."""

    def __str__(self) -> str:
        self._named[self._name] = self
        return self._name


class Records:
    """The records that PyFlink holds, or has named in an error."""

    def __init__(self) -> None:
        self._numbers = count()
        self._named: dict[str, Held] = {}

    def held(self, record: Record) -> Held:
        """Return the input that PyFlink takes for `record`."""
        return Held(record, self._named, f"record#{next(self._numbers)}")

    def named_in(self, text: Any) -> Held | None:
        """Return the input that PyFlink names in `text`; None if it names none."""
        _, _, name = str(text).rpartition("'record#")
        return self._named.get("record#" + name.rstrip("'"))


class CalledFunction(ForeignCalls):
    """Calls the function on the loop, for any of PyFlink's threads."""

    def __init__(self, parts: FunctionParts, spawn: Spawn, look: Callable[[], object]) -> None:
        super().__init__(parts, spawn)
        self._look = look
        self.late: BaseException | None = None
        """The error that the last handler has raised, or PyFlink's own without a handler."""

    # In PyFlink's threads

    async def invoke(self, held: Held) -> Any:
        """Call the function, and return its results."""
        return await Call(partial(self._begin, held))

    def time_out(self, held: Held, default: Callable[[Held], Any]) -> Any:
        """Return the handler's results; without a handler, call PyFlink's default."""
        self.timeouts += 1
        try:
            if (asked := self.parts.timeout) is None:
                return default(held)
            record = held.record
            return asked_within(lambda: listed(record, asked(record.value)))
        except Exception as error:
            self.late = error
            raise

    def _begin(self, held: Held, context: Context, ended: Callable[[Ending], object]) -> None:
        def tell(results: Any, error: BaseException | None) -> None:
            ended((lambda: results) if error is None else partial(_raise, error))
            self._look()

        def begin() -> None:
            held.attempts += 1
            self.count(held.attempts)
            context.run(self._spawn, self.await_call, held.record, call_scope(), tell)

        here().errand(begin)

    def read(self, record: Record, results: Any) -> Any:
        """Return the results of a call in PyFlink's form."""
        return listed(record, results)


def asked_within(question: Callable[[], Any]) -> Any:
    """Let the loop call `question` in a copy of the present thread's context."""
    return here().ask(partial(copy_context().run, question))


def listed(record: Record, results: Any) -> Any:
    """Return `results` in PyFlink's form: a list.

    An object that PyFlink accepts without its being a collection of results, like a str, stays
    unchanged.
    """
    if isinstance(results, list | str | bytes) or not isinstance(results, Iterable):
        return results
    return list(collect_results(record, results))


def _raise(error: BaseException) -> Any:
    raise error


class PyFlinkFailed(AsyncWaitError, RuntimeError):
    """PyFlink's operation has failed with an error that names no record; its text is PyFlink's."""


class Failures:
    """Converts errors of PyFlink."""

    def __init__(self, records: Records, function: CalledFunction) -> None:
        self._records, self._function = records, function

    def plain(self, error: BaseException) -> BaseException:
        """Return the operator's error; PyFlink's error has a sentence and the error of the call."""
        if len(error.args) == 2 and isinstance(cause := error.args[1], BaseException):  # noqa: PLR2004 - sentence and error
            held = self._records.named_in(error.args[0])
            if held is not None:
                is_late = cause is self._function.late
                sentence = f"PyFlink: {shown(cause)}"
                return failure_of(held.record, cause, held.attempts, sentence, is_late=is_late)
        if type(error) is RuntimeError:
            failure = PyFlinkFailed(joined([str(error)]))
            failure.__cause__ = error
            return failure
        return error
