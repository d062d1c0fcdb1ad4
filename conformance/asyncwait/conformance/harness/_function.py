"""The user's function as planned: each call follows its step, and notes it; with planned errors."""

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, TypeAlias

import anyio
import anyio.lowlevel

from asyncwait.conformance.harness._recorder import Recorder
from asyncwait.conformance.harness._run import loop_door
from asyncwait.spec import CallFailed, CallTimedOut, InvalidConfig, Record, ResultFuture, RetryAfter
from asyncwait.spec.limits import Cost
from asyncwait.spec.scenario import Handler, HookRun, PlannedBatch, Scenario, Step
from asyncwait.spec.texts import shown


class Planned(ConnectionError, TimeoutError):
    """An error for which operators may be tempted to repeat a call."""


class PlannedValueError(ValueError):
    """A subclass of ValueError that has the name of its base."""

    def __reduce__(self) -> tuple[Any, ...]:
        return planned_error, ("ValueError",)


PlannedValueError.__name__ = PlannedValueError.__qualname__ = "ValueError"


class PlannedRetryAfter(RetryAfter):
    """A subclass of RetryAfter, as a client may define it, that has the name of its base."""

    def __reduce__(self) -> tuple[Any, ...]:
        return planned_error, ("RetryAfter", round(self.seconds * 1000))


PlannedRetryAfter.__name__ = PlannedRetryAfter.__qualname__ = "RetryAfter"


class Unpicklable(Exception):
    """An error that can't cross a process border."""

    def __init__(self) -> None:
        super().__init__("planned")
        self.lock = threading.Lock()


class Chained(Exception):
    """An error with a cause, which the operator has to preserve."""

    def __init__(self, said: str) -> None:
        super().__init__(said)
        self.__cause__ = self.planned_cause = KeyError(said)


class Unprintable(Exception):
    """A falsy error whose texts raise, as the texts of an error that reads from a closed file."""

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        raise LookupError("the file of this error is closed")

    __str__ = __repr__


class Panic(BaseException):
    """An error that is no Exception, as extension modules raise when their own code panics."""


_OTHERS = Record("b", 6)
"""A record other than the record of the call, and equal to it where examples say so."""

_ERRORS: dict[str, Callable[[str], BaseException]] = {
    "ExceptionGroup": lambda said: ExceptionGroup(said, [ValueError(said), OSError(said)]),
    "Chained": Chained,
    "Panic": Panic,
    "CallFailed": partial(CallFailed, _OTHERS),
    "CallTimedOut": partial(CallTimedOut, _OTHERS),
    "InvalidConfig": InvalidConfig,
    "ValueError": PlannedValueError,
    "StopIteration": StopIteration,
    "StopAsyncIteration": StopAsyncIteration,
    "CancelledError": asyncio.CancelledError,
    "KeyboardInterrupt": KeyboardInterrupt,
    "SystemExit": SystemExit,
    "Unprintable": Unprintable,
    "Unpicklable": lambda _: Unpicklable(),
}


def planned_error(name: str, retry_after: int = 0) -> BaseException:
    """Return a new error of the planned kind; `retry_after` is in ms."""
    if name == "RetryAfter":
        return PlannedRetryAfter(retry_after / 1000)
    return _ERRORS.get(name, Planned)("planned")


_MISRETURNS: dict[str, Any] = {"none": None, "text": "text", "bytes": b"bytes", "number": 7}


def _misreturned(recorder: Recorder, name: str) -> Any:
    return _broken(recorder) if name == "broken" else _MISRETURNS[name]


def _broken(recorder: Recorder) -> Iterator[Any]:
    yield "x"
    raise recorder.planned(Planned("planned"))


_Call: TypeAlias = tuple[int, Step]
"""The number of a call, and its step."""


