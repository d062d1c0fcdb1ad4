"""Faulty lanes and hosts: each breaks one rule of CARRY, which convicts it by name."""

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec.structs import replace

from asyncwait.backends.faulty._gallery import Slip, into
from asyncwait.backends.streams import CallTable, Lane, LaneCalls, Served
from asyncwait.spec.carry import (
    Failed,
    Finished,
    Identity,
    InFlight,
    LaneState,
    Outcome,
    Row,
    Visit,
)
from asyncwait.spec.exports import claim_exports
from asyncwait.spec.rules import carry_rules


class FaultyCarry(Slip, frozen=True, kw_only=True):
    """A small change to a `Lane`, or to the `CallTable`, `LaneCalls` or `Served` of a host."""

    @property
    def lane_class(self) -> type[Lane]:
        """The class of the lane that plays the visits."""
        return self._instead_of(Lane)

    @property
    def table_class(self) -> type[CallTable]:
        """The class of the host's table of calls."""
        parts = {
            "calls_class": self._instead_of(LaneCalls),
            "served_class": self._instead_of(Served),
        }
        return type("Table", (self._instead_of(CallTable),), parts)


FOUND: list[FaultyCarry] = []
"""Every faulty lane and host registered so far."""

breaks = into(FOUND, FaultyCarry)


@breaks("CARRY-3")
class HasOneTableForAllLanes(CallTable):
    """Keeps the calls of all lanes in one table, where equal records meet."""

    def home_of(self, lane: str, version: str) -> tuple[str, str]:  # noqa: ARG002 - the slip
        return "", version


@breaks("CARRY-3")
class TakesTheEndOfACancelledCall(LaneCalls):
    """Takes the outcome of a cancelled call for the outcome of the next call."""

    def completed(self, identity: Identity, call: Any, outcome: Outcome) -> None:
        super().completed(identity, self.running.get(identity, call), outcome)


@breaks("CARRY-10")
class CallsAKeyAtOnce(LaneCalls):
    """Calls all records of a key at the same time."""

    def offer(self, key: bytes) -> None:
        for item in self.behind.pop(key, ()):
            self.call(item)


@breaks("CARRY-11")
class ForgetsWhatItHandsOver(LaneCalls):
    """Drops a result once it was in an answer, although a later visit may ask for it again."""

    def answer(self, served: Served) -> dict[Identity, Outcome]:
        answer = super().answer(served)
        for identity in () if self.served else answer:
            self.done.pop(identity, None)
        return answer


@breaks("CARRY-11")
class ForgetsWhatALostVisitAwaited(LaneCalls):
    """Drops all results of a visit whose task was killed."""

    def abandon(self, served: Served) -> None:
        for item in served.visit.wanted:
            self.done.pop(item.identity, None)
        super().abandon(served)


@breaks("CARRY-11")
class BeginsAnewInEachVisit(LaneCalls):
    """Cancels the calls that an earlier visit began."""

    def begin(self, served: Served) -> None:
        if not self.served:
            self.forget(set())
        super().begin(served)


@breaks("CARRY-12")
class NeverForgets(LaneCalls):
    """Keeps all results forever, and never cancels a call."""

    def forget(self, but: set[Identity]) -> None:
        """Do nothing."""


@breaks("CARRY-12")
class ForgetsWithoutCancelling(LaneCalls):
    """Does not cancel calls that no lane wants any more."""

    def forget(self, but: set[Identity]) -> None:
        self.running = {each: call for each, call in self.running.items() if each in but}
        super().forget(but)


@breaks("CARRY-13")
class CallsAllAtOnce(LaneCalls):
    """Calls all records of a batch, beyond its capacity."""

    def has_room(self, capacity: int) -> bool:  # noqa: ARG002 - the slip
        return True


@breaks("CARRY-13")
class GivesPlacesBackTooEarly(LaneCalls):
    """Counts running calls against the capacity, but not finished results that wait."""

    def has_room(self, capacity: int) -> bool:
        return len(self.running) < capacity


@breaks("CARRY-13")
class NeverWaitsForRoom(Served):
    """Answers when the budget is over, however many records are in flight."""

    def is_over(self, *, is_late: bool) -> bool:
        return is_late or super().is_over(is_late=False)


@breaks("CARRY-14")
class WaitsForAll(Served):
    """Answers only when all records are finished: the slowest call delays the batch."""

    def is_over(self, *, is_late: bool) -> bool:  # noqa: ARG002 - the slip
        return super().is_over(is_late=False)


@breaks("CARRY-14")
class FailsInTurn(Served):
    """Reports a failure only when all records before it are finished."""

    def is_over(self, *, is_late: bool) -> bool:
        left = [item.identity for item in self.visit.wanted if item.identity not in self.finished]
        return super().is_over(is_late=is_late) and not (self.failed and left[0] not in self.failed)


@breaks("CARRY-15")
class KeepsFailures(LaneCalls):
    """Caches failures like results, so the batch fails forever."""

    def drop_failed(self, failed: tuple[Identity, ...]) -> None:
        """Do nothing."""


@breaks("CARRY-16")
class TakesAnyVersion(CallTable):
    """Returns results of an older version of the function."""

    def home_of(self, lane: str, version: str) -> tuple[str, str]:  # noqa: ARG002 - the slip
        return lane, ""


@breaks("CARRY-17")
class LeavesWhatLags(Served):
    """Ends a visit with its budget, without waiting for the lagging records."""

    def is_over(self, *, is_late: bool) -> bool:
        self.awaited.clear()
        return super().is_over(is_late=is_late)


