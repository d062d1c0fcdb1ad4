"""Plausible mistakes with the plain forms: each raises an error that names the cure, or works.

A mistake that gives wrong results, or none, without an error is the one outcome that fails here.
"""

# ruff: noqa: PLW0108 - a lambda is one of the kinds

import functools
import math
import re
from collections import UserDict, UserString, defaultdict
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from itertools import product
from typing import Any, NamedTuple
from unittest.mock import AsyncMock, MagicMock, Mock

import anyio
import anyio.lowlevel
import pytest
from operators import PLAIN_FORMS, virtual_loop

from asyncwait.backends import lookup, threads
from asyncwait.backends.journal import paid_once
from asyncwait.backends.services import Cost, InFlight, Limit, StandIns
from asyncwait.spec import (
    AsyncWaitError,
    Batch,
    Cache,
    CallFailed,
    InvalidConfig,
    InvalidResult,
    Retry,
    RetryAfter,
)
from asyncwait.spec.checks import is_plain_function
from asyncwait.toolkit import FunctionParts, LeftEarly, WrongFunction, causes

VALUES = [1, 2, 3]

Run = Callable[..., list[Any]]
"""Reads all results of a stream; takes source, function and options."""


def on_loop(wait: Any, loop: str = "asyncio", *, in_threads: bool = False) -> Run:
    async def read(*given: Any, **options: Any) -> list[Any]:
        with anyio.fail_after(60):
            async with wait(*given, **options) as results:
                return [result async for result in results]

    # threads run in real time, and a virtual clock would jump to the limit while they work
    name, settings = (loop, {}) if in_threads else virtual_loop(loop)
    return lambda *given, **options: anyio.run(
        functools.partial(read, *given, **options), backend=name, backend_options=settings
    )


def keyed(wait: Any, mode: str) -> Any:
    return functools.partial(wait, key=hash) if mode == "key-ordered" else wait


ON_LOOP: dict[str, Run] = {
    f"{name}-{mode}-{loop}": on_loop(keyed(wait, mode), loop)
    for name, forms in PLAIN_FORMS.items()
    for (mode, wait), loop in product(forms.items(), ("asyncio", "trio"))
    if loop == "asyncio" or mode == "ordered"
}
IN_THREADS: dict[str, Run] = {
    "threads-ordered": lambda *given, **options: list(threads.ordered_wait(*given, **options)),
    "threads-unordered": lambda *given, **options: list(threads.unordered_wait(*given, **options)),
    "threads-key-ordered": lambda *given, **options: list(
        threads.key_ordered_wait(*given, **{"key": hash} | options)
    ),
    "threads-on-loop": on_loop(threads.ordered_wait, in_threads=True),
}
FORMS = ON_LOOP | IN_THREADS
ONE_OF_EACH = [form for form in FORMS if "unordered" not in form and "trio" not in form]

POLICIES: dict[str, dict[str, Any]] = {
    "alone": {},
    "skip": {"on_error": "skip"},
    "default": {"on_error": lambda *_: None},
    "retried": {"retry": Retry(initial=0.001), "on_error": "skip"},
    "limited": {"limits": [InFlight(2)], "on_error": "skip"},
    "cached": {"cache": Cache(9, 60), "on_error": "skip"},
}
"""Options under which a mistake must not pass for a failed call."""

USES = [
    (form, policy)
    for form, policy in product(FORMS, POLICIES)
    if policy == "retried" or form.endswith(("-ordered-asyncio", "threads-ordered"))
    if policy != "cached" or form in ON_LOOP
]


async def ask(value: Any) -> Any:
    await anyio.lowlevel.checkpoint()
    return value


def plainly(value: Any) -> Any:
    return value


def one_by_one(value: Any) -> Iterator[Any]:
    yield value


async def async_one_by_one(value: Any) -> AsyncIterator[Any]:
    yield value


def giving(make: Callable[[Any], Any]) -> Any:
    async def fn(value: Any) -> Any:
        return make(value)

    return fn


def future(_: Any) -> Any:
    return Future[Any]()


async def of_two(_: Any, value: Any) -> Any:
    return value


class Asking:
    async def __call__(self, value: Any) -> Any:
        return value

    async def ask(self, value: Any) -> Any:
        return value

    def rows(self, value: Any) -> Iterator[Any]:
        yield value


