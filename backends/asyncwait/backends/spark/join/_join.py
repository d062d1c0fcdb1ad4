"""The lookup join on a DataFrame."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from asyncwait.backends.lookup import Full, Table
from asyncwait.backends.lookup._cached import Policy
from asyncwait.backends.spark._session import require_pyspark
from asyncwait.backends.spark.frame._wait import require_kinds, require_on_error
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
    """Join `df` with a table in which its tasks look keys up, each key of some thousand rows once.

    The rows stay in their partitions, and in order; rows of the table for one row of `df` come in
    the order of the table. No lookup begins before an action requests rows, and each action
    looks up again. The table is read at the time of the lookup: rows that have gone out do not
    learn of later changes.

    The cache belongs to a worker process, where a later task finds it if its table
    is pickled to the same bytes, with the same columns and cache. A process keeps the caches of the
    eight tables, or functions with a cache, that it used last.

    Args:
        df: the left side, streaming or not.
        table: the right side. It travels to the workers; each task opens it, and closes it.
        on: a column of both sides, a list of such columns, or a dict from columns of `df` to
            columns of the table; several columns form a tuple as the key. Types that are not
            comparable are refused, and text is compared without its collation. Rows with a null
            among these columns are not looked up.
        columns: of the table, with their types, the key's columns included: DDL or a StructType. A
            row of the table is a tuple of all columns outside the key, or a mapping, which may hold
            further columns, and in which a missing column is null; a single column may be the value
            itself. Columns are found by their names, if the table has `columns` or rows are
            mappings; tuples of other tables are in this order. Nothing is converted: a value that
            does not fit fails its key.
        how: "left" gives a row without rows of the table nulls, "inner" drops it, and so does
            "semi", without columns of the table; "anti" drops all other rows. Other spellings of
            Spark, such as "left_outer" and "LeftSemi", mean the same.
        where: one condition in SQL for rows of the table, in which its columns are
            called `t.name`, and the columns of `df` by their names; a column `t` can't be named. A
            row for which no row of the table fulfils it counts as a row without rows of the table.
        cache: the policy of the cache; None for no cache.
        timeout: seconds from a request to the deadline of the rows that wait for it, retries
            included; None for none.
        retry: how failed requests are repeated; None for never.
        retry_missing: how requests for keys without rows are repeated, `max_attempts` times in all;
            None for never.
        batch: largest number of keys in a request, and of concurrent requests of a task;
            None for one request with all keys of some thousand rows.
        on_error: treatment of the rows whose key has failed after its retries: "fail" fails
            the task, "skip" drops the rows, "column" sets nulls, and describes the error in one
            more column; a function of key and error returns rows of the table, or None to fail.
        error_column: its name: a struct of `type`, `message` and `attempts`, null for other rows.
        progress: watches the tasks: see `asyncwait.backends.spark.Progress`, whose context must
            be open as long as they run.

    Returns:
        A DataFrame of the columns of `df`, and the columns of the table outside its key.

    Raises:
        InvalidConfig: an argument is invalid.
        MissingExtra: pyspark is missing, or older than 4.1; or `cache` is set, and
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
    require_kinds({"progress": progress}, progress=Progress)
    endpoint = None if progress is None else progress.endpoint
    policy = Policy(timeout, retry, retry_missing, batch)
    options = Options(cache, policy, on_error or "fail", endpoint)
    asked = Asked(on, columns, kind, where, error_column if on_error == "column" else None)
    return JoinPlan(df, table, asked, options).frame()
