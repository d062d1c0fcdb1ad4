"""Lanes that emit, identify or keep records wrongly."""

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
    """Wants no timer once all calls are finished, although results are not out."""

    def wants_timer(self, state: LaneState) -> bool:
        return bool(state.in_flight)


@breaks("CARRY-2")
class KeepsWhatItEmits(Lane):
    """Keeps the emitted results in its state."""

    def visit(
        self, state: LaneState, stamp: int, rows: Iterable[Row], host: Host
    ) -> tuple[tuple[Finished, ...], LaneState]:
        outputs, after = super().visit(state, stamp, rows, host)
        return outputs, replace(after, finished=(*outputs, *after.finished))


@breaks("CARRY-4")
class NumbersItsRows(Lane):
    """Identifies a record by its place in the batch: another order of rows swaps results."""

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
    """Identifies a record by its digest alone."""

    def identified(self, state: LaneState, stamp: int, rows: Iterable[Row]) -> Iterable[InFlight]:
        for item in super().identified(state, stamp, rows):
            yield replace(item, identity=item.identity._replace(occurrence=0))


@breaks("CARRY-4")
class CountsOccurrencesFromWhatIsThere(Lane):
    """Identifies a record without its batch, so new records get the identities of old ones."""

    def identified(
        self,
        state: LaneState,
        stamp: int,  # noqa: ARG002 - the slip
        rows: Iterable[Row],
    ) -> Iterable[InFlight]:
        return super().identified(state, 0, rows)


@breaks("CARRY-5")
class EmitsWhatIsFinishedNow(Lane):
    """Emits the host's results at once, without a second phase."""

    def visit(
        self, state: LaneState, stamp: int, rows: Iterable[Row], host: Host
    ) -> tuple[tuple[Finished, ...], LaneState]:
        _, after = super().visit(state, stamp, rows, host)
        return after.finished, replace(after, finished=())


@breaks("CARRY-6")
class IgnoresTheStamp(Lane):
    """Emits in a second visit of a batch the results that the first visit finished."""

    def emits(self, state: LaneState, stamp: int) -> tuple[Finished, ...]:  # noqa: ARG002 - the slip
        return state.finished


@breaks("CARRY-7")
class KeepsTheRowsOfTheBatch(Lane):
    """Stores the rows of the batch in its state, but not the earlier records in flight."""

    def visit(
        self, state: LaneState, stamp: int, rows: Iterable[Row], host: Host
    ) -> tuple[tuple[Finished, ...], LaneState]:
        outputs, after = super().visit(state, stamp, rows, host)
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

    def takes(
        self, flight: Iterable[InFlight], answer: Mapping[Identity, Outcome]
    ) -> tuple[Finished, ...]:
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

    def after(
        self, stamp: int, in_flight: tuple[InFlight, ...], finished: tuple[Finished, ...] = ()
    ) -> LaneState:
        return replace(super().after(stamp, in_flight, finished), lanes=None)


@breaks("CARRY-15")
class PassesFailuresOver(Lane):
    """Skips a record whose call has failed, and asks for it again."""

    def takes(
        self, flight: Iterable[InFlight], answer: Mapping[Identity, Outcome]
    ) -> tuple[Finished, ...]:
        well = {id_: got for id_, got in answer.items() if not isinstance(got, Failed)}
        return super().takes(flight, well)