@breaks("CARRY-1")
class RestsWhenNothingRuns(Lane):
    """Wants no timer once all calls are finished, although results are not out."""

    def wants_timer(self, state: LaneState) -> bool:
        return bool(state.in_flight)


@breaks("CARRY-2")
class KeepsWhatItEmits(Lane):
    """Keeps the emitted results in its state."""

    def visit(self, state: LaneState, stamp: int, *asked: Any) -> Any:
        outputs, after = super().visit(state, stamp, *asked)
        return outputs, replace(after, finished=(*outputs, *after.finished))


@breaks("CARRY-4")
class NumbersItsRows(Lane):
    """Identifies a record by its place in the batch: another order of rows swaps results."""

    def identified(self, _: LaneState, stamp: int, rows: Iterable[Row]) -> Iterable[InFlight]:
        for place, row in enumerate(rows):
            yield InFlight(Identity(b"", stamp, place), row.record, row.key)


@breaks("CARRY-4")
class TakesEqualRecordsForOne(Lane):
    """Identifies a record by its digest alone."""

    def identified(self, state: LaneState, stamp: int, rows: Iterable[Row]) -> Iterable[InFlight]:
        for item in super().identified(state, stamp, rows):
            yield replace(item, identity=item.identity._replace(occurrence=0))


@breaks("CARRY-4")
class CountsOccurrencesFromWhatIsThere(Lane):
    """Identifies a record without its batch, so new records get the identities of old ones."""

    def identified(self, state: LaneState, _: int, rows: Iterable[Row]) -> Iterable[InFlight]:
        return super().identified(state, 0, rows)


@breaks("CARRY-5")
class EmitsWhatIsFinishedNow(Lane):
    """Emits the host's results at once, without a second phase."""

    def visit(self, state: LaneState, stamp: int, *asked: Any) -> Any:
        _, after = super().visit(state, stamp, *asked)
        return after.finished, replace(after, finished=())


@breaks("CARRY-6")
class IgnoresTheStamp(Lane):
    """Emits in a second visit of a batch the results that the first visit finished."""

    def emits(self, state: LaneState, stamp: int) -> tuple[Finished, ...]:  # noqa: ARG002 - the slip
        return state.finished


@breaks("CARRY-7")
class KeepsTheRowsOfTheBatch(Lane):
    """Stores the rows of the batch in its state, but not the earlier records in flight."""

    def visit(self, state: LaneState, stamp: int, *asked: Any) -> Any:
        outputs, after = super().visit(state, stamp, *asked)
        new = tuple(item for item in after.in_flight if item.identity.stamp == stamp)
        return outputs, replace(after, in_flight=new)


@breaks("CARRY-8")
class NamesNewRowsOnly(Lane):
    """Asks the host only for new records, and relies on it to remember earlier ones."""

    def asks(self, state: LaneState, stamp: int, flight: tuple[InFlight, ...]) -> Visit:
        new = tuple(item for item in flight if item.identity.stamp == stamp)
        return super().asks(state, stamp, new)


@breaks("CARRY-8")
class ForgetsItsFirstVisit(Lane):
    """Lets the host forget in a second visit the results of the first visit."""

    def asks(self, state: LaneState, stamp: int, flight: tuple[InFlight, ...]) -> Visit:
        return replace(super().asks(state, stamp, flight), kept=())


class AnswersOutOfTurn(Served):
    """Answers with all finished results, whatever their order."""

    def group(self, item: InFlight) -> Identity:
        return item.identity


@breaks("CARRY-9", AnswersOutOfTurn)
class TakesOutOfTurn(Lane):
    """Finishes records out of order, before unfinished records ahead of them in the lane."""

    def takes(self, flight: Iterable[InFlight], answer: Mapping[Identity, Outcome]) -> Any:
        there = [item for item in flight if item.identity in answer]
        return super().takes(there, answer)


@breaks("CARRY-17")
class LooksAtWhatWasInFlight(Lane):
    """Looks for lagging records only among earlier batches, not in the newest batch."""

    def lagging(self, flight: tuple[InFlight, ...]) -> tuple[Identity, ...]:
        newest = max(item.identity.stamp for item in flight) if flight else 0
        return super().lagging(tuple(item for item in flight if item.identity.stamp < newest))


@breaks("CARRY-18")
class GoesOnWithOtherLanes(Lane):
    """Accepts the state of a run with another number of lanes, where records overtake others."""

    def require_lanes(self, state: LaneState) -> None:
        pass


@breaks("CARRY-18")
class ForgetsItsLanes(Lane):
    """Leaves the number of lanes out of its state."""

    def after(self, *left: Any) -> LaneState:
        return replace(super().after(*left), lanes=None)


@breaks("CARRY-15")
class PassesFailuresOver(Lane):
    """Skips a record whose call has failed, and asks for it again."""

    def takes(self, flight: Iterable[InFlight], answer: Mapping[Identity, Outcome]) -> Any:
        well = {id_: got for id_, got in answer.items() if not isinstance(got, Failed)}
        return super().takes(flight, well)


FAULTY_CARRY: tuple[FaultyCarry, ...] = tuple(
    sorted(FOUND, key=lambda each: [*carry_rules()].index(each.rule))
)
"""All faulty lanes and hosts, in the order of their rules."""

__all__ = ["FAULTY_CARRY", "FaultyCarry"]

claim_exports(__name__)
