"""The visits: Spark calls them for each lane and micro-batch."""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache, cached_property
from hashlib import blake2b
from operator import itemgetter
from typing import Any

from msgspec.structs import replace
from pyspark import TaskContext, cloudpickle
from pyspark.sql import Row as SparkRow
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

from asyncwait.backends.spark.carry._client import HostClient, HostFolder, NoCallHost, end_host
from asyncwait.backends.spark.carry._host import CarryWork
from asyncwait.backends.spark.carry._reading import STATE, StateHeld, read_state
from asyncwait.backends.spark.carry._records import (
    MOST_ROWS,
    TRIGGER,
    is_first,
    partitions_here,
    set_aside,
    unpacked,
)
from asyncwait.backends.spark.frame._journal import ENCODER
from asyncwait.backends.spark.frame._task import micro_batch
from asyncwait.backends.streams import Lane
from asyncwait.spec import AsyncWaitError
from asyncwait.spec.carry import (
    Finished,
    LanesChanged,
    LaneState,
    Row,
    VisitFailed,
    decode_lane,
    encode_lane,
)
from asyncwait.spec.texts import joined

OPT_IN = "version"
"""The setting by which a user allows changes of other settings."""

ORDERING = ("lane_by", "key", "mode")
"""The settings that no new version may change: rows would overtake earlier rows of their key."""

_OR_DRAIN = ", or finish what is in flight first (asyncwait.backends.spark.drain)"


class CarryFailed(AsyncWaitError):
    """A call has failed, and its micro-batch with it; another attempt calls again."""


