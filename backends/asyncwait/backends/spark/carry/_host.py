"""The call host: it keeps the calls of all lanes of a job on one machine between micro-batches."""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import cached_property
from traceback import format_exception

import msgspec
import pyarrow as pa
from msgspec import Struct
from msgspec.structs import replace

from asyncwait.backends.journal import Attempt, key_of
from asyncwait.backends.spark.carry._opening import CalledRow, Done, HostOpening
from asyncwait.backends.spark.carry._records import OutcomeCodec, RowCodec
from asyncwait.backends.spark.frame._rows import FrameRows, Shape
from asyncwait.backends.spark.frame._task import Enrichment
from asyncwait.backends.streams import CallTable
from asyncwait.spec import Statistics
from asyncwait.spec.carry import Failed, Identity, InFlight, Outcome, Terms, Visit
from asyncwait.spec.texts import joined, one_line, shortened
from asyncwait.toolkit import Bell

_LONGEST = 20_000
"""Largest number of characters of a traceback in the answer to a visit."""


class _Feed:
    """The rows to call, of all lanes, as the source of an operator."""

    def __init__(self) -> None:
        self._rows: deque[CalledRow] = deque()
        self._bell = Bell()
        self._closed = False
        self.under_way = 0
        """Rows that the operator has taken and not returned."""

    @property
    def is_idle(self) -> bool:
        return not (self._rows or self.under_way)

    def put(self, row: CalledRow) -> None:
        self._rows.append(row)
        self._bell.ring()

    def __aiter__(self) -> "_Feed":
        return self

    async def __anext__(self) -> CalledRow:
        while not self._closed:
            while self._rows:
                if (row := self._rows.popleft()).is_wanted:
                    self.under_way += 1
                    return row
            await self._bell.wait()
        raise StopAsyncIteration

    async def aclose(self) -> None:
        self._closed = True
        self._bell.ring()

    def join(self) -> None:
        """Return at once: the feed reads no input."""


class CarryWork(Struct, frozen=True, dict=True):
    """The work of a job whose calls stay in flight.

    Args:
        task: the function and its options.
        order_by: places of the columns by which rows of a micro-batch are ordered.
        pause: milliseconds after which a lane in flight is visited again.
        lease: seconds that a host goes on without a visit.
        columns: of rows and of results, in words.
        operator: distinguishes it from other operators of its query.
        about: all settings that change the call or its result, by name; digests of long ones.
        lanes: the number of lanes; None for as many as the checkpoint has partitions.
        patience: seconds that a visit waits while the event loop of its host stands still.
    """

    task: Enrichment
    travelling: pa.Schema
    order_by: Sequence[int]
    terms: Terms
    pause: int
    lease: float
    columns: str
    operator: str
    about: Mapping[str, str]
    lanes: int | None = None
    patience: float = 30.0

    @cached_property
    def records(self) -> RowCodec:
        return RowCodec(self.travelling)

    @cached_property
    def outcomes(self) -> OutcomeCodec:
        names = self.travelling.names
        kept = [names.index(name) for name in self.task.shape.carried]
        return OutcomeCodec(self.records, kept, self.task.written.results)

    @cached_property
    def _named(self) -> Shape:
        """The shape, with errors that name rows by their values, because they have no place."""
        shape = self.task.shape
        given = (shape.given,) if isinstance(shape.given, str) else shape.given
        return replace(shape, key=shape.key or given)

    def rows(self, visit: Visit, items: Sequence[InFlight]) -> list[CalledRow]:
        """Return the records that a visit wants called as arguments of the function."""
        batch = self.records.batch(self.records.decode(item.record for item in items))
        decoded = FrameRows(self._named).decode(batch)
        lane, version = visit.lane, visit.terms.version
        return [
            CalledRow(
                row.value, row.batch, row.index, row.name, lane=lane, version=version, item=item
            )
            for row, item in zip(decoded, items, strict=True)
        ]

    def host(self, name: str) -> "CallHost":
        """Return the host of this work, on the running loop; its folder has the same name."""
        return CallHost(self, name)


