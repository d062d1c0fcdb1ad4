"""A form for plain values as a backend: its values are the records of a scenario.

So each result has the timestamp and the key of its record, and an error names the record.
"""

import inspect
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from types import TracebackType
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from asyncwait.conformance.harness import LoopName, play
from asyncwait.conformance.running._backend import require_trio
from asyncwait.spec import Element, Mode, OpenOperator, OperatorConfig, OperatorError, Record, Retry
from asyncwait.spec.scenario import ALL_CAPABILITIES, Capability, Handler, Scenario, Step, Trace
from asyncwait.toolkit import FunctionParts, LeftEarly, answers_of, is_collection

OF_ELEMENTS = frozenset(
    {
        Capability.CALLBACKS,
        Capability.EVENT_TIME,
        Capability.SNAPSHOTS,
        Capability.ON_DEMAND_SNAPSHOT,
        Capability.IN_FLIGHT_SNAPSHOT,
        Capability.RESTORE,
        Capability.CACHE,
        Capability.LIMITS,
    }
)
"""Capabilities that plain values lack: they are records alone, and no state of them is saved. A
shared result could not name its record, as a result has to; nor could a `Cost`."""


class PlainBackend(Struct, frozen=True):
    """Plays scenarios through functions like `ordered_wait`; see `plain_backend`."""

    waits: Mapping[Mode, Any]
    loop: LoopName = "asyncio"
    capabilities: frozenset[Capability] = ALL_CAPABILITIES - OF_ELEMENTS
    expected_failures: Mapping[str, str] = {}
    batch: bool = False

    def run(self, scenarios: Sequence[Scenario]) -> Iterator[Trace]:
        """Play `scenarios` one after the other, each in an event loop of its own."""
        for scenario in scenarios:
            opens = plain_opener(
                self.waits, single=gives_one(scenario), at_once=never_waits(scenario)
            )
            yield play(opens, scenario, self.loop)


def plain_backend(waits: Mapping[Mode, Any], loop: LoopName = "asyncio") -> PlainBackend:
    """Make a backend of a form for plain values.

    Where each call and each handler of a scenario gives one result, the function returns that
    result; else it gives `many` results, and `on_error` handles failures. A source that never
    waits is an iterator that is not async: forms may read several of its values at a time.

    Args:
        waits: the functions like `ordered_wait` by their modes.
        loop: "asyncio" or "trio".

    Raises:
        MissingExtra: trio is not installed.
    """
    if loop == "trio":
        require_trio()
    return PlainBackend(waits, loop)


def gives_one(scenario: Scenario) -> bool:
    """Whether each call and each handler gives exactly one result, if any."""
    plans = scenario.plans
    given: list[Step | Handler] = [step for plan in plans for step in plan.steps]
    given += [handler for plan in plans for handler in (plan.handler, plan.failure)]
    return all(
        each.does != "misreturn" and (each.does != "reply" or len(each.results) == 1)
        for each in given
    )


def never_waits(scenario: Scenario) -> bool:
    """Whether all inputs, and then the end, are available from the start."""
    return scenario.source == "iterator" and not scenario.is_timed


class _AtOnce(Iterator[Element]):
    def __init__(self, source: Any) -> None:
        self._source = source
        self.aclose = source.aclose

    def __next__(self) -> Element:
        step = self._source.__anext__()
        try:
            step.send(None)
        except StopIteration as given:
            element: Element = given.value
            return element
        except StopAsyncIteration:
            raise StopIteration from None
        raise AssertionError("a source that never waits waits")


def plain_opener(waits: Mapping[Mode, Any], *, single: bool, at_once: bool = False) -> OpenOperator:
    """Return a function that opens a form for plain values as an operator.

    Args:
        waits: the functions like `ordered_wait` by their modes.
        single: whether each call gives one result.
        at_once: whether the source never waits, and is given as an iterator that is not async.
    """

    def open_operator(config: Any, fn: Any, elements: Any, restore: Any = None) -> Any:
        if restore is not None or not isinstance(config, OperatorConfig):
            # Plain values have no such argument, so another argument takes it and refuses it.
            return waits["ordered"](elements, fn, retry=restore, capacity=config)
        if isinstance(elements, str):
            elements = len(elements)  # A text is a valid source here, and a number is not.
        elif at_once:
            elements = _AtOnce(elements)
        options: dict[str, Any] = {"many": not single}
        batched = config.batch is not None
        function: Any = OfRecords(fn, single=single, batched=batched) if callable(fn) else fn
        if not single and hasattr(function, "failure"):
            options["on_error"] = function.failure
            del function.failure
        if config.mode == "key-ordered":
            options["key"] = lambda record: record.key
        if config.batch is not None:
            options["batch"] = config.batch
        if (copy := config.copy) is not None:
            options["copy"] = lambda record: replace(record, value=copy(record.value))
        opened = waits[config.mode](
            elements,
            function,
            timeout=config.timeout,
            retry=config.retry and _of_records(config.retry, single=single),
            capacity=config.capacity,
            max_held=config.max_held,
            **options,
        )
        return _Opened(opened)

    return open_operator


