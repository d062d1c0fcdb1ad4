"""The scripted consumer of a leg: its next step, its notes, and the ending of the leg.

It does nothing by itself. The player asks `steps` for the next step, carries it out by the means of
its operator (an `await`, a blocking call), and reports the outcome. So a script means the same, and
a leg is put together in the same way, wherever an operator runs.
"""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Literal

from msgspec.structs import replace

from asyncwait.conformance.harness._recorder import Recorder
from asyncwait.conformance.harness._source import planned_source_error
from asyncwait.conformance.harness._telling import describe_failure, no_element, text_of
from asyncwait.spec import Element
from asyncwait.spec.scenario import (
    Ending,
    EndingKind,
    Leg,
    LegStart,
    SinkGaveUp,
    SinkLeft,
    SinkStep,
    SinkTook,
    SinkWaits,
)

FURTHER_READS = 3
"""Number of further reads before leaving an operator that is over, and again after leaving."""

PATIENCE = 10
"""A leg may last this many times the longest legal duration of its scenario."""

NOT_AN_ELEMENT = "NotAnElement"
"""The error of a leg in which the operator's output was no element."""

_BOUNDS = {"hung", "livelock", "error"}
"""Endings set by the harness, which nothing changes any more."""


class PlannedBodyError(Exception):
    """The error that the consumer raises in the body of the context."""


class ReadCutShort(Exception):
    """Represents the error that an operator hides when it cancels its consumer.

    A task group that cancels its body does so: for the consumer the stream ends in the middle of a
    read, without an error.
    """


class Consumer:
    """The consumer of one leg.

    Attributes:
        ending: how the leg has ended; None while it goes on.
        reading: the further reads in progress, named as in `Ending`: "again" or "after".
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
        """Whether the consumer does anything else than read."""
        return bool(self._script)

    @property
    def limit(self) -> int:
        """Return the longest duration of the leg, in ms."""
        return PATIENCE * self._plan.scenario.horizon + 1_000

    @property
    def planned_ends(self) -> Iterator[tuple[int, Literal["crashed", "left"]]]:
        """Yield the ms and the kind of each planned end, unless the leg ends before: see `end`."""
        if self._plan.crash is not None:
            yield self._plan.crash.at, "crashed"
        cancel_at = self._plan.scenario.cancel_at
        if cancel_at is not None and self._plan.number == 0:
            yield cancel_at, "left"

    def steps(self) -> Iterator[SinkStep]:
        """Yield the next step, one read at a time, until the leg has ended.

        A consumer that gets an error still makes its planned pause, or raises: so it handles it.
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
        """Note the elements that a read gave; an output that is no element fails the operator."""
        now = self._recorder.now()
        for output in elements:
            element = output
            with suppress(Exception):  # The output may be any object.
                element = self._recorder.tracker.took(output)
            if wrong := no_element(element):
                self.ending = Ending("failed", now, error=NOT_AN_ELEMENT, detail=wrong)
                return
            self._recorder.events.append(SinkTook(now, element))

    def gave_up(self) -> None:
        """Note that a read was cancelled without a result."""
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
        """Note that the operator raised outside of a read: on opening, leaving, or in a request."""
        if error is self.body_error and self.ending is not None and self.ending.how == "left":
            self.ending = replace(self.ending, unchanged=True)
            return
        if error is self.raised and self.ending is not None and self.raises_on:
            return
        how = None if self.ending is None else self.ending.how
        # An error of closing is a note on the error of a read, and comes out besides.
        is_left = self.raised is not None and not self.raises_on
        besides = is_left and any(e is error for e in self._recorder.passing)
        if how not in _BOUNDS and not ((later or besides) and how == "failed"):
            # A consumer that has seen the end does not wait any more, however long leaving takes.
            seen_at = self.ending.at if self.ending and how == "finished" else None
            failed = self._failed(error)
            self.ending = failed if seen_at is None else replace(failed, at=seen_at)

    def _failed(self, error: BaseException) -> Ending:
        recorder = self._recorder
        return describe_failure(
            error, recorder.now(), recorder.raised, recorder.passing, recorder.tracker.named
        )

    def end(self, how: EndingKind, *, raising: bool = False) -> bool:
        """End the leg now by the will of its consumer, unless it has ended; return whether."""
        if self.ending is not None:
            return False
        self.ending = Ending(how, self._recorder.now())
        if how in {"crashed", "left"}:
            self._recorder.events.append(SinkLeft(self._recorder.now(), raising))
        return True

    def overdue(self, how: EndingKind, doing: str = "") -> None:
        """Note that a bound has ended the leg; `doing` says what it did then."""
        if self.ending is None or self.ending.how not in _BOUNDS:
            reading: dict[str, Any] = {self.reading: how} if self.reading else {}
            at = min(self._recorder.now(), self.limit)  # On trio this runs after the teardown.
            self.ending = Ending(how, at, detail=doing, **reading)

    @property
    def is_handling(self) -> bool:
        """Whether the consumer got an error from a read, and has not left yet."""
        has_failed = self.ending is not None and self.ending.how == "failed"
        return has_failed and isinstance(self.raised, Exception)

    @property
    def reads_again(self) -> bool:
        """Whether a further read before leaving makes sense."""
        how = None if self.ending is None else self.ending.how
        return how == "finished" or (how == "failed" and self.raised is not None)

    @property
    def reads_after(self) -> bool:
        """Whether a further read after leaving makes sense."""
        return self.reads_again or (self.ending is not None and self.ending.how == "left")

    def read_again(
        self, *, outcome: Element | BaseException, left: bool, requests: bool = False
    ) -> bool:
        """Note the outcome of a further read, before or after leaving the operator.

        Args:
            outcome: its element or its error.
            left: whether the read was after leaving.
            requests: whether the snapshot request before the read raised, and not the read.

        Returns:
            Whether the outcome is correct: only then another read makes sense.
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

    def interrupted(self, error: BaseException) -> None:
        """Note that `error`, which ends the whole program, has left the loop."""
        self.ending = Ending("interrupted", self._recorder.now(), error=type(error).__name__)

    def leg(self, *, tasks_left: int = 0, timers_left: int = 0, abandoned: int = 0) -> Leg:
        """Return the observed leg."""
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
            grown=recorder.tracker.grown,
            late_by=round(recorder.late_by, 3),
        )