Opening = type("Opening", (Asking,), {"open": async_one_by_one})
Timing = type("Timing", (Asking,), {"timeout": Asking.ask})
Entered = type("Entered", (Asking,), {"__aenter__": ask, "__aexit__": ask})
Locked = type("Locked", (), dict.fromkeys(("__enter__", "__exit__", "__call__"), plainly))


class Waiting:
    def __init__(self, value: Any) -> None:
        self.value = value

    def __await__(self) -> Any:
        return ask(self.value).__await__()


def decorated(fn: Callable[[Any], Any]) -> Callable[[Any], Any]:
    @functools.wraps(fn)
    def call(*args: Any) -> Any:
        return fn(*args)

    return call


WRONG_ON_LOOP: dict[str, tuple[Any, str]] = {
    "def": (plainly, "async def"),
    "partial of def": (functools.partial(plainly), "async def"),
    "lambda": (lambda value: value, "async def"),
    "decorated def": (decorated(plainly), "async def"),
    "builtin": (str, "async def"),
    "generator function": (one_by_one, "async def"),
    "generator method": (Asking().rows, "async def"),
    "async generator function": (async_one_by_one, "many=True"),
    "partial of async generator function": (functools.partial(async_one_by_one), "many=True"),
    "lambda of async generator": (lambda value: async_one_by_one(value), "many=True"),
    "no await": (giving(ask), "await"),
    "returned generator": (giving(one_by_one), "return a list"),
    "returned async generator": (giving(async_one_by_one), "many=True"),
    "returned future": (giving(future), "result"),
    "context manager": (contextmanager(one_by_one), "inside the function"),
    "async context manager": (asynccontextmanager(async_one_by_one), "inside the function"),
    "object to be entered": (Entered(), "`open`"),
    "open with yield": (Opening(), "yield"),
    "async timeout handler": (Timing(), "plain function"),
    "class": (Asking, "an object of that class"),
    "mock": (Mock(), "async def"),
    "magic mock": (MagicMock(), "async def"),
    "two arguments": (of_two, "one value"),
}
"""Functions of the wrong kind, each with a word of the cure."""

WRONG_IN_THREADS: dict[str, tuple[Any, str]] = {
    "async def": (ask, "the pool"),
    "partial of async def": (functools.partial(ask), "the pool"),
    "async object": (Asking(), "the pool"),
    "partial of async object": (functools.partial(Asking()), "the pool"),
    "async method": (Asking().ask, "the pool"),
    "decorated async def": (decorated(ask), "await"),
    "lambda of coroutine": (lambda value: ask(value), "await"),
    "generator function": (one_by_one, "many=True"),
    "generator method": (Asking().rows, "many=True"),
    "lambda of generator": (lambda value: one_by_one(value), "return a list"),
    "async generator function": (async_one_by_one, "the pool"),
    "submitted": (future, "result"),
    "context manager": (contextmanager(one_by_one), "inside the function"),
    "object to be entered": (Locked(), "`open`"),
    "fallbacks": (StandIns(ask), "a plain function"),
    "class": (Asking, "an object of that class"),
    "async mock": (AsyncMock(), "the pool"),
    "two arguments": (lambda _, value: value, "one value"),
}

RIGHT_ON_LOOP: dict[str, Any] = {
    "async def": ask,
    "partial": functools.partial(of_two, "session"),
    "decorated": decorated(ask),
    "object": Asking(),
    "partial of object": functools.partial(Asking()),
    "method": Asking().ask,
    "lambda": lambda value: ask(value),
    "class of awaitables": Waiting,
    "async mock": AsyncMock(side_effect=plainly),
    "mock of coroutine": Mock(side_effect=ask),
    "magic mock of coroutine": MagicMock(side_effect=ask),
    "mock like a function": AsyncMock(spec=ask, side_effect=plainly),
    "fallbacks": StandIns(ask, ask),
    "cost": lambda value: ask(Cost(value, 1)),
}


def refusal_of(run: Run, *given: Any, **options: Any) -> BaseException:
    try:
        results = run(*given, **options)
    except (AsyncWaitError, TypeError, RuntimeError) as error:
        return error
    pytest.fail(f"silent: {results}")


def is_final(error: BaseException) -> bool:
    return isinstance(error, InvalidConfig) or WrongFunction in map(type, causes(error))


