"""Lanes that emit, name or keep what they should not."""

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from asyncwait.backends.faulty.carry._gallery import breaks
from asyncwait.spec.carry import (
    Failed,
    Finished,
    Host,
    Identity,
    InFlight,
    LaneState,
    Outcome,
    Row,
    Visit,
)
from asyncwait.toolkit import Lane, Served


@breaks("CARRY-1")
class RestsWhenNothingRuns(Lane):
    """Asks for no timer once all calls are finished, though their results are not out."""

    def wants_timer(self, state: LaneState) -> bool:
        return bool(state.in_flight)


@breaks("CARRY-2")
class KeepsWhatItEmits(Lane):
    """Leaves in the state what it has emitted."""

    def visit(
        self, state: LaneState, stamp: int, rows: Iterable[Row], host: Host
    ) -> tuple[tuple[Finished, ...], LaneState]:
        outputs, after = super().visit(state, stamp, rows, host)
        return outputs, replace(after, finished=(*outputs, *after.finished))


@breaks("CARRY-4")
class NumbersItsRows(Lane):
    """Knows a record by its place in the batch: a batch in another order swaps results."""

    def identified(
        self,
        state: LaneState,  # noqa: ARG002 - the slip
        stamp: int,
        rows: Iterable[Row],
    ) -> Iterable[InFlight]:
        for place, row in enumerate(rows):
            yield InFlight(Identity(b"", stamp, place), row.record, row.key)


@breaks("CARRY-4")
class TakesEqualRecordsForOne(Lane):
    """Knows a record by its digest alone."""

    def identified(self, state: LaneState, stamp: int, rows: Iterable[Row]) -> Iterable[InFlight]:
        for item in super().identified(state, stamp, rows):
            yield replace(item, identity=item.identity._replace(occurrence=0))


@breaks("CARRY-4")
class CountsOccurrencesFromWhatIsThere(Lane):
    """Forgets which batch brought a record, so that a new one takes the identity of an old one."""

    def identified(
        self,
        state: LaneState,
        stamp: int,  # noqa: ARG002 - the slip
        rows: Iterable[Row],
    ) -> Iterable[InFlight]:
        return super().identified(state, 0, rows)


@breaks("CARRY-5")
class EmitsWhatIsFinishedNow(Lane):
    """Has one phase: emits what the host answers, at once."""

    def visit(
        self, state: LaneState, stamp: int, rows: Iterable[Row], host: Host
    ) -> tuple[tuple[Finished, ...], LaneState]:
        _, after = super().visit(state, stamp, rows, host)
        return after.finished, replace(after, finished=())


@breaks("CARRY-6")
class IgnoresTheStamp(Lane):
    """Emits in a second visit of a batch what the first one has finished."""

    def emits(self, state: LaneState, stamp: int) -> tuple[Finished, ...]:  # noqa: ARG002 - the slip
        return state.finished


@breaks("CARRY-7")
class KeepsTheRowsOfTheBatch(Lane):
    """Writes the rows of the batch into the state, and not what was in flight before."""

    def visit(
        self, state: LaneState, stamp: int, rows: Iterable[Row], host: Host
    ) -> tuple[tuple[Finished, ...], LaneState]:
        outputs, after = super().visit(state, stamp, rows, host)
        new = tuple(item for item in after.in_flight if item.identity.stamp == stamp)
        return outputs, replace(after, in_flight=new)


@breaks("CARRY-8")
class NamesNewRowsOnly(Lane):
    """Trusts the host to remember what it was asked for by earlier batches."""

    def asks(self, state: LaneState, stamp: int, flight: tuple[InFlight, ...]) -> Visit:
        new = tuple(item for item in flight if item.identity.stamp == stamp)
        return super().asks(state, stamp, new)


@breaks("CARRY-8")
class ForgetsItsFirstVisit(Lane):
    """Lets the host forget in a second visit what the first one has finished."""

    def asks(self, state: LaneState, stamp: int, flight: tuple[InFlight, ...]) -> Visit:
        return replace(super().asks(state, stamp, flight), kept=())


class AnswersOutOfTurn(Served):
    """Answers whatever is finished."""

    def group(self, item: InFlight) -> Identity:
        return item.identity


@breaks("CARRY-9", AnswersOutOfTurn)
class TakesOutOfTurn(Lane):
    """Finishes what is there, before what stands ahead of it in the lane."""

    def takes(
        self, flight: Iterable[InFlight], answer: Mapping[Identity, Outcome]
    ) -> tuple[Finished, ...]:
        there = [item for item in flight if item.identity in answer]
        return super().takes(there, answer)


@breaks("CARRY-17")
class LooksAtWhatWasInFlight(Lane):
    """Finds what lags among what was in flight before, and overlooks what has come in."""

    def lagging(self, flight: tuple[InFlight, ...]) -> tuple[Identity, ...]:
        newest = max(item.identity.stamp for item in flight) if flight else 0
        return super().lagging(tuple(item for item in flight if item.identity.stamp < newest))


@breaks("CARRY-18")
class GoesOnWithOtherLanes(Lane):
    """Takes the rows of a run with another number of lanes, where they overtake others."""

    def require_lanes(self, state: LaneState) -> None:
        pass


@breaks("CARRY-18")
class ForgetsItsLanes(Lane):
    """Leaves the number of lanes out of the state."""

    def after(
        self, stamp: int, in_flight: tuple[InFlight, ...], finished: tuple[Finished, ...] = ()
    ) -> LaneState:
        return replace(super().after(stamp, in_flight, finished), lanes=None)


@breaks("CARRY-15")
class PassesFailuresOver(Lane):
    """Goes on without the record whose call has failed, and asks for it again."""

    def takes(
        self, flight: Iterable[InFlight], answer: Mapping[Identity, Outcome]
    ) -> tuple[Finished, ...]:
        well = {id_: got for id_, got in answer.items() if not isinstance(got, Failed)}
        return super().takes(flight, well)
