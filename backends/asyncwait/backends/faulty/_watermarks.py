"""WM: operators for which watermarks and statuses are no fences."""

from collections import deque
from itertools import pairwise

from asyncwait.backends.faulty._gallery import Faulty
from asyncwait.reference import Entry, FenceEntry, Operator, Segment, UnorderedQueue
from asyncwait.spec import Watermark, WatermarkStatus


class PutsWatermarksAmongRecords(UnorderedQueue):
    """Takes a watermark for one more finished element of the segment, which comes out at once."""

    def _segment_for(self, entry: Entry) -> Segment:
        if self._segments and isinstance(entry.element, Watermark):
            return self._segments[-1]
        return super()._segment_for(entry)


class CountsItsOwnEpochOnly(UnorderedQueue):
    """Releases a watermark when no call of its own epoch runs, though older epochs have some."""

    def peek_ready(self) -> Entry | None:
        entry = super().peek_ready()
        for epoch, fence in pairwise(self._segments):
            if entry is None and fence.is_fence and len(epoch.ready) == len(epoch.entries):
                entry = fence.ready[0]
        return entry


class HasOneSidedFences(UnorderedQueue):
    """Lets records that are decided pass the fences before them: only fences wait for records."""

    def peek_ready(self) -> Entry | None:
        passing = (s.ready[0] for s in self._segments if s.ready and not s.is_fence)
        return super().peek_ready() or next(passing, None)


class DropsWatermarksThatDoNotAdvance(Operator):
    """Swallows a watermark that is not greater than the last, as if the operator made them."""

    _highest: int | None = None

    async def _process_fence(self, fence: Watermark | WatermarkStatus) -> None:
        if isinstance(fence, Watermark):
            if self._highest is not None and fence.timestamp <= self._highest:
                self._leave_backlog()
                return
            self._highest = fence.timestamp
        await super()._process_fence(fence)


class WakesNobodyForAFence(Operator):
    """Puts a watermark into the queue and tells nobody: it comes out with the next result."""

    async def _process_fence(self, fence: Watermark | WatermarkStatus) -> None:
        await self._wait_for_room()
        self._admit(FenceEntry(fence, deque([fence])))


class LetsAStatusOvertake(Operator):
    """Passes a status on at once, past the records and watermarks that wait, as Flink 2.3 does."""

    async def _process_fence(self, fence: Watermark | WatermarkStatus) -> None:
        if isinstance(fence, WatermarkStatus):
            self._leave_backlog()
            self._output.put_ahead(fence)
        else:
            await super()._process_fence(fence)


class DropsRepeatedStatuses(Operator):
    """Swallows a status that says what the last one said."""

    _last: WatermarkStatus | None = None

    async def _process_fence(self, fence: Watermark | WatermarkStatus) -> None:
        if fence == self._last:
            self._leave_backlog()
            return
        if isinstance(fence, WatermarkStatus):
            self._last = fence
        await super()._process_fence(fence)


class KeepsAStatusForTheNextElement(UnorderedQueue):
    """Lets a status out only when something stands behind it; on a stream that is idle, never."""

    def peek_ready(self) -> Entry | None:
        entry = super().peek_ready()
        is_status = entry is not None and isinstance(entry.element, WatermarkStatus)
        return None if is_status and len(self) == 1 else entry


FAULTY: tuple[Faulty, ...] = (
    Faulty(PutsWatermarksAmongRecords, rule="WM-1"),
    Faulty(CountsItsOwnEpochOnly, rule="WM-1"),
    Faulty(HasOneSidedFences, rule="WM-2"),
    Faulty(DropsWatermarksThatDoNotAdvance, rule="WM-3"),
    Faulty(WakesNobodyForAFence, rule="WM-4"),
    Faulty(LetsAStatusOvertake, rule="WM-5"),
    Faulty(DropsRepeatedStatuses, rule="WM-6"),
    Faulty(KeepsAStatusForTheNextElement, rule="WM-7", loop="trio"),
)
