"""A function whose results are kept."""

import inspect
from functools import partial
from typing import Any

import anyio
import pytest
from msgspec.structs import replace

from asyncwait.backends.journal import (
    Journal,
    JournalFull,
    JournalLost,
    KeptFailure,
    key_of,
    paid_once,
    summary,
)
from asyncwait.backends.pool import ordered_wait
from asyncwait.backends.services import Budget, Cost, InFlight, StandIns
from asyncwait.backends.threads import ordered_wait as threads_wait
from asyncwait.spec import Batch, CallFailed, InvalidConfig, Retry
from asyncwait.toolkit import WrongFunction

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


class Service:
    def __init__(self) -> None:
        self.calls: list[int] = []

    async def ask(self, value: int) -> str:
        return self.ask_plainly(value)

    def ask_plainly(self, value: int) -> str:
        self.calls.append(value)
        if value < 0:
            raise ValueError("less than 0")
        return f"answer {value}"


def kept(fn: Any, attempt: Any) -> Any:
    return paid_once(fn, attempt, key_of, str.encode, bytes.decode)


async def test_a_second_run_pays_for_nothing(on_disk: Journal) -> None:
    service = Service()
    seen = []
    for _ in range(2):
        with on_disk.attempt("run") as attempt:
            async with ordered_wait(range(20), kept(service.ask, attempt)) as results:
                seen.append([result async for result in results])

    assert seen == [[f"answer {n}" for n in range(20)]] * 2
    assert service.calls == list(range(20))


async def test_what_limits_ask_is_not_found_again(on_disk: Journal) -> None:
    for found in (0, 10):
        with on_disk.attempt("run") as attempt:
            fn = kept(Service().ask, attempt)
            async with ordered_wait(range(10), fn, limits=[InFlight(2)]) as results:
                assert len([result async for result in results]) == 10
            assert (attempt.found, attempt.added) == (found, 10 - found)


@pytest.mark.parametrize("most", [(3, 1), (None, None)], ids=["budget", "no limit"])
async def test_the_cost_of_a_call_is_not_stored(on_disk: Journal, most: Any) -> None:
    async def ask(value: int) -> Cost[str]:
        return Cost(f"answer {value}", {"USD": 1})

    for amount in most:
        with on_disk.attempt("part") as attempt:
            limits = None if amount is None else [Budget(amount, "USD")]
            async with ordered_wait([1, 2], kept(ask, attempt), limits=limits) as results:
                assert [each async for each in results] == ["answer 1", "answer 2"]


async def test_a_result_that_is_to_be_asked_for_again_is_not_kept(on_disk: Journal) -> None:
    answers = iter(["pending", "pending", "done"])

    async def ask(_: int) -> str:
        return next(answers)

    retry: Retry[Any] = Retry(initial=0.01, on_result=lambda result: result == "pending")
    with on_disk.attempt("run") as attempt:
        done = paid_once(
            ask, attempt, key_of, str.encode, bytes.decode, keeps=lambda text: text == "done"
        )
        async with ordered_wait([0], done, retry=retry) as results:
            assert [result async for result in results] == ["done"]
        assert attempt.added == 1


class Client:
    def __init__(self) -> None:
        self.log: list[str] = []

    def open(self) -> None:
        self.log.append("open")

    def close(self) -> None:
        self.log.append("close")

    def failure(self, value: int, error: Exception) -> str:
        return f"no {value}: {type(error).__name__}"

    def timeout(self, value: int) -> str:
        return f"late {value}"

    async def __call__(self, value: int) -> str:
        if value == 1:
            raise ValueError(value)
        await anyio.sleep(60 * (value == 2))
        return str(value)


async def test_hooks_and_handlers_are_those_of_the_function(on_disk: Journal) -> None:
    client = Client()
    with on_disk.attempt("run") as attempt:
        async with ordered_wait(range(4), kept(client, attempt), timeout=0.05) as results:
            assert [each async for each in results] == ["0", "no 1: CallFailed", "late 2", "3"]
            assert client.log == ["open"]
    assert client.log == ["open", "close"]


def test_a_plain_function_stays_plain(on_disk: Journal) -> None:
    service = Service()
    with on_disk.attempt("run") as attempt:
        asked = kept(service.ask_plainly, attempt)

        assert not inspect.iscoroutinefunction(asked)
        assert [asked(1), asked(2), asked(1)] == ["answer 1", "answer 2", "answer 1"]
    assert service.calls == [1, 2]
    assert asked.__name__ == "ask_plainly"


def test_what_the_journal_raises_comes_out_of_the_call(on_disk: Journal) -> None:
    journal = Journal(on_disk.path, "job", "1", max_bytes=10)
    with journal.attempt("run") as attempt, pytest.raises(JournalLost) as caught:
        kept(Service().ask_plainly, attempt)(1)
    assert isinstance(caught.value.__cause__, JournalFull)


def _asking(once: Any) -> Any:
    async def asking(value: int) -> Any:
        return await once(value)

    return asking


OTHER = Service()


