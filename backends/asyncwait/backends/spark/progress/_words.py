"""What is told of a job, in words."""

from datetime import timedelta

from asyncwait.backends.services._causes import most_frequent, tell_causes
from asyncwait.backends.spark.progress._figures import LOOKED_UP, JobFigures
from asyncwait.spec.texts import one_line

_SAID = 3
"""Causes that a line names."""


def line(figures: JobFigures, silence: str) -> str:
    """Say what a job does at this moment."""
    if not figures.reported:
        return f"tasks unknown, {silence}"
    return ", ".join([f"{_rows(figures)} rows", *_pace(figures), *_told(figures)])


def last_line(figures: JobFigures, silence: str) -> str:
    """Say what a job has done, where nothing was drawn."""
    took = f"in {figures.seconds:,.1f} s"
    if not figures.reported:
        return f"tasks: unknown {took}, {silence}"
    told = [f"rows: {_rows(figures)} done {took}", *_pace(figures)[:1], *_told(figures)]
    if figures.attempts_failed:
        told.append(f"{_many(figures.attempts_failed, 'attempt')} failed")
    return ", ".join(told)


def summary(figures: JobFigures, silence: str) -> str:
    """Say what a job has done, and what it has cost, as a small table."""
    took = f"{figures.seconds:,.1f} s"
    if not figures.reported:
        return f"tasks   unknown, {silence}\ntime    {took}"
    events = [
        _many(figures.retries, "retry", "retries"),
        _many(figures.timeouts, "timeout"),
        _many(figures.failures_handled, "failure handled", "failures handled"),
        _many(figures.abandoned, "call abandoned", "calls abandoned"),
        _many(figures.errors, "error"),
    ]
    table = {
        "rows": f"{_rows(figures)} done, {figures.rows_in:,} in, {figures.rows_out:,} out",
        "keys": _keys(figures),
        "calls": _calls(figures),
        "costs": _costs(figures),
        "limits": f"kept by {figures.limits}" if figures.limits else "",
        "events": ", ".join(each for each in events if not each.startswith("0 ")),
        "causes": ", ".join(tell_causes(figures.causes)),
        "tasks": _tasks(figures),
        "time": f"{took}, {figures.rows_per_second:,.1f} rows/s",
    }
    return "\n".join(f"{name:6}  {text}" for name, text in table.items() if text)


def _rows(figures: JobFigures) -> str:
    of = "" if figures.total is None else f" of {figures.total:,}"
    return f"{figures.rows_done:,}{of}"


def _pace(figures: JobFigures) -> list[str]:
    pace = [f"{figures.rows_per_second:,.1f}/s"]
    if figures.seconds_left:
        pace.append(f"{timedelta(seconds=round(figures.seconds_left))} left")
    return pace


def _told(figures: JobFigures) -> list[str]:
    counts = {
        "found, not called for": figures.found,
        "kept": figures.hits,
        "retried": figures.retries,
        "timed out": figures.timeouts,
        f"{'error' if figures.errors == 1 else 'errors'}{_causes(figures)}": figures.errors,
    }
    present = [f"{count:,} {name}" for name, count in counts.items() if count]
    spent = [_costs(figures)] if figures.costs else []
    return [f"{figures.in_flight:,} in flight", *present, *spent, f"tasks: {_tasks(figures)}"]


def _costs(figures: JobFigures) -> str:
    return ", ".join(f"{cost:,.10g} {one_line(unit)}" for unit, cost in figures.costs.items())


def _causes(figures: JobFigures) -> str:
    said = ", ".join(tell_causes(most_frequent(figures.causes, _SAID)))
    return f" ({said})" if said else ""


def _tasks(figures: JobFigures) -> str:
    running, done = figures.tasks_running, figures.tasks_done
    counts = {
        "running": running,
        "done": done,
        "failed, their rows not counted": figures.tasks_failed,
        "evaluated twice": figures.tasks_again,
    }
    return ", ".join(
        f"{count:,} {name}" for name, count in counts.items() if count or name == "done"
    )


def _keys(figures: JobFigures) -> str:
    """Say how rows were looked up; nothing where none was."""
    counts = {name: getattr(figures, name) for name in LOOKED_UP}
    names = ("kept", "shared", "loaded", "stale", "null")
    told = [f"{count:,} {name}" for name, count in zip(names, counts.values(), strict=True)]
    return ", ".join(told) if any(counts.values()) else ""


def _calls(figures: JobFigures) -> str:
    calls = _many(figures.calls, "call")
    if figures.attempts_failed:
        attempts = _many(figures.attempts_failed, "attempt")
        calls += f", of which {figures.calls_in_vain:,} in {attempts} that failed"
    if figures.found:
        calls += f"; {_many(figures.found, 'row')} found, not called for"
    return calls


def _many(count: int, one: str, several: str = "") -> str:
    return f"{count:,} {one if count == 1 else several or one + 's'}"
