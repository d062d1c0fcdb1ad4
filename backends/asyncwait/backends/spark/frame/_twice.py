"""One action that evaluates its input twice, and so calls twice: how it is told, and prevented."""

import os
import shutil
import tempfile
import warnings
from contextlib import suppress
from functools import lru_cache
from typing import Any
from weakref import WeakValueDictionary, finalize

from msgspec import Struct
from pyspark import TaskContext
from pyspark.accumulators import AccumulatorParam

from asyncwait.backends.journal import Journal
from asyncwait.backends.spark.frame._errors import EvaluatedTwice
from asyncwait.backends.spark.progress import Progress
from asyncwait.spec import InvalidConfig
from asyncwait.spec.texts import one_line

_ACTIONS = 16
"""Of so many actions it is known which tasks they have run."""

Tasks = dict[tuple[bytes, str, str], dict[int, int]]
"""By operator, its name and action: of each partition the stage that has run it."""


class Evaluations(Struct, frozen=True):
    """Tells the driver which tasks of an operator have run.

    Args:
        operator: tells it from all others.
        name: of it.
        told: the accumulator that goes to the driver.
    """

    operator: bytes
    name: str
    told: Any

    @classmethod
    def of(cls, session: Any, name: str, progress: Progress | None) -> "Evaluations | None":
        """Build them; None where nothing goes to the driver, as on Spark Connect."""
        context = getattr(session, "sparkContext", None)
        if context is None:
            return None
        operator = os.urandom(8)
        if progress is not None:
            _WATCHING[operator] = progress
        return cls(operator, one_line(name), _accumulator(context, context.applicationId))

    def ended(self) -> None:
        """Take note that the present task has evaluated its part of the input."""
        task = TaskContext.get()
        if task is not None and (action := task.getLocalProperty("spark.sql.execution.id")):
            stages = {task.partitionId(): task.stageId()}
            self.told.add({(self.operator, self.name, action): stages})


_WATCHING: "WeakValueDictionary[bytes, Progress]" = WeakValueDictionary()
"""Who watches an operator, if anybody does."""


@lru_cache(maxsize=1)
def _accumulator(context: Any, application: str) -> Any:
    """Return the one of a session: it is never given back, and would be one more for each plan."""
    del application  # Two contexts may be equal, and never have the same.
    return context.accumulator({}, _Told())


class _Told(AccumulatorParam):  # type: ignore[misc]
    """Puts together what tasks tell, on the driver."""

    def zero(self, _: Tasks) -> Tasks:
        return {}

    def addInPlace(self, known: Tasks, told: Tasks) -> Tasks:  # noqa: N802 - Spark's name
        for where, stages in told.items():
            ran = known.setdefault(where, {})
            for partition, stage in stages.items():
                if ran.setdefault(partition, stage) != stage:
                    _tell(*where)
        for where in [*known][:-_ACTIONS]:
            del known[where]
        return known


@lru_cache(maxsize=_ACTIONS)
def _warn(operator: bytes, name: str, action: str) -> None:
    """Warn once of an action."""
    del operator, action
    text = (
        f"an action evaluates its input twice, and calls {name} twice for each row: orderBy, "
        "repartitionByRange and some joins sample their input first. Give `once=True` or a "
        "journal, or write the results first, and sort what was written"
    )
    with suppress(EvaluatedTwice):  # where warnings are errors, it would end Spark's own thread
        warnings.warn(text, EvaluatedTwice, stacklevel=3)


def _tell(operator: bytes, name: str, action: str) -> None:
    if (progress := _WATCHING.get(operator)) is not None:
        progress.evaluated_again()
    _warn(operator, name, action)


def temporary_journal(df: Any, *, failures: bool) -> Journal:
    """Return a journal that lives as long as the session, in a folder of this machine.

    Raises:
        InvalidConfig: the workers would not see that folder, or the input has no end.
    """
    master = getattr(getattr(df.sparkSession, "sparkContext", None), "master", "another machine")
    if not master.startswith("local"):
        expected = f"False where workers are on other machines ({master}): `journal` is for these"
        raise InvalidConfig.of("once", True, f"{expected}, with a path that all of them see")
    if df.isStreaming:
        raise InvalidConfig.of("once", True, "False for a stream, which may last: give a `journal`")
    folder = tempfile.mkdtemp(prefix="asyncwait-once-")
    finalize(df.sparkSession, shutil.rmtree, folder, ignore_errors=True)
    return Journal(folder, "once", "1", failures=failures)
