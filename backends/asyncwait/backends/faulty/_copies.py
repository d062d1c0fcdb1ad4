"""COPY: operators that share what they were told to copy."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from msgspec.structs import replace

from asyncwait.backends.faulty._gallery import breaks
from asyncwait.reference import Parts, ResultHandler, ResultStream, StreamTask
from asyncwait.spec import Element, OperatorConfig, Record


class _CopiesInItsOwnWay(ResultStream):
    """Takes what it is told to copy with for something else; a base of those below."""

    instead_of: Callable[..., Any]

    def __init__(self, parts: Parts, config: OperatorConfig, *others: Any) -> None:
        if getattr(config, "copy", None) is not None:
            config = replace(config, copy=self.instead_of(config.copy))
        super().__init__(parts, config, *others)


@breaks("COPY-1")
class GivesWhatItHasRead(_CopiesInItsOwnWay):
    """Knows no copies, whatever it was told."""

    def instead_of(self, copy: Any) -> Callable[[Any], Any]:  # noqa: ARG002
        return lambda value: value


@breaks("COPY-1")
class CopiesEachRecordOnce(_CopiesInItsOwnWay):
    """Gives each attempt what the one before has left of the copy."""

    def instead_of(self, copy: Any) -> Callable[[Any], Any]:
        copies: dict[int, Any] = {}
        return lambda value: copies.get(id(value)) or copies.setdefault(id(value), copy(value))


@breaks("COPY-2", behind="COPY-1", why="the first call is given the value itself")
class CopiesFromTheSecondCallOn(_CopiesInItsOwnWay):
    """Gives the first call what was read, as nobody has changed that yet."""

    def instead_of(self, copy: Any) -> Callable[[Any], Any]:
        called: dict[int, Any] = {}
        return lambda value: (
            copy(value) if id(value) in called else called.setdefault(id(value), value)
        )


@breaks("COPY-3")
class CopiesForCallsAlone(ResultStream):
    """Gives handlers what was read."""

    def __init__(self, parts: Parts, config: OperatorConfig, fn: Any, *others: Any) -> None:
        super().__init__(parts, config, fn, *others)
        handlers = {name: getattr(fn, name, None) for name in ("timeout", "failure")}
        self.function = replace(self.function, **handlers)


@breaks("COPY-4")
class CopiesToSeeWhetherItCan(StreamTask):
    """Copies each value when it admits the record, where nobody expects that to fail."""

    def process(self, element: Element) -> None:
        if isinstance(element, Record) and self.config.copy is not None:
            self.config.copy(element.value)
        super().process(element)


@breaks("COPY-4", behind="COPY-1", why="the call is given the value itself")
class CallsWithWhatItCanNotCopy(_CopiesInItsOwnWay):
    """Gives a call what was read if there is no copy to be had."""

    def instead_of(self, copy: Any) -> Callable[[Any], Any]:
        def if_possible(value: Any) -> Any:
            try:
                return copy(value)
            except Exception:  # whatever copying raised: that is the slip
                return value

        return if_possible


@breaks("COPY-1")
class CallsAgainWithTheLastCopy(_CopiesInItsOwnWay):
    """Gives an attempt the copy of the one before, if there is none to be had for it."""

    def instead_of(self, copy: Any) -> Callable[[Any], Any]:
        def if_possible(value: Any, last: dict[int, Any] = {}) -> Any:  # noqa: B006 - it is kept
            with suppress(ValueError if id(value) in last else KeyError):
                last[id(value)] = copy(value)
            return last[id(value)]

        return if_possible


@breaks("COPY-4")
class CopiesWhenItsBackOffEnds(ResultHandler):
    """Copies the value where a back-off ends, and so outside of the call."""

    def start(self) -> None:
        if self.attempts and self.operator.config.copy is not None:
            self.operator.config.copy(self.record.value)
        super().start()