@pytest.mark.parametrize(
    ("form", "policy", "kind"),
    [
        (*use, kind)
        for use in USES
        for kind in (WRONG_ON_LOOP if use[0] in ON_LOOP else WRONG_IN_THREADS)
    ],
)
def test_a_wrong_kind_of_function_is_refused_at_its_first_call(
    form: str, policy: str, kind: str
) -> None:
    fn, cure = (WRONG_ON_LOOP if form in ON_LOOP else WRONG_IN_THREADS)[kind]
    called: list[Any] = []

    @functools.wraps(fn, updated=())
    def noted(value: Any) -> Any:
        called.append(value)
        return fn(value)

    told = noted if is_plain_function(fn, 1) and not isinstance(fn, Mock | type | Locked) else fn
    error = refusal_of(FORMS[form], VALUES, told, capacity=1, **POLICIES[policy])

    assert cure in str(error)
    assert "fn" in str(error)
    assert is_final(error)
    assert len(called) <= 1


@pytest.mark.parametrize(("form", "kind"), [*product(ON_LOOP, RIGHT_ON_LOOP)])
@pytest.mark.parametrize("policy", ["alone", "limited"])
def test_each_way_to_write_a_coroutine_function_works(form: str, kind: str, policy: str) -> None:
    assert sorted(FORMS[form](VALUES, RIGHT_ON_LOOP[kind], **POLICIES[policy])) == VALUES


@pytest.mark.parametrize("form", ON_LOOP)
def test_an_async_generator_gives_many_results_up_to_a_maximum(form: str) -> None:
    async def endless(_: int) -> AsyncIterator[int]:
        while True:
            yield 1

    for fn in (async_one_by_one, lambda value: async_one_by_one(value)):
        assert sorted(FORMS[form](VALUES, fn, many=True)) == VALUES
    error = refusal_of(FORMS[form], [1], endless, many=True, on_error="skip")
    assert "at most 10,000 results" in str(error)


OPTIONS: dict[str, list[Any]] = {
    "capacity": [0, -1, 1.5, "9", True, None, math.inf],
    "timeout": [0, -1, "5", math.nan, timedelta(seconds=5), True],
    "retry": [3, Retry, "twice", True, [Retry()]],
    "on_error": ["Skip", True, 3, ask, ValueError, (ValueError,), async_one_by_one, plainly],
    "max_held": [0, -1, "9", 1.5],
    "copy": [ask, True, "deep", one_by_one, lambda: None],
    "batch": [5, Batch, True],
    "many": ["yes", 1, None, list],
    "limits": [InFlight(2), [3], [InFlight], "5/s", 5],
    "key": ["id", 5, ask, one_by_one, lambda: None],
    "source": [None, 5, one_by_one, async_one_by_one, int, "https://x", b"abc", ask],
    "fn": [None, 5, "ask", VALUES],
}
"""Wrong values of each option of the plain forms."""


@pytest.mark.parametrize("form", ONE_OF_EACH)
@pytest.mark.parametrize(
    ("name", "wrong"), [(name, wrong) for name, given in OPTIONS.items() for wrong in given]
)
def test_a_wrong_value_of_an_option_is_refused_by_name(form: str, name: str, wrong: Any) -> None:
    right = {"source": VALUES, "fn": ask if form in ON_LOOP else plainly}
    error = refusal_of(FORMS[form], **right | {name: wrong})
    assert isinstance(error, InvalidConfig)
    assert str(error).startswith(name)


PAIRS: dict[str, dict[str, Any]] = {
    "batch.max_size must be at most the capacity": {"capacity": 4, "batch": Batch(max_size=5)},
    "batch.split must be False, or a `retry` of more than one": {"batch": Batch(split=True)},
    "batch.split must be False, or a `retry`": {
        "batch": Batch(split=True),
        "retry": Retry(max_attempts=1),
    },
    "limits[0].by must be None with a `batch`": {
        "batch": Batch(max_size=2),
        "limits": [InFlight(2, by=str)],
    },
    "cache must be None": {"batch": Batch(max_size=2), "cache": Cache(9, 60)},
    "cache.missing_ttl must be None with `retry.on_result`": {
        "cache": Cache(9, 60, missing_ttl=5),
        "retry": Retry(on_result=plainly),
    },
}
"""Options that rule each other out, by what is said of one of them."""


