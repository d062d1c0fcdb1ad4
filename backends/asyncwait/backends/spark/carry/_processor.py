"""What Spark calls for each lane and micro-batch: visits."""

import os
from collections.abc import Iterator
from functools import cached_property
from hashlib import blake2b
from operator import itemgetter
from typing import Any

from pyspark import cloudpickle
from pyspark.sql import Row as SparkRow
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

from asyncwait.backends.spark.carry._client import HostClient
from asyncwait.backends.spark.carry._folder import HostFolder
from asyncwait.backends.spark.carry._records import MOST_ROWS, packed_outcomes, unpacked
from asyncwait.backends.spark.carry._work import CarryWork
from asyncwait.backends.spark.frame._task import micro_batch, require_text
from asyncwait.spec import AsyncWaitError
from asyncwait.spec.carry import LaneState, Row, VisitFailed, decode_lane, encode_lane
from asyncwait.toolkit import Lane

STATE = "lane"
"""The name of the state's one value."""


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
        state = LaneState() if found is None else decode_lane(bytes(found[0]))
        try:
            out, after = lane.visit(state, now, rows, self._host().after(state.stamp, now))
        except VisitFailed as error:
            failed = CarryFailed(error.reason)
            require_text(failed)
            raise failed from None
        self._leave(lane, after, now)
        for start in range(0, len(out), MOST_ROWS):
            part = [each.result for each in out[start : start + MOST_ROWS]]
            yield SparkRow(rows=packed_outcomes(part))

    def _leave(self, lane: Lane, state: LaneState, now: int) -> None:
        """Leave the state for the next visit, and see to it that there is one."""
        if not lane.wants_timer(state):
            self._value.clear()
            return
        self._value.update((encode_lane(state),))
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
        told = (query, self._work.columns, self._work.terms.version, self._work.terms.mode)
        return client(blake2b(repr(told).encode(), digest_size=8).hexdigest(), self._job)


def _order_of(cells: tuple[Any, ...]) -> list[tuple[bool, Any]]:
    """Return a row's place among those of its batch; nulls come first."""
    return [(cell is not None, cell) for cell in cells]


_clients: dict[tuple[int, str], HostClient] = {}


def client(name: str, job: bytes) -> HostClient:
    """Return this process's connection to a host."""
    which = (os.getpid(), name)
    if which not in _clients:
        _clients[which] = HostClient(HostFolder.named(name), job)
    return _clients[which]
