"""Options of calls that stay in flight."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from asyncwait.spec import InvalidConfig
from asyncwait.spec.checks import is_number, require_whole
from asyncwait.spec.texts import shown


class Carry(Struct, frozen=True, kw_only=True):
    """Keeps calls of a streaming DataFrame in flight from one micro-batch to the next.

    The stream is divided into lanes. A micro-batch visits each lane: it brings rows, waits for
    `budget` seconds, and leaves the calls to a process of their own, the call host. Results that
    finish later come out with the next micro-batch.

    Args:
        lanes: number of lanes; each is one task, and one value in the state. None for the
            number of shuffle partitions of the session, which is also the largest number.
        lane_by: columns whose equal values share a lane; None for the `key` in key-ordered mode,
            and otherwise for all columns of the row that Spark can hash.
        order_by: columns by which rows of a micro-batch are ordered within their lane, for example
            the offset of a message. Micro-batches follow each other. Required in ordered and
            key-ordered mode.
        budget: seconds that a micro-batch waits for results. It waits longer only until at most
            `capacity` rows of its lane are in flight; in ordered mode, rows behind a slow row
            count, finished or not. A `batch` waits no longer to be full, either.
        pause: seconds after which a lane in flight is visited without rows, too.
        event_time: the column of event times, a timestamp; required with `skew`.
        skew: seconds by which rows in flight may lag the newest row of their lane. A micro-batch
            waits for rows that lag more, so that no row is late for a watermark behind the operator
            with a longer delay. None for no bound.
        lease: seconds that a call host goes on without a visit, for example while a killed driver
            is started again. It must be longer than the interval of micro-batches, and `pause`;
            if it is not, a host goes on for three times the interval between two visits. A
            running host keeps the lease with which it began.
        patience: seconds for which a micro-batch waits for a call host whose event loop stands
            still, because a call blocks it or its process is stopped. Then the query fails, and
            its error names the blocking call. A host that waits for calls is never too slow.
        version: of the function, its handlers and predicates; results of another version are not
            used. None for digests of their source; see `asyncwait.backends.journal.version_of`.
            A query that starts again with another function or other options is refused while rows
            are in flight, unless its version is another text: then these rows are called again.
        name: distinguishes two operators of one query with the same columns, and names the
            observed metrics in which each micro-batch has the figures of the call hosts.
        restore: the path of a snapshot, as `asyncwait.spec.snapshots.encode_snapshot` writes it.
            Its records are in flight when the first micro-batch of a new checkpoint begins, in
            their order and without event times; later micro-batches ignore it.

    Raises:
        InvalidConfig: an argument is out of its range.
    """

    lanes: int | None = None
    lane_by: str | Sequence[str] | None = None
    order_by: str | Sequence[str] | None = None
    budget: float = 0.2
    pause: float = 1.0
    event_time: str | None = None
    skew: float | None = None
    lease: float = 60.0
    patience: float = 30.0
    version: str | None = None
    name: str = ""
    restore: str | None = None

    def __post_init__(self) -> None:
        if self.lanes is not None:
            require_whole("lanes", self.lanes)
        for name, lowest in (("budget", 0), ("pause", 0.001), ("lease", 1), ("patience", 1)):
            given: Any = getattr(self, name)
            if not is_number(given) or not lowest <= given < float("inf"):
                raise InvalidConfig.of(name, given, f"a number of seconds >= {lowest:g}")
        if self.skew is not None and not (is_number(self.skew) and 0 <= self.skew < float("inf")):
            raise InvalidConfig.of("skew", self.skew, "a number of seconds >= 0, or None")
        if (self.skew is None) is not (self.event_time is None):
            raise InvalidConfig(
                f"event_time={shown(self.event_time)} and skew={shown(self.skew)} go together: "
                "give both or none"
            )
        for name, expected in (("version", "a text, or None"), ("restore", "a path, or None")):
            text: Any = getattr(self, name)
            if text is not None and (not isinstance(text, str) or not text):
                raise InvalidConfig.of(name, text, expected)