@pytest.mark.parametrize("form", ONE_OF_EACH)
@pytest.mark.parametrize("said", PAIRS)
def test_options_that_rule_each_other_out_are_refused(form: str, said: str) -> None:
    error = refusal_of(FORMS[form], VALUES, ask if form in ON_LOOP else plainly, **PAIRS[said])
    assert isinstance(error, InvalidConfig)
    assert str(error).startswith(said)


TAKES_A_FUNCTION: dict[str, Callable[[Any], dict[str, Any]]] = {
    "on_error": lambda fn: {"on_error": fn},
    "key": lambda fn: {"key": fn},
    "copy": lambda fn: {"copy": fn},
    "Retry.on_error": lambda fn: {"retry": Retry(initial=0.001, on_error=fn)},
    "Retry.on_result": lambda fn: {"retry": Retry(initial=0.001, on_result=fn)},
    "`key` or `by`": lambda fn: {"limits": [InFlight(1, by=fn)]},
    "cost": lambda fn: {"limits": [Limit(cost=fn, up_to=9, per=60)]},
}


@pytest.mark.parametrize(
    ("form", "option"),
    [each for each in product(FORMS, TAKES_A_FUNCTION) if each[1] != "key" or "key" in each[0]],
)
@pytest.mark.parametrize("answer", [ask, one_by_one])
def test_an_option_that_returns_unfinished_work_is_named(
    form: str, option: str, answer: Any
) -> None:
    def fails(value: Any) -> Any:
        raise ValueError(value)

    fn = plainly if option == "Retry.on_result" else fails
    options = TAKES_A_FUNCTION[option](lambda *given: answer(given[0]))
    error = refusal_of(FORMS[form], VALUES, giving(fn) if form in ON_LOOP else fn, **options)
    assert option in "".join(map(str, causes(error)))


@pytest.mark.parametrize("form", FORMS)
def test_a_generator_serves_one_stream(form: str) -> None:
    for make in (
        (one_by_one, async_one_by_one) if "thr" not in form or "loop" in form else (one_by_one,)
    ):
        source, fn = make(5), ask if form in ON_LOOP else plainly
        assert FORMS[form](source, fn) == [5]
        assert "make a new one" in str(refusal_of(FORMS[form], source, fn))


@pytest.mark.parametrize(
    ("source", "option"), [(async_one_by_one(1), {}), (VALUES, {"cache": Cache(9, 60)})]
)
def test_a_stream_in_threads_refuses_what_needs_a_loop(source: Any, option: dict[str, Any]) -> None:
    error = refusal_of(FORMS["threads-ordered"], source, plainly, **option)
    assert re.search("`async with`|^cache must be ", str(error))
    with pytest.raises(RuntimeError, match="left and not entered"):
        threads.ordered_wait(VALUES, plainly).__exit__(None, None, None)


class Gathering(Waiting):
    __iter__ = Waiting.__await__


@dataclass
class Holder:
    held: Any


BATCH = {"batch": Batch(max_size=3)}
UNFINISHED: dict[str, tuple[Callable[[Any], Any], dict[str, Any]]] = {
    "batch that is a coroutine": (ask, BATCH),
    "batch of coroutines": (lambda values: [ask(value) for value in values], BATCH),
    "batch of generators": (lambda values: [one_by_one(value) for value in values], BATCH),
    "batch of costs": (lambda values: [Cost(value, 1) for value in values], BATCH),
    "many coroutines": (lambda value: [ask(value)], {"many": True}),
    "many costs": (lambda value: [Cost(value, 1)], {"many": True}),
    "tuple with a coroutine": (lambda value: (value, ask(value)), {}),
    "dict with a coroutine": (lambda value: {"town": ask(value)}, {}),
    "dataclass with a coroutine": (lambda value: Holder(ask(value)), {}),
    "batch of tuples with coroutines": (
        lambda values: [(each, ask(each)) for each in values],
        BATCH,
    ),
    "batch that is gathered": (Gathering, BATCH),
    "map": (lambda value: map(plainly, [value]), {}),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", UNFINISHED)
@pytest.mark.parametrize("policy", ["alone", "retried"])
def test_each_of_several_results_is_finished(form: str, kind: str, policy: str) -> None:
    make, options = UNFINISHED[kind]
    fn = giving(make) if form in ON_LOOP else make
    assert is_final(refusal_of(FORMS[form], [1], fn, **options, **POLICIES[policy]))


class Pair(NamedTuple):
    left: int
    right: int


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "whole", [memoryview(b"ab"), UserDict(a=1), UserString("ab"), Pair(1, 2)], ids=type
)
def test_one_value_is_not_taken_apart(form: str, whole: Any) -> None:
    fn = giving(lambda _: whole) if form in ON_LOOP else lambda _: whole
    assert isinstance(refusal_of(FORMS[form], [1], fn, many=True), InvalidResult)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("answer", [5, 0.5, RetryAfter])