class CarryProcessor(StatefulProcessor):  # type: ignore[misc]
    """Plays the visits of lanes."""

    _needs_rows = True
    """Whether an empty lane is visited only for rows."""

    def __init__(self, job: bytes) -> None:
        self._job = job

    def init(self, handle: Any) -> None:
        self._handle = handle
        self._value = handle.getValueState(STATE, "state binary")
        self._visited: dict[Any, int] = {}
        """The stamp of the last micro-batch with rows, by lane."""
        self._replaces = False
        """Whether rows in flight are called again with other settings, as the user allows."""

    def handleInitialState(self, key: Any, initialState: Any, timerValues: Any) -> None:
        """Store restored rows as a micro-batch just before the first would have."""
        now = timerValues.getCurrentProcessingTimeInMs()
        lane, before = self._lane_of(key[0]), now - 1
        rows = unpacked(bytes(initialState.rows))
        self._leave(lane, lane.restored(before, rows), now)

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:
        self._visited[key[0]] = timerValues.getCurrentProcessingTimeInMs()
        new = [row for each in rows for row in unpacked(bytes(each.rows))]
        return self._visit(key[0], new, timerValues)

    def handleExpiredTimer(
        self, key: Any, timerValues: Any, expiredTimerInfo: Any
    ) -> Iterator[Any]:
        """Visit a lane in flight, unless its micro-batch has brought rows and visited it.

        A second visit would emit nothing, read and write the complete state, and wait once more.
        """
        del expiredTimerInfo
        if self._visited.get(key[0]) == timerValues.getCurrentProcessingTimeInMs():
            return iter(())
        return self._visit(key[0], [], timerValues)

    def close(self) -> None:
        """Do nothing: calls go on."""

    @cached_property
    def _work(self) -> CarryWork:
        return cloudpickle.loads(self._job)  # type: ignore[no-any-return]

    def _visit(self, name: Any, rows: Any, timer_values: Any) -> Iterator[Any]:
        now = timer_values.getCurrentProcessingTimeInMs()
        _require_trigger()
        lane, found = self._lane_of(name), self._value.get()
        if found is None and self._needs_rows and not rows:
            return
        state = LaneState() if found is None else self._read(lane, bytes(found[0]))
        gap = 0 if state.stamp is None else now - state.stamp
        try:
            out, after = lane.visit(state, now, self._in_order(rows), self._host().after(gap))
        except VisitFailed as error:
            out, after = self._failed(lane, state, now, error)
        self._leave(lane, after, now)
        set_aside()
        for start in range(0, len(out), MOST_ROWS):
            part = [each.result for each in out[start : start + MOST_ROWS]]
            yield SparkRow(rows=ENCODER.encode(part), figures=None)
        figures = tuple(map(float, self._host().figures))
        yield SparkRow(rows=None, figures=figures or None)

    def _failed(
        self,
        lane: Lane,  # noqa: ARG002 - for who goes on
        state: LaneState,  # noqa: ARG002
        now: int,  # noqa: ARG002
        error: VisitFailed,
    ) -> tuple[tuple[Finished, ...], LaneState]:
        """Fail the task; another attempt calls again.

        Raises:
            CarryFailed: always; the traceback of the cause is behind the mark of foreign text.
        """
        raise CarryFailed(joined([error.reason])) from None

    def _read(self, lane: Lane, data: bytes) -> LaneState:
        """Return the state of a lane.

        Raises:
            CarryFailed: its rows have other columns than the present ones, or came in with other
                lanes, or were called with other settings.
        """
        held, about = read_state(data), self._work.about
        if held.columns != self._work.columns:
            raise CarryFailed(
                f"the state has rows with other columns: {held.columns}; now they are "
                f"{self._work.columns}. Keep the old ones{_OR_DRAIN}"
            )
        state = decode_lane(held.lane)
        changed = [name for name, was in held.about.items() if about.get(name, was) != was]
        if ordering := [name for name in changed if name in ORDERING]:
            raise CarryFailed(
                f"rows are in flight that came with another {' and '.join(ordering)}: a row would "
                f"overtake earlier rows of its key. Keep the mode, the key and lane_by{_OR_DRAIN}"
            )
        if changed and state.in_flight and not (OPT_IN in changed and about[OPT_IN]):
            raise CarryFailed(
                f"rows are in flight that were called with {_changes(changed, held.about, about)}: "
                f"they would be called again. Keep what was there{_OR_DRAIN}, or allow these calls "
                "with another Carry(version=...)"
            )
        try:
            lane.require_lanes(state)
        except LanesChanged as error:
            raise CarryFailed(
                f"{error}; a row would overtake earlier ones of its key. Keep "
                f"Carry(lanes={error.before}){_OR_DRAIN}"
            ) from None
        self._replaces |= bool(changed)
        return state

    def _leave(self, lane: Lane, state: LaneState, now: int) -> None:
        if not lane.wants_timer(state):
            self._value.clear()
            return
        held = StateHeld(self._work.columns, encode_lane(state), dict(self._work.about))
        self._value.update((ENCODER.encode(held),))
        pause = self._work.pause
        # Timers of one pause are one timer, however many visits set it.
        self._handle.registerTimer((now // pause + 1) * pause)

    def _in_order(self, rows: list[Row]) -> list[Row]:
        work = self._work
        if not work.order_by:
            return rows
        decoded = work.records.decode(row.record for row in rows)
        keys = [_order_of(itemgetter(*work.order_by, work.order_by[0])(each)) for each in decoded]
        return [row for _, row in sorted(zip(keys, rows, strict=True), key=itemgetter(0))]

    def _host(self) -> HostClient:
        query, _, _ = micro_batch().partition(" ")
        settings = repr(sorted(self._work.about.items()))
        operator = digest(query)[:8] + digest(self._work.operator)[:8]
        if self._replaces or not is_first():
            end_others(operator, digest(settings))
        return client(operator, digest(settings), self._job, self._work.patience)

    def _lane_of(self, name: Any) -> Lane:
        lanes = self._work.lanes or partitions_here()
        return Lane(str(name), replace(self._work.terms, lanes=lanes))


def _changes(names: list[str], before: Mapping[str, str], now: Mapping[str, str]) -> str:
    """Return the changed settings, with the values where the state has them; see `in_short`."""
    told = []
    for name in names:
        values = before[name], now.get(name, "")
        was, new = ("unknown" if each.startswith("#") else each or "none" for each in values)
        text = f"{'other' if name.endswith('s') else 'another'} {name}"
        told.append(text if was == new else f"{text} ({was}, now {new})")
    return " and ".join(told)


def _require_trigger() -> None:
    """Refuse a trigger that ends before calls do, or never.

    Raises:
        CarryFailed: the query has such a trigger.
    """
    context = TaskContext.get()
    if context is not None and (given := context.getLocalProperty(TRIGGER)):
        ends = "never ends" if "Now" in given else "ends before its calls do"
        raise CarryFailed(
            f"with carry, a query with trigger({given}) {ends}. Use trigger(processingTime=...), "
            "and asyncwait.backends.spark.drain to finish what is in flight"
        )


def _order_of(cells: tuple[Any, ...]) -> list[tuple[int, Any]]:
    """Return a row's place within its batch: nulls come first, and NaN last."""
    return [(0, 0) if each is None else (2, 0) if each != each else (1, each) for each in cells]  # noqa: PLR0124 - NaN alone


_clients: dict[tuple[int, str], HostClient] = {}


def client(operator: str, settings: str, job: bytes, patience: float = 30.0) -> HostClient:
    which = (os.getpid(), f"{operator}-{settings}")
    if which not in _clients:
        _clients[which] = HostClient(HostFolder.named(which[1]), job, patience)
    found = _clients[which]
    found.job, found.patience = job, patience  # An earlier query may have used other ones.
    return found


@cache
def end_others(operator: str, settings: str) -> None:
    """End the hosts of an operator with other settings: they would go on to call.

    In the first micro-batch of a run another lane may still refuse the new settings, and then these
    hosts go on.
    """
    mine = HostFolder.named(f"{operator}-{settings}").path
    for other in mine.parent.glob(f"{operator}-*"):
        if other != mine:
            end_host(HostFolder(other))


def end_all(query: str) -> None:
    """End the hosts of a query that does not run: they would go on to call."""
    with suppress(NoCallHost):
        for each in HostFolder.named("").path.glob(f"{digest(query)[:8]}*-*"):
            end_host(HostFolder(each))


def in_short(text: str) -> str:
    """Return a setting as the state stores it: a short text unchanged, else `#` and a digest."""
    is_short = len(text) < 16 and text.isprintable() and not text.startswith("#")  # noqa: PLR2004
    return text if is_short else f"#{digest(text)[:8]}"


def digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=8).hexdigest()
