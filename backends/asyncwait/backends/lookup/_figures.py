"""The figures of a lookup."""

from collections import deque
from statistics import fmean, quantiles

from msgspec import Struct

LAST = 1_000
"""Number of the latest requests that count for sizes and times."""


class LookupStatistics(Struct, frozen=True):
    """The figures of a lookup: hits + shared + loads + stale + null_keys = rows, at any moment.

    A row counts when it is looked up, whatever its outcome or its number of attempts. It counts as
    `stale` instead of `shared` or `loads` once it has got stale rows.
    """

    rows: int = 0
    """Rows that were looked up."""
    hits: int = 0
    """Rows that got cached rows at once."""
    shared: int = 0
    """Rows that wait, or waited, for a request which another row has begun."""
    loads: int = 0
    """Rows that have begun a request for their key."""
    stale: int = 0
    """Rows that got stale rows of the table, because the table failed."""
    null_keys: int = 0
    """Rows whose key the table cannot have: it is null, has a null in it, or is NaN."""
    misses: int = 0
    """Rows without a null key for whose key the table has no row."""
    in_flight: int = 0
    """Rows that wait for an answer."""
    failures_handled: int = 0
    """Rows that have failed, and are dropped or have other rows, as `on_error` says."""
    requests: int = 0
    """Calls of the table that were begun, also in the background; with `Full`, readings of it."""
    failed_requests: int = 0
    """Requests that raised, or returned an invalid answer."""
    refreshes: int = 0
    """Keys that were read again in the background; with `Full`, such readings of the table."""
    evictions: int = 0
    """Keys that were evicted from the cache."""
    keys: int = 0
    """Keys in the cache."""
    mean_batch: float = 0.0
    """Keys in a request, on average."""
    max_batch: int = 0
    """Keys in the largest request."""
    latency_p50: float | None = None
    """Seconds within which half of the requests ended; None before the first one."""
    latency_p99: float | None = None
    """Seconds within which 99 in 100 requests ended."""
    age: float | None = None
    """Seconds since the reading of the present copy began, with `Full`."""


class Figures:
    """The figures of a lookup while they are counted."""

    def __init__(self) -> None:
        self.rows = self.hits = self.shared = self.loads = self.stale = self.null_keys = 0
        self.misses = self.in_flight = self.failures_handled = 0
        self.requests = self.failed_requests = self.refreshes = 0
        self._sizes: deque[int] = deque(maxlen=LAST)
        self._seconds: deque[float] = deque(maxlen=LAST)

    def answered(self, size: int, seconds: float) -> None:
        """Note a request that has ended without being cancelled."""
        self._sizes.append(size)
        self._seconds.append(seconds)

    def told(self, keys: int, evictions: int = 0, age: float | None = None) -> LookupStatistics:
        counts = {name: value for name, value in vars(self).items() if not name.startswith("_")}
        median, highest = _percentiles(list(self._seconds))
        return LookupStatistics(
            **counts,
            evictions=evictions,
            keys=keys,
            mean_batch=fmean(self._sizes) if self._sizes else 0.0,
            max_batch=max(self._sizes, default=0),
            latency_p50=median,
            latency_p99=highest,
            age=age,
        )


def _percentiles(seconds: list[float]) -> tuple[float | None, float | None]:
    if not seconds:
        return None, None
    cuts = quantiles(seconds * 2 if len(seconds) == 1 else seconds, n=100, method="inclusive")
    return cuts[49], cuts[98]
