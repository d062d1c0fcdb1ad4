"""In which context an operator runs what it asks of the function."""

from collections.abc import Generator, Iterator
from contextvars import ContextVar
from typing import Any

import pytest

from asyncwait.spec import CallFailed, Record
from asyncwait.toolkit import collect_results, supplied

PLACE: ContextVar[str] = ContextVar("PLACE", default="nowhere")


@pytest.fixture(autouse=True)
def _here() -> Generator[None]:
    token = PLACE.set("here")
    yield
    PLACE.reset(token)


def moved(*_: Any) -> list[str]:
    """Set the variable; return what was set before."""
    before = PLACE.get()
    PLACE.set("moved")
    return [before]


def test_what_a_supplier_sets_is_seen_by_nobody() -> None:
    assert supplied(moved) == ["here"]
    assert PLACE.get() == "here"


@pytest.mark.parametrize("raising", [False, True], ids=["whole", "breaks"])
def test_what_is_set_while_results_are_read_is_seen_by_nobody(*, raising: bool) -> None:
    def results() -> Iterator[str]:
        yield from moved()
        if raising:
            raise ValueError

    if raising:
        with pytest.raises(CallFailed):
            collect_results(Record("a"), results())
    else:
        assert collect_results(Record("a"), results()) == ("here",)
    assert PLACE.get() == "here"
