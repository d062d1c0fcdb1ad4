"""Scripts of lookups and of streams, and what comes of them, as `tests/golden/lookups.txt` has it.

A step of a script has a time and a word: `0 a` looks a key up, `0 a,b` several in one call;
`0 a for 0.5` is cancelled after half a second; `0 ?a` peeks; `0 takes=4` changes the table, and
`0 a=x+y` the rows of a key; at `5 leave` the table is closed. A script of a
stream has values, changes, and seconds of waiting.
"""

from asyncio import CancelledError
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from functools import partial
from math import inf
from typing import Any

import anyio
from lookups import Readable, Values, outcome
from msgspec.structs import asdict
from operators import seconds_now

from asyncwait.backends.lookup import Full, LookupStatistics, lookup, open_table
from asyncwait.conformance.harness import run_virtual
from asyncwait.spec import Batch, Cache, OperatorError, Retry, RetryAfter

NAN = float("nan")
KEYS: dict[str, Any] = {
    "1": 1, "True": True, "None": None, "NaN": NAN, "pair": (1, None), "deep": (1, (2, NAN)),
}  # fmt: skip
ERRORS: dict[str, Callable[[], BaseException | None]] = {
    "boom": partial(ValueError, "boom"),
    "down": partial(OSError, "down"),
    "later": partial(RetryAfter, 5),
    "cancel": CancelledError,
    "none": lambda: None,
}

ONE = Batch(max_wait=0, in_flight=1)
GATHERED = {"batch": Batch(max_size=3, max_wait=0.5, in_flight=1)}
AGAIN = Retry(initial=1)
OTHER = {"on_error": lambda *_: ["other"]}