def test_a_predicate_of_retry_answers_with_no_number_of_seconds(form: str, answer: Any) -> None:
    def fails(value: Any) -> Any:
        raise ValueError(value)

    retry = Retry(initial=0.001, on_error=lambda _: answer)
    fn = giving(fails) if form in ON_LOOP else fails
    assert "RetryAfter(seconds)" in str(refusal_of(FORMS[form], [1], fn, retry=retry))


@pytest.mark.parametrize("form", FORMS)
def test_arguments_are_named_by_the_function(form: str) -> None:
    fn = ask if form in ON_LOOP else plainly
    for given, options, hint in (
        ((VALUES, fn, 5), {}, "give options by name"),
        ((VALUES,), {}, "'fn'"),
        ((VALUES, fn), {"max_workers": 3}, "did you mean 'capacity'"),
    ):
        with pytest.raises(TypeError, match=f"ordered_wait.*{hint}"):
            FORMS[form](*given, **options)


@pytest.mark.parametrize("form", PLAIN_FORMS)
@pytest.mark.parametrize("use", ["__aiter__", "__anext__", "__iter__", "__await__", "__enter__"])
def test_a_stream_that_is_not_entered_says_how(form: str, use: str) -> None:
    with pytest.raises(TypeError, match=r"ordered_wait.* has to be entered"):
        getattr(PLAIN_FORMS[form]["ordered"](VALUES, ask), use)()


async def rows_of(keys: Any) -> dict[Any, Any]:
    return {key: [key] for key in keys}


STREAMS: dict[str, Callable[[], Any]] = {
    "reference": lambda: PLAIN_FORMS["reference"]["ordered"](VALUES, ask),
    "pool": lambda: PLAIN_FORMS["pool"]["ordered"](VALUES, ask),
    "threads": lambda: threads.ordered_wait(VALUES, plainly),
    "lookup": lambda: lookup.lookup(VALUES, lookup.FunctionTable(rows_of)),
}


@pytest.mark.parametrize("form", STREAMS)
@pytest.mark.parametrize("ends", [False, True])
def test_what_is_read_after_leaving_is_no_end_unless_it_was_read(form: str, *, ends: bool) -> None:
    async def main() -> None:
        async with STREAMS[form]() as results:
            assert not ends or len([result async for result in results]) == len(VALUES)
        with pytest.raises(StopAsyncIteration if ends else RuntimeError) as caught:
            await anext(results)
        assert ends or "left before the end" in str(caught.value)

    anyio.run(main)
    if form == "threads":
        with STREAMS[form]() as results:
            assert not ends or list(results)
        with pytest.raises(StopIteration if ends else LeftEarly):
            next(results)


@pytest.mark.parametrize("form", ["reference", "pool", "threads"])
@pytest.mark.parametrize("use", ["read", "left"])
def test_another_loop_is_refused_at_once(form: str, use: str) -> None:
    name, options = virtual_loop("asyncio")
    stream, home = STREAMS[form](), options["loop_factory"]()
    results = home.run_until_complete(stream.__aenter__())

    async def elsewhere() -> None:
        with anyio.fail_after(1):
            await (anext(results) if use == "read" else stream.__aexit__(None, None, None))

    with pytest.raises(RuntimeError, match=f"another event loop.* {use} there"):
        anyio.run(elsewhere, backend=name, backend_options=options)
    with pytest.raises(RuntimeError, match="fixtures of pytest"):  # It is another task.
        home.run_until_complete(stream.__aexit__(None, None, None))
    home.close()


@pytest.mark.parametrize(
    "kind", ["def", "generator function", "async generator function", "no await"]
)
@pytest.mark.parametrize("policy", ["alone", "skip", "retried"])
def test_a_lookup_refuses_a_wrong_function(kind: str, policy: str) -> None:
    def read(fn: Any) -> list[Any]:
        return on_loop(lookup.lookup)(VALUES, lookup.FunctionTable(fn), **POLICIES[policy])

    assert is_final(refusal_of(read, WRONG_ON_LOOP[kind][0]))


