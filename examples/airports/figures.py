"""Figures of runs: their table, their comparison with the log of the service, and a picture."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jobs import Job, Result, airports
from rich.console import Console
from rich.table import Table
from weather import Call

KINDS = {
    200: ("answered", "tab:blue"),
    429: ("come again (429)", "tab:orange"),
    500: ("failed (500)", "tab:red"),
}


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
        **{f"calls answered by {status}": f"{len(run.answered(status)):,}" for status in KINDS},
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


def draw(runs: Sequence[Run], path: Path) -> None:
    """Draw calls in flight, and the latency of each call, over time; a row for each run."""
    import matplotlib as mpl

    mpl.use("Agg")  # There may be no screen.
    from matplotlib import pyplot as plt  # only now it is known where to draw

    figure, rows = plt.subplots(
        len(runs), 2, figsize=(10, 2.8 * len(runs)), layout="constrained", squeeze=False
    )
    for run, (left, right) in zip(runs, rows, strict=True):
        _draw_in_flight(run, left)
        _draw_latency(run, right)
        for axes in (left, right):
            killed = run.killed - run.started
            axes.axvline(killed, color="black", ls=":", lw=1, label="killed (SIGKILL)")
            axes.set_xlabel("seconds")
    figure.legend(*rows[0][1].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    figure.savefig(path, dpi=90)


def _draw_in_flight(run: Run, axes: Any) -> None:
    steps = [(call.began, 1) for call in run.log] + [(call.ended, -1) for call in run.log]
    moments, levels = [], [0]
    for moment, step in sorted(steps):
        moments.append(moment - run.started)
        levels.append(levels[-1] + step)
    axes.step(moments, levels[1:], where="post", lw=0.5)
    axes.axhline(run.job.capacity, color="tab:gray", ls="--", lw=0.8)
    axes.set_title(f"{run.on}: calls in flight at the service", fontsize="medium")


def _draw_latency(run: Run, axes: Any) -> None:
    for status, (name, colour) in KINDS.items():
        calls = run.answered(status)
        # Immediate refusals would be invisible.
        latencies = [max(1, 1000 * (call.ended - call.began)) for call in calls]
        began = [call.began - run.started for call in calls]
        axes.scatter(began, latencies, 4 if len(run.log) < 10_000 else 1, colour, label=name)
    axes.set_yscale("log")
    axes.set_title(f"{run.on}: latency of each call, in ms", fontsize="medium")
