"""What a run comes to, and whether it is what it should be."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fetching import Job, airports
from jobs import Result
from weather import Call


@dataclass(frozen=True)
class Moments:
    """Of a run, by the machine's monotonic clock.

    Args:
        started: the first time.
        killed: when the first start was.
        resumed: when the second was about to call; Spark needs some seconds until then.
        ended: when all was done.
    """

    started: float
    killed: float
    resumed: float
    ended: float


@dataclass(frozen=True)
class Run:
    """Both sides of a run.

    Args:
        on: "pool", "threads" or "spark".
        job: what was to be done.
        moments: of it.
        result: what the second start has given.
        log: of the service, for both.
    """

    on: str
    job: Job
    moments: Moments
    result: Result
    log: Sequence[Call]

    @property
    def errors(self) -> int:
        """How many rows have none but an error."""
        return sum(row[4] is not None for row in self.result.rows)

    @property
    def seconds(self) -> tuple[float, float]:
        """Seconds of either start."""
        moments = self.moments
        return moments.killed - moments.started, moments.ended - moments.killed

    @property
    def zero(self) -> float:
        """When it was started."""
        return self.moments.started

    def answered(self, status: int) -> list[Call]:
        """Return the calls that the service has answered so."""
        return [call for call in self.log if call.status == status]


def completed_twice(log: Sequence[Call]) -> int:
    """Count the answers for airports that had one."""
    paid = [call.icao for call in log if call.status == 200]
    return len(paid) - len(set(paid))


def under_way(log: Sequence[Call], at: float) -> int:
    """Count the calls that the service was working on at a moment."""
    return sum(call.began <= at < call.ended for call in log)


def mismatches(run: Run) -> list[str]:
    """Say in which figures a run is not what it should be."""
    wrong = [
        f"{run.on}: {what}: {found!r}, and not {right!r}"
        for what, found, right in _compared(run)
        if found != right
    ]
    if (twice := completed_twice(run.log)) > run.job.capacity:
        wrong.append(f"{run.on}: {twice} completed twice, of {run.job.capacity} that may be")
    return wrong


def _compared(run: Run) -> Iterator[tuple[str, object, object]]:
    """Name what has to be equal, with its two values."""
    rows, asked = run.result.rows, airports(run.job.airports)
    yield "rows", len(rows), len(asked)
    yield "rows in order", [row[:2] for row in rows] == asked, True
    paid = {call.icao for call in run.answered(200)}
    yield "rows with an answer", len(rows) - run.errors, len(paid)
    late = [call for call in run.answered(200) if call.began >= run.moments.resumed]
    yield "found in the journal", run.result.found, len(paid) - len(late)


def column(run: Run) -> dict[str, str]:
    """Return the figures of a run by their names."""
    before, after = run.seconds
    return {
        "airports": f"{run.job.airports:,}",
        "calls at a time, at most": f"{run.job.capacity:,}",
        "calls answered by 200": f"{len(run.answered(200)):,}",
        "calls answered by 429": f"{len(run.answered(429)):,}",
        "calls answered by 500": f"{len(run.answered(500)):,}",
        "at the service at the kill": f"{under_way(run.log, run.moments.killed):,}",
        "answers completed twice": f"{completed_twice(run.log):,}",
        "found in the journal": f"{run.result.found:,}",
        "rows": f"{len(run.result.rows):,}",
        "errors": f"{run.errors:,}",
        "seconds before / after the kill": f"{before:.1f} / {after:.1f}",
        "rows/s": f"{len(run.result.rows) / (before + after):,.0f}",
    }
