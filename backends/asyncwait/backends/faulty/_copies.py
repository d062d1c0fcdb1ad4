"""COPY: operators that share values between calls although `copy` is set."""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from asyncwait.backends.faulty._gallery import breaks
from asyncwait.reference import Parts, ResultStream
from asyncwait.spec import OperatorConfig


class _CopiesInItsOwnWay(ResultStream):
    """Replaces the configured `copy` by another function; base of the classes below."""

    instead_of: Callable[..., Any]

    def __init__(self, parts: Parts, config: OperatorConfig, *others: Any) -> None:
        if getattr(config, "copy", None) is not None:
            config = replace(config, copy=self.instead_of(config.copy))
        super().__init__(parts, config, *others)


@breaks("COPY-1")
class GivesWhatItHasRead(_CopiesInItsOwnWay):
    """Ignores `copy`."""

    def instead_of(self, copy: Any) -> Callable[[Any], Any]:  # noqa: ARG002
        return lambda value: value


@breaks("COPY-1")
class CopiesEachRecordOnce(_CopiesInItsOwnWay):
    """Passes all attempts the same copy."""

    def instead_of(self, copy: Any) -> Callable[[Any], Any]:
        copies: dict[int, Any] = {}
        return lambda value: copies.get(id(value)) or copies.setdefault(id(value), copy(value))


@breaks("COPY-2", behind="COPY-1", why="the first call is given the value itself")
class CopiesFromTheSecondCallOn(_CopiesInItsOwnWay):
    """Passes the first call the original value, and copies only for later calls."""

    def instead_of(self, copy: Any) -> Callable[[Any], Any]:
        called: dict[int, Any] = {}
        return lambda value: (
            copy(value) if id(value) in called else called.setdefault(id(value), value)
        )


@breaks("COPY-3")
class CopiesForCallsAlone(ResultStream):
    """Passes the original value to the handlers."""

    def __init__(self, parts: Parts, config: OperatorConfig, fn: Any, *others: Any) -> None:
        super().__init__(parts, config, fn, *others)
        handlers = {name: getattr(fn, name, None) for name in ("timeout", "failure")}
        self.function = replace(self.function, **handlers)