def planned_function(
    scenario: Scenario, recorder: Recorder, spawn: Callable[[Callable[[], Any]], None]
) -> Any:
    """Build the function for an operator.

    Returns:
        A callable that gives awaitables, or an object with `async_invoke`; with `timeout`,
        `failure`, `open` and `close` only where the scenario has them.
    """
    if scenario.form == "callback":
        fn: Any = _Callbacks(recorder, spawn)
    elif scenario.batch is not None:
        fn = _WRAPPED[scenario.function](_batched(recorder, scenario.batch))
    else:
        fn = _WRAPPED[scenario.function](_coroutine(recorder))
    if scenario.handled:
        fn.timeout = lambda value: _given(recorder, scenario.handler(recorder.handler_asked(value)))
    if scenario.failures_handled:
        fn.failure = lambda value, error: _given(
            recorder, scenario.failure_handler(recorder.failure_asked(value, error))
        )
    for hook in ("open", "close"):
        if scenario.hooks != "none":
            setattr(fn, hook, _hook(scenario, recorder, hook))
    return fn


def _coroutine(recorder: Recorder) -> Any:
    async def fn(value: Any) -> Any:
        return await _call(recorder, value)

    return fn


def _batched(recorder: Recorder, batch: PlannedBatch) -> Any:
    async def fn(values: Any) -> Any:
        calls = recorder.batch_started(values)
        if not calls:
            return []
        planned = [step for _, step in calls]
        steps = batch.together(planned)
        numbers = [call for call, _ in calls]
        await _shared(recorder, numbers, steps[0])
        given = _answers(recorder, batch, values, list(zip(numbers, steps, strict=True)))
        return _without_some(planned) if _leaves_some_out(batch, planned, steps) else given

    return fn


def _leaves_some_out(batch: PlannedBatch, planned: Sequence[Step], steps: Sequence[Step]) -> bool:
    """Whether the batch gives a list without the answers of some records."""
    ended = any(step.whole and step.does != "reply" for step in planned)
    return batch.answers == "list" and steps[0].whole and not ended


def _without_some(planned: Sequence[Step]) -> Any:
    return [[*step.results] for step in planned if not step.whole]


async def _shared(recorder: Recorder, numbers: Sequence[int], step: Step) -> None:
    """Take the time of a batch, as `step` says; note a cancellation for each record."""
    try:
        await _until(step)
        recorder.call_goes_on(numbers[0])
        recorder.block(step.blocks)
    except anyio.get_cancelled_exc_class():
        for call in numbers:
            recorder.call_cancelled(call)
        await recorder.clean_up(numbers[0], step.clean_up / 1000)
        if not step.swallow:
            for call in numbers:
                recorder.call_ended(call, "cancelled")
            raise


def _answers(
    recorder: Recorder, batch: PlannedBatch, values: Sequence[Any], calls: Sequence[_Call]
) -> Any:
    """Return the result of a batch: an answer for each value, or one object for all values."""
    first = calls[0][1]
    if first.whole and (first.error != "none" or batch.answers == "list" or first.does == "raise"):
        for call, _ in calls:
            recorder.call_ended(call, "raised" if first.does == "raise" else "misreturned")
        if first.does == "raise":
            raise recorder.planned(planned_error(first.error, first.retry_after))
        return _misreturned(recorder, first.error)
    answers = [(value, _answer(recorder, *each)) for value, each in zip(values, calls, strict=True)]
    there = [each for each, (_, step) in zip(answers, calls, strict=True) if not step.whole]
    return dict(there) if batch.answers == "mapping" else [answer for _, answer in there]


def _answer(recorder: Recorder, call: int, step: Step) -> Any:
    """Note how a call ends; return its results or its error."""
    match step.does:
        case "raise":
            recorder.call_ended(call, "raised")
            return recorder.planned(planned_error(step.error, step.retry_after))
        case "misreturn":
            recorder.call_ended(call, "misreturned")
            return _misreturned(recorder, step.error)
        case _:
            recorder.call_ended(call, "returned", step.results)
            return _collection(recorder, call, step.results)


