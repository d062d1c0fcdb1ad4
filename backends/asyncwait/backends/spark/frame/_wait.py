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
    OperatorConfig,
    OperatorError,
    Retry,
)
from asyncwait.spec.checks import kind_of, takes
from asyncwait.spec.limits import AnyLimit, SharedLimits, require_limits
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
"""Times the capacity: as many finished rows wait, by default, for one in front of them."""

OnError: TypeAlias = Literal["fail", "skip", "column"] | Callable[[Any, OperatorError], Any]
"""The treatment of a row whose last attempt has failed."""


class FrameWait(Protocol[P]):
    """An operator on DataFrames; see `asyncwait.backends.spark.ordered_wait`.

    Attributes:
        plan: takes the same, and returns what is planned, before Spark knows of it.
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
    """Call `fn` for each row of `df`, many at a time in each task, and add what it gives.

    The rows stay in their partitions, and nothing is called before an action asks for rows.
    Each action calls again, and an action that sorts calls twice, as it samples its input: give
    `once` or `journal`, or write what has cost something, and sort that. It reads well as
    `df.transform(ordered_wait, fn, "temp double", timeout=10)`, too. On a streaming DataFrame
    each micro-batch is drained.

    Args:
        df: the input; on any session, embedded, of a cluster, or Connect.
        fn: a coroutine function, or a plain function that may block, which is called in threads
            then. It is given a Row, or the plain value where `columns` is a text. It gives a
            dict, tuple, Row, dataclass or msgspec Struct, whose class workers have to import:
            it can't travel with a script. Names of its fields follow
            `spark.sql.caseSensitive`, and what a dict leaves out is null. It may be an
            object with `open()` and `close()`, or a class of them, of which each task makes
            one: a client that lives as long as its task. `timeout(value)` and
            `failure(value, error)` are asked as everywhere.
        schema: the columns that it gives: DDL, a StructType, or None for what its annotation
            says that it returns.
        columns: what it is given of each row: `"id"` for the plain value of that column,
            `["id"]` or several names for a Row of these; None for a Row of all. Timestamps
            have a time zone, structs and maps are dicts.
        keep: the columns that go out as they came, in front of the results, and never become
            Python's; None for all that `schema` does not name.
        key: column or columns by which errors name a row; None for its place in its partition.
            In key-ordered mode rows of equal keys are called one after the other; all NaN are
            equal, as they are to Spark, and text is compared without its collation.
        timeout: seconds from the start of the first call for a row to its deadline; None for
            none.
        capacity: calls at a time in each task, and so many times the slots of the cluster in
            all.
        max_held: finished rows of a task that may wait for one in front of them without keeping
            others from being called; 0 for none, None for 40 times the capacity. With results
            of 1 kB that is 4 MB for a capacity of 100.
        retry: how calls are repeated; None for not at all. Results that do not fit `schema` are
            not called for again.
        on_error: what becomes of a row for which everything has failed, its retries too: "fail"
            fails the task, "skip" leaves the row out, "column" gives nulls, and tells of the
            error in one more column; a function of value and error gives the result. None for
            what `fn.failure` says, or else "fail".
        error_column: its name: a struct of `type`, `message` and `attempts`, null for results.
        many: `fn` gives a list or another iterable of results for each row; none is fine.
        batch: how many rows share a call: `fn` is given a list of what it else is given for
            one, and returns a list in the same order, or a mapping from these values, of what
            it else gives; an exception in there fails its row alone. None for a call for each
            row. Capacity is to be several times the size of a batch. What the journal has is
            in no list. With a journal or `once`, `split` is refused.
        cache: has rows with equal values, of what `fn` is given, share calls, and keeps what
            these give in the worker process, where the next task finds it whose function,
            schema, columns, options and time zone are pickled to the same bytes; see
            `asyncwait.spec.Cache`, whose `key` is a function of what `fn` is given. A process
            keeps it for the eight functions, or tables of joins, that it used last. A row in
            which a value is null or NaN has a call of its own, unless `key` gives something
            else. Arrays, maps and structs are no keys, and need a `key`. `fn` has to be a
            coroutine function, and `batch` and `journal` are refused. None for a call for each
            row.
        limits: what the service allows, and what may be spent, in the whole job: a list of
            `asyncwait.backends.services.Limit`, `InFlight`, `Adaptive`, `Budget`, or what
            several jobs share: `Limits` in this process, `MachineLimits` on this machine,
            `RedisLimits` elsewhere. Rows wait for their permits before their deadlines run, but
            for those of a batch or a cache; further attempts wait, too. The driver keeps the
            limits, exactly, for all tasks; with `carry`, each machine counts the calls of all its
            queries, as `MachineLimits` does. `Adaptive` is for each task by itself: it
            looks for the limit of the service, from 4 calls at a time up to `capacity`; without
            `retry` a 429 is final. A budget has to end the job, with then="fail".
        max_in_flight: the same as `InFlight` among the limits.
        calls_per_second: the same as a `Limit` of calls: so many in any second.
        adaptive: the same as `Adaptive`.
        max_tasks: where tasks can't reach the driver: how many run at a time, which share the
            limits out between them; None for the driver; with Connect, where the number is
            unknown, None is refused.
        progress: watches the tasks: see `asyncwait.backends.spark.Progress`, whose context has
            to be open for as long as they run.
        journal: where results are kept as soon as a call completes, so that a task, an action
            or a job that is killed and started again does not call twice: the path of a folder
            that all workers see, or a URL for fsspec. The function may not change meanwhile:
            the text of your own modules, the versions of others, and the values that it holds;
            see `asyncwait.backends.journal.version_of`. Or give its version yourself:
            `Journal(path, job, version)`. Nor may what else makes it another call,
            or another result: the columns that it is given, their order and their types,
            `schema`, `many`, `retry.on_result`, and where instants are read the time zone of
            the session. A result of more than 64 MiB is not kept: its row fails, and is not
            called again. Calls that have failed are made again, but see `Journal.failures`.
        once: whether results are kept as long as the session lives, however often an action
            evaluates its input, or another one asks this DataFrame again: a journal of its
            own, in a folder of this machine, which goes with the session. Called again are
            rows that are in flight when an action ends early, as `show` and `take` do, and
            those that two evaluations come to at the same time. What this call returns the
            next time has another one. For sessions in local mode. With `on_error` "skip" or
            "column" rows that have failed are not called again, either; with a function,
            and with `batch`, they are.
        fail_after: the share of a task's rows that may fail for good, whatever `on_error` makes
            of them: `Share(0.05, of=1000)` ends the job when of at least 1,000 rows of a task
            more than 5 % have failed; see `asyncwait.backends.spark.Share`. The error names
            the counts and the most frequent causes. It is refused where the first failure
            fails the task, as `on_error` says. None for any number.
        carry: for streams: calls stay in flight from one micro-batch to the next, and no slow
            call holds up a micro-batch; see `asyncwait.backends.spark.Carry`. The ceilings
            above are for all calls on a machine then, `capacity` for those of a lane, and a
            `cache` lives as long as the process that calls. `max_held`, `progress` and
            `fail_after` are refused. None for micro-batches that are drained.

    Returns:
        A DataFrame of the columns kept and the results.

    Raises:
        InvalidConfig: an argument is wrong.
        MissingExtra: pyspark is not installed, or older than 4.1; or there is a cache, and
            cachetools is not installed.
        JournalMismatch: the journal is of other calls: another job, another version of the
            function, other columns, types, schema or time zone. An InvalidConfig, too.
        JournalError: the journal can't be read, or a later version of asyncwait has written it.
    """
    require_pyspark()
    from asyncwait.backends.spark.frame._columns import schema_of
    from asyncwait.backends.spark.frame._journal import journal_of
    from asyncwait.backends.spark.frame._limits import Ceilings
    from asyncwait.backends.spark.frame._opening import Options
    from asyncwait.backends.spark.frame._plan import Asked, FramePlan, require_frame
    from asyncwait.backends.spark.frame._twice import temporary_journal

    if not hasattr(df, "sparkSession"):
        require_frame(df)
    _require_function(fn)
    blocks = _blocks(call := _call_of(fn))
    require_kind(call, blocks=blocks, many=many, batched=batch is not None)
    require_on_error(on_error)
    require_progress(progress)
    given: dict[str, Any] = {"carry": carry, "fail_after": fail_after, "max_held": max_held}
    for name, kind in (("carry", Carry), ("fail_after", Share)):
        if not isinstance(given[name], kind | None):
            raise InvalidConfig.of(name, given[name], f"a {kind.__name__}, or None")
    held = _held(max_held, capacity)
    ceilings = Ceilings(limits, max_in_flight, calls_per_second, adaptive, max_tasks)
    allowed = None if limits is None else require_limits(limits)
    OperatorConfig(mode, capacity, timeout, retry, held, batch=batch, cache=cache, limits=allowed)
    has_handler = getattr(fn, "failure", None) is not None
    given |= {"progress": progress, "cache": cache, "journal": journal, "once": once or None}
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
    if batch is not None:
        OperatorConfig(capacity=capacity, batch=replace(batch, split=False))  # of its share
        if kept is not None:
            _require_whole_batches(batch, kept)
    options = Options(
        mode,
        timeout,
        capacity,
        held,
        retry,
        on_error,
        many=many,
        error_column=error_column if on_error == "column" else None,
        kept=keeps,
        endpoint=None if progress is None else progress.endpoint,
        journal=kept,
        batch=batch,
        cache=cache,
        fail_after=fail_after,
        once=once and isinstance(on_error, str) and on_error != "fail",
    )
    results, asked = schema_of(schema, fn, many=many), Asked(columns, keep, key)
    if carry is None:
        planned = FramePlan(df, fn, results, asked, options)
    else:
        from asyncwait.backends.spark.carry._plan import CarryPlan

        planned = CarryPlan(df, fn, results, asked, options, carry=carry, ceiling=max_in_flight)
    if (kept := planned.work.options.journal) is not None:
        kept.prepare()
    return planned


def _held(max_held: Any, capacity: Any) -> Any:
    """Return what an operator is given for `max_held`."""
    if max_held is not None and (not isinstance(max_held, int) or max_held < 0 or max_held is True):
        raise InvalidConfig.of("max_held", max_held, "a whole number >= 0, or None")
    if max_held is None and isinstance(capacity, int):
        return _HELD * capacity
    return None if max_held == 0 else max_held


def _call_of(fn: Any) -> Any:
    return partial(fn.__call__, None) if isinstance(fn, type) else FunctionParts.of(fn).call


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
)
"""Pairs of options that exclude each other: the option to blame, the other one, the correct form.

