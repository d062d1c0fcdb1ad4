"""Figures of runs: their table, and their comparison with the log of the service."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jobs import Job, Result, airports
from rich.console import Console
from rich.table import Table
from weather import Call


@dataclass(frozen=True)
class Run:
    """A run in two starts; moments are those of the machine's monotonic clock.

    Args:
        on: "pool", "threads" or "spark".
        job: its work.
        started: when the first start began.
        killed: when the first start was killed.
        ended: when the second start had ended.
        result: of the second start.
        log: of the service, for both.
    """

    on: str
    job: Job
    started: float
    killed: float
    ended: float
    result: Result
    log: Sequence[Call]

    @property
    def errors(self) -> int:
        """Number of rows with an error."""
        return sum(row[4] is not None for row in self.result.rows)

    def answered(self, status: int) -> list[Call]:
        """Return the calls that the service has answered with a status."""
        return [call for call in self.log if call.status == status]

    def completed_twice(self) -> int:
        """Return the number of answers for airports that had an answer."""
        return sum(times - 1 for times in Counter(c.icao for c in self.answered(200)).values())


def mismatches(run: Run) -> list[str]:
    """Return the figures that are wrong, in words."""
    wrong = [
        f"{run.on}: {name}: {found!r}, and not {right!r}"
        for name, found, right in _compared(run)
        if found != right
    ]
    if (twice := run.completed_twice()) > run.job.capacity:
        wrong.append(f"{run.on}: {twice} completed twice, of {run.job.capacity} that may be")
    return wrong


def _compared(run: Run) -> Iterator[tuple[str, object, object]]:
    rows, asked = run.result.rows, airports(run.job.airports)
    yield "rows in order", [row[:2] for row in rows] == asked, True
    completed = {call.icao for call in run.answered(200)}
    yield "rows with an answer", len(rows) - run.errors, len(completed)
    late = [call for call in run.answered(200) if call.began >= run.result.began]
    yield "found in the journal", run.result.found, len(completed) - len(late)


def column(run: Run) -> dict[str, str]:
    """Return the figures of a run by their names."""
    before, after = run.killed - run.started, run.ended - run.killed
    at_kill = sum(call.began <= run.killed < call.ended for call in run.log)
    return {
        "airports": f"{run.job.airports:,}",
        "calls at a time, at most": f"{run.job.capacity:,}",
        **{
            f"calls answered by {status}": f"{len(run.answered(status)):,}"
            for status in (200, 429, 500)
        },
        "at the service at the kill": f"{at_kill:,}",
        "answers completed twice": f"{run.completed_twice():,}",
        "found in the journal": f"{run.result.found:,}",
        "rows": f"{len(run.result.rows):,}",
        "errors": f"{run.errors:,}",
        "seconds before / after the kill": f"{before:.1f} / {after:.1f}",
        "rows/s": f"{len(run.result.rows) / (before + after):,.0f}",
    }


def show(runs: Sequence[Run]) -> None:
    """Print a column for each run."""
    table = Table("", *(run.on for run in runs))
    for each in table.columns[1:]:
        each.justify = "right"
    columns = [column(run) for run in runs]
    for name in columns[0]:
        table.add_row(name, *(each[name] for each in columns))
    Console().print(table)
