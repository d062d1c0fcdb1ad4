"""Opening Flink's operators through the common interface."""

from collections.abc import AsyncIterable
from typing import Any

from msgspec.structs import replace

from asyncwait.backends.flink._foreign import ForeignStream
from asyncwait.backends.flink._jvm import require_tables, start_java
from asyncwait.backends.flink._retries import require_sayable
from asyncwait.backends.flink._side import FlinkTask
from asyncwait.reference import REFERENCE
from asyncwait.spec import Element, InvalidConfig, OperatorConfig, Snapshot

_PARTS = replace(REFERENCE, stream=ForeignStream, task=FlinkTask)


def open_keyed_operator(
    config: OperatorConfig,
    fn: Any,
    elements: AsyncIterable[Element],
    restore: Snapshot | None = None,
) -> ForeignStream:
    """Open Flink's key-ordered operator, which raises the errors that `open_operator` raises."""
    if isinstance(config, OperatorConfig):
        config.require_only("Flink's key-ordered operator")
        if config.mode != "key-ordered":
            expected = '"key-ordered"; open_operator has the other modes'
            raise InvalidConfig.of("mode", config.mode, expected)
    start_java()
    require_tables()
    return ForeignStream(_PARTS, config, fn, elements, restore)


def open_operator(
    config: OperatorConfig,
    fn: Any,
    elements: AsyncIterable[Element],
    restore: Snapshot | None = None,
) -> ForeignStream:
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
    return ForeignStream(_PARTS, config, fn, elements, restore)
