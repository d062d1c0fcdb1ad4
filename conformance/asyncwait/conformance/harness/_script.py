"""The scripted source and consumer of a leg: what they do next, what they note, how it ended.

The source gives each element when its time has come, and notes who asks. The consumer does nothing
by itself. Whoever carries it out asks `steps` what comes next, does that by whatever means its
operator has (an `await`, a blocking call), and tells what came of it. So a script means the same,
and a leg is put together in the same way, wherever an operator runs.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable, Iterator
from contextlib import suppress
from typing import Any, Literal, Self, cast

import anyio
from msgspec.json import encode
from msgspec.structs import replace

from asyncwait.conformance.harness._recorder import Recorder
from asyncwait.conformance.harness._telling import describe_failure, no_element, text_of
from asyncwait.spec import CallFailed, Element, Record
from asyncwait.spec.scenario import (
    Ending,
    EndingKind,
    Leg,
    LegStart,
    Scenario,
    SinkGaveUp,
    SinkIntruded,
    SinkLeft,
    SinkStep,
    SinkTook,
    SinkWaits,
    SourceAsked,
    SourceClosed,
    SourceEnded,
    Taken,
)


class PlannedSourceError(Exception):
    """The error that the source raises where a scenario says so."""

    def __bool__(self) -> bool:
        """Be an error all the same."""
        return False


def planned_source_error(scenario: Scenario) -> BaseException | None:
    """Return what the source of `scenario` raises in place of its end; None if it just ends."""
    match scenario.source_error:
        case "own":
            return PlannedSourceError("planned")
        case "contract":
            return CallFailed(Record("of an operator before"), "planned")
        case "cancelled":
            return asyncio.CancelledError("planned")
        case "interrupt":
            return KeyboardInterrupt("planned")
        case _:
            return None


class WatchedSource:
    """A source that notes who asks and what it gives.

    It blocks the loop where the plan says so. As with an async generator, nobody may ask or close
    while somebody waits.

    Args:
        elements: where they come from; a cancelled `__anext__` of it must lose nothing.

    Attributes:
        has_ended: it has said that there is no further element, or raised its error instead.
    """

    def __init__(
        self,
        elements: AsyncIterator[Element],
        plan: LegStart,
        recorder: Recorder,
        error: BaseException | None,
    ) -> None:
        self._elements = elements
        self._plan = plan
        self._recorder = recorder
        self._error = error
        self._given = 0
        self._asked = False
        self._is_closed = False
        self.has_ended = False
        self._before: Element | None = None

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Element:
        """Return the next element."""
        self._refuse_company("__anext__")
        self._asked = True
        try:
            return await self._give()
        finally:
            self._asked = False

    async def _give(self) -> Element:
        recorder = self._recorder
        recorder.events.append(SourceAsked(recorder.now()))
        if recorder.contexts is not None:
            recorder.contexts.source_looks()
        try:
            element = await self._elements.__anext__()
        except anyio.get_cancelled_exc_class():
            recorder.misused("interrupted", "the read of the source")
            raise
        except StopAsyncIteration:
            ended: Element = self._end()
            return ended
        element = self._before = self._the_same(element)
        recorder.block(self._plan.inputs[self._given].blocks)
        recorder.events.append(Taken(recorder.now(), self._plan.first_index + self._given))
        self._given += 1
        return recorder.tracker.given(element)

    def _the_same(self, element: Element) -> Element:
        """Return the very object of the element before, if that says the same: it is two inputs."""
        before = self._before
        if before is not None and element == before and encode(element) == encode(before):
            return before  # their encodings tell 1 from 1.0 and True
        return element

    def _end(self) -> Element:
        """End as planned: there is no further element, or an error, or what is no element."""
        gives_none = self._plan.scenario.source_error == "no-element" and not self.has_ended
        raised = gives_none or self._error is not None
        if not self.has_ended or self._error is not None:
            self._recorder.events.append(SourceEnded(self._recorder.now(), raised))
        self.has_ended = True
        if gives_none:
            return cast("Element", None)
        if self._error is None:
            raise StopAsyncIteration
        raise self._recorder.planned(self._error, passes=True) from None

    async def aclose(self) -> None:
        """Note that the operator has closed its input, once that is done."""
        self._refuse_company("aclose")
        if self._recorder.contexts is not None:
            self._recorder.contexts.source_closes()
        takes = 0 if self._is_closed else self._plan.scenario.close_takes
        try:
            if takes:
                await anyio.sleep(takes / 1000)
        except anyio.get_cancelled_exc_class():
            if self._recorder.is_cut:
                self._close()
            raise
        self._close()

    def _close(self) -> None:
        self._recorder.events.append(SourceClosed(self._recorder.now()))
        is_closed, self._is_closed = self._is_closed, True
        if self._plan.scenario.close_error and not is_closed:
            error = PlannedSourceError("closing")
            raise self._recorder.planned(error, passes=True, closing=True)

    def _refuse_company(self, name: str) -> None:
        if self._asked:
            raise RuntimeError(f"{name}() while another task waits in __anext__()")


class TimedElements:
    """The inputs of a leg: each is given in the instant in which it is due and somebody asks."""

    def __init__(self, plan: LegStart, recorder: Recorder) -> None:
        self._inputs = plan.inputs
        self._ends_at = max(0, plan.scenario.source_ends_at - plan.began_at)
        self._recorder = recorder
        self._next = 0

    def __aiter__(self) -> AsyncIterator[Element]:
        return self

    async def __anext__(self) -> Element:
        """Return the next element when it is due."""
        if self._next == len(self._inputs):
            await self._wait_until(self._ends_at)
            raise StopAsyncIteration
        timed = self._inputs[self._next]
        await self._wait_until(timed.at)
        self._next += 1
        return timed.element

    async def _wait_until(self, at: int) -> None:
        wait = self._recorder.until(at)
        if wait > 0:
            await anyio.sleep(wait / 1000)


class _Iterable:
    """An async iterable that is not its own iterator; it is closed behind that."""

    def __init__(self, source: WatchedSource) -> None:
        self._source = source
        self._iterator: _Iterator | None = None

    def __aiter__(self) -> "_Iterator":
        self._iterator = _Iterator(self._source)
        return self._iterator

    async def aclose(self) -> None:
        if self._iterator is None or self._iterator.is_closed:
            await self._source.aclose()


class _Iterator:
    """What such an iterable makes."""

    def __init__(self, source: WatchedSource) -> None:
        self._source = source
        self.is_closed = False

    def __aiter__(self) -> "_Iterator":
        return self

    async def __anext__(self) -> Element:
        return await self._source.__anext__()

    async def aclose(self) -> None:
        self.is_closed = True


class _Generator:
    """An async generator; a plain one that never began would not notice that it is closed.

    What it awaits when it is given up it does itself, as a `finally` in it would: while it waits
    for an element, its cancelled read cleans up.
    """

    def __init__(
        self,
        source: WatchedSource,
        generate: Callable[[WatchedSource], AsyncGenerator[Element, None]],
    ) -> None:
        self._source = source
        self._elements = self._cleaning_up(generate(source))
        self._is_closed = False

    def __aiter__(self) -> "_Generator":
        return self

    async def __anext__(self) -> Element:
        return await self._elements.__anext__()

    async def aclose(self) -> None:
        await self._elements.aclose()
        await self._clean_up()

    async def _cleaning_up(
        self, elements: AsyncGenerator[Element, None]
    ) -> AsyncGenerator[Element, None]:
        cancelled = anyio.get_cancelled_exc_class()
        try:
            async for element in elements:
                yield element
        except (cancelled, GeneratorExit):
            await elements.aclose()
            if self._source.has_ended:  # and that is the error that it raises
                raise
            # On trio whoever cleans up has to shield that; on asyncio nobody does.
            with anyio.CancelScope(shield=cancelled is not asyncio.CancelledError):
                await self._clean_up()
            raise

    async def _clean_up(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            await self._source.aclose()


async def _plainly(source: WatchedSource) -> AsyncGenerator[Element, None]:
    async for element in source:
        yield element


async def _in_a_scope(source: WatchedSource) -> AsyncGenerator[Element, None]:
    """Hold a scope of its own while the operator has the element, as many real sources do."""
    with anyio.CancelScope():
        async for element in source:
            yield element


def given_as(kind: str, source: WatchedSource) -> AsyncIterable[Any]:
    """Return `source` in the form that a scenario wants it in; see `Scenario.source`."""
    match kind:
        case "iterable":
            return _Iterable(source)
        case "generator":
            return _Generator(source, _plainly)
        case "scope":
            return _Generator(source, _in_a_scope)
        case _:
            return source


FURTHER_READS = 3
"""How often it is read before an operator is left that is over, and as often again after that."""

PATIENCE = 10
"""A leg may last this many times the longest legal duration of its scenario."""

NOT_AN_ELEMENT = "NotAnElement"
"""The error of a leg in which the operator put out something else than elements."""

_BOUNDS = {"hung", "livelock", "error"}
"""Endings that the harness has set, and that nothing changes any more."""


class PlannedBodyError(Exception):
    """The error that the consumer raises in the body of the context."""


class ReadCutShort(Exception):
    """Stands for the error that an operator keeps to itself when it throws its consumer out.

    As a task group does that cancels its body: to the consumer the stream is over in the middle of
    a read, without a word.
    """


class Consumer:
    """The consumer of one leg.

    Attributes:
        ending: how the leg has ended; None while it goes on.
        reading: which further reads go on, as `Ending` names them: "again" or "after".
        raises_on: it has let the error of a read out of the context.
    """

    def __init__(self, plan: LegStart, recorder: Recorder) -> None:
        self.ending: Ending | None = None
        self.raised: BaseException | None = None
        self.raises_on = False
        self.body_error = PlannedBodyError("planned")
        self.reading: Literal["", "again", "after"] = ""
        self.source_error = planned_source_error(plan.scenario)
        self._plan = plan
        self._recorder = recorder
        recorder.tracker.may_know = plan.config.capacity + 1
        self._script = plan.scenario.sink if plan.number == 0 else ()

    @property
    def is_scripted(self) -> bool:
        """Whether it does anything else than read."""
        return bool(self._script)

    @property
    def limit(self) -> int:
        """Return how long the leg may last, in ms."""
        return PATIENCE * self._plan.scenario.horizon + 1_000

    @property
    def planned_ends(self) -> Iterator[tuple[int, Literal["crashed", "left"]]]:
        """Return at which ms the leg ends, and how, unless it has ended before: see `end`."""
        if self._plan.crash is not None:
            yield self._plan.crash.at, "crashed"
        cancel_at = self._plan.scenario.cancel_at
        if cancel_at is not None and self._plan.number == 0:
            yield cancel_at, "left"

    def steps(self) -> Iterator[SinkStep]:
        """Yield what to do next, one read at a time, until the leg has ended.

        Whoever gets an error still pauses where it was to, or lets it out: so it handles it.
        """
        for step in self._script:
            for _ in range(step.n if step.does == "read" else 1):
                if self.ending is None or (self.is_handling and step.does in {"pause", "raise"}):
                    yield step
        while self.ending is None:
            yield SinkStep("read", 1)

    def waits(self) -> None:
        """Note that a read begins."""
        self._recorder.events.append(SinkWaits(self._recorder.now()))

    def took(self, *elements: Element) -> None:
        """Note what a read gave; what is no element fails the operator."""
        now = self._recorder.now()
        for output in elements:
            element = output
            with suppress(Exception):  # It may be anything.
                element = self._recorder.tracker.took(output)
            if wrong := no_element(element):
                self.ending = Ending("failed", now, error=NOT_AN_ELEMENT, detail=wrong)
                return
            self._recorder.events.append(SinkTook(now, element))

    def gave_up(self) -> None:
        """Note that a read was cancelled, and gave nothing."""
        self._recorder.events.append(SinkGaveUp(self._recorder.now()))

    def read_raised(self, error: BaseException) -> None:
        """Note that a read raised: the end of the stream, or a failure."""
        if self.ending is None:
            if isinstance(error, StopIteration | StopAsyncIteration):
                self.ending = Ending("finished", self._recorder.now())
                self._recorder.tracker.look()
            else:
                self.raised = error
                self.ending = self._failed(error)

    def failed(self, error: BaseException, *, later: bool = False) -> None:
        """Note that the operator raised where it is not read: on opening, leaving, or asked."""
        if error is self.body_error and self.ending is not None and self.ending.how == "left":
            self.ending = replace(self.ending, unchanged=True, unsaid=self._unsaid(error))
            return
        if error is self.raised and self.ending is not None and self.raises_on:
            self.ending = replace(self.ending, unsaid=self._unsaid(error))
            return
        how = None if self.ending is None else self.ending.how
        # An error of closing is a note on the one that a read has raised, and comes out besides.
        is_left = self.raised is not None and not self.raises_on
        besides = is_left and any(e is error for e in self._recorder.passing)
        if how not in _BOUNDS and not ((later or besides) and how == "failed"):
            # Whoever has seen the end does not wait any more, however long leaving takes.
            seen_at = self.ending.at if self.ending and how == "finished" else None
            failed = self._failed(error)
            self.ending = failed if seen_at is None else replace(failed, at=seen_at)

    def _unsaid(self, error: BaseException) -> str:
        """Return the class of another error of closing that no note on `error` tells of."""
        notes = "\n".join(getattr(error, "__notes__", ()))
        for closing in self._recorder.closing:
            name = type(closing).__name__
            if closing is not error and name not in notes and str(closing) not in notes:
                return name
        return ""

    def _failed(self, error: BaseException) -> Ending:
        recorder = self._recorder
        named = recorder.tracker.named
        passing = recorder.passing
        if self._plan.scenario.source_error == "no-element" and isinstance(error, TypeError):
            passing = [*passing, error]  # It is the operator's, and stands for what the source did.
        ending = describe_failure(error, recorder.now(), recorder.raised, passing, named)
        is_closing = any(error is each for each in recorder.closing)
        return replace(ending, unsaid=self._unsaid(error)) if is_closing else ending

    def end(self, how: EndingKind, *, raising: bool = False) -> bool:
        """Note that the leg ends now by the will of its consumer, unless it has; return whether."""
        if self.ending is not None:
            return False
        self.ending = Ending(how, self._recorder.now())
        if how in {"crashed", "left"}:
            self._recorder.events.append(SinkLeft(self._recorder.now(), raising))
        return True

    def overdue(self, how: EndingKind, doing: str = "") -> None:
        """Note that a bound has ended the leg, while it did what `doing` says."""
        if self.ending is None or self.ending.how not in _BOUNDS:
            reading: dict[str, Any] = {self.reading: how} if self.reading else {}
            self.ending = Ending(how, self._recorder.now(), detail=doing, **reading)

    @property
    def is_handling(self) -> bool:
        """Whether it got an error from a read, and has not left yet."""
        has_failed = self.ending is not None and self.ending.how == "failed"
        return has_failed and isinstance(self.raised, Exception)

    @property
    def reads_again(self) -> bool:
        """Whether it is worth a further read before the operator is left."""
        how = None if self.ending is None else self.ending.how
        return how == "finished" or (how == "failed" and self.raised is not None)

    @property
    def reads_after(self) -> bool:
        """Whether it is worth a further read after the operator was left."""
        return self.reads_again or (self.ending is not None and self.ending.how == "left")

    def read_again(
        self, *, outcome: Element | BaseException, left: bool, requests: bool = False
    ) -> bool:
        """Note what a further read gave or raised, before or after the operator was left.

        Args:
            outcome: what it came to.
            left: whether that was after leaving.
            requests: whether it was the request before it that raised.

        Returns:
            Whether it is as it should be: only then it is worth another one.
        """
        assert self.ending is not None
        if isinstance(outcome, StopIteration | StopAsyncIteration):
            seen = "stop"
        elif isinstance(outcome, BaseException):
            seen = "same" if outcome is self.raised else f"raised {type(outcome).__name__}"
            seen = f"behind request_snapshot(), which {seen}" if requests else seen
        else:
            seen = f"gave {text_of(outcome)}"
        changed = {"after": seen} if left else {"again": seen}
        self.ending = replace(self.ending, **changed)
        return seen in {"stop", "same"}

    def intruded(self, got: str) -> None:
        """Note that a second task has read, and what came of it."""
        self._recorder.events.append(SinkIntruded(self._recorder.now(), got))

    def interrupted(self, error: BaseException) -> None:
        """Note that `error`, which is for the whole program, has left the loop."""
        self.ending = Ending("interrupted", self._recorder.now(), error=type(error).__name__)

    def leg(self, *, tasks_left: int = 0, timers_left: int = 0, abandoned: int = 0) -> Leg:
        """Return what was observed."""
        plan, recorder = self._plan, self._recorder
        ending = self.ending or Ending("error", detail="the leg ended without an ending")
        return Leg(
            ending=ending,
            events=recorder.told(ending.at),
            first_index=plan.first_index,
            restored=plan.restored,
            mode=plan.config.mode,
            capacity=plan.config.capacity,
            tasks_left=tasks_left,
            timers_left=timers_left,
            abandoned=abandoned,
            refused=recorder.refused,
            kept=recorder.tracker.kept,
            kept_keys=recorder.tracker.kept_keys,
            grown=recorder.tracker.grown,
            company=recorder.company,
            late_by=round(recorder.late_by, 3),
        )
