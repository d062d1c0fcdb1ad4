"""Warnings of actions that evaluate their input twice, and the journals of `once`."""

import os
import re
import shutil
import sys
import tempfile
import warnings
from contextlib import suppress
from functools import lru_cache
from typing import Any
from uuid import uuid4
from weakref import WeakKeyDictionary, finalize

from msgspec import Struct
from pyspark import TaskContext
from pyspark.accumulators import AccumulatorParam
from pyspark.sql import SparkSession

from asyncwait.backends.journal import Journal
from asyncwait.backends.spark._session import master_of
from asyncwait.backends.spark.frame._errors import EvaluatedTwice
from asyncwait.spec import InvalidConfig
from asyncwait.spec.texts import one_line

_ACTIONS = 16
"""Number of actions whose tasks are remembered."""


class Operator(Struct, frozen=True):
    """An operator in a plan of Spark."""

    id: bytes
    name: str
    file: str
    line: int


Tasks = dict[str, dict[Operator, dict[int, int]]]
"""By action and operator: for each partition the stage that has run it."""


class Evaluations(Struct, frozen=True):
    """Reports to the driver which tasks of an operator have run."""

    operator: Operator
    told: Any

    @classmethod
    def of(cls, session: Any, name: str) -> "Evaluations | None":
        """Build it; None if no report reaches the driver, as on Spark Connect."""
        context = getattr(session, "sparkContext", None)
        if context is None:
            return None
        operator = Operator(os.urandom(8), one_line(name), *caller())
        return cls(operator, _accumulator(context, context.applicationId))

    def ended(self) -> None:
        """Note that the present task has evaluated its part of the input."""
        task = TaskContext.get()
        if task is not None and (action := task.getLocalProperty("spark.sql.execution.id")):
            self.told.add({action: {self.operator: {task.partitionId(): task.stageId()}}})


def caller() -> tuple[str, int]:
    """Return the file and the line of the user's code that calls."""
    frame = sys._getframe()  # noqa: SLF001 - there is no public way
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(_OURS):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


_OURS = ("asyncwait.", "pyspark.")  # `df.transform(ordered_wait, ...)` calls it there


@lru_cache(maxsize=1)
def _accumulator(context: Any, application: str) -> Any:
    """Return the session's accumulator: it is never freed, so each plan must not make one."""
    del application  # Two contexts may be equal, and must not share one.
    return context.accumulator({}, _Told())


class _Told(AccumulatorParam):  # type: ignore[misc]
    """Combines the reports of tasks, on the driver."""

    def zero(self, _: Tasks) -> Tasks:
        return {}

    def addInPlace(self, known: Tasks, told: Tasks) -> Tasks:  # noqa: N802 - Spark's name
        for action, operators in told.items():
            known[action] = ran = known.pop(action, {})  # The last plan comes after all others.
            for operator, stages in operators.items():
                before = ran.setdefault(operator, {})
                again = [before.setdefault(each, stage) != stage for each, stage in stages.items()]
                with suppress(Exception):  # Spark's notes on the plan may be late, or gone.
                    again.append(_is_planned_twice(operator.name, action))
                if any(again):
                    _warn(operator, action)
        for action in [*known][:-_ACTIONS]:
            del known[action]
        return known


@lru_cache(maxsize=1_000)
def _is_planned_twice(name: str, action: str) -> bool:
    """Return whether one stage runs an operator twice, as for a union of its result with itself."""
    session = SparkSession._instantiatedSession  # noqa: SLF001 - the workers have no session
    if session is None:
        return False
    notes = session._jsparkSession.sharedState().statusStore()  # noqa: SLF001 - no public way
    nodes = notes.planGraph(int(action)).allNodes()
    texts = [str(nodes.apply(place).desc()) for place in range(nodes.size())]
    if any("InMemoryTableScan" in each for each in texts):
        return False  # A cached input is evaluated once.
    found = re.findall(
        rf"^MapInArrow {re.escape(name)}\(.*\)#(\d+), \[", "\n".join(texts), re.MULTILINE
    )
    return len(found) > len({*found})


@lru_cache(maxsize=1_000)
def _warn(operator: Operator, action: str) -> None:
    del action
    text = (
        f"an action evaluates its input twice, and calls {operator.name} twice for each row: "
        "orderBy, repartitionByRange and some joins sample their input first, and a union may hold "
        "it twice. Give `once=True` or "
        "a journal, or write the results first, and sort what was written"
    )
    try:
        warnings.warn_explicit(text, EvaluatedTwice, operator.file, operator.line)
    except EvaluatedTwice:  # If warnings are errors, it would silently end a thread of Spark's.
        print(f"{EvaluatedTwice.__name__}: {text}", file=sys.stderr)  # noqa: T201


def temporary_journal(df: Any, *, failures: bool) -> Journal:
    """Return a journal that lives as long as the session, in a folder of this machine.

    Raises:
        InvalidConfig: the workers would not see that folder, or the input has no end.
    """
    master = master_of(df.sparkSession)
    if not (master or "").startswith("local"):
        where = "are on other machines" if master else "may be, on Spark Connect, on other machines"
        expected = f"False where workers {where} ({master or 'unknown'}): `journal` is for these"
        raise InvalidConfig.of("once", True, f"{expected}, with a path that all of them see")
    if df.isStreaming:
        raise InvalidConfig.of("once", True, "False for a stream, which may last: give a `journal`")
    session = df.sparkSession
    if session not in _FOLDERS:
        _FOLDERS[session] = folder = tempfile.mkdtemp(prefix="asyncwait-once-")
        finalize(session, _remove, folder, os.getpid())
    return Journal(f"{_FOLDERS[session]}/{uuid4().hex}", "once", "1", failures=failures)


_FOLDERS: "WeakKeyDictionary[Any, str]" = WeakKeyDictionary()
"""The folders with the journals of `once`, by session."""


def _remove(folder: str, process: int) -> None:
    """Remove a folder; a forked process has none of its own."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)
