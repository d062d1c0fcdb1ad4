"""WM: operators that do not treat watermarks and statuses as fences."""

from collections import deque

from asyncwait.backends.faulty._gallery import breaks
from asyncwait.reference import (
    AsyncWaitOperator,
    Entry,
    FenceEntry,
    OrderedQueue,
    Segment,
    UnorderedQueue,
)
from asyncwait.spec import Watermark, WatermarkStatus

_LOWEST, _HIGHEST = -(2**63), 2**63 - 1


@breaks("WM-1")
class PutsWatermarksAmongRecords(UnorderedQueue):
    """Treats a watermark as a finished record of its segment, which comes out at once."""

    def segment_for(self, entry: Entry) -> Segment:
        if self.segments and isinstance(entry.element, Watermark):
            return self.segments[-1]
        return super().segment_for(entry)


@breaks("WM-2")
class HasOneSidedFences(UnorderedQueue):
    """Lets decided records overtake the fences before them."""

    def peek_ready(self) -> Entry | None:
        passing = (s.ready[0] for s in self.segments if s.ready and not s.is_fence)
        return super().peek_ready() or next(passing, None)


@breaks("WM-3")
class DropsWatermarksThatDoNotAdvance(AsyncWaitOperator):
    """Drops a watermark that is not greater than the last, as if the operator made them."""

    _highest: int | None = None

    def process_fence(self, fence: Watermark | WatermarkStatus) -> None:
        if isinstance(fence, Watermark):
            if self._highest is not None and fence.timestamp <= self._highest:
                return
            self._highest = fence.timestamp
        super().process_fence(fence)


@breaks("WM-4")
class WakesNobodyForAFence(AsyncWaitOperator):
    """Does not wake the consumer for a watermark, which comes out with the next result."""

    def process_fence(self, fence: Watermark | WatermarkStatus) -> None:
        self.admit(FenceEntry(fence, deque([fence])))


@breaks("WM-6")
class DropsRepeatedStatuses(AsyncWaitOperator):
    """Drops a status that equals the last status."""

    _last: WatermarkStatus | None = None

    def process_fence(self, fence: Watermark | WatermarkStatus) -> None:
        if fence == self._last:
            return
        if isinstance(fence, WatermarkStatus):
            self._last = fence
        super().process_fence(fence)


@breaks("WM-7", loop="trio")
class KeepsAStatusForTheNextElement(UnorderedQueue):
    """Emits a status only when an element follows it, and thus never on an idle stream."""

    def peek_ready(self) -> Entry | None:
        entry = super().peek_ready()
        is_status = entry is not None and isinstance(entry.element, WatermarkStatus)
        return None if is_status and len(self) == 1 else entry


@breaks("WM-1")
class HasRoomForEightSegments(UnorderedQueue):
    """Keeps at most eight segments, and adds all later elements to the last one."""

    _most = 8

    def segment_for(self, entry: Entry) -> Segment:
        if len(self.segments) < self._most:
            return super().segment_for(entry)
        return self.segments[-1]


@breaks("WM-5")
class LetsWatermarksPassStatuses(OrderedQueue):
    """Lets watermarks overtake statuses."""

    def put(self, entry: Entry) -> None:
        super().put(entry)
        later: list[Entry] = [self.entries.pop()]
        while (
            self.entries
            and isinstance(entry.element, Watermark)
            and isinstance(self.entries[-1].element, WatermarkStatus)
        ):
            later.insert(1, self.entries.pop())
        self.entries.extend(later)


@breaks("WM-3")
class TakesTheGreatestForTheEnd(AsyncWaitOperator):
    """Drops the greatest watermark, with which Flink's streams end."""

    def process_fence(self, fence: Watermark | WatermarkStatus) -> None:
        if fence != Watermark(_HIGHEST):
            super().process_fence(fence)


@breaks("WM-3")
class TakesTheLeastForNone(AsyncWaitOperator):
    """Drops the least watermark, with which its own event time begins."""

    def process_fence(self, fence: Watermark | WatermarkStatus) -> None:
        if fence != Watermark(_LOWEST):
            super().process_fence(fence)


@breaks("WM-3", behind="WM-1", why="a watermark that has changed is none of those that were due")
class KeepsEventTimeInFloats(AsyncWaitOperator):
    """Loses the last bits of event times beyond 2**53."""

    def process_fence(self, fence: Watermark | WatermarkStatus) -> None:
        if isinstance(fence, Watermark):
            fence = Watermark(min(int(float(fence.timestamp)), _HIGHEST))
        super().process_fence(fence)