LOOKUPS: dict[str, tuple[str, dict[str, Any]]] = {
    "a failure is one of all that wait, and is never kept": (
        "0 trouble=boom; 0.1 a; 0.1 a; 0.5 trouble=none; 2 a", {"cache": Cache(9, 60, 60)}),
    "waiters repeat, and share again": (
        "0 a=boom; 1 a; 1 a", {"retry": Retry(max_attempts=3, initial=1)}),
    "a key says when to come again": ("0 a=later; 1 a; 3 a=a", {"retry": AGAIN}),
    "an attempt has a time of its own": (
        "0 takes=99; 1 a",
        {"retry": Retry(max_attempts=2, initial=1, attempt_timeout=2), "timeout": 50}),
    "missing keys are asked for again": (
        "0 a=none; 0 b=none; 1 a,b,c; 3 a=a",
        {"retry_missing": Retry(max_attempts=3, initial=2, multiplier=1), "cache": Cache(9, 60)}),
    "answers that are there count at the deadline, and old rows": (
        "0 a,b; 4 a=new; 4 b=new; 5 a; 5.1 c; 5.4 takes=99; 5.5 a,b,c",
        {"timeout": 3, "cache": Cache(9, ttl=2, stale_if_error=99)}),
    "a deadline names a key without an answer": ("0 a; 0.4 takes=99; 0.5 a,b", {"timeout": 3}),
    "a deadline names no key that would be missing again": (
        "0 a=none; 0.1 a; 0.4 takes=99; 0.5 a,b",
        {"timeout": 3, "retry": AGAIN, "retry_missing": AGAIN}),
    "a deadline names no key that would fail again": (
        "0 a=down; 0.1 a; 0.4 takes=99; 0.5 a,b", {"timeout": 3, "retry": AGAIN}),
    "a cancellation that no code asked for is a failure": ("0 trouble=cancel; 0.1 a", {}),
    "lookups share one request": ("0 a; 0 a; 0 a; 1.5 a,b; 2 b,c", {}),
    "a waiter that leaves does not end the request of others": ("0 a; 0.1 a for 0.4; 0.6 a", {}),
    "a request is cancelled once all are late": ("0 takes=99; 0.1 a; 0.1 a", {"timeout": 1.2}),
    "a request that was late for a lookup is shared no more": (
        "0 takes=99; 0 a; 0.5 takes=1; 1.25 a; 2.5 a; 3.75 a; 5 a; 6.25 a", {"timeout": 3}),
    "a request that hangs has its place until all have left it": (
        "0 takes=99; 0 a; 0.5 takes=1; 1.25 a; 2.5 a; 3.75 a; 5 a; 6.25 a",
        {"timeout": 3, "batch": ONE}),
    "a request without a place is shared, although a lookup gave up": (
        "0 takes=99; 0 z; 0.5 takes=1; 0.75 a; 1.5 z; 2.25 a; 3 a; 3.75 a",
        {"timeout": 2.875, "batch": ONE}),
    "a request that was cancelled has its place until it has ended": (
        "0 clean_up=2; 0 a for 0.5; 0.6 b", {"batch": ONE}),
    "an attempt that was late begins another request": (
        "0 takes=99; 0 a; 0.5 takes=1; 0.75 a",
        {"retry": Retry(max_attempts=2, initial=0.5, attempt_timeout=2)}),
    "a young request is shared, although a lookup gave up": (
        "0 trouble=down; 0.1 a; 1.5 trouble=none; 1.5 takes=2; 2.25 a; 2.75 a",
        {"timeout": 2.5, "retry": AGAIN}),
    "what comes of a request that was late is not kept": (
        "0 a=new; 0 takes=4; 0.1 a; 1.5 a; 3.05 takes=0.25; 3.8 a=old; 5 ?a",
        {"cache": Cache(9, 60), "retry": Retry(max_attempts=2, initial=0.25, attempt_timeout=3)}),
    "a refresh that hangs is given up by a lookup that waits for it": (
        "0 a; 8 takes=99; 9 ?a; 9.5 takes=1; 10 a; 13.5 a",
        {"cache": Cache(9, 10, refresh_ahead=0.5), "timeout": 3}),
    "a request is cancelled when the last lookup has left, and begun anew": (
        "0 clean_up=0.3; 0 a for 0.5; 0.6 a", {}),
    "keys that gather are given up with the lookups that wait": (
        "0 a", {"timeout": 0.5, "batch": Batch(max_wait=2)}),
    "a full request goes at once": (
        "0 a; 0.1 b; 0.2 c", {"batch": Batch(max_size=2, max_wait=2)}),
    "what is kept answers without a request": (
        "0 b=none; 0 c=x+y; 0 ?a; 0.1 a,c,a; 2 ?a; 2.5 c,b,c", {"cache": Cache(10, ttl=60)}),
    "rows are good from the moment of asking": (
        "0 takes=4; 0 a; 9.9 ?a; 10 ?a; 10.5 a", {"cache": Cache(9, ttl=10)}),
    "the key that was used last stays longest": (
        "0 a,b; 2 a; 3 c,a; 5 ?a; 5 ?b; 5 ?c; 6 d,e,f", {"cache": Cache(2, ttl=60)}),
    "misses are kept as long as that is said": (
        "0 a=none; 0 a; 2 ?a; 10 ?a", {"cache": Cache(9, ttl=60, missing_ttl=10)}),
    "misses are not kept unless that is said": (
        "0 a=none; 0 a; 1.5 ?a", {"cache": Cache(9, ttl=60)}),
    "a hit late in the life of its rows has them read again": (
        "0 a; 5 a=new; 6 ?a; 6.1 ?a; 8 ?a; 9 trouble=down; 13 a,a; 15 ?a",
        {"cache": Cache(9, ttl=10, refresh_ahead=0.5)}),
    "old rows come in place of a failure, but not for ever": (
        "0 a; 2 trouble=down; 10 a; 12 takes=99; 13 a; 17 takes=1; 18 b; 32 a",
        {"cache": Cache(9, ttl=10, stale_if_error=20), "timeout": 3}),
    "old rows come before any retry": (
        "0 a; 1.2 trouble=down; 1.5 a; 3 takes=99; 4 a",
        {"cache": Cache(9, ttl=1, stale_if_error=99), "retry": Retry(attempt_timeout=3)}),
    "a key that no row can have is never asked for": (
        "0 None,pair,NaN,deep,1; 2 ?None; 2 ?pair; 2 ?NaN; 2 ?deep",
        {"cache": Cache(9, 60, 60)}),
    "figures tell of requests": ("0 a,b,c; 1 takes=3; 1.5 d", {}),
    "a table is read before the first row, and asked no more": (
        "2 ?a; 2 b; 2 c,a,None", {"cache": Full()}),
    "a copy is swapped at once": (
        "2 a=new; 2 c=new; 11.5 a,c; 12.5 a,c", {"cache": Full(reload=10)}),
    "a failed reading leaves the old copy until it is too old": (
        "2 trouble_at_end=down; 2 a=half; 29 ?a; 31.5 a; 32 trouble_at_end=none; 36 a",
        {"cache": Full(reload=10, max_age=30)}),
    "leaving ends what is under way": (
        "0 a; 6 ?a; 6.1 b; 6.5 leave", {"cache": Cache(9, 10, refresh_ahead=0.5)}),
    "a table that was left says so": (
        "0 a; 2 leave; 2.5 a; 2.5 ?a; 2.5 b; 2.5 ?b; 2.5 None; 2.5 ?None", {"cache": Cache(9, 60)}),
    "nothing is begun while a table is left": (
        "0 clean_up=2; 0 a; 2 a; 2.5 leave; 3 b; 3.1 ?b; 5 b",
        {"cache": Cache(9, 1, stale_if_error=99), "retry": Retry(max_attempts=9)}),
    "nothing is begun while a table is left, nor gathers": (
        "0 clean_up=2; 0 a; 2 a; 2.5 leave; 3 b; 3.1 ?b; 5 b",
        {"retry": Retry(max_attempts=9), "batch": Batch(max_wait=0.1)}),
    "a back-off ends when the table is left": (
        "0 trouble=down; 0 a; 3 leave",
        {"retry": Retry(initial=50, max_attempts=9), "timeout": 60}),
    "a copy that was left answers no more": ("2 ?a; 3 leave; 4 ?a; 4 a", {"cache": Full()}),
    "leaving ends a reading": ("11.5 leave", {"cache": Full(reload=10)}),
}  # fmt: skip

