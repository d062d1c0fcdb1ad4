"""Opening Flink's operators through the common interface."""

from collections.abc import AsyncIterable, AsyncIterator
from typing import Any

from msgspec.structs import replace

from asyncwait.backends.flink._jvm import require_tables, start_java
from asyncwait.backends.flink._retries import require_sayable
from asyncwait.backends.flink._task import FlinkTask
from asyncwait.reference import REFERENCE, Output, ResultStream
from asyncwait.spec import Element, InvalidConfig, OperatorConfig, Snapshot, Statistics


class FlinkResults:
    """The output of an open operator; see `asyncwait.spec.OperatorResults`."""

    def __init__(self, output: Output) -> None:
        self._output = output

    def __aiter__(self) -> AsyncIterator[Element]:
        return self

    async def __anext__(self) -> Element:
        """Return the next element."""
        return await self._output.__anext__()

    def statistics(self) -> Statistics:
        """Return the figures counted around the operator."""
        return self._output.statistics()


class FlinkStream(ResultStream):
    """Opens and leaves Flink's operator as the reference is opened and left."""

    async def __aenter__(self) -> FlinkResults:  # type: ignore[override]
        """Enter; the results have no snapshots on request, because Flink has none."""
        return FlinkResults(await super().__aenter__())


_PARTS = replace(REFERENCE, stream=FlinkStream, task=FlinkTask)


def open_keyed_operator(
    config: OperatorConfig,
    fn: Any,
    elements: AsyncIterable[Element],
    restore: Snapshot | None = None,
) -> FlinkStream:
    """Open Flink's key-ordered operator, which raises the errors that `open_operator` raises."""
    if isinstance(config, OperatorConfig):
        config.require_only("Flink's key-ordered operator")
        if config.mode != "key-ordered":
            expected = '"key-ordered"; open_operator has the other modes'
            raise InvalidConfig.of("mode", config.mode, expected)
    start_java()
    require_tables()
    return FlinkStream(_PARTS, config, fn, elements, restore)


def open_operator(
    config: OperatorConfig,
    fn: Any,
    elements: AsyncIterable[Element],
    restore: Snapshot | None = None,
) -> FlinkStream:
    """Open Flink's operator; see `asyncwait.spec.OpenOperator`.

    Raises:
        InvalidConfig: an argument is invalid, or Flink has no such option.
        FlinkUnavailable: Flink cannot run here.
        MissingExtra: the extra `flink` is not installed.
        MissingJava: no Java is installed.
    """
    if isinstance(config, OperatorConfig):
        config.require_only("Flink's operator", "retry")
        require_sayable(config.retry)
        if config.mode == "key-ordered":
            expected = (
                '"ordered" or "unordered"; Flink has another operator for keys: open_keyed_operator'
            )
            raise InvalidConfig.of("mode", config.mode, expected)
    start_java()
    return FlinkStream(_PARTS, config, fn, elements, restore)