`fails at once` stands for an `on_error` that fails the task, and `fn` for a function that blocks.
"""


def _require_pairs(given: Mapping[str, Any]) -> None:
    """Refuse options that exclude each other; None stands for an option that is not given."""
    if given["once"] not in (None, True):
        raise InvalidConfig.of("once", given["once"], "True or False")
    for name, other, expected in _REFUSED:
        if given[name] is not None and given[other] is not None:
            raise InvalidConfig.of(name, given[name], expected)


def _require_whole_batches(batch: Batch, journal: Journal) -> None:
    if journal.failures:
        expected = "None for a journal with failures=True: of a batch that raises no row is known"
        raise InvalidConfig.of("batch", batch, expected)
    if batch.split:
        expected = "False with a journal or `once`: what is kept may share the last batch of a row"
        raise InvalidConfig.of("batch.split", True, expected)


def _require_function(fn: Any) -> None:
    expected = "a coroutine function, a plain function, or a class of objects that are called"
    if isinstance(fn, type):
        if "__call__" not in dir(fn) or fn.__call__ is type.__call__:
            raise InvalidConfig.of("fn", fn, expected)
        _require_takes(fn, "without arguments; give an object of it, or a function that makes one")
        return
    if not callable(fn) and not hasattr(fn, "async_invoke"):
        raise InvalidConfig.of("fn", fn, expected)
    if FunctionParts.of(fn).call is None:
        raise InvalidConfig.of("fn", fn, f"{expected}; one in callback form has no rows")
    _require_takes(fn, "with one argument: a Row, or the value of the one column", None)


def _require_takes(fn: Any, how: str, *arguments: Any) -> None:
    """Refuse what can't be called as it will be, where that can be told here."""
    if not takes(fn, len(arguments)):
        raise InvalidConfig.of("fn", fn, f"a function that is called {how}")


def require_progress(progress: Any) -> None:
    """Refuse a `progress` that tasks can not report to.

    Raises:
        InvalidConfig: it is no Progress.
    """
    if progress is not None and not isinstance(progress, Progress):
        raise InvalidConfig.of("progress", progress, "a Progress, or None")


def require_on_error(on_error: Any) -> None:
    """Refuse what says nothing of rows that have failed.

    Raises:
        InvalidConfig: it does not.
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