def looked_up(answer: Callable[[Any], Any], **options: Any) -> list[Any]:
    table = lookup.FunctionTable(giving(lambda keys: {key: answer(key) for key in keys}))
    return on_loop(lookup.lookup)(VALUES, table, **options)


@pytest.mark.parametrize("rows", [memoryview(b"ab"), UserString("ab"), Pair(1, 2), "ab", {1: 2}])
def test_one_row_is_not_taken_for_several(rows: Any) -> None:
    assert isinstance(refusal_of(looked_up, lambda _: rows), InvalidResult)


def test_rows_are_finished_and_those_of_a_default_are_rows() -> None:
    assert is_final(refusal_of(looked_up, lambda key: [ask(key)] if key == 1 else []))
    table = lookup.FunctionTable(giving(lambda _: defaultdict(lambda: ["none"], {1: ["one"]})))
    found = on_loop(lookup.lookup)(VALUES, table)
    assert found == [(1, ("one",)), (2, ("none",)), (3, ("none",))]


def test_a_table_is_opened_once_and_read_by_an_async_generator() -> None:
    class Towns(lookup.FunctionTable):
        load_all: Any = giving(lambda _: [])

    async def nested() -> None:
        async with lookup.open_table(lookup.FunctionTable(rows_of)) as table:
            with pytest.raises(InvalidConfig, match="not open yet"):
                async with lookup.open_table(table):
                    pass
            assert await table.get(1) == (1,)

    anyio.run(nested)
    refused = refusal_of(on_loop(lookup.lookup), VALUES, Towns(rows_of), cache=lookup.Full())
    assert str(refused).startswith("load_all")
    for context in (lookup.lookup([], Towns(rows_of)), lookup.open_table(Towns(rows_of))):
        with pytest.raises(TypeError, match="has to be entered"):
            aiter(context)


@pytest.mark.parametrize("wrong", [one_by_one, async_one_by_one, 7])
def test_wrappers_refuse_what_gives_no_results(wrong: Any) -> None:
    attempt: Any = None
    with pytest.raises(InvalidConfig, match="attempt must be an open attempt"):
        paid_once(ask, attempt, str, repr, eval)
    wraps: list[Any] = [StandIns, functools.partial(StandIns, ask)]
    for wrap in (*wraps, lambda fn: paid_once(fn, attempt, str, repr, eval)):
        with pytest.raises(InvalidConfig):
            wrap(wrong)


@pytest.mark.parametrize("keys", ["12", b"34", {1: "a"}, 1])
@pytest.mark.parametrize("cache", [None, lookup.Full()])
def test_keys_are_asked_for_in_a_list(keys: Any, cache: Any) -> None:
    class Towns(lookup.FunctionTable):
        async def load_all(self) -> AsyncIterator[tuple[Any, Any]]:
            yield 1, "a"

    async def main() -> None:
        async with lookup.open_table(Towns(rows_of), cache=cache) as table:
            await table.get_many(keys)

    with pytest.raises(InvalidConfig, match="keys must be a list of keys"):
        anyio.run(main)


@pytest.mark.parametrize("key", ["1", 1.0, True, (1,)])
@pytest.mark.parametrize("at_once", [False, True])
def test_a_key_of_a_type_that_a_whole_table_lacks_is_no_miss(key: Any, *, at_once: bool) -> None:
    class Towns(lookup.FunctionTable):
        async def load_all(self) -> AsyncIterator[tuple[Any, Any]]:
            yield 1, "a"

    async def main() -> list[Any]:
        if at_once:
            async with lookup.open_table(Towns(rows_of), cache=lookup.Full()) as table:
                return [await table.get(1), await table.get(2), await table.get(key)]
        async with lookup.lookup([1, 2, key], Towns(rows_of), cache=lookup.Full()) as results:
            return [rows async for rows in results]

    with pytest.raises(CallFailed, match="the column's own type"):
        anyio.run(main)


def test_parts_of_a_mock_are_those_that_it_was_given() -> None:
    fn = AsyncMock(timeout=plainly)
    assert FunctionParts.of(fn) == FunctionParts(fn, None, plainly, None, None, None)
