"""Opening PyFlink's operation as any other operator."""

from collections.abc import AsyncIterable, AsyncIterator
from typing import Any

from msgspec.structs import replace

from asyncwait.backends.pyflink._load import require_pyflink
from asyncwait.backends.pyflink._retries import require_sayable
from asyncwait.backends.pyflink._task import PyFlinkTask
from asyncwait.reference import REFERENCE, Output, ResultStream
from asyncwait.spec import Element, InvalidConfig, OperatorConfig, Snapshot, Statistics


class PyFlinkResults:
    """The output of an open operator; see `asyncwait.spec.OperatorResults`.

    Args:
        output: where it comes out.
    """

    def __init__(self, output: Output) -> None:
        self._output = output

    def __aiter__(self) -> AsyncIterator[Element]:
        return self

    async def __anext__(self) -> Element:
        """Return the next element."""
        return await self._output.__anext__()

    def statistics(self) -> Statistics:
        """Return what was counted around the operator."""
        return self._output.statistics()


class PyFlinkStream(ResultStream):
    """Opens and leaves PyFlink's operation, as the reference is opened and left."""

    async def __aenter__(self) -> PyFlinkResults:  # type: ignore[override]
        """Enter; without snapshots on request, which PyFlink has not."""
        return PyFlinkResults(await super().__aenter__())


_PARTS = replace(REFERENCE, stream=PyFlinkStream, task=PyFlinkTask)


def open_operator(
    config: OperatorConfig,
    fn: Any,
    elements: AsyncIterable[Element],
    restore: Snapshot | None = None,
) -> PyFlinkStream:
    """Open PyFlink's operation; see `asyncwait.spec.OpenOperator`.

    Raises:
        InvalidConfig: an argument is not what it should be, or PyFlink has no word for it.
        MissingExtra: the extra `pyflink` is not installed.
        PyFlinkUnavailable: it is another release of PyFlink.
    """
    if isinstance(config, OperatorConfig):
        config.require_only("PyFlink's operation", "retry")
        require_sayable(config.retry)
        if config.mode == "key-ordered":
            expected = '"ordered" or "unordered"; PyFlink has no order by key'
            raise InvalidConfig.of("mode", config.mode, expected)
    require_pyflink()
    return PyFlinkStream(_PARTS, config, fn, elements, restore)
