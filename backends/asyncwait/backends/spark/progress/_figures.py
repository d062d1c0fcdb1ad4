"""The figures of a task, and those of a whole job."""

from typing import Any

from msgspec import Struct, field
from msgspec.structs import asdict

from asyncwait.spec import Statistics

NAMED = 8
"""Causes that figures name."""

LOOKED_UP = ("hits", "shared", "loads", "stale", "null_keys")
"""Kinds of rows that a lookup join has looked up: each is one of these. So is, where rows share
calls by a cache, each attempt of a row."""


class TaskName(Struct, frozen=True):
    """The name of an attempt at a part of a job.

    Args:
        stage: Spark's number of the stage.
        partition: of that stage, from 0.
        attempt: at this partition, from 0; Spark repeats what has failed.
        action: for which action of SQL; empty if it is none.
    """

    stage: int
    partition: int
    attempt: int
    action: str = ""

    @classmethod
    def here(cls) -> "TaskName":
        """Return the name of the task that this runs in; zeros outside of Spark."""
        from pyspark import TaskContext

        context = TaskContext.get()
        if context is None:
            return cls(0, 0, 0)
        action = context.getLocalProperty("spark.sql.execution.id") or ""
        return cls(context.stageId(), context.partitionId(), context.attemptNumber(), action)


class TaskFigures(Statistics, frozen=True, kw_only=True):
    """Figures of the operator in a task, at this moment and since it was opened.

    Of a lookup join `calls` are requests, and each of its rows is one of `LOOKED_UP`. With a cache
    `calls` are those of the function, and each attempt of a row is one of `LOOKED_UP`.
    """

    rows_in: int = 0
    """Rows that the operator has taken from its source; those that wait for room, too."""
    rows_out: int = 0
    """Rows that were handed on."""
    errors: int = 0
    """Rows for which everything has failed, whatever became of them."""
    causes: dict[str, int] = field(default_factory=dict)
    """These by cause: the class of the error, and its HTTP status if it has one. The eight most
    frequent; the rest is "other"."""
    costs: dict[str, float] = field(default_factory=dict)
    """Cost of the calls, failed ones included, by the units of limits and budgets."""
    found: int = 0
    """Rows whose results were in the journal, or kept by `once`: nothing was called for them."""

    @classmethod
    def of(cls, statistics: Statistics, **own: Any) -> "TaskFigures":
        """Add what the task counts to what the operator says."""
        return cls(**asdict(statistics), **own)

    @property
    def rows_done(self) -> int:
        """Rows whose results are decided."""
        return max(0, self.rows_in - self.waiting - self.undecided)


class JobFigures(Struct, frozen=True, kw_only=True):
    """Figures of all tasks together, as far as they have reported.

    Of each partition the rows of one attempt count: the latest that was not given up; and of one
    evaluation, if an action has several; and so do their errors, with those of attempts that
    failed. Whatever was called counts, in whichever it was: it has cost something.
    """

    rows_in: int = 0
    """Rows that the operators have taken."""
    rows_out: int = 0
    """Rows that were handed on."""
    rows_done: int = 0
    """Rows whose results are decided."""
    found: int = 0
    """Rows whose results were in the journal, or kept by `once`."""
    hits: int = 0
    """Rows of a lookup join, or attempts of rows with a cache, that were given what is kept."""
    shared: int = 0
    """Those that wait, or waited, for a request or call which another row has begun."""
    loads: int = 0
    """Those because of which their key was asked for, or called for."""
    stale: int = 0
    """Those that were given what is no longer good, since the table or the call failed."""
    null_keys: int = 0
    """Those whose key is null: no row of a table has it, and no call is shared."""
    in_flight: int = 0
    """Rows admitted and not yet handed on."""
    waiting: int = 0
    """Rows that were taken and wait for room."""
    held: int = 0
    """Rows in flight that are decided."""
    calls: int = 0
    """Calls started, in all attempts."""
    batches: int = 0
    """Batches that were called, in all attempts."""
    calls_in_vain: int = 0
    """Calls among them in attempts that failed."""
    retries: int = 0
    """Calls that were not the first of their row, in all attempts."""
    timeouts: int = 0
    """Rows decided by their deadline, in all attempts."""
    failures_handled: int = 0
    """Rows for which the failure handler gave results, in attempts that failed, too."""
    abandoned: int = 0
    """Calls that ran on after they were cancelled, in all attempts."""
    errors: int = 0
    """Rows for which everything has failed, in attempts that failed, too."""
    causes: dict[str, int] = {}
    """These by cause, for example `{"HTTPStatusError 400": 12, "TimeoutError": 3}`: the class of
    the error, and its HTTP status if it has one. The eight most frequent; the rest is "other"."""
    costs: dict[str, float] = {}
    """Cost of the calls in all attempts, by the units of limits and budgets."""
    limits: str = ""
    """The keeper of the limits of the job; empty without limits."""
    tasks_running: int = 0
    """Tasks that were heard of, and not yet of their end."""
    tasks_done: int = 0
    """Tasks that have ended."""
    tasks_failed: int = 0
    """Tasks of which no attempt runs or has ended; Spark may repeat them yet."""
    attempts_failed: int = 0
    """Attempts that failed, broke off, or were repeated by Spark. What a worker that was killed had
    done in its last half second is in no figure."""
    tasks_again: int = 0
    """Tasks whose rows the same action had evaluated before; see `EvaluatedTwice`."""
    reported: bool = False
    """Whether any task was heard of; without, nothing here is known."""
    total: int | None = None
    """Rows that there will be, if the user has said so."""
    seconds: float = 0.0
    """Time since the first report, or since the progress was entered where there is none."""
    rows_per_second: float = 0.0
    """Rows done by that time."""
    seconds_left: float | None = None
    """At this pace to the total; None if it is not known."""
