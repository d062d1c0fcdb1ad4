"""Hosts that forget too much or too little, call too often, or call too many records at a time."""

from typing import Any

from asyncwait.backends.faulty.carry._gallery import breaks
from asyncwait.spec.carry import Identity, Outcome
from asyncwait.toolkit import CallTable, LaneCalls, Served


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
