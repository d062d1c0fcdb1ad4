"""What a run comes to, and whether the service has seen the same."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from fetching import Fetched, Job, Missing
from service import Behaviour, Call
from shown import in_flight


@dataclass(frozen=True)
class Run:
    """Both sides of a run.

    Args:
        on: "pool" or "threads".
        job: what was to be done.
        behaviour: of the service.
        fetched: the client's side.
        log: the service's.
    """

    on: str
    job: Job
    behaviour: Behaviour
    fetched: Fetched
    log: Sequence[Call]

    def missing(self, *why: str) -> set[int]:
        """Return the requests without an answer, by the reason for that."""
        results = self.fetched.results
        return {it.number for it in results if isinstance(it, Missing) and it.why in why}

    @property
    def late(self) -> set[int]:
        """The requests that were cancelled."""
        return self.missing("deadline", "client")

    @property
    def zero(self) -> float:
        """When the first call came."""
        return min((call.began for call in self.log), default=0.0)

    def answered(self, status: int) -> list[Call]:
        """Return the calls that the service has answered so."""
        return [call for call in self.log if call.status == status]


def most_in_flight(log: Sequence[Call]) -> int:
    """Return how many calls the service had at most."""
    return max((level for _, level in in_flight(log)), default=0)


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that so many are not greater than; NaN of none."""
    ranked = sorted(values)
    return ranked[max(0, math.ceil(share * len(ranked)) - 1)] if ranked else math.nan


def mismatches(run: Run) -> list[str]:
    """Say in which figures the operator and the service differ."""
    return [
        f"{run.on}: {what}: {ours} here, {theirs} at the service"
        for what, ours, theirs in _compared(run)
        if ours != theirs
    ] + _trespasses(run)


def _compared(run: Run) -> Iterator[tuple[str, object, object]]:
    """Name what has to be equal, with its two values."""
    figures, requests = run.fetched.statistics, range(run.job.requests)
    calls = _calls_by_request(run)
    yield "calls", figures.calls, calls.total()
    yield "retries", figures.retries, calls.total() - len(calls)
    good = {call.number for call in run.answered(200)} - run.late
    yield "answers", len(_numbers(run)), len(good)
    yield "failed", len(run.missing("failed")), len(_failed(run))
    yield "timeouts", figures.timeouts, len(run.missing("deadline"))
    missing = run.missing("deadline", "client", "failed")
    yield "requests without an answer", sorted(missing), sorted(set(requests) - good)


def _calls_by_request(run: Run) -> Counter[int]:
    """Count those that the service saw, and those that were cancelled before they got there."""
    seen = Counter(call.number for call in run.log)
    unseen = Counter(run.fetched.begun) - seen
    return seen + Counter({number: unseen[number] for number in unseen if number in run.late})


def _numbers(run: Run) -> list[int]:
    return [result for result in run.fetched.results if isinstance(result, int)]


def _failed(run: Run) -> set[int]:
    """Return the requests that the service has refused as often as they may come."""
    refused = Counter(call.number for call in run.log if call.status in {429, 500})
    often = {number for number, times in refused.items() if times == run.job.max_attempts}
    return often - run.late


def _trespasses(run: Run) -> list[str]:
    """Say what must never be."""
    results = [it.number if isinstance(it, Missing) else it for it in run.fetched.results]
    most, limit = most_in_flight(run.log), run.job.capacity + len(run.late)
    found = {
        "results are not in the order of the requests": results != list(range(run.job.requests)),
        f"{most} calls at a time, of {run.job.capacity}": most > limit,
        f"{_early(run)} calls came before the time that the service had told": _early(run) > 0,
    }
    return [f"{run.on}: {what}" for what, is_so in found.items() if is_so]


def _early(run: Run) -> int:
    """Count the calls that came too soon after a 429."""
    ranked = sorted(run.log, key=lambda call: (call.number, call.began))
    return sum(
        one.number == other.number
        and one.status == 429
        and other.began < one.ended + run.behaviour.retry_after
        for one, other in pairwise(ranked)
    )


def column(run: Run) -> dict[str, str]:
    """Return the figures of a run by their names."""
    fetched, requests = run.fetched, run.job.requests
    figures = fetched.statistics
    served = [call.ended - call.began for call in run.log if call.status]
    return {
        "requests": f"{requests:,}",
        "calls": f"{figures.calls:,}",
        "calls seen by the service": f"{len(run.log):,}",
        "retries": f"{figures.retries:,}",
        "answered by 429": f"{len(run.answered(429)):,}",
        "answered by 500": f"{len(run.answered(500)):,}",
        "timeouts": f"{len(run.late):,}",
        "failed": f"{len(run.missing('failed')):,}",
        "seconds": f"{fetched.seconds:.1f}",
        "requests/s": f"{requests / fetched.seconds:,.0f}",
        "latency of the service, p50 / p99": _latency(served),
        "latency for the client, p50 / p99": _latency(fetched.took),
        "most calls in flight": f"{most_in_flight(run.log):,}",
        "most answers held": f"{figures.max_held:,}",
    }


def _latency(seconds: Sequence[float]) -> str:
    return f"{1000 * percentile(seconds, 0.5):.0f} / {1000 * percentile(seconds, 0.99):.0f} ms"
