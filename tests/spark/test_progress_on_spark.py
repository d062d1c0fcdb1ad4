"""Progress of a real job: what its tasks report arrives, and its failed attempts are counted."""

import io
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark import cloudpickle
from pyspark.errors import PythonException
from rich.console import Console

from asyncwait.backends.spark import EmbeddedSpark
from asyncwait.backends.spark._session import pandas_notice_ignored
from asyncwait.backends.spark.progress import (
    Endpoint,
    JobFigures,
    Progress,
    TaskFigures,
    TaskName,
    reporting,
)

pytestmark = pytest.mark.timeout(300)  # the first test pays for the start of a JVM

# A worker can't import the tests, so what they define travels whole.
cloudpickle.register_pickle_by_value(sys.modules[__name__])

Task = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def counting(endpoint: Endpoint, fails_at: int = -1) -> Task:
    """Return a task that passes rows on, as calls, and fails at one of them."""

    def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = 0

        def figures() -> TaskFigures:
            return TaskFigures(rows_in=rows, rows_out=rows, calls=rows)

        with reporting(endpoint, TaskName.here(), figures, every=0.05):
            for batch in batches:
                rows += batch.num_rows
                if fails_at in batch.column("id").to_pylist():
                    raise LookupError("there is no such number")
                yield batch

    return task


def job(spark: EmbeddedSpark, task: Task, count: int) -> int:
    """Run a task on numbers, in two partitions; return how many came out."""
    with pandas_notice_ignored():
        numbers = spark.session.range(0, count, 1, 2)
        return int(numbers.mapInArrow(task, "id long").toArrow().num_rows)


def wait(progress: Progress, is_so: Callable[[JobFigures], bool]) -> None:
    """Wait until the figures are as the test wants them."""
    assert progress._tally.wait_for(is_so, 30), progress.figures()


def test_the_counts_of_a_job_arrive(spark: EmbeddedSpark) -> None:
    """All of them, though the tasks are over in no time."""
    log = Console(file=io.StringIO(), force_terminal=False, width=120)
    with Progress(1_000, session=spark.session, show=True, console=log) as progress:
        rows = job(spark, counting(progress.endpoint), 1_000)

    figures = progress.figures()
    assert (rows, figures.rows_in, figures.rows_out, figures.calls) == (1_000,) * 4
    assert (figures.tasks_done, figures.tasks_running, figures.attempts_failed) == (2, 0, 0)
    assert isinstance(log.file, io.StringIO)
    assert log.file.getvalue().startswith("rows: 1,000 of 1,000 done in ")
    assert log.file.getvalue().endswith(" 0 in flight, tasks: 2 done\n")


def test_figures_arrive_while_a_task_runs(spark: EmbeddedSpark, tmp_path: Path) -> None:
    """It goes on only when the driver has heard of it."""
    import threading

    heard = tmp_path / "heard"

    def until_heard(endpoint: Endpoint) -> Task:
        from time import sleep

        def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            with reporting(endpoint, TaskName.here(), lambda: TaskFigures(calls=7), every=0.05):
                while not heard.exists():
                    sleep(0.01)
                yield from batches

        return task

    with Progress(session=spark.session) as progress:
        watcher = threading.Thread(
            target=lambda: (
                wait(progress, lambda figures: (figures.tasks_running, figures.calls) == (2, 14)),
                heard.touch(),
            )
        )
        watcher.start()
        assert job(spark, until_heard(progress.endpoint), 10) == 10
        watcher.join()

    assert progress.figures().tasks_done == 2


def test_calls_of_a_task_that_fails_are_counted(spark: EmbeddedSpark) -> None:
    """Spark's accumulators forget them. The other task ends, or is killed."""
    with Progress(session=spark.session) as progress:
        with pytest.raises(PythonException, match="there is no such number"):
            job(spark, counting(progress.endpoint, fails_at=3), 10)
        wait(progress, lambda figures: figures.attempts_failed >= 1)

    figures = progress.figures()
    assert figures.calls >= 5
    assert figures.calls_in_vain >= 5
    assert figures.tasks_failed >= 1


def test_an_attempt_that_spark_repeats_is_counted_beside_the_first(spark: EmbeddedSpark) -> None:
    """A second job stands for it: this session never repeats a task."""

    def renamed(endpoint: Endpoint, attempt: int, fails_at: int) -> Task:
        task = counting(endpoint, fails_at)

        def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            here = TaskName.here

            def name() -> TaskName:
                return TaskName(0, here().partition, attempt)

            TaskName.here = name  # type: ignore[assignment, method-assign]
            try:
                yield from task(batches)
            finally:
                TaskName.here = here  # type: ignore[method-assign]

        return run

    with Progress(10, session=spark.session) as progress:
        with pytest.raises(PythonException):
            job(spark, renamed(progress.endpoint, 0, 3), 10)
        wait(progress, lambda figures: not figures.tasks_running)
        assert job(spark, renamed(progress.endpoint, 1, -1), 10) == 10

    figures = progress.figures()
    assert (figures.rows_in, figures.rows_done, figures.tasks_done) == (10, 10, 2)
    assert figures.calls == 10 + figures.calls_in_vain
    assert figures.calls_in_vain >= 5
    assert figures.tasks_failed == 0