class _Object:
    """A function that is an object; its class does not show that it gives coroutines."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self._function = function

    async def __call__(self, value: Any) -> Any:
        return await self._function(value)


class _Awaitable:
    """An awaitable that is no coroutine; the call begins when it is awaited."""

    def __init__(self, function: Callable[[Any], Any], value: Any) -> None:
        self._function = function
        self._value = value

    def __await__(self) -> Iterator[Any]:
        return self._function(self._value).__await__()  # type: ignore[no-any-return]


class _Plain(_Object):
    def __call__(self, value: Any) -> Any:
        return _Awaitable(self._function, value)


_WRAPPED: dict[str, Callable[[Any], Any]] = {
    "function": lambda fn: fn,
    "partial": partial,
    "object": _Object,
    "awaitable": _Plain,
}


async def _call(recorder: Recorder, value: Any) -> Any:
    call, step = recorder.call_started(value)
    try:
        await _until(step)
        recorder.call_goes_on(call)
        recorder.block(step.blocks)
    except anyio.get_cancelled_exc_class():
        recorder.call_cancelled(call)
        await recorder.clean_up(call, step.clean_up / 1000)
        if not step.swallow:
            recorder.call_ended(call, "cancelled")
            raise
    answer = _with_cost(_answer(recorder, call, step), recorder.used(call, step))
    if step.does == "raise":
        raise answer
    return answer


def _with_cost(answer: Any, used: float | None) -> Any:
    """Return the answer of a call together with the cost that it reports; None for no cost."""
    if used is None:
        return answer
    if isinstance(answer, BaseException):
        with suppress(AttributeError):
            answer.cost = Cost(None, used)  # type: ignore[attr-defined]
        return answer
    return Cost(answer, used)


async def _until(step: Step) -> None:
    if step.does == "never":
        await anyio.Event().wait()
    if step.after:
        await anyio.sleep(step.after / 1000)
    if step.thread:
        event = anyio.Event()
        set_soon = _soon(event.set)
        _in_thread(set_soon)
        await event.wait()


class _Callbacks:
    """The callback form: a timer of the harness, or a thread, gives the answer."""

    def __init__(self, recorder: Recorder, spawn: Callable[[Callable[[], Any]], None]) -> None:
        self._recorder = recorder
        self._spawn = spawn
        self._loop_thread = 0

    def async_invoke(self, value: Any, result: ResultFuture) -> None:
        """Note the call, and arrange its answer for the planned time."""
        self._loop_thread = threading.get_ident()
        call, step = self._recorder.call_started(value)
        if step.does == "never":
            return
        if step.after == 0 and not step.thread:
            self._recorder.block(step.blocks)
            self._answer_at_once(call, step, result)
            return

        async def later() -> None:
            await anyio.sleep(step.after / 1000)
            self._recorder.block(step.blocks)
            if step.thread:
                _in_thread(lambda: self._answer(call, step, result))
            else:
                self._answer(call, step, result)
            await self._answer_again(call, step, result)

        self._spawn(later)

    def _answer_at_once(self, call: int, step: Step, result: ResultFuture) -> None:
        if step.throws:
            self._recorder.call_ended(call, "raised", step.results)
            result.complete(list(self._recorder.tracker.results(step.results)))
            raise self._recorder.planned(planned_error(step.error, step.retry_after))
        if step.does == "raise":
            self._recorder.call_ended(call, "raised")
            raise self._recorder.planned(planned_error(step.error, step.retry_after))
        self._answer(call, step, result)
        if step.again:
            self._spawn(partial(self._answer_again, call, step, result))

    def _answer(self, call: int, step: Step, result: ResultFuture) -> None:
        try:
            self._complete(call, step, result)
        except Exception as error:
            self._recorder.refused = shown(error)
        if step.twice and not step.again:
            self._complete_again(call, result)

    async def _answer_again(self, call: int, step: Step, result: ResultFuture) -> None:
        if step.twice and step.again:
            await anyio.sleep(step.again / 1000)
            self._complete_again(call, result)

    def _complete_again(self, call: int, result: ResultFuture) -> None:
        try:
            result.complete(["again"])
            result.complete_with(lambda: self._needless(call))
            result.complete_exceptionally(Planned("again"))
        except Exception as error:
            self._recorder.refused = shown(error)

    def _needless(self, call: int) -> Any:
        self._recorder.misused("supplier-needless", f"the second supplier of call {call}")
        return ["again"]

    def _complete(self, call: int, step: Step, result: ResultFuture) -> None:
        match step.does:
            case "raise":
                self._recorder.call_ended(call, "raised")
                error = self._recorder.planned(planned_error(step.error, step.retry_after))
                if step.supplied:
                    result.complete_with(self._supplier(call, lambda: _raise(error)))
                else:
                    result.complete_exceptionally(error)
                return
            case "misreturn":
                self._recorder.call_ended(call, "misreturned")
                given = _misreturned(self._recorder, step.error)
            case _:
                self._recorder.call_ended(call, "returned", step.results)
                given = _collection(self._recorder, call, step.results)
        if step.supplied:
            result.complete_with(self._supplier(call, lambda: given))
        else:
            result.complete(given)

    def _supplier(self, call: int, supply: Callable[[], Any]) -> Callable[[], Any]:
        """Return a function that gives the outcome of a call, and checks its thread and context."""

        def ask() -> Any:
            if threading.get_ident() != self._loop_thread:
                self._recorder.misused("supplier-thread", f"the supplier of call {call}")
            if self._recorder.contexts is not None:
                self._recorder.contexts.belongs_to(call, "the supplier of ")
            return supply()

        return ask


def _raise(error: BaseException) -> Any:
    raise error


class _Iterable:
    """An iterable of results that has no truth value."""

    def __init__(self, recorder: Recorder, call: int, results: tuple[Any, ...]) -> None:
        self._recorder = recorder
        self._call = call
        self._results = results

    def __bool__(self) -> bool:
        raise TypeError("an iterable of results is neither true nor false")

    def __iter__(self) -> Iterator[Any]:
        if self._recorder.contexts is not None:
            self._recorder.contexts.belongs_to(self._call, "the results of ")
        return iter(self._results)


def _collection(recorder: Recorder, call: int, results: tuple[Any, ...]) -> Any:
    """Return results in one of the usual forms: a list, an iterable object, or an iterator."""
    given = recorder.tracker.results(results)
    match call % 4:
        case 1:
            return _Iterable(recorder, call, given)
        case 3:
            return _one_by_one(recorder, call, given)
        case _:
            return list(given)


def _one_by_one(recorder: Recorder, call: int, results: tuple[Any, ...]) -> Iterator[Any]:
    if recorder.contexts is not None:
        recorder.contexts.belongs_to(call, "the results of ")
    yield from results


def _soon(callback: Callable[[], object]) -> Callable[[], object]:
    """Return a function that runs `callback` on the present loop, from any thread."""
    ask = loop_door()
    return lambda: ask(callback)


def _in_thread(job: Callable[[], object]) -> None:
    """Run `job` in a thread and wait for it: no virtual clock may move meanwhile."""
    thread = threading.Thread(target=job)
    thread.start()
    thread.join()


def _given(recorder: Recorder, handler: Handler | None) -> Any:
    handler = handler or Handler("none")
    recorder.block(handler.blocks)
    match handler.does:
        case "reply":
            return list(recorder.tracker.results(handler.results))
        case "raise":
            raise recorder.planned(planned_error(handler.error))
        case "misreturn":
            return _misreturned(recorder, handler.error)
        case _:
            return None


def _hook(scenario: Scenario, recorder: Recorder, hook: Any) -> Callable[[], Any]:
    def plain() -> None:
        if hook == "open" and recorder.contexts is not None:
            recorder.contexts.is_opened()
        recorder.events.append(HookRun(recorder.now(), hook))
        if scenario.hook_error == hook:
            raise recorder.planned(Planned(hook), passes=True)

    async def coroutine() -> None:
        try:
            await anyio.lowlevel.checkpoint()
            await anyio.sleep(scenario.hook_takes / 1000)
        except anyio.get_cancelled_exc_class():
            if hook == "close" and recorder.is_cut:
                plain()
            raise
        plain()

    return plain if scenario.hooks == "plain" else coroutine
