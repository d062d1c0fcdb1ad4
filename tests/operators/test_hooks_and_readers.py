"""Hooks that raise or wait, and who may read: one task at a time."""

import contextvars
from typing import Any

import anyio
import pytest
from operators import Sleeper, Source, echo, failure_of, read_all, read_timed, seconds_now

from asyncwait.spec import Element, OpenOperator, OperatorConfig, Record

pytestmark = pytest.mark.anyio


class Hooked(Sleeper):
    """Has hooks that raise where they are told to.

    Args:
        source: into whose log the hooks are noted.
        raises: by name of the hook, what it raises.
        plain: the hooks are plain functions.
    """

    def __init__(self, source: Source, *, plain: bool = False, **raises: BaseException) -> None:
        super().__init__()
        for name in ("open", "close"):
            hook = self._hook(source, name, raises.get(name), plain=plain)
            setattr(self, name, hook)

    def _hook(self, source: Source, name: str, error: BaseException | None, *, plain: bool) -> Any:
        def run() -> None:
            source.log.append(name)
            if error is not None:
                raise error

        async def wait_and_run() -> None:
            await anyio.sleep(1)
            run()

        return run if plain else wait_and_run


@pytest.mark.parametrize("plain", [False, True])
async def test_open_that_raises_keeps_the_context_from_being_entered(
    open_operator: OpenOperator, *, plain: bool
) -> None:
    """The source is closed, nothing is called, and `close` has nothing to close."""
    source = Source("a1")
    error = OSError("open")

    with pytest.raises(OSError, match=r"^open$") as caught:
        async with open_operator(OperatorConfig(), Hooked(source, plain=plain, open=error), source):
            pytest.fail("the body must not run")

    assert caught.value is error
    assert source.log == ["open", "closed"]


async def test_closing_the_source_is_a_note_on_what_open_raised(
    open_operator: OpenOperator,
) -> None:
    """It was closed because of that."""
    source = Source("a1")
    source.closing_error = OSError("busy")

    with pytest.raises(LookupError, match=r"^'open'") as caught:
        async with open_operator(
            OperatorConfig(), Hooked(source, open=LookupError("'open'")), source
        ):
            pytest.fail("the body must not run")

    assert caught.value.__notes__ == ["Closing the operator raised, too: OSError('busy')"]


@pytest.mark.parametrize("plain", [False, True])
async def test_close_that_raises_comes_out_when_everything_is_over(
    open_operator: OpenOperator, *, plain: bool
) -> None:
    """The output is whole."""
    source = Source("a1")
    error = OSError("close")

    with pytest.raises(OSError, match=r"^close$") as caught:
        async with open_operator(
            OperatorConfig(), Hooked(source, plain=plain, close=error), source
        ) as results:
            assert await read_all(results) == ["a1"]

    assert caught.value is error
    assert source.log == ["open", "closed", "close"]


@pytest.mark.parametrize("raises", [False, True])
async def test_the_first_that_went_wrong_comes_out_with_the_others_as_notes(
    open_operator: OpenOperator, *, raises: bool
) -> None:
    """Body, source, function, in this order."""
    body = KeyError("body") if raises else None
    source = Source("a1", 99)
    source.closing_error = OSError("source")

    with pytest.raises(Exception) as caught:  # noqa: PT011, PT012 - one of two
        async with open_operator(
            OperatorConfig(), Hooked(source, close=LookupError("close")), source
        ):
            if body is not None:
                raise body

    note = "Closing the operator raised, too: "
    notes = [f"{note}OSError('source')", f"{note}LookupError('close')"]
    assert caught.value is (source.closing_error if body is None else body)
    assert caught.value.__notes__ == (notes[1:] if body is None else notes)


