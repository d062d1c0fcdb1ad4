"""The figures of a job in words: behind its progress bar, and as a summary."""

from datetime import timedelta

from asyncwait.backends.services._causes import most_frequent, tell_causes
from asyncwait.backends.spark.progress._figures import JobFigures
from asyncwait.backends.watching._figures import told
from asyncwait.spec.texts import one_line

_SAID = 3
"""Number of causes in a line."""


def words(figures: JobFigures, silence: str) -> list[str]:
    """Return the words of the progress bar."""
    if not figures.reported:
        return ["tasks unknown", silence]
    left = figures.seconds_left
    failed = figures.attempts_failed
    causes = ", ".join(tell_causes(most_frequent(figures.causes, _SAID)))
    return [
        *([f"{timedelta(seconds=round(left))} left"] if left else []),
        f"{figures.in_flight:,} in flight",
        *([f"{figures.found:,} found, not called for"] if figures.found else []),
        *_events(figures, f" ({causes})" if causes else ""),
        *_costs(figures),
        f"tasks: {_tasks(figures)}",
        *([f"{_many(failed, 'attempt')} failed"] if failed else []),
    ]


def summary(figures: JobFigures, silence: str) -> str:
    took = f"{figures.seconds:,.1f} s"
    if not figures.reported:
        return f"tasks   unknown, {silence}\ntime    {took}"
    of = "" if figures.total is None else f" of {figures.total:,}"
    table = {
        "rows": f"{figures.rows_done:,}{of} done, {figures.rows_in:,} in, {figures.rows_out:,} out",
        "calls": _calls(figures),
        "costs": ", ".join(_costs(figures)),
        "limits": f"kept by {figures.limits}" if figures.limits else "",
        "events": ", ".join(_events(figures)),
        "causes": ", ".join(tell_causes(figures.causes)),
        "tasks": _tasks(figures),
        "time": f"{took}, {figures.rows_per_second:,.1f} rows/s",
    }
    return "\n".join(f"{name:6}  {text}" for name, text in table.items() if text)


def _events(figures: JobFigures, causes: str = "") -> list[str]:
    return [*told(figures), *([_many(figures.errors, "error") + causes] if figures.errors else [])]


def _costs(figures: JobFigures) -> list[str]:
    return [f"{cost:,.10g} {one_line(unit)}" for unit, cost in figures.costs.items()]


def _tasks(figures: JobFigures) -> str:
    counts = {
        "running": figures.tasks_running,
        "done": figures.tasks_done,
        "failed, their rows not counted": figures.tasks_failed,
        "evaluated twice": figures.tasks_again,
    }
    return ", ".join(
        f"{count:,} {name}" for name, count in counts.items() if count or name == "done"
    )


def _calls(figures: JobFigures) -> str:
    calls = _many(figures.calls, "call")
    if figures.attempts_failed:
        attempts = _many(figures.attempts_failed, "attempt")
        calls += f", of which {figures.calls_in_vain:,} in {attempts} that failed"
    if figures.found:
        calls += f"; {_many(figures.found, 'row')} found, not called for"
    return calls


def _many(count: int, one: str) -> str:
    return f"{count:,} {one if count == 1 else one + 's'}"