class CallHost:
    """Holds calls and results of lanes, until no visit wants them any more.

    It is used on one event loop.

    Args:
        name: of the host, the same for each host that this one replaces.
    """

    def __init__(self, work: CarryWork, name: str) -> None:
        self._work = work
        self._name = name
        self._closing = ExitStack()
        self._attempt: Attempt | None = None
        if (journal := work.task.options.journal) is not None:
            self._attempt = self._closing.enter_context(journal.attempt(f"host-{name}"))
        self._table = CallTable(self._begin, CalledRow.cancel)
        self._rows: dict[str, dict[Identity, CalledRow]] = {}
        self._feed = _Feed()
        self._changed = asyncio.Event()
        self._broken: BaseException | None = None
        self.statistics: Callable[[], Statistics] = Statistics
        """Returns the figures of its operator."""
        self.is_open = False
        self._runs = asyncio.create_task(self._run())

    async def visit(self, visit: Visit) -> Sequence[tuple[Identity, Outcome]]:
        """Return the outcomes that a visit wants; see `asyncwait.spec.carry.Host`.

        Raises:
            BaseException: the function, or its `open`, has broken the operator.
        """
        loop = asyncio.get_running_loop()
        until = loop.time() + visit.terms.budget
        self._read(visit)
        served = self._table.begin(visit)
        try:
            while not served.is_over(is_late=(left := until - loop.time()) <= 0):
                if self._broken is not None:
                    raise self._broken
                await self._wait(left if left > 0 else None)
            if self._broken is not None and len(served.finished) < len(visit.wanted):
                raise self._broken
        except BaseException:
            self._table.abandon(served)
            raise
        return [*self._table.answer(served).items()]

    def figures(self) -> Sequence[float]:
        """Return `asyncwait.backends.spark.carry._records.FIGURES`."""
        told = self.statistics()
        waiting = max(told.waiting_for_permits, default=0)
        counted = told.calls, told.retries, told.failures_handled
        return told.in_flight, told.oldest, *counted, waiting

    async def _wait(self, seconds: float | None) -> None:
        changed = self._changed
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await changed.wait()

    def _begin(self, lane: str, version: str, item: InFlight) -> CalledRow:
        rows = self._rows.get(lane, {})
        row = rows.pop(item.identity, None)
        self._keep(lane, rows)
        if row is None:  # The call failed, and a visit wants it again.
            terms = Terms(version)
            (row,) = self._made(Visit(lane, terms, (item,)), (item,))
        self._feed.put(row)
        return row

    def _read(self, visit: Visit) -> None:
        """Make rows of the records of a visit: all at once takes a tenth of the time."""
        rows, held = self._rows.get(visit.lane, {}), self._table.held(visit.lane)
        known = rows.keys() | held
        new = [item for item in visit.wanted if item.identity not in known]
        wanted = {item.identity for item in visit.wanted}
        kept = {identity: row for identity, row in rows.items() if identity in wanted}
        made = zip(new, self._made(visit, new), strict=True) if new else ()
        self._keep(visit.lane, kept | {item.identity: row for item, row in made})

    def _keep(self, lane: str, rows: dict[Identity, CalledRow]) -> None:
        if rows:
            self._rows[lane] = rows
        else:
            self._rows.pop(lane, None)

    def _made(self, visit: Visit, items: Sequence[InFlight]) -> list[CalledRow]:
        rows = self._work.rows(visit, items)
        if self._attempt is not None:
            for row, item in zip(rows, items, strict=True):
                row.key = key_of("carry 1", self._name, visit.lane, *item.identity)
            found = self._attempt.outcomes([row.key for row in rows])
            for row, entry in zip(rows, found, strict=True):
                row.found = entry
        return rows

    async def _run(self) -> None:
        try:
            opening = HostOpening(self._work.task, self._attempt)
            async with opening.on(self._feed) as results:
                self.statistics = results.statistics
                self.is_open = True
                self._tell()
                async for done in results:
                    self._complete(done)
        except BaseException as error:
            self._broken = error
            self._tell()
            raise

    @property
    def is_broken(self) -> bool:
        return self._broken is not None

    def _complete(self, done: Done) -> None:
        row = done.row
        self._feed.under_way -= 1
        if not row.is_wanted:
            return
        assert row.item is not None
        outcome = done.outcome if done.error is None else Failed(_told(done.error))
        self._table.completed(row.lane, row.version, row.item.identity, row, outcome)
        self._tell()

    def _tell(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def aclose(self) -> None:
        """End all calls.

        Raises:
            BaseException: closing the function has raised; earlier errors answer visits.
        """
        told = self._broken
        if self.is_open and self._feed.is_idle:
            await self._feed.aclose()  # So an error of closing is raised.
        else:
            self._runs.cancel()
        with self._closing:
            try:
                await self._runs
            except asyncio.CancelledError:
                if (task := asyncio.current_task()) is not None and task.cancelling():
                    raise
            except BaseException:
                if told is None:
                    raise


def _told(error: BaseException) -> str:
    cause = error.__cause__
    text = one_line(error, 2_000)
    if cause is None:
        return text
    try:
        behind = "".join(format_exception(cause))
    except Exception as odd:  # A note, or a cause of the cause, may raise itself.
        behind = f"its traceback can't be told: {one_line(odd)}"
    return joined([f"{text}\n{_encodable(shortened(behind, _LONGEST))}"])


def broken_text(error: BaseException) -> str:
    """Return the answer to a visit of a host that can't go on."""
    return _encodable(f"{type(error).__name__}: {one_line(error, 2_000)}")


def _encodable(text: str) -> str:
    return text.encode(errors="backslashreplace").decode()


class Asked(Struct, frozen=True, array_like=True):
    """A visit; None instead of it ends the host.

    Args:
        gap: milliseconds since the last visit of its lane; 0 for the first.
    """

    visit: Visit
    gap: int = 0


class Sign(Struct, frozen=True, array_like=True):
    """A sign of life.

    Args:
        still: seconds since the event loop has turned.
        frames: of the user's functions that block the loop, innermost first; empty if none does.
    """

    still: float
    frames: Sequence[str] = ()


class Answer(Struct, frozen=True, array_like=True):
    """The answer of a host.

    Args:
        broken: the reason why the host can't go on; None if it can.
        figures: of the host; see `asyncwait.backends.spark.carry._records.FIGURES`.
    """

    outcomes: Sequence[tuple[Identity, Outcome]] = ()
    broken: str | None = None
    figures: Sequence[float] = ()


read_question = msgspec.msgpack.Decoder(Asked | None).decode
read_sign = msgspec.msgpack.Decoder(Sign).decode
read_answer = msgspec.msgpack.Decoder(Answer).decode
