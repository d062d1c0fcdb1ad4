"""In which context an operator runs what it asks of the function."""

from collections.abc import Generator, Iterator
from contextvars import ContextVar, copy_context
from typing import Any

import pytest

from asyncwait.spec import CallFailed, Record, Retry
from asyncwait.toolkit import BackOffs, FunctionParts, collect_results, supplied

PLACE: ContextVar[str] = ContextVar("PLACE", default="nowhere")


@pytest.fixture(autouse=True)
def _here() -> Generator[None]:
    """Be somewhere."""
    token = PLACE.set("here")
    yield
    PLACE.reset(token)


def moved(*_: Any) -> list[str]:
    """Set the variable; return what was set before."""
    before = PLACE.get()
    PLACE.set("moved")
    return [before]


class Function:
    """All plain parts, and a coroutine function."""

    timeout = failure = open = staticmethod(moved)

    async def __call__(self, value: Any) -> list[Any]:
        """Never called here."""
        raise AssertionError


class Callback(Function):
    """The callback form."""

    async_invoke = staticmethod(moved)


def test_plain_parts_run_in_fresh_copies_of_a_context() -> None:
    """What one of them sets is seen by none, not even by itself the next time."""
    parts = FunctionParts.of(Callback()).within(copy_context())
    PLACE.set("elsewhere")
    assert parts.timeout is not None
    assert parts.failure is not None
    assert parts.invoke is not None
    any_one: Any = None

    for _ in range(2):
        given = [parts.timeout(1), parts.failure(1, any_one), parts.invoke(1, any_one)]
        assert given == [["here"]] * 3
    assert PLACE.get() == "elsewhere"


def test_all_other_parts_stay_as_they_are() -> None:
    """A coroutine function has a task of its own, and the hooks run in the consumer's."""
    parts = FunctionParts.of(Function())
    within = parts.within(copy_context())

    assert (within.call, within.open, within.close) == (parts.call, parts.open, parts.close)
    assert within.invoke is None


def test_what_a_supplier_sets_is_seen_by_nobody() -> None:
    """It sees what whoever asks it sees."""
    assert supplied(moved) == ["here"]
    assert PLACE.get() == "here"


@pytest.mark.parametrize("raising", [False, True], ids=["whole", "breaks"])
def test_what_is_set_while_results_are_read_is_seen_by_nobody(*, raising: bool) -> None:
    """Be they read to the end or not."""

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


def test_predicates_are_asked_in_copies_of_a_context() -> None:
    """That in which the back-offs were made, or the one that is set."""
    seen: list[str] = []

    def ask(_: object) -> bool:
        seen.extend(moved())
        return True

    back_offs = BackOffs(Retry(on_error=ask, on_result=ask))
    PLACE.set("opened")
    opened = copy_context()
    PLACE.set("elsewhere")
    failure = CallFailed(Record("a"), "no reason")

    for context in (back_offs.context, opened):
        back_offs.context = context
        assert back_offs.after_failure(failure, 1) == 0.1
        assert back_offs.after_results(Record("a"), (), 1) == 0.1
    assert seen == ["here", "here", "opened", "opened"]
    assert PLACE.get() == "elsewhere"
