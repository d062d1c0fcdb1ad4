"""A source is closed once, and so is the iterator that it made."""

import asyncio
from typing import Any

import anyio
import pytest

from asyncwait.toolkit import close_source, join_errors


class Closable:
    """Notes that it is closed, and raises.

    Args:
        name: for the log.
        log: where it is noted.
        error: what closing raises.
    """

    def __init__(self, name: str, log: list[str], error: BaseException | None = None) -> None:
        self.name = name
        self.log = log
        self.error = error

    async def aclose(self) -> None:
        self.log.append(self.name)
        if self.error is not None:
            raise self.error


def close(*sources: Any) -> BaseException | None:
    return anyio.run(close_source, *sources)


def test_the_first_error_is_returned_with_the_second_as_a_note() -> None:
    log: list[str] = []
    first, second = asyncio.CancelledError("odd"), OSError("busy")

    assert close(Closable("a", log, first), Closable("b", log, second)) is first
    assert first.__notes__ == ["Closing the operator raised, too: OSError('busy')"]
    assert log == ["a", "b"]


def test_an_interruption_of_the_program_passes() -> None:
    with pytest.raises(SystemExit):
        close(Closable("a", [], SystemExit()))


def test_the_first_of_several_errors_is_told_of_the_others() -> None:
    first, second, third = LookupError("1"), OSError("2"), OSError("3")

    assert join_errors(None, first, None, second, first, third) is first
    assert first.__notes__ == [
        "Closing the operator raised, too: OSError('2')",
        "Closing the operator raised, too: OSError('3')",
    ]
    assert join_errors(None, None) is None
