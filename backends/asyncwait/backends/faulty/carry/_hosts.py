"""Hosts that forget too much or too little, and call too often or too much at a time."""

from typing import Any

from asyncwait.backends.faulty.carry._gallery import breaks
from asyncwait.spec.carry import Identity, Outcome
from asyncwait.toolkit import CallTable, LaneCalls, Served


@breaks("CARRY-3")
class HasOneTableForAllLanes(CallTable):
    """Keeps the calls of all lanes together, where equal records meet."""

    def home_of(self, lane: str, version: str) -> tuple[str, str]:  # noqa: ARG002 - the slip
        return "", version


@breaks("CARRY-3")
class TakesTheEndOfACancelledCall(LaneCalls):
    """Takes what comes of a call that it has cancelled for the result of the next one."""

    def completed(self, identity: Identity, call: Any, outcome: Outcome) -> None:
        super().completed(identity, self.running.get(identity, call), outcome)


@breaks("CARRY-10")
class CallsAKeyAtOnce(LaneCalls):
    """Calls records of a key side by side."""

    def offer(self, key: bytes) -> None:
        for item in self.behind.pop(key, ()):
            self.call(item)


@breaks("CARRY-11")
class ForgetsWhatItHandsOver(LaneCalls):
    """Drops a result with its answer, as if nobody could ask for it again."""

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
    """Cancels what an earlier visit has begun."""

    def begin(self, served: Served) -> None:
        if not self.served:
            self.forget(set())
        super().begin(served)


@breaks("CARRY-12")
class NeverForgets(LaneCalls):
    """Keeps all results for ever, and lets all calls run on."""

    def forget(self, but: set[Identity]) -> None:
        """Do nothing."""


@breaks("CARRY-12")
class ForgetsWithoutCancelling(LaneCalls):
    """Lets calls run on that nobody waits for."""

    def forget(self, but: set[Identity]) -> None:
        self.running = {each: call for each, call in self.running.items() if each in but}
        super().forget(but)


@breaks("CARRY-13")
class CallsAllAtOnce(LaneCalls):
    """Calls whatever a batch brings, beyond its capacity."""

    def has_room(self, capacity: int) -> bool:  # noqa: ARG002 - the slip
        return True


@breaks("CARRY-13")
class GivesPlacesBackTooEarly(LaneCalls):
    """Counts calls that run, and not what is finished and waits for its turn."""

    def has_room(self, capacity: int) -> bool:
        return len(self.running) < capacity


@breaks("CARRY-13")
class NeverWaitsForRoom(Served):
    """Answers when the budget is over, however much is left in flight."""

    def is_over(self, *, is_late: bool) -> bool:
        return is_late or super().is_over(is_late=False)


@breaks("CARRY-14")
class WaitsForAll(Served):
    """Answers when all is finished: the slowest call holds the batch."""

    def is_over(self, *, is_late: bool) -> bool:  # noqa: ARG002 - the slip
        return super().is_over(is_late=False)


@breaks("CARRY-14")
class FailsInTurn(Served):
    """Tells of a failure when all records before it are finished."""

    def is_over(self, *, is_late: bool) -> bool:
        left = [item.identity for item in self.visit.wanted if item.identity not in self.finished]
        return super().is_over(is_late=is_late) and not (self.failed and left[0] not in self.failed)


@breaks("CARRY-15")
class KeepsFailures(LaneCalls):
    """Keeps failures as it keeps results, so that the batch fails for ever."""

    def drop_failed(self, failed: tuple[Identity, ...]) -> None:
        """Do nothing."""


@breaks("CARRY-16")
class TakesAnyVersion(CallTable):
    """Answers with what an older version of the function has given."""

    def home_of(self, lane: str, version: str) -> tuple[str, str]:  # noqa: ARG002 - the slip
        return lane, ""


@breaks("CARRY-17")
class LeavesWhatLags(Served):
    """Ends a visit with its budget, whatever lags."""

    def is_over(self, *, is_late: bool) -> bool:
        self.awaited.clear()
        return super().is_over(is_late=is_late)