@pytest.mark.parametrize("limits", [None, [InFlight(1)]])
@pytest.mark.parametrize(
    ("form", "around"),
    [
        ("ask", lambda once: once),
        ("ask_plainly", lambda once: once),
        ("ask", lambda once: StandIns(once, OTHER.ask)),
        ("ask", partial),
        ("ask", _asking),
    ],
    ids=["coroutine", "plain", "fallback", "partial", "inside"],
)
async def test_a_journal_that_is_lost_ends_the_results_whatever_is_said_of_failures(
    on_disk: Journal, form: str, around: Any, limits: Any
) -> None:
    service = Service()
    with on_disk.attempt("run") as attempt:
        once = around(kept(getattr(service, form), attempt))
        options: Any = {"on_error": "skip", "retry": Retry(initial=0.01), "limits": limits}
        wait = ordered_wait if form == "ask" else threads_wait
        async with wait(range(9), once, capacity=1, **options) as results:
            assert await anext(results) == "answer 0"
            attempt.close()
            with pytest.raises(CallFailed) as caught:
                await anext(results)
    assert isinstance(caught.value.__cause__, JournalLost)
    assert (service.calls, OTHER.calls) == ([0], [])


@pytest.mark.parametrize(
    "error", [OSError("no route"), RuntimeError("busy"), EOFError(), ValueError("no failures")]
)
def test_what_proves_nothing_of_the_next_call_is_not_kept(
    on_disk: Journal, error: Exception
) -> None:

    def ask(_: int) -> str:
        raise error

    failures = not isinstance(error, ValueError)
    is_final = bool if failures else None
    with replace(on_disk, failures=failures).attempt("run") as attempt:
        once = paid_once(ask, attempt, key_of, str.encode, bytes.decode, is_final=is_final)
        for _ in range(2):
            with pytest.raises(type(error)):
                once(1)
    assert summary(on_disk.path).entries == 0


def test_a_plain_function_that_returns_an_awaitable_is_refused(on_disk: Journal) -> None:
    service = Service()

    def fn(value: int) -> Any:
        return service.ask(value)

    with on_disk.attempt("run") as attempt, pytest.raises(TypeError, match="is an `await` missing"):
        kept(fn, attempt)(1)
    assert service.calls == []


async def _says(_: Any) -> bool:
    return True


@pytest.mark.parametrize(
    "wrong",
    [
        {"encode": dict},
        {"encode": str},
        {"keeps": lambda: True},
        {"keeps": _says},
        {"keeps": lambda _: None},
        {"keeps": str},
    ],
    ids=["raises", "no bytes", "no argument", "a coroutine function", "no answer", "no bool"],
)
async def test_a_helper_that_is_wrong_costs_one_call(on_disk: Journal, wrong: Any) -> None:
    service = Service()
    asked = {"encode": str.encode, "decode": bytes.decode} | wrong
    with on_disk.attempt("run") as attempt:
        once = paid_once(service.ask, attempt, key_of, **asked)
        with pytest.raises(CallFailed, match=next(iter(wrong))) as error:
            async with ordered_wait(
                [1, 2, 3], once, capacity=1, retry=Retry(initial=0.001), on_error="skip"
            ) as results:
                _ = [each async for each in results]
    assert isinstance(error.value.__cause__, WrongFunction)
    assert service.calls == [1]


@pytest.mark.parametrize(
    ("fn", "options", "said"),
    [
        (7, {}, "^fn must .* 7 "),
        (Service().ask, {"batch": Batch(max_size=2)}, "^batch must .*key"),
        (
            Service().ask,
            {"retry": Retry(on_result=len)},
            r"Retry.on_result .*paid_once\(..., keeps=",
        ),
    ],
    ids=["no function", "batch", "on_result"],
)
async def test_what_a_journal_rules_out_is_refused(
    on_disk: Journal, fn: Any, options: Any, said: str
) -> None:
    with on_disk.attempt("run") as attempt, pytest.raises(InvalidConfig, match=said):
        async with ordered_wait([1], kept(fn, attempt), **options):
            pass


@pytest.mark.parametrize("name", ["ask", "ask_plainly"])
async def test_a_failure_that_stands_is_paid_once_where_the_journal_keeps_failures(
    on_disk: Journal, name: str
) -> None:
    service = Service()

    async def ask(journal: Journal) -> None:
        with journal.attempt("run") as attempt:
            fn = getattr(service, name)
            once = paid_once(fn, attempt, key_of, str.encode, bytes.decode, is_final=bool)
            answer = once(-1)
            if inspect.isawaitable(answer):
                await answer

    with pytest.raises(InvalidConfig, match="is_final"):
        await ask(on_disk)
    keeping = replace(on_disk, failures=True)
    with pytest.raises(InvalidConfig, match="is_final"), keeping.attempt("run") as attempt:
        kept(service.ask, attempt)
    with pytest.raises(ValueError, match="less than 0"):
        await ask(keeping)
    with pytest.raises(KeptFailure, match=r"ValueError in an earlier run: .*less than 0") as error:
        await ask(keeping)
    assert service.calls == [-1]
    assert error.value.failure.key == key_of(-1)
