"""The user's function, as PyFlink calls it; the records on their way, and what it fails with."""

from collections.abc import Callable, Iterable
from contextvars import Context, copy_context
from functools import partial
from itertools import count
from typing import Any

from asyncwait.backends.flink._function import ForeignCalls, Spawn
from asyncwait.backends.flink._values import failure_of
from asyncwait.backends.pyflink._asyncio import Call, Ending
from asyncwait.backends.pyflink._stage import here
from asyncwait.spec import AsyncWaitError, Record
from asyncwait.spec.texts import joined, shown
from asyncwait.toolkit import FunctionParts, call_scope, collect_results


class Held:
    """What PyFlink takes for an input: a record, and what it knows it by."""

    def __init__(self, record: Record, named: "dict[str, Held]", name: str) -> None:
        self.record, self._named, self._name = record, named, name
        self.attempts = 0
        """How often the function was called for it."""

    def __str__(self) -> str:
        self._named[self._name] = self
        return self._name


class Records:
    """Those that PyFlink has, or has named."""

    def __init__(self) -> None:
        self._numbers = count()
        self._named: dict[str, Held] = {}

    def held(self, record: Record) -> Held:
        """Return what PyFlink is to take for `record`."""
        return Held(record, self._named, f"record#{next(self._numbers)}")

    def named_in(self, text: Any) -> Held | None:
        """Return the one that PyFlink names in `text`; None if there is none."""
        _, _, name = str(text).rpartition("'record#")
        return self._named.get("record#" + name.rstrip("'"))


class CalledFunction(ForeignCalls):
    """Calls the function on the loop, for any of PyFlink's threads."""

    def __init__(self, parts: FunctionParts, spawn: Spawn, look: Callable[[], object]) -> None:
        super().__init__(parts, spawn)
        self._look = look
        self.late: BaseException | None = None
        """What the last handler has raised, or PyFlink in place of one."""

    # In PyFlink's threads

    async def invoke(self, held: Held) -> Any:
        """Call the function, and return what it gives."""
        return await Call(partial(self._begin, held))

    def time_out(self, held: Held, default: Callable[[Held], Any]) -> Any:
        """Return what the handler gives; without one, do what PyFlink does."""
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
        """Return what a call gave, as PyFlink has it."""
        return listed(record, results)


def asked_within(question: Callable[[], Any]) -> Any:
    """Have the loop ask the user something, in a copy of the context of the present thread."""
    return here().ask(partial(copy_context().run, question))


def listed(record: Record, results: Any) -> Any:
    """Return `results` as PyFlink has them: a list.

    What it asks for a list, and takes without being one, is left as it is: a str, say.
    """
    if isinstance(results, list | str | bytes) or not isinstance(results, Iterable):
        return results
    return list(collect_results(record, results))


def _raise(error: BaseException) -> Any:
    raise error


class PyFlinkFailed(AsyncWaitError, RuntimeError):
    """PyFlink's operation has failed with an error that names no record; its text is PyFlink's."""


class Failures:
    """Tells what an error of PyFlink's stands for."""

    def __init__(self, records: Records, function: CalledFunction) -> None:
        self._records, self._function = records, function

    def plain(self, error: BaseException) -> BaseException:
        """Return what the operator ends with; PyFlink gives a sentence, and what was raised."""
        if len(error.args) == 2 and isinstance(cause := error.args[1], BaseException):  # noqa: PLR2004 - these two
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
