"""STAT: operators that do what they should, and tell something else."""

from collections.abc import Hashable

from msgspec.structs import replace

from asyncwait.backends.faulty._gallery import breaks
from asyncwait.reference import (
    Attempt,
    CancelledCalls,
    Entry,
    OrderedQueue,
    Outcome,
    RecordEntry,
    ResultHandler,
    StreamTask,
    UnorderedQueue,
    Watch,
)
from asyncwait.spec import OperatorError, Record, Statistics


@breaks("STAT-1", behind="STAT-3", why="what is held is counted by what is in flight")
class CountsFencesAsRecords(OrderedQueue):
    """Takes a watermark for a record in flight, as it takes a slot like one."""

    def put(self, entry: Entry) -> None:
        super().put(entry)
        self.records += not isinstance(entry.element, Record)

    def remove(self, entry: Entry) -> None:
        super().remove(entry)
        self.records -= not isinstance(entry.element, Record)


@breaks("STAT-1", behind="STAT-3", why="what is held is counted by what is in flight")
class LosesSightOfWhatIsDecided(UnorderedQueue):
    """Counts a record out when it is decided, although nobody has taken it."""

    def completed(self, entry: RecordEntry) -> None:
        self.records -= 1
        super().completed(entry)

    def remove(self, entry: Entry) -> None:
        self.records += isinstance(entry.element, Record)
        super().remove(entry)


@breaks("STAT-2")
class CountsWhatIsRestoredAsWaiting(StreamTask):
    """Tells of everything that waits for room, wherever it came from."""

    @property
    def waiting(self) -> int:
        return len(self.backlog)


@breaks("STAT-2")
class CountsWhatWaitsInLine(StreamTask):
    """Counts what waits behind the one that is next, and not that one."""

    @property
    def waiting(self) -> int:
        return max(0, super().waiting - 1)


@breaks("STAT-3")
class HoldsWhatHasItsTurn(OrderedQueue):
    """Counts as held what the consumer could take, and not what waits for its turn."""

    @property
    def held(self) -> int:
        return int(self.peek_ready() is not None)


@breaks("STAT-3")
class HoldsFencesToo(OrderedQueue):
    """Counts watermarks as held, as they are decided."""

    @property
    def held(self) -> int:
        return self.decided


@breaks("STAT-4")
class CountsCallsThatHaveEnded(Attempt):
    """Counts a call when it has ended: by its record, by an error, or cancelled."""

    def begin(self) -> None:
        super().begin()
        self.operator.calls -= 1

    def on_ended(self, outcome: Outcome | None) -> None:
        self.operator.calls += 1
        super().on_ended(outcome)


@breaks("STAT-4")
class CountsRecordsAsCalls(Attempt):
    """Counts one call for each record, however often it is called."""

    def begin(self) -> None:
        super().begin()
        self.operator.calls -= self.number > 1


@breaks("STAT-5")
class CountsRecordsThatAreRepeated(Attempt):
    """Counts each record once that needs another attempt, and no more."""

    def begin(self) -> None:
        has_counted = self.number - 1 > 1
        super().begin()
        self.operator.retries -= has_counted


@breaks("STAT-5")
class CountsWhatItMeansToRepeat(ResultHandler):
    """Counts a retry when a record begins to back off; its deadline may be earlier."""

    def back_off(self, due: float) -> None:
        super().back_off(due)
        self.operator.retries += 1

    def start(self) -> None:
        self.operator.retries -= self.attempts > 0
        super().start()


@breaks("STAT-6")
class TakesLimitsForTimeouts(Attempt):
    """Counts an attempt that takes too long as a record that does."""

    def on_limit(self, due: float) -> None:
        self.operator.timeouts += 1
        super().on_limit(due)


@breaks("STAT-6")
class CountsTimeoutsWithoutResults(ResultHandler):
    """Counts a deadline only where the timeout handler had nothing to give."""

    def on_deadline(self) -> None:
        before = self.operator.timeouts
        super().on_deadline()
        self.operator.timeouts = before


@breaks("STAT-6")
class CountsNoDeadlineThatFails(ResultHandler):
    """Counts a deadline where somebody has something to give for its record."""

    def on_deadline(self) -> None:
        before = self.operator.timeouts
        try:
            super().on_deadline()
        except OperatorError:
            self.operator.timeouts = before
            raise


@breaks("STAT-7")
class CountsNoSkips(ResultHandler):
    """Counts a handled failure where something comes out for it."""

    def decide_despite(self, failure: OperatorError) -> None:
        super().decide_despite(failure)
        self.operator.failures_handled -= not self.entry.outputs


@breaks(
    "STAT-8",
    behind="TIME-8",
    why="it counts at each end; few scenarios read figures while such calls run",
)
class CountsAbandonedCallsAtTheirEnd(CancelledCalls):
    """Counts a call that ran on when that is over."""

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
    """Begins anew to look for the highest whenever nothing is there."""

    def remove(self, entry: Entry) -> None:
        super().remove(entry)
        if not self.records:
            self.most_records = self.most_held = 0


@breaks("STAT-9")
class MarksItsCapacity(OrderedQueue):
    """Takes what there is room for to be what was there."""

    def put(self, entry: Entry) -> None:
        super().put(entry)
        self.most_records = self.capacity


@breaks("STAT-10")
class IsAsOldAsItsLastCall(ResultHandler):
    """Begins to count the age of a record anew with each attempt."""

    def on_begun(self) -> None:
        super().on_begun()
        self.operator.queue.called[self.entry] = self.operator.clock()


@breaks("STAT-10")
class TellsTheAgeOfTheNewest(OrderedQueue):
    """Looks for the oldest record at the wrong end."""

    @property
    def oldest(self) -> float | None:
        return next(reversed(self.called.values()), None)


@breaks("STAT-11")
class TellsWhatWasInFlight(StreamTask):
    """Tells of what nobody will take any more after the end."""

    def statistics(self) -> Statistics:
        return replace(super().statistics(), in_flight=self.queue.records)


@breaks("STAT-11")
class ForgetsWhatItDid(StreamTask):
    """Begins its figures anew when it stops."""

    def stop(self) -> None:
        super().stop()
        self.operator.calls = self.operator.timeouts = 0


@breaks("STAT-2")
class CountsWhatItsConsumerLeaves(StreamTask):
    """Counts markers and snapshots that nobody has taken as waiting for room."""

    @property
    def waiting(self) -> int:
        return super().waiting + self.output.overtakers


@breaks("STAT-3")
class HoldsWhatOvertakes(StreamTask):
    """Counts markers and snapshots that nobody has taken as held."""

    def statistics(self) -> Statistics:
        figures = super().statistics()
        return replace(figures, held=figures.held + len(self.output.ahead))


@breaks("STAT-10")
class CountsTheWaitForAKey(ResultHandler):
    """Begins to count the age of a record when it is admitted, whether it is called or not."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.admitted = self.operator.clock()

    def on_begun(self) -> None:
        super().on_begun()
        self.operator.queue.called[self.entry] = self.admitted