STREAMS: dict[str, tuple[str, dict[str, Any]]] = {
    "no value waits for the next one": ("a b 0.25 c 5.0 d", {}),
    "the first key waits as long as it may, the last not at all": ("a 0.2 b 2.0 c", GATHERED),
    "a full request goes at once, and the next one gathers beside it": (
        "a 0.1 b 0.1 c 0.1 d 0.6 e", GATHERED),
    "a key in a request is not asked for again": ("a 0.1 a 0.1 b 9.0", GATHERED),
    "one mapping can't answer for equal keys of two types": ("1 0.1 True 9.0", GATHERED),
    "keys gather only while there is room for more": (
        "a 0.1 b 0.1 c", {"capacity": 2, "batch": Batch(max_size=100, max_wait=60)}),
    "a failure is repeated while others go on": (
        "b=down a b 3.5 b=b c", {"retry": Retry(max_attempts=9, initial=1, multiplier=1)}),
    "old rows come before rows of a handler": (
        "a 3.0 trouble=down a b", {"cache": Cache(9, ttl=1, stale_if_error=60), **OTHER}),
    "a copy that is too old is a failure like another": (
        "a None 2.0 a z", {"cache": Full(max_age=2), **OTHER}),
}  # fmt: skip


def _raise(*_: Any) -> Any:
    raise KeyError("no")


HANDLERS: dict[str, Any] = {
    "other rows": lambda _, error: [str(error)],
    "no rows": lambda *_: iter(()),
    "skip": "skip",
    "no answer": lambda *_: None,
    "a row in place of rows": lambda *_: {"town": "Rome"},
    "no collection": lambda *_: 5,
    "an error": _raise,
}
LATE = {"retry": Retry(max_attempts=9, initial=1), "timeout": 2.5}
STREAMS |= {
    f"a failure is handled by {name}{when}": ("b=down a b c a", {"on_error": handler, **options})
    for name, handler in HANDLERS.items()
    for when, options in (
        ("", {}),
        (" after retries", {"retry": Retry(max_attempts=3, initial=1)}),
        (" at a deadline", LATE),
    )
}
STREAMS |= {
    "a deadline names its key": ("a 1.0 b", {"timeout": 0.5}),
    "a key that can't be told names its value": ("a b", {"key": {"a": "a"}.__getitem__}),
}


