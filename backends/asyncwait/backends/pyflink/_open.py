"""Opening PyFlink's operation as any other operator."""

from collections.abc import AsyncIterable
from typing import Any

from msgspec.structs import replace

from asyncwait.backends.flink._open import FlinkStream
from asyncwait.backends.flink._retries import require_sayable
from asyncwait.backends.pyflink._load import require_pyflink
from asyncwait.backends.pyflink._task import PyFlinkTask
from asyncwait.reference import REFERENCE
from asyncwait.spec import Element, InvalidConfig, OperatorConfig, Snapshot

_PARTS = replace(REFERENCE, stream=FlinkStream, task=PyFlinkTask)


def open_operator(
    config: OperatorConfig,
    fn: Any,
    elements: AsyncIterable[Element],
    restore: Snapshot | None = None,
) -> FlinkStream:
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
    if restore is not None:
        raise InvalidConfig.of("restore", restore, "None: PyFlink stores nothing (PY-10)")
    require_pyflink()
    return FlinkStream(_PARTS, config, fn, elements, restore)
