"""What is told of the progress of a Spark job, with figures of each kind."""

from collections.abc import Iterator

from msgspec import convert

from asyncwait.backends.spark.progress import JobFigures
from asyncwait.backends.spark.progress._figures import summary, words

JOBS = {
    "of which nothing is known": {},
    "with little to tell": {
        "rows_in": 1, "rows_out": 1, "rows_done": 1, "calls": 1, "errors": 1, "tasks_done": 1,
        "reported": True, "seconds": 2,
    },
    "with much to tell": {
        "rows_in": 4_200, "rows_out": 3_900, "rows_done": 4_000, "found": 900, "in_flight": 200,
        "calls": 5_120, "calls_in_vain": 1_020, "retries": 100, "timeouts": 3,
        "hits": 2_000, "shared": 4, "loads": 3, "stale": 1, "null_keys": 2, "held": 7,
        "failures_handled": 2, "abandoned": 1, "errors": 1_018,
        "causes": {"HTTPStatusError 400": 12, "TimeoutError": 3, "A\nB": 2, "B": 1, "other": 1_000},
        "tasks_running": 2, "tasks_done": 5,
        "tasks_failed": 1, "attempts_failed": 2, "reported": True, "total": 5_000,
        "seconds": 62.04, "rows_per_second": 64.5, "seconds_left": 75.5,
    },
}  # fmt: skip


def told() -> str:
    return "\n".join(_told())


def _told() -> Iterator[str]:
    for name, known in JOBS.items():
        figures = convert(known, JobFigures)
        yield f"# A job {name}\n"
        yield f"{', '.join(words(figures, 'none has reported'))}\n"
        yield f"{summary(figures, 'none has reported')}\n"
