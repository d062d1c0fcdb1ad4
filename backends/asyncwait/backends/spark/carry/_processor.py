"""What Spark calls for each lane and micro-batch: visits."""

import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from hashlib import blake2b
from operator import itemgetter
from typing import Any

from pyspark import cloudpickle
from pyspark.sql import Row as SparkRow
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

from asyncwait.backends.spark.carry._client import HostClient, end_host
from asyncwait.backends.spark.carry._folder import HostFolder
from asyncwait.backends.spark.carry._reading import STATE, read_state
from asyncwait.backends.spark.carry._records import MOST_ROWS, packed_outcomes, set_aside, unpacked
from asyncwait.backends.spark.carry._work import CarryWork
from asyncwait.backends.spark.frame._paid import ENCODER
from asyncwait.backends.spark.frame._task import micro_batch
from asyncwait.spec import AsyncWaitError
from asyncwait.spec.carry import (
    Finished,
    LaneState,
    Row,
    VisitFailed,
    decode_lane,
    encode_lane,
)
from asyncwait.spec.texts import joined
from asyncwait.toolkit import Lane


class CarryFailed(AsyncWaitError):
    """A call has failed, and its micro-batch with it; another attempt calls again."""


class CarryProcessor(StatefulProcessor):  # type: ignore[misc]
    """Plays the visits of lanes.

    Args:
        job: the work, pickled.
    """

    def __init__(self, job: bytes) -> None:
        self._job = job

    def init(self, handle: Any) -> None:
        """Take note of where the state is."""
        self._handle = handle
        self._value = handle.getValueState(STATE, "state binary")
        self._visited: dict[Any, int] = {}
        """When rows last came, by lane: the stamp of their micro-batch."""

    def handleInitialState(self, key: Any, initialState: Any, timerValues: Any) -> None:
        """Leave restored rows as a micro-batch just before the first would have."""
        now = timerValues.getCurrentProcessingTimeInMs()
        lane, before = Lane(str(key[0]), self._work.terms), now - 1
        rows = unpacked(bytes(initialState.rows))
        self._leave(lane, lane.restored(before, rows), now)

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:
        """Visit a lane for which rows have come."""
        self._visited[key[0]] = timerValues.getCurrentProcessingTimeInMs()
        new = [row for each in rows for row in unpacked(bytes(each.rows))]
        return self._visit(key[0], self._in_order(new), timerValues)

    def handleExpiredTimer(
        self, key: Any, timerValues: Any, expiredTimerInfo: Any
    ) -> Iterator[Any]:
        """Visit a lane in flight, unless its micro-batch has brought it rows: it has been visited.

        A second visit would emit nothing, read and write the whole state, and wait once more.
        """
        del expiredTimerInfo
        if self._visited.get(key[0]) == timerValues.getCurrentProcessingTimeInMs():
            return iter(())
        return self._visit(key[0], (), timerValues)

    def close(self) -> None:
        """Do nothing: calls go on."""

    @cached_property
    def _work(self) -> CarryWork:
        return cloudpickle.loads(self._job)  # type: ignore[no-any-return]

    def _visit(self, name: Any, rows: Any, timer_values: Any) -> Iterator[Any]:
        now = timer_values.getCurrentProcessingTimeInMs()
        lane = Lane(str(name), self._work.terms)
        found = self._value.get()
        state = LaneState() if found is None else self._read(bytes(found[0]))
        out, after = self._played(lane, state, now, rows)
        self._leave(lane, after, now)
        set_aside()
        for start in range(0, len(out), MOST_ROWS):
            part = [each.result for each in out[start : start + MOST_ROWS]]
            yield SparkRow(rows=packed_outcomes(part), figures=None)
        figures = tuple(map(float, self._host().figures))
        yield SparkRow(rows=None, figures=figures or None)

    def _played(
        self, lane: Lane, state: LaneState, now: int, rows: Any
    ) -> tuple[Sequence[Finished], LaneState]:
        try:
            return lane.visit(state, now, rows, self._host().after(state.stamp, now))
        except VisitFailed as error:
            return self._failed(lane, state, now, error)

    def _failed(
        self,
        lane: Lane,  # noqa: ARG002 - for who goes on
        state: LaneState,  # noqa: ARG002
        now: int,  # noqa: ARG002
        error: VisitFailed,
    ) -> tuple[Sequence[Finished], LaneState]:
        """Fail the task, in whose place another one calls again.

        Raises:
            CarryFailed: always; the traceback of the cause stands behind the mark of foreign text.
        """
        raise CarryFailed(joined([error.reason])) from None

    def _read(self, data: bytes) -> LaneState:
        """Return a state.

        Raises:
            CarryFailed: its rows have other columns than those of today.
        """
        columns, lane = read_state(data)
        if columns != self._work.columns:
            raise CarryFailed(
                f"the state has rows with other columns: {columns}; now they are "
                f"{self._work.columns}; let a stream with the old ones run until nothing is in "
                "flight, or begin with a new checkpoint"
            )
        return decode_lane(lane)

    def _leave(self, lane: Lane, state: LaneState, now: int) -> None:
        if not lane.wants_timer(state):
            self._value.clear()
            return
        self._value.update((ENCODER.encode((self._work.columns, encode_lane(state))),))
        pause = self._work.pause
        # Timers of one pause are one timer, however many visits ask for it.
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
        work = self._work
        names = _digest(query + work.operator), _digest(work.settings)
        return client(*names, self._job, work.patience)


def _order_of(cells: tuple[Any, ...]) -> list[tuple[int, Any]]:
    """Return a row's place among those of its batch: nulls come first, and NaN last."""
    return [(0, 0) if each is None else (2, 0) if each != each else (1, each) for each in cells]  # noqa: PLR0124 - NaN alone


_clients: dict[tuple[int, str], HostClient] = {}


def client(operator: str, settings: str, job: bytes, patience: float = 30.0) -> HostClient:
    """Return this process's connection to the host of an operator.

    One with other settings, from before the query was started again, ends: it would go on to call.
    """
    which = (os.getpid(), f"{operator}-{settings}")
    if which not in _clients:
        folder = HostFolder.named(which[1])
        for other in folder.path.parent.glob(f"{operator}-*"):
            if other != folder.path:
                end_host(HostFolder(other))
        _clients[which] = HostClient(folder, job, patience)
    return _clients[which]


def _digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=8).hexdigest()
