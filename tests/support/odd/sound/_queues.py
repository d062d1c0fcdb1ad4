"""Workers that do a job each, and queues: of jobs, of what is decided, of what may go out."""

import asyncio
import math
from collections import deque
from dataclasses import dataclass
from itertools import count
from typing import Any

from asyncwait.spec import Element, Record, Snapshot, Stored
from odd.sound._asyncio_shell import AsyncioShell
from odd.sound._contract import Entry, passed_on

_GRACE, _TURNS = 0.01, 8
"""A cancelled call has so many seconds to end in, and then so many turns of the loop."""

_REQUESTED, _AHEAD, _IN_TURN = range(3)
"""Ranks in the queue to the consumer; what is of one rank comes in the order of its sending."""


@dataclass(slots=True, eq=False)
class _Job(Entry):
    """A record or a fence that was admitted."""

    worker: "asyncio.Task[None] | None" = None
    """Who runs its call, while that runs."""


class WorksThroughQueues(AsyncioShell):
    """Hires workers that take a job each from a queue, and a sorter that fills another."""

    async def _start(self) -> None:
        await super()._start()
        self._room = asyncio.Semaphore(self._config.capacity)
        self._passing = asyncio.Semaphore(self._config.capacity)  # for what takes no room
        self._jobs: asyncio.Queue[tuple[_Job, Record]] = asyncio.Queue()
        self._done: asyncio.Queue[_Job | None] = asyncio.Queue()
        self._late: asyncio.Queue[tuple[float, _Job]] = asyncio.Queue()
        self._out: asyncio.PriorityQueue[tuple[int, int, _Job | Element | None]]
        self._out, self._numbers = asyncio.PriorityQueue(), count()
        self._inside: dict[_Job, None] = {}  # sets that keep their order: not gone, not sent
        self._line: dict[_Job, None] = {}
        self._open: _Job | None = None  # handed out in part
        self._called = asyncio.Event()
        self._idle = 0
        work = (self._read, self._sort, self._keep_deadlines, self._count_abandoned)
        self._tasks = {self._loop.create_task(each()) for each in work}
        self._spared: set[asyncio.Task[None] | None] = set()  # nobody may cancel these again

    def _finish(self, error: BaseException | None) -> None:
        self._end = self._end or (error,)
        self._send(_REQUESTED, None)
        for task in self._tasks - self._spared:
            self._spared.add(task)
            task.cancel()

    def _working(self) -> "set[asyncio.Future[Any]]":
        return set(self._tasks)

    # From the source

    async def _read(self) -> None:
        try:
            await self._admit_backlog()
            self._source_end = (await self._source.read(self._take_in, self._is_cancelled),)
            self._done.put_nowait(None)
        finally:
            self._spared.add(asyncio.current_task())
            await self._source.close()

    async def _take_in(self, element: Element) -> None:
        if isinstance(element, Stored):
            self._backlog.append(element)
            await self._admit_backlog()
        else:
            await self._passing.acquire()
            self._send(_AHEAD, passed_on(element, self._held()))

    async def _admit_backlog(self) -> None:
        while self._backlog:
            await self._room.acquire()
            job = _Job(self._backlog.popleft())
            self._inside[job] = self._line[job] = None
            if isinstance(job.element, Record):
                self._most = max(self._most, len(self._records()))
                self._jobs.put_nowait((job, job.element))
                self._hire()
            else:
                job.outputs = deque([job.element])
                self._done.put_nowait(job)

    # The workers

    def _hire(self) -> None:
        if self._jobs.qsize() > self._idle:
            self._idle += 1
            worker = self._loop.create_task(self._work())
            self._tasks.add(worker)
            worker.add_done_callback(self._tasks.discard)
            worker.add_done_callback(self._spared.discard)

    async def _work(self) -> None:
        """Do one job: whoever keeps hold of this task may cancel it later (FAIL-12)."""
        job, record = await self._jobs.get()
        self._idle -= 1
        job.worker = asyncio.current_task()
        try:
            await self._do(job, record)
        finally:
            job.worker = None

    async def _do(self, job: _Job, record: Record) -> None:
        self._calls += 1
        if self._config.timeout is not None:
            job.deadline = self._loop.time() + self._config.timeout
            self._called.set()
        try:
            await self._answer(record, job.reply)
        except asyncio.CancelledError:
            if job.outputs is None:
                raise
            return
        if job.outputs is None and self._end is None:
            if job.reply.came_by(job.deadline):
                self._answered(job)
            else:
                self._expire(job)

    # Decisions

    def _decided(self, entry: Entry) -> None:
        assert isinstance(entry, _Job)
        self._done.put_nowait(entry)

    async def _keep_deadlines(self) -> None:
        """Sleep until the first open deadline; they come in the order of the calls."""
        while True:
            self._called.clear()
            when = next((job.deadline for job in self._inside if job.outputs is None), math.inf)
            if when == math.inf:
                await self._called.wait()
                continue
            await asyncio.sleep(when - self._loop.time())
            for job in list(self._inside):
                if job.outputs is not None or not isinstance(job.element, Record):
                    continue
                is_due = job.deadline <= max(when, self._loop.time())
                if is_due and not job.reply.came_by(job.deadline):
                    self._expire(job)

    def _expire(self, entry: Entry) -> None:
        assert isinstance(entry, _Job)
        if self._end is not None:
            return
        if entry.worker is not None and entry.worker is not asyncio.current_task():
            self._spared.add(entry.worker)
            entry.worker.cancel()
            self._late.put_nowait((self._loop.time() + _GRACE, entry))
        super()._expire(entry)

    async def _count_abandoned(self) -> None:
        """Look at each call that was cancelled, after it had its turn to end."""
        abandoned: list[_Job] = []
        while True:
            when, job = await self._late.get()
            await asyncio.sleep(when - self._loop.time())
            for _ in range(_TURNS):
                await asyncio.sleep(0)
            if job.worker is not None:
                abandoned = [*(other for other in abandoned if other.worker is not None), job]
                self._abandon(len(abandoned))

    async def _sort(self) -> None:
        """Send what may go out, until the input has ended and everything is sent."""
        is_read = False
        while self._line or not is_read:
            is_read |= await self._done.get() is None
            waits = False
            for job in list(self._line):
                waits |= job.outputs is None
                if waits and (
                    self._config.mode == "ordered" or not isinstance(job.element, Record)
                ):
                    break
                if job.outputs is not None:
                    del self._line[job]
                    self._send(_IN_TURN, job)
        self._send(_IN_TURN, None)

    # To the consumer

    def _send(self, rank: int, parcel: _Job | Element | None) -> None:
        self._out.put_nowait((rank, next(self._numbers), parcel))

    async def _take(self) -> Element:
        while self._end is None:
            if self._open is not None:
                return self._hand_out(self._open)
            rank, _, parcel = await self._out.get()
            if rank == _AHEAD:
                self._passing.release()
            if (element := self._unpack(parcel)) is not None:
                return element
        raise self._final()

    def _unpack(self, parcel: _Job | Element | None) -> Element | None:
        if self._end is not None:
            return None
        if parcel is None:
            self._finish(*(self._source_end or (None,)))
            return None
        if not isinstance(parcel, _Job):
            return parcel
        if parcel.outputs:
            return self._hand_out(parcel)
        self._let_go(parcel)
        return None

    def _hand_out(self, job: _Job) -> Element:
        element = self._part_of(job)
        self._open = job if job.outputs else None
        if not job.outputs:
            self._let_go(job)
        return element

    def _let_go(self, job: _Job) -> None:
        del self._inside[job]
        self._room.release()

    def _put_first(self, snapshot: Snapshot) -> None:
        self._send(_REQUESTED, snapshot)
