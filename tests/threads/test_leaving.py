"""Calls that run when the stream is left, and the warning about them."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from textwrap import dedent
from typing import Any

import pytest
from blocking import WAITS, Gated, ours
from remains import wait_until

from asyncwait.backends.threads import ordered_wait

SHORT = 0.03
"""Seconds that a call is given which does not end."""


@pytest.mark.parametrize("limit", [None, 60])
def test_leaving_waits_for_calls_that_run(fn: Gated, mode: str, limit: float | None) -> None:
    began = time.monotonic()
    with fn.opened_later(lambda: len(fn.began) == 3 and "asyncwait-loop" in ours()):
        with WAITS[mode](range(99), fn, capacity=3, timeout=limit):
            fn.until_began(3)
        assert sorted(fn.ended) == sorted(fn.began)

    assert sorted(fn.began) == [0, 1, 2]
    assert time.monotonic() - began < 30


@pytest.mark.parametrize(
    ("values", "many", "named"),
    [
        (["a"], "1 call ", "'a'"),
        ([*"abc"], "3 calls ", "'a', 'b', 'c'"),
        (range(8), "8 calls ", "0, 1, 2, 3, 4 and 3 more"),
    ],
)
def test_leaving_waits_no_longer_than_the_time_of_the_calls(
    fn: Gated, values: Any, many: str, named: str
) -> None:
    with pytest.warns(RuntimeWarning) as told, ordered_wait(values, fn, timeout=SHORT):
        fn.until_began(len(values))

    (text,) = [str(warning.message) for warning in told]
    assert text.startswith(many)
    assert f": of {named}; " in text
    assert fn.ended == []


def test_a_task_that_is_cancelled_while_it_waits_for_calls_waits_on(fn: Gated) -> None:

    async def main() -> None:
        async def leave() -> None:
            async with ordered_wait(["a"], fn):
                while not fn.began:
                    await asyncio.sleep(0.001)
                leaving.set()

        leaving = asyncio.Event()
        task = asyncio.create_task(leave())
        await leaving.wait()
        for _ in range(3):
            await asyncio.sleep(0.002)
            task.cancel()
        await asyncio.sleep(0.002)
        assert not task.done()
        fn.open_all()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert fn.ended == ["a"]


def test_a_warning_that_is_an_error_comes_out(fn: Gated) -> None:
    with (
        pytest.raises(RuntimeWarning, match=r"^1 call runs on"),
        ordered_wait(["a"], fn, timeout=SHORT),  # and here all warnings are errors
    ):
        fn.until_began(1)

    assert ours() == ["asyncwait-call"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no pthread_kill")
@pytest.mark.parametrize("form", ["for", "with"])
def test_ctrl_c_ends_a_loop_that_waits(fn: Gated, form: str) -> None:
    main = threading.main_thread().ident
    assert main is not None

    def interrupt() -> None:
        fn.until_began(2)
        time.sleep(0.01)  # mostly it waits by then; it ends likewise if it does not yet
        signal.pthread_kill(main, signal.SIGINT)
        time.sleep(0.01)  # mostly it leaves by then, and waits for the calls
        fn.open_all()

    def wait() -> None:
        if form == "for":
            list(ordered_wait(range(9), fn, capacity=2))
        else:
            with ordered_wait(range(9), fn, capacity=2) as results:
                next(results)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        wait()
    thread.join()

    assert fn.began == [0, 1]
    wait_until(lambda: not ours())


@pytest.mark.skipif(os.name == "nt", reason="Windows has no pthread_kill")
def test_ctrl_c_ends_a_hook_that_opens() -> None:
    main = threading.main_thread().ident
    assert main is not None
    log: list[str] = []

    class Slow:
        async def open(self) -> None:
            signal.pthread_kill(main, signal.SIGINT)
            try:
                await asyncio.sleep(99)
            finally:
                log.append("ended")

        def __call__(self, value: int) -> int:
            return value

    with pytest.raises(KeyboardInterrupt), ordered_wait([1], Slow()):
        pass

    assert log == ["ended"]


@pytest.mark.parametrize(
    "program",
    [
        "results = iter(ordered_wait(values(), call)); print(next(results))",
        "results = ordered_wait(values(), call).__enter__(); print(next(results))",
        "for each in ordered_wait(values(), call, timeout=0.5): print(each); break",
        "with ordered_wait(values(), call, timeout=0.5) as results: print(next(results))",
    ],
)
def test_the_program_ends_while_a_call_and_the_source_hang(program: str) -> None:
    head = """
        import time
        from asyncwait.backends.threads import ordered_wait

        def values():
            yield from range(3)
            time.sleep(99)  # it hangs: the program is to end long before

        def call(value):
            time.sleep(99 if value else 0)
            return value
    """
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", dedent(head) + program],
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "0\n", "")
