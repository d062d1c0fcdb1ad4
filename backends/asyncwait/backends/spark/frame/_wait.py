"""The operator on a DataFrame: a call for each row, many at a time, in every partition."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial, wraps
from inspect import signature
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec, Protocol, TypeAlias

from msgspec.structs import replace

from asyncwait.backends.journal import Journal
from asyncwait.backends.spark._session import require_pyspark
from asyncwait.backends.spark.carry._carry import Carry
from asyncwait.backends.spark.frame._errors import Share
from asyncwait.backends.spark.progress import Progress
from asyncwait.spec import (
    Batch,
    Cache,
    InvalidConfig,
    Mode,
    OperatorError,
    Retry,
)
from asyncwait.spec.checks import is_whole, kind_of, takes
from asyncwait.spec.limits import AnyLimit, SharedLimits
from asyncwait.toolkit import (
    FunctionParts,
    Store,
    bind,
    require_kind,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from asyncwait.backends.spark.frame._plan import FramePlan

P = ParamSpec("P")

_HELD = 40
"""Default number of finished rows that may wait for an earlier row: this times the capacity."""

OnError: TypeAlias = Literal["fail", "skip", "column"] | Callable[[Any, OperatorError], Any]
"""The treatment of a row whose last attempt has failed."""


class FrameWait(Protocol[P]):
    """An operator on DataFrames; see `asyncwait.backends.spark.ordered_wait`.

    Attributes:
        plan: takes the same arguments, and returns the plan before Spark knows of it.
    """

    plan: "Callable[P, FramePlan]"

    def __call__(self, *args: P.args, **options: P.kwargs) -> "DataFrame":
        """Return the DataFrame of the results."""
        ...


def _plan(  # noqa: D417 - users see each operator without `mode`
    mode: Mode,
    df: "DataFrame",
    fn: Any,
    schema: "str | StructType | None" = None,
    *,
    columns: str | Sequence[str] | None = None,
    keep: Sequence[str] | None = None,
    key: str | Sequence[str] | None = None,
    timeout: float | None = None,
    capacity: int = 100,
    max_held: int | None = None,
    retry: Retry | None = None,
    on_error: OnError | None = None,
    error_column: str = "error",
    many: bool = False,
    batch: Batch | None = None,
    cache: Cache | None = None,
    limits: Sequence[AnyLimit] | SharedLimits | None = None,
    max_in_flight: int | None = None,
    calls_per_second: float | None = None,
    adaptive: bool = False,
    max_tasks: int | None = None,
    progress: Progress | None = None,
    journal: Journal | str | None = None,
    once: bool = False,
    fail_after: Share | None = None,
    carry: Carry | None = None,
) -> "FramePlan":
    """Call `fn` for each row of `df`, many at a time in each task, and add its results as columns.

    The rows stay in their partitions, and no call begins before an action requests rows.
    Each action calls again, and an action that sorts calls twice, because it samples its input: set
    `once` or `journal`, or write results that have cost something, and sort the written ones. The
    form `df.transform(ordered_wait, fn, "temp double", timeout=10)` works, too. On a streaming
    DataFrame each micro-batch is drained.

    Args:
        df: the input; on any session, embedded, of a cluster, or Connect.
        fn: a coroutine function, or a plain function that may block, which threads call. Its
            argument is a Row, or the plain value if `columns` is a text. It returns a
            dict, tuple, Row, dataclass or msgspec Struct, whose class workers must be able to
            import: the class can't travel with a script. Names of its fields follow
            `spark.sql.caseSensitive`, and a field missing in a dict is null. `fn` may be an
            object with `open()` and `close()`, or such a class, of which each task makes
            one object: for example a client that lives as long as its task. `timeout(value)` and
            `failure(value, error)` are called as in every operator.
        schema: the columns of the results: DDL, a StructType, or None for the annotation of the
            return value of `fn`.
        columns: the columns of the argument of `fn`: `"id"` for the plain value of that column,
            `["id"]` or several names for a Row of these; None for a Row of all. Timestamps
            have a time zone, structs and maps are dicts.
        keep: columns that go out unchanged in front of the results, without conversion to
            Python; None for all columns that `schema` does not name.
        key: column or columns by which errors name a row; None for its place in its partition.
            In key-ordered mode rows of equal keys are called one after the other; all NaN are
            equal, as in Spark, and text is compared without its collation.
        timeout: seconds from the start of the first call for a row to its deadline; None for
            none.
        capacity: largest number of concurrent calls in each task; the job has as many times more
            as the cluster has slots.
        max_held: finished rows of a task that may wait for an earlier row while further rows are
            called; 0 for none, None for 40 times the capacity. With results
            of 1 kB that is 4 MB for a capacity of 100.
        retry: how calls are repeated; None for never. Results that do not fit `schema` cause no
            further call.
        on_error: treatment of a row after its last attempt has failed: "fail" fails the task,
            "skip" drops the row, "column" sets the results to null, and describes the
            error in one more column; a function of value and error returns the result. None for
            the handler `fn.failure`, or else "fail".
        error_column: its name: a struct of `type`, `message` and `attempts`, null for results.
        many: `fn` returns a list or another iterable of results for each row, which may be empty.
        batch: number of rows that share a call: the argument of `fn` is a list of the arguments for
            single rows, and `fn` returns a list in the same order, or a mapping from these
            arguments, of the results for single rows; an exception in there fails its row alone.
            None for a call for each row. The capacity should be several times the size of a batch.
            A list has no rows whose results are in the journal. With a journal or `once`, `split`
            is refused.
        cache: lets rows with equal arguments of `fn` share calls, and caches their results in the
            worker process, where a later task finds them if its function,
            schema, columns, options and time zone are pickled to the same bytes; see
            `asyncwait.spec.Cache`, whose `key` is a function of the argument of `fn`. A process
            keeps the caches of the eight functions, or tables of joins, that it used last. A row
            with a null or NaN in its argument has a call of its own, unless `key` returns another
            value. Arrays, maps and structs are not keys, and require a `key`. `fn` must be a
            coroutine function, and `batch` and `journal` are refused. None for a call for each
            row.
        limits: the limits of the service, and budgets, for the whole job: a list of
            `asyncwait.backends.services.Limit`, `InFlight`, `Adaptive`, `Budget`, or limits that
            several jobs share: `Limits` in this process, `MachineLimits` on this machine,
            `RedisLimits` elsewhere. Rows wait for their permits before their deadlines run, except
            rows of a batch or a cache; further attempts wait, too. The driver applies the
            limits exactly to all tasks; with `carry`, each machine counts the calls of all its
            queries, as `MachineLimits` does. `Adaptive` applies to each task separately: it
            searches the limit of the service, from 4 calls at a time up to `capacity`; without
            `retry` a 429 is final. A budget must end the job, with then="fail".
        max_in_flight: the same as `InFlight` among the limits.
        calls_per_second: the same as a `Limit` of calls: so many in any second.
        adaptive: the same as `Adaptive`.
        max_tasks: number of concurrent tasks, which share the limits out between them, if tasks
            can't reach the driver; None for the driver; with Connect, where the number is
            unknown, None is refused.
        progress: watches the tasks: see `asyncwait.backends.spark.Progress`, whose context must
            be open as long as they run.
        journal: stores each result as soon as its call completes, so that a task, an action
            or a job that is killed and started again does not call twice: the path of a folder
            that all workers see, or a URL for fsspec. The function may not change meanwhile:
            the text of your own modules, the versions of others, and the values that it binds;
            see `asyncwait.backends.journal.version_of`. Or set its version yourself:
            `Journal(path, job, version)`. Other causes of different calls or results may not
            change either: the columns of the argument, their order and their types,
            `schema`, `many`, `retry.on_result`, and the time zone of the session if instants are
            read. A result of more than 64 MiB is not stored: its row fails, and is not
            called again. Failed calls are made again, but see `Journal.failures`.
        once: whether results are stored as long as the session lives, however often an action
            evaluates its input, or another action uses this DataFrame: in a journal of its
            own, in a folder of this machine, which is deleted with the session. Some rows are
            called again: rows in flight when an action ends early, as `show` and `take` do, and
            rows that two evaluations reach at the same time. Another call of this function returns
            a DataFrame with another journal. For sessions in local mode. With `on_error` "skip" or
            "column" failed rows are not called again, either; with a function,
            and with `batch`, they are.
        fail_after: the share of a task's rows that may finally fail, whatever `on_error` returns
            for them: `Share(0.05, of=1000)` ends the job when of at least 1,000 rows of a task
            more than 5 % have failed; see `asyncwait.backends.spark.Share`. The error names
            the counts and the most frequent causes. It is refused if `on_error` lets the first
            failure fail the task. None for any number.
        carry: for streams: calls stay in flight from one micro-batch to the next, and no slow
            call delays a micro-batch; see `asyncwait.backends.spark.Carry`. The limits
            above then apply to all calls on a machine, `capacity` to the calls of a lane, and a
            `cache` lives as long as the process that calls. `max_held`, `progress` and
            `fail_after` are refused. None for micro-batches that are drained.

    Returns:
        A DataFrame of the columns kept and the results.

    Raises:
        InvalidConfig: an argument is invalid.
        MissingExtra: pyspark is missing, or older than 4.1; or `cache` is set, and
            cachetools is not installed.
        JournalMismatch: the journal belongs to other calls: another job, another version of the
            function, other columns, types, schema or time zone. An InvalidConfig, too.
        JournalError: the journal can't be read, or a later version of asyncwait has written it.
    """
    require_pyspark()
    from asyncwait.backends.spark.frame._columns import schema_of
    from asyncwait.backends.spark.frame._journal import journal_of
    from asyncwait.backends.spark.frame._limits import Ceilings
    from asyncwait.backends.spark.frame._plan import FramePlan, require_frame
    from asyncwait.backends.spark.frame._twice import temporary_journal
    from asyncwait.backends.spark.frame._work import Options

    if not hasattr(df, "sparkSession"):
        require_frame(df)
    _require_function(fn)
    call = partial(fn.__call__, None) if isinstance(fn, type) else FunctionParts.of(fn).call
    blocks = _blocks(call)
    require_kind(call, blocks=blocks, many=many, batched=batch is not None)
    require_on_error(on_error)
    given: dict[str, Any] = {"carry": carry, "fail_after": fail_after, "progress": progress}
    require_kinds(given, carry=Carry, fail_after=Share, progress=Progress)
    held = _held(max_held, capacity)
    ceilings = Ceilings(limits, max_in_flight, calls_per_second, adaptive, max_tasks)
    options = Options(mode, capacity, timeout, retry, held, None, batch, cache, limits)
    has_handler = getattr(fn, "failure", None) is not None
    given |= {"max_held": max_held, "cache": cache, "journal": journal, "once": once or None}
    given |= {"batch": batch, "batch.split": getattr(batch, "split", None) or None}
    given["a journal"] = journal or once or None
    given["failures"] = getattr(journal, "failures", None) or None
    given["fails at once"] = (on_error == "fail" or (on_error is None and not has_handler)) or None
    given["fn"] = fn if blocks else None
    _require_pairs(given)
    if cache is not None:
        Store(cache)
    capacity, keeps = ceilings.kept(df, capacity, on_hosts=carry is not None)
    if progress is not None:
        progress.limits_kept(keeps.keeper)
    kept = journal_of(journal, fn, retry)
    if once:
        handles = callable(on_error) or has_handler
        kept = temporary_journal(df, failures=batch is None and not handles)
    options = replace(
        options,
        capacity=capacity,
        limits=None,
        on_error=on_error,
        many=many,
        error_column=error_column if on_error == "column" else None,
        kept=keeps,
        endpoint=None if progress is None else progress.endpoint,
        journal=kept,
        fail_after=fail_after,
        once=once and isinstance(on_error, str) and on_error != "fail",
    )
    results = schema_of(schema, fn, many=many)
    asked = {"columns": columns, "keep": keep, "key": key}
    if carry is None:
        planned = FramePlan(df, fn, results, options, **asked)
    else:
        from asyncwait.backends.spark.carry._plan import CarryPlan

        planned = CarryPlan(df, fn, results, options, carry=carry, ceiling=max_in_flight, **asked)
    if (kept := planned.work.options.journal) is not None:
        kept.prepare()
    return planned


def _held(max_held: Any, capacity: Any) -> Any:
    if max_held is not None and (not is_whole(max_held) or max_held < 0):
        raise InvalidConfig.of("max_held", max_held, "a whole number >= 0, or None")
    if max_held is None and isinstance(capacity, int):
        return _HELD * capacity
    return None if max_held == 0 else max_held


def _blocks(call: Any) -> bool:
    return kind_of(call) in ("plain", "generator")


_REFUSED: tuple[tuple[str, str, str], ...] = (
    (
        "fail_after",
        "fails at once",
        'None where `on_error` is "fail": the first row that fails ends the job',
    ),
    ("fn", "cache", "a coroutine function with `cache`; await asyncio.to_thread(...) in one"),
    (
        "journal",
        "cache",
        "None with `cache`, whose rows share calls; call for distinct rows, and join the results",
    ),
    ("once", "journal", "False with a journal, which has each row called once"),
    ("once", "cache", "False with `cache`, whose rows share calls"),
    *((name, "carry", "None with `carry`") for name in ("max_held", "progress", "fail_after")),
    (
        "batch",
        "failures",
        "None for a journal with failures=True: of a batch that raises no row is known",
    ),
    (
        "batch.split",
        "a journal",
        "False with a journal or `once`: what is kept may share the last batch of a row",
    ),
)
"""Pairs of options that exclude each other: the option at fault, the other one, the correct form.
`fails at once` represents an `on_error` that fails the task, `fn` a function that blocks, and
`failures` a journal that stores failures.
"""


def _require_pairs(given: Mapping[str, Any]) -> None:
    """Refuse options that exclude each other; None represents an option that is not set."""
    if given.get("once") not in (None, True):
        raise InvalidConfig.of("once", given["once"], "True or False")
    for name, other, expected in _REFUSED:
        if given.get(name) is not None and given.get(other) is not None:
            raise InvalidConfig.of(name, given[name], expected)


def _require_function(fn: Any) -> None:
    expected = "a coroutine function, a plain function, or a class of objects that are called"
    if isinstance(fn, type):
        if "__call__" not in dir(fn) or fn.__call__ is type.__call__:
            raise InvalidConfig.of("fn", fn, expected)
        if not takes(fn, 0):
            how = "without arguments; give an object of it, or a function that makes one"
            raise InvalidConfig.of("fn", fn, f"a function that is called {how}")
        return
    if not callable(fn) and not hasattr(fn, "async_invoke"):
        raise InvalidConfig.of("fn", fn, expected)
    if FunctionParts.of(fn).call is None:
        raise InvalidConfig.of("fn", fn, f"{expected}; one in callback form has no rows")
    if not takes(fn, 1):
        how = "with one argument: a Row, or the value of the one column"
        raise InvalidConfig.of("fn", fn, f"a function that is called {how}")


def require_kinds(given: Mapping[str, Any], **kinds: type) -> None:
    """Refuse options that are neither of their class nor None."""
    for name, kind in kinds.items():
        if not isinstance(given[name], kind | None):
            raise InvalidConfig.of(name, given[name], f"a {kind.__name__}, or None")


def require_on_error(on_error: Any) -> None:
    """Refuse an `on_error` that is not a treatment of failed rows.

    Raises:
        InvalidConfig: it is not.
    """
    if on_error in (None, "fail", "skip", "column"):
        return
    if not callable(on_error) or not _blocks(on_error):
        expected = '"fail", "skip", "column" or a plain function of a value and an error'
        raise InvalidConfig.of("on_error", on_error, expected)


def _waiting(plan: "Callable[Concatenate[Mode, P], FramePlan]", mode: Mode) -> FrameWait[P]:
    planned: Any = partial(plan, mode)
    planned.__name__ = planned.__qualname__ = f"{mode.replace('-', '_')}_wait"  # for errors
    planned.__doc__, planned.__module__ = plan.__doc__, plan.__module__

    takes = signature(planned)

    @wraps(planned)
    def wait(*args: P.args, **options: P.kwargs) -> "DataFrame":
        bind(planned.__name__, takes, args, options)
        return plan(mode, *args, **options).frame()

    typed: Any = wait
    typed.__signature__ = takes.replace(return_annotation="DataFrame")
    typed.plan = planned
    return typed  # type: ignore[no-any-return]


ordered_wait = _waiting(_plan, "ordered")
unordered_wait = _waiting(_plan, "unordered")
key_ordered_wait = _waiting(_plan, "key-ordered")
