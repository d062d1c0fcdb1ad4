"""Opening PyFlink's operation as any other operator, with a task that feeds it."""

from collections.abc import AsyncIterable
from typing import Any

from msgspec.structs import replace

from asyncwait.backends.flink._foreign import ForeignStream, ForeignTask
from asyncwait.backends.flink._retries import require_sayable
from asyncwait.backends.flink._stage import Stage
from asyncwait.backends.pyflink._function import CalledFunction
from asyncwait.backends.pyflink._load import require_pyflink
from asyncwait.backends.pyflink._side import PyFlinkSide
from asyncwait.reference import REFERENCE
from asyncwait.spec import Element, InvalidConfig, OperatorConfig, Snapshot
from asyncwait.toolkit import FunctionParts


class PyFlinkTask(ForeignTask):
    """Feeds PyFlink's operation, and lets its threads run."""

    def make_side(self, function: FunctionParts) -> PyFlinkSide:
        """Return PyFlink's side."""
        called = CalledFunction(function, self.spawn, self.look)
        return PyFlinkSide(self.config, called, Stage(self.clock, self.timers, self.look))


_PARTS = replace(REFERENCE, stream=ForeignStream, task=PyFlinkTask)


def open_operator(
    config: OperatorConfig,
    fn: Any,
    elements: AsyncIterable[Element],
    restore: Snapshot | None = None,
) -> ForeignStream:
    """Open PyFlink's operation; see `asyncwait.spec.OpenOperator`.

    Raises:
        InvalidConfig: an argument is invalid, or PyFlink has no such option.
        MissingExtra: the extra `pyflink` is not installed.
        PyFlinkUnavailable: another release of PyFlink is installed.
    """
    if isinstance(config, OperatorConfig):
        config.require_only("PyFlink's operation", "retry")
        require_sayable(config.retry)
        if config.mode == "key-ordered":
            expected = '"ordered" or "unordered"; PyFlink has no order by key'
            raise InvalidConfig.of("mode", config.mode, expected)
    if restore is not None:
        raise InvalidConfig.of("restore", restore, "None: PyFlink stores nothing (PY-10)")
    require_pyflink()
    return ForeignStream(_PARTS, config, fn, elements, restore)
