"""The figures of a lookup."""

from collections import deque
from statistics import fmean, quantiles

from msgspec import Struct

LAST = 1_000
"""So many requests count for sizes and times: those of the last minutes, not of last week."""


class LookupStatistics(Struct, frozen=True):
    """The figures of a lookup: hits + shared + loads + stale + null_keys = rows, at any moment.

    A row is counted when it is looked up, whatever comes of it; how often it is tried does not
    matter. It is `stale` instead of `shared` or `loads` once it has been given old rows.
    """

    rows: int = 0
    """Rows that were looked up."""
    hits: int = 0
    """Those that were answered at once from what is kept."""
    shared: int = 0
    """Those that wait, or waited, for a request which another row has begun."""
    loads: int = 0
    """Those whose key was asked for because of them."""
    stale: int = 0
    """Those that were given rows that are no longer good, since the table failed."""
    null_keys: int = 0
    """Those whose key no row can have: it is null, has a null in it, or is NaN."""
    misses: int = 0
    """Those, of all but the null keys, for whose key the table has no row."""
    in_flight: int = 0
    """Those that wait for an answer."""
    failures_handled: int = 0
    """Those that have failed, and are left out or have other rows, as `on_error` says."""
    requests: int = 0
    """Calls of the table that were begun, in the background too; with `Full`, readings of it."""
    failed_requests: int = 0
    """Those that raised, or answered what is no answer."""
    refreshes: int = 0
    """Keys, or with `Full` the table, that were read again in the background."""
    evictions: int = 0
    """Keys that had to go to make room."""
    keys: int = 0
    """Keys that are kept."""
    mean_batch: float = 0.0
    """Keys in a request, on average."""
    max_batch: int = 0
    """Keys in the largest request."""
    latency_p50: float | None = None
    """Seconds that half of the requests took at most; None before there is one."""
    latency_p99: float | None = None
    """Seconds that 99 in 100 of them took at most."""
    age: float | None = None
    """Seconds since the reading of the present copy began, with `Full`."""


class Figures:
    """The same while it is counted."""

    def __init__(self) -> None:
        self.rows = self.hits = self.shared = self.loads = self.stale = self.null_keys = 0
        self.misses = self.in_flight = self.failures_handled = 0
        self.requests = self.failed_requests = self.refreshes = 0
        self._sizes: deque[int] = deque(maxlen=LAST)
        self._seconds: deque[float] = deque(maxlen=LAST)

    def answered(self, size: int, seconds: float) -> None:
        """Note a request that has ended, and not because it was cancelled."""
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