async def test_hooks_run_in_the_task_that_enters_and_leaves(open_operator: OpenOperator) -> None:
    """What is opened and closed may belong to a task, and encloses what the operator does."""
    seen = contextvars.ContextVar("seen", default="nothing")
    source = Source("a1")
    fn: Any = Sleeper()

    async def open_() -> None:
        fn.group = await anyio.create_task_group().__aenter__()
        fn.group.start_soon(anyio.sleep_forever)
        seen.set("by open")

    async def close() -> None:
        fn.group.cancel_scope.cancel()
        await fn.group.__aexit__(None, None, None)

    fn.open, fn.close = open_, close
    async with open_operator(OperatorConfig(), fn, source) as results:
        assert seen.get() == "by open"
        assert await read_all(results) == ["a1"]


async def test_a_second_task_that_reads_is_refused_and_the_first_loses_nothing(
    open_operator: OpenOperator,
) -> None:
    """Whether something is ready or not; afterwards another task may read."""
    taken: list[Element] = []
    source = Source("a2", "b3", "c4")

    async with open_operator(OperatorConfig(), Sleeper(), source) as results:

        async def read() -> None:
            async for element in results:
                taken.append(element)  # noqa: PERF401 - it is cancelled amid

        async with anyio.create_task_group() as group:
            group.start_soon(read)
            for _ in range(6):
                await anyio.sleep(0.5)
                with pytest.raises(RuntimeError, match=r"^another task "):
                    await anext(results)
            group.cancel_scope.cancel()
        rest = await read_all(results)

    assert [*taken, *map(Record, rest)] == [Record("a2"), Record("b3"), Record("c4")]


async def test_a_second_reader_is_refused_although_an_element_is_ready(
    open_operator: OpenOperator,
) -> None:
    """The first was woken for it, and has yet to take it."""
    taken: list[Element] = []

    async with (
        open_operator(OperatorConfig(), Sleeper(), Source("a9")) as results,
        anyio.create_task_group() as group,
    ):

        async def read() -> None:
            taken.append(await anext(results))

        group.start_soon(read)
        await anyio.sleep(1)
        results.request_snapshot(7)  # type: ignore[attr-defined]
        with pytest.raises(RuntimeError, match=r"^another task "):
            await anext(results)

    assert [type(element).__name__ for element in taken] == ["Snapshot"]


async def test_a_first_reader_that_fails_does_not_lock_the_second_out(
    open_operator: OpenOperator,
) -> None:
    """The failure is everybody's."""
    async with open_operator(OperatorConfig(), Sleeper(), Source("a!")) as results:
        errors = [await failure_of(results), await failure_of(results)]

    assert errors[0] is errors[1]


async def test_a_reader_that_gives_up_in_the_instant_of_a_result_loses_nothing(
    open_operator: OpenOperator,
) -> None:
    """However the two fall together."""
    source = Source(*(f"{name}1" for name in "abcdefghij"))
    out: list[Any] = []

    async with open_operator(OperatorConfig("ordered", 1), Sleeper(), source) as results:
        while len(out) < 10:
            with anyio.move_on_after(1):
                out.append((await anext(results)).value)  # type: ignore[union-attr]
        assert await read_all(results) == []

    assert out == [f"{name}1" for name in "abcdefghij"]


async def test_results_are_read_with_async_for(open_operator: OpenOperator) -> None:
    """Again and again: the end stays the end."""
    async with open_operator(OperatorConfig(), echo, Source("a", "b")) as results:
        assert aiter(results) is results
        assert [element async for element in results] == [Record("a"), Record("b")]
        assert [element async for element in results] == []
    assert [element async for element in results] == []


async def test_results_may_be_read_in_another_task_than_the_one_that_entered(
    open_operator: OpenOperator,
) -> None:
    """It is told the end when the context is left."""
    taken: list[tuple[float, Any]] = []

    async with (
        anyio.create_task_group() as group,
        open_operator(OperatorConfig(), Sleeper(), Source("a1", "b9")) as results,
    ):

        async def read() -> None:
            taken.extend(await read_timed(results))
            taken.append((seconds_now(), "end"))

        group.start_soon(read)
        await anyio.sleep(2)

    assert taken == [(1, "a1"), (2, "end")]