def _of_records(retry: Retry, *, single: bool) -> Retry:
    if (predicate := retry.on_result) is None:
        return retry
    if single:
        return replace(retry, on_result=lambda record: predicate((record.value,)))
    return replace(retry, on_result=lambda records: predicate(tuple(r.value for r in records)))


class OfRecords:
    """A function of values as a function of records, whose results are records.

    Args:
        fn: the function.
        single: whether it gives one result for each value.
        batched: whether its argument is a list of values.
    """

    def __init__(self, fn: Any, *, single: bool, batched: bool = False) -> None:
        parts = FunctionParts.of(fn)
        assert parts.call is not None
        self._call: Callable[[Any], Any] = parts.call
        self._single = single
        self._told = self._answers if batched else self._records
        self._asked = _values if batched else _value
        for name in ("open", "close"):
            if (hook := getattr(parts, name)) is not None:
                setattr(self, name, hook)
        for name in ("timeout", "failure"):
            if (handler := getattr(parts, name)) is not None:
                setattr(self, name, self._handling(handler))

    def __call__(self, given: Any) -> Any:
        """Call the function with the value of a record, or with the values of several."""
        returned = self._call(self._asked(given))
        if inspect.isawaitable(returned):
            return self._awaited(given, returned)
        return self._told(given, returned)

    async def _awaited(self, given: Any, returned: Any) -> Any:
        return self._told(given, await returned)

    def _answers(self, records: Sequence[Record], answers: Any) -> Any:
        """Return each record's answer; pass anything but a set of answers through unchanged."""
        if isinstance(answers, Mapping):
            with suppress(TypeError):  # A record whose key can't be hashed is no key of a mapping.
                return self._by_record(records, answers)
            answers = answers_of(_values(records), answers)
        if not is_collection(answers):
            return answers
        read = list(answers)
        if len(read) != len(records):
            return read
        return [self._answer(each, given) for each, given in zip(records, read, strict=True)]

    def _by_record(self, records: Sequence[Record], answers: Mapping[Any, Any]) -> Any:
        asked = {each: each.value for each in records}
        known = {each: value for each, value in asked.items() if value in answers}
        others = {key: answers[key] for key in answers.keys() - set(asked.values())}
        return {each: self._answer(each, answers[value]) for each, value in known.items()} | others

    def _answer(self, record: Record, given: Any) -> Any:
        return given if isinstance(given, BaseException) else self._records(record, given)

    def _handling(self, handler: Callable[..., Any]) -> Callable[..., Any]:
        return lambda record, *errors: self._records(
            record, handler(record.value, *map(told, errors))
        )

    def _records(self, record: Record, results: Any) -> Any:
        if not is_collection(results):
            # Among plain values, a dict is no more a collection of results than bytes are.
            return dict.fromkeys(results) if isinstance(results, bytes) else results
        found: Iterable[Record] = (Record(each, record.timestamp, record.key) for each in results)
        return next(iter(found)) if self._single else found


def _value(record: Record) -> Any:
    return record.value


def _values(records: Sequence[Record]) -> list[Any]:
    return [record.value for record in records]


def told(error: Any) -> Any:
    """Return an error with the record of the scenario."""
    if isinstance(error, OperatorError) and error.record is not None:
        inner = error.record.value
        error.record = inner if isinstance(inner, Record) else error.record
    return error


class _Results:
    """The output: values, which are the scenario's records."""

    def __init__(self, results: Any) -> None:
        self._results = results
        self.statistics = results.statistics

    def __aiter__(self) -> AsyncIterator[Element]:
        return self

    async def __anext__(self) -> Element:
        try:
            record: Element = await anext(self._results)
        except LeftEarly:  # The contract demands the end here (END-7).
            raise StopAsyncIteration from None
        except OperatorError as error:
            raise told(error)  # noqa: B904 - it is the same one
        return record


class _Opened(AbstractAsyncContextManager[Any]):
    def __init__(self, opened: AbstractAsyncContextManager[Any]) -> None:
        self._opened = opened

    async def __aenter__(self) -> Any:
        return _Results(await self._opened.__aenter__())

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        return await self._opened.__aexit__(kind, error, traceback)