def told() -> str:
    """Return what comes of all scripts, which is the same on both loops."""
    lines: list[str] = []
    for play, scripts in ((_looked_up, LOOKUPS), (_streamed, STREAMS)):
        for name, (script, options) in scripts.items():
            said, other = (
                run_virtual(lambda _: play(script, options), loop)  # noqa: B023
                for loop in ("asyncio", "trio")
            )
            assert said == other, name
            lines += [f"# {name}", "", f"    {script}", "", *said, ""]
    return "\n".join(lines)


async def _looked_up(script: str, options: dict[str, Any]) -> list[str]:
    table, said = _table(), dict[int, str]()

    async def step(place: int, when: str, word: str, patience: float) -> None:
        await anyio.sleep_until(float(when))
        if "=" in word:
            _change(table, word)
        elif word[0] == "?":
            with suppress(RuntimeError):
                said[place] = f"{when} {word}: closed"
                said[place] = f"{when} {word}: {_shown(opened.peek(_key(word[1:])))}"
        else:
            keys = [*map(_key, word.split(","))]
            said[place] = f"{when} {word}: cancelled"
            with anyio.move_on_after(patience):
                ended, rows = await outcome(opened, keys if "," in word else keys[0])
                said[place] = f"{when} {word}: {ended:.6g} {_shown(rows)}"

    steps = [each.split() for each in script.split("; ")]
    left = [float(when) for when, word, *_ in steps if word == "leave"]
    async with anyio.create_task_group() as group, AsyncExitStack() as stack:
        opened = await stack.enter_async_context(open_table(table, **options))
        inside = group if left else await stack.enter_async_context(anyio.create_task_group())
        for place, (when, word, *rest) in enumerate(steps):
            if word != "leave":
                inside.start_soon(step, place, when, word, float(rest[1]) if rest else inf)
        await anyio.sleep_until(max(left, default=0))
    return [*(said[place] for place in sorted(said)), *_told_by(table, opened.statistics())]


async def _streamed(script: str, options: dict[str, Any]) -> list[str]:
    table, lines = _table(), list[str]()
    source = Values(*(_item(table, each) for each in script.split()))
    async with lookup(source, table, **options) as results:
        try:
            async for key, rows in results:
                lines.append(f"{seconds_now():.6g} {key}: {_shown(rows)}")
        except OperatorError as error:
            lines.append(f"{seconds_now():.6g} {error}")
        figures = results.statistics()
    return [*lines, *_told_by(table, figures)]


def _table() -> Readable:
    return Readable(**{key: [key] for key in "abc"})


def _key(word: str) -> Any:
    return KEYS.get(word, word)


def _item(table: Readable, word: str) -> Any:
    if "=" in word:
        return partial(_change, table, word)
    return float(word) if "." in word else _key(word)


def _change(table: Readable, word: str) -> None:
    name, _, text = word.partition("=")
    value: Any = ERRORS[text]() if text in ERRORS else text
    if not hasattr(table, name):
        table.rows = {**table.rows, name: value.split("+") if isinstance(value, str) else value}
    else:
        setattr(table, name, float(value) if isinstance(value, str) else value)


def _shown(rows: Any) -> str:
    return rows if isinstance(rows, str) else str(None if rows is None else [*rows])


def _told_by(table: Readable, figures: LookupStatistics) -> list[str]:
    of_kinds = figures.hits + figures.shared + figures.loads + figures.stale + figures.null_keys
    assert of_kinds == figures.rows
    log = (each if isinstance(each, str) else _at(each) for each in table.log)
    counts = ", ".join(f"{value:.4g} {name}" for name, value in asdict(figures).items() if value)
    return [f"table: {', '.join(log)}", f"figures: {counts}"]


def _at(entry: Any) -> str:
    when, keys = entry if isinstance(entry, tuple) else (entry, "all")
    return f"{when:.6g} {keys}"
