"""The lookup join on a DataFrame."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from asyncwait.backends.lookup import Full, Table
from asyncwait.backends.spark._session import require_pyspark
from asyncwait.backends.spark.frame._wait import require_on_error, require_progress
from asyncwait.backends.spark.progress import Progress
from asyncwait.spec import Batch, Cache, InvalidConfig, OperatorError, Retry

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

OnError: TypeAlias = (
    Literal["fail", "skip", "column"] | Callable[[Any, OperatorError], Iterable[Any] | None]
)
"""The treatment of the rows of a key whose last attempt has failed."""

_HOWS = ("left", "leftouter", "inner", "semi", "leftsemi", "anti", "leftanti")
"""Spark's names of joins; all others need every key of the table."""


def lookup_join(
    df: "DataFrame",
    table: Table,
    *,
    on: str | Sequence[str] | Mapping[str, str],
    columns: "str | StructType",
    how: str = "left",
    where: str | None = None,
    cache: Cache | Full | None = None,
    timeout: float | None = None,
    retry: Retry | None = None,
    retry_missing: Retry | None = None,
    batch: Batch | None = None,
    on_error: OnError = "fail",
    error_column: str = "error",
    progress: Progress | None = None,
) -> "DataFrame":
    """Join `df` with a table that its tasks look keys up in, each key of some thousand rows once.

    The rows stay in their partitions, and in order; rows of the table for one row of `df` come in
    the order of the table. Nothing is looked up before an action asks for rows, and each action
    looks up again. The table is one of now: rows that have gone out do not learn of changes.

    What is kept belongs to a worker process, where the next task finds it that looks up in a table
    which is pickled to the same bytes, with the same columns and cache. A process keeps it for the
    eight tables, or functions with a cache, that it used last.

    Args:
        df: the left side, streaming or not.
        table: the right side. It travels to the workers; each task opens it, and closes it.
        on: a column that both sides have, a list of them, or a dict from columns of `df` to those
            of the table; of several the key is a tuple. Types that are not comparable are refused,
            and text is compared without its collation. Rows where one is null are not looked up.
        columns: of the table, with their types, those of the key included: DDL or a StructType. A
            row of the table is a tuple of all that are not of the key, or a mapping, which may hold
            more of them, and in which what is missing is null; of one column it may be the value
            itself. Columns are found by their names, where the table has `columns` or rows are
            mappings; tuples of other tables are in this order. Nothing is converted: what does not
            fit fails its key.
        how: "left" gives a row without rows of the table nulls, "inner" leaves it out, and so does
            "semi", without columns of the table; "anti" leaves out all others. Other spellings of
            Spark, such as "left_outer" and "LeftSemi", mean the same.
        where: one condition in SQL that a row of the table has to fulfil, where its columns are
            called `t.name`, and those of `df` by their names; a column `t` can't be named. A row
            of which none does is one without rows of the table.
        cache: what is kept of the table; None for nothing.
        timeout: seconds from a request to the deadline of the rows that wait for it, retries
            included; None for none.
        retry: how requests that fail are repeated; None for not at all.
        retry_missing: how keys without rows are asked for again, `max_attempts` times in all; None
            for not at all.
        batch: how many keys a request has at most, and how many of them a task makes at a time;
            None for one of all keys that some thousand rows need.
        on_error: what becomes of the rows whose key has failed, after its retries: "fail" fails
            the task, "skip" leaves them out, "column" gives nulls, and tells of the error in one
            more column; a function of key and error gives rows of the table, or None to fail.
        error_column: its name: a struct of `type`, `message` and `attempts`, null for all others.
        progress: watches the tasks: see `asyncwait.backends.spark.Progress`, whose context has to
            be open for as long as they run.

    Returns:
        A DataFrame of the columns of `df`, and those of the table that are not of its key.

    Raises:
        InvalidConfig: an argument is wrong.
        MissingExtra: pyspark is not installed, or older than 4.1; or there is a cache, and
            cachetools is not installed.
    """
    require_pyspark()
    from asyncwait.backends.spark.join._plan import Asked, JoinPlan
    from asyncwait.backends.spark.join._task import Options

    named = str(how).lower().replace("_", "").replace(" ", "")
    if named not in _HOWS:
        expected = ", ".join(map(repr, _HOWS))
        raise InvalidConfig.of("how", how, f"one of {expected}, in any case, with or without _")
    kind = named.removeprefix("left").removesuffix("outer") or "left"
    condition: Any = where
    if condition is not None and not (isinstance(condition, str) and condition.strip()):
        raise InvalidConfig.of("where", where, "a condition in SQL, or None")
    require_on_error(on_error)
    require_progress(progress)
    endpoint = None if progress is None else progress.endpoint
    options = Options(cache, timeout, retry, retry_missing, batch, on_error or "fail", endpoint)
    asked = Asked(on, columns, kind, where, error_column if on_error == "column" else None)
    return JoinPlan(df, table, asked, options).frame()
