"""Warnings of the driver: modules that workers lack, and inputs that are evaluated twice."""

import asyncio
import gc
import importlib
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import gettempdir
from types import SimpleNamespace
from typing import Any

import anyio
import pytest
from pyspark import Accumulator, cloudpickle
from pyspark.sql import DataFrame, Row

from asyncwait.backends.journal import version_of
from asyncwait.backends.spark import EmbeddedSpark, EvaluatedTwice, Progress, ordered_wait
from asyncwait.backends.spark.frame._plan import missing_modules, warn_of_missing
from asyncwait.backends.spark.frame._twice import temporary_journal
from asyncwait.spec import InvalidConfig


@pytest.fixture
def beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    (tmp_path / "beside_it.py").write_text("import json\n\n\ndef f(value):\n    return value\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    import beside_it  # type: ignore[import-not-found]

    yield beside_it
    del sys.modules["beside_it"]


def test_modules_that_only_this_machine_has_are_named(beside: Any) -> None:
    everywhere = [anyio.sleep, pytest.raises, Path, lambda value: anyio, missing_modules]
    assert missing_modules(everywhere) == set()
    assert missing_modules(beside.f) == {"beside_it"} == missing_modules([lambda: beside.f(1)])

    context = SimpleNamespace(master="spark://host:7077", listFiles=[], listArchives=[])
    session = SimpleNamespace(sparkContext=context)
    with pytest.warns(RuntimeWarning, match=r"modules of fn: beside_it; send each by addPyFile"):
        warn_of_missing(session, beside.f)
    context.listFiles = ["spark://host:1/files/beside_it.py"]
    warn_of_missing(session, beside.f)
    cloudpickle.register_pickle_by_value(beside)
    try:
        assert missing_modules(beside.f) == set()
    finally:
        cloudpickle.unregister_pickle_by_value(beside)


TEXT = """
import functools
import sent_settings
LIMITS = {"a": [1, 2.0], "b": {"c", "d"}}
class Base:
    def __init__(self, held=1): self.held = held
    def at(self, x): return LIMITS, self.held, sent_settings.model
def around(fn):
    @functools.wraps(fn)
    def inner(x): return fn(x), Base(2).at(x)
    return inner
@around
def fn(x, *, d=(1, None)): return [Base().at(x), d]
"""


def test_a_function_that_was_pickled_has_its_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "sent_settings.py").write_text("model = 'one'")
    (tmp_path / "sent_here.py").write_text(TEXT)
    module = importlib.import_module("sent_here")
    before = version_of(module.fn)
    cloudpickle.register_pickle_by_value(module)
    sent = cloudpickle.loads(cloudpickle.dumps(module.fn))

    assert sent is not module.fn
    assert version_of(sent) == before
    for name in ("sent_here", "sent_settings"):
        del sys.modules[name]


cloudpickle.register_pickle_by_value(sys.modules[__name__])  # Workers can't import it.

ROWS = 100
LEAST = Row(id=ROWS - 1, opposite=1 - ROWS)


class Counted:
    def __init__(self, calls: "Accumulator[int]") -> None:
        self.calls = calls

    async def __call__(self, value: int) -> dict[str, int]:
        self.calls.add(1)
        return {"opposite": -value}


@pytest.fixture
def counted(spark: EmbeddedSpark) -> Counted:
    return Counted(spark.session.sparkContext.accumulator(0))


def waits(spark: EmbeddedSpark, fn: Counted, **options: Any) -> DataFrame:
    df = spark.session.range(0, ROWS, 1, 4)
    return ordered_wait(df, fn, "opposite long", columns="id", **options)


@contextmanager
def never_warned() -> Iterator[None]:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", EvaluatedTwice)
        yield
    assert [each for each in told if each.category is EvaluatedTwice] == []


def test_an_action_that_samples_its_input_first_is_told(
    spark: EmbeddedSpark, counted: Counted
) -> None:
    with Progress(ROWS, show=False) as progress:
        frame = waits(spark, counted, progress=progress)
        with pytest.warns(EvaluatedTwice, match="calls Counted twice") as told:
            assert frame.orderBy("opposite").collect()[0] == LEAST
    assert [each.filename for each in told] == [__file__]
    assert counted.calls.value == 2 * ROWS
    assert progress.figures().tasks_again == 4
    rows, calls, tasks, _ = progress.summary().splitlines()
    assert rows == f"rows    {ROWS} of {ROWS} done, {ROWS} in, {ROWS} out"
    assert (calls, tasks) == (f"calls   {2 * ROWS} calls", "tasks   8 done, 4 evaluated twice")


def test_a_union_of_a_result_with_itself_is_told(spark: EmbeddedSpark, counted: Counted) -> None:
    frame, other = waits(spark, counted), waits(spark, counted)
    with pytest.warns(EvaluatedTwice, match="calls Counted twice"):
        assert frame.union(frame).count() == 2 * ROWS
    with never_warned():
        assert (frame.count(), len(frame.take(70))) == (ROWS, 70)
        assert frame.union(other).count() == 2 * ROWS
        cached = frame.cache()
        assert cached.union(cached).count() == 2 * ROWS
        cached.unpersist()


class Failing(Counted):
    """Fails for every tenth number, as a service that is busy; another one takes for ever."""

    async def __call__(self, value: int) -> dict[str, int]:
        self.calls.add(1)
        if value == 1:
            await asyncio.sleep(1_000)
        if value % 10 == 0:
            raise ConnectionError("busy")
        return {"opposite": -value}


def test_once_has_no_row_called_twice_as_long_as_the_session_lives(spark: EmbeddedSpark) -> None:
    fn = Failing(spark.session.sparkContext.accumulator(0))
    with Progress(ROWS, show=False) as progress:
        frame = waits(spark, fn, once=True, on_error="column", timeout=2, progress=progress)
        first = frame.orderBy("id").collect()
    told = progress.figures()
    assert (told.rows_done, told.calls, told.tasks_done, told.tasks_again) == (ROWS, ROWS, 8, 4)
    with never_warned():
        assert frame.orderBy("id").collect() == first
        assert frame.count() == ROWS
    assert fn.calls.value == ROWS
    errors = [row.error.type for row in first if row.error is not None]
    assert errors == ["ConnectionError", "CallTimedOut", *["ConnectionError"] * 9]


def test_the_folder_goes_with_the_session() -> None:
    class Session:
        sparkContext = SimpleNamespace(master="local[2]")  # noqa: N815 - Spark's name

    df = SimpleNamespace(sparkSession=Session(), isStreaming=False)
    journal = temporary_journal(df, failures=True)
    assert Path(journal.path).parent.parent == Path(gettempdir())
    journal.prepare()
    assert journal.failures
    del df
    gc.collect()
    assert not Path(journal.path).parent.exists()


@pytest.mark.parametrize(
    ("master", "told"),
    [
        ("spark://host:7077", r"other machines \(spark://host:7077\): `journal`"),
        ("local[2]", "False for a stream"),
    ],
    ids=["a cluster", "a stream"],
)
def test_once_is_refused_where_it_would_mean_nothing(master: str, told: str) -> None:
    session = SimpleNamespace(sparkContext=SimpleNamespace(master=master))
    df = SimpleNamespace(sparkSession=session, isStreaming=True)
    with pytest.raises(InvalidConfig, match=told):
        temporary_journal(df, failures=False)
