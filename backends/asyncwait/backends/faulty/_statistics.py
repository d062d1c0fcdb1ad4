"""STAT: operators that work correctly and report wrong figures."""

from collections.abc import Hashable

from msgspec.structs import replace

from asyncwait.backends.faulty._gallery import breaks
from asyncwait.reference import (
    Attempt,
    CancelledCalls,
    Entry,
    OrderedQueue,
    Outcome,
    ResultHandler,
    StreamTask,
    Watch,
)
from asyncwait.spec import OperatorError, Record, Statistics


@breaks("STAT-1", behind="STAT-3", why="what is held is counted by what is in flight")
class CountsFencesAsRecords(OrderedQueue):
    """Counts a watermark as a record in flight, because it takes a slot."""

    def put(self, entry: Entry) -> None:
        super().put(entry)
        self.records += not isinstance(entry.element, Record)

    def remove(self, entry: Entry) -> None:
        super().remove(entry)
        self.records -= not isinstance(entry.element, Record)


@breaks("STAT-2")
class CountsWhatIsRestoredAsWaiting(StreamTask):
    """Counts restored elements among the read elements that wait for room."""

    @property
    def waiting(self) -> int:
        return len(self.backlog)


@breaks("STAT-3")
class HoldsWhatHasItsTurn(OrderedQueue):
    """Reports ready records in `held`, instead of the records that must wait."""

    @property
    def held(self) -> int:
        return int(self.peek_ready() is not None)


@breaks("STAT-3")
class HoldsFencesToo(OrderedQueue):
    """Counts watermarks as held results."""

    @property
    def held(self) -> int:
        return self.decided


@breaks("STAT-4")
class CountsCallsThatHaveEnded(Attempt):
    """Counts a call when it has ended, not when it begins."""

    def begin(self) -> None:
        super().begin()
        self.operator.calls -= 1

    def on_ended(self, outcome: Outcome | None) -> None:
        self.operator.calls += 1
        super().on_ended(outcome)


@breaks("STAT-5")
class CountsRecordsThatAreRepeated(Attempt):
    """Counts one retry per record, whatever the number of attempts."""

    def begin(self) -> None:
        has_counted = self.number - 1 > 1
        super().begin()
        self.operator.retries -= has_counted


@breaks("STAT-6")
class TakesLimitsForTimeouts(Attempt):
    """Counts an attempt that reaches `attempt_timeout` as a timeout of its record."""

    def on_limit(self, due: float) -> None:
        self.operator.timeouts += 1
        super().on_limit(due)


@breaks("STAT-6")
class CountsTimeoutsWithoutResults(ResultHandler):
    """Counts a deadline only if the timeout handler has no results."""

    def on_deadline(self) -> None:
        before = self.operator.timeouts
        super().on_deadline()
        self.operator.timeouts = before


@breaks("STAT-6")
class CountsNoDeadlineThatFails(ResultHandler):
    """Counts a deadline only if a handler has results."""

    def on_deadline(self) -> None:
        before = self.operator.timeouts
        try:
            super().on_deadline()
        except OperatorError:
            self.operator.timeouts = before
            raise


@breaks("STAT-7")
class CountsNoSkips(ResultHandler):
    """Counts a handled failure only if the handler has results."""

    def decide_despite(self, failure: OperatorError) -> None:
        super().decide_despite(failure)
        self.operator.failures_handled -= not self.entry.outputs


@breaks(
    "STAT-8",
    behind="TIME-8",
    why="it counts at each end; few scenarios read figures while such calls run",
)
class CountsAbandonedCallsAtTheirEnd(CancelledCalls):
    """Counts an abandoned call when it ends, not when it is abandoned."""

    def on_overdue(self, watch: Watch) -> None:
        try:
            super().on_overdue(watch)
        finally:
            self.abandoned -= 1

    def ended(self, call: Hashable) -> None:
        watch = self.running.get(call)
        self.abandoned += watch is not None and watch.abandoned
        super().ended(call)


@breaks("STAT-9")
class LetsItsMarkFall(OrderedQueue):
    """Resets its highest figures whenever no record is in flight."""

    def remove(self, entry: Entry) -> None:
        super().remove(entry)
        if not self.records:
            self.most_records = self.most_held = 0


@breaks("STAT-10")
class TellsTheAgeOfTheNewest(OrderedQueue):
    """Reports the age of the newest record as the oldest."""

    @property
    def oldest(self) -> float | None:
        return next(reversed(self.called.values()), None)


@breaks("STAT-11")
class TellsWhatWasInFlight(StreamTask):
    """Reports records in flight after its end."""

    def statistics(self) -> Statistics:
        return replace(super().statistics(), in_flight=self.queue.records)


@breaks("STAT-11")
class ForgetsWhatItDid(StreamTask):
    """Resets its figures when it stops."""

    def stop(self) -> None:
        super().stop()
        self.operator.calls = self.operator.timeouts = 0


@breaks("STAT-2")
class CountsWhatItsConsumerLeaves(StreamTask):
    """Counts markers and snapshots that the consumer has not taken as waiting for room."""

    @property
    def waiting(self) -> int:
        return super().waiting + self.output.overtakers
