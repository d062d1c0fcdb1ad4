"""Whatever a file holds is read or refused in words; at its limits a scenario accuses nobody."""

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from judged import broken_rules
from whole_run import FULL, WHOLE

from asyncwait.backends.emitter import open_operator as emitter
from asyncwait.backends.pool import open_operator as pool
from asyncwait.conformance.evidence import Run
from asyncwait.conformance.harness import play
from asyncwait.reference import open_operator as reference
from asyncwait.spec import Barrier, InvalidConfig, OpenOperator, Record, Snapshot, Watermark
from asyncwait.spec.scenario import (
    LIMITS,
    Crash,
    Handler,
    Plan,
    Reply,
    Scenario,
    SinkStep,
    SnapshotRequest,
    Step,
    Timed,
    declaration_from_json,
    reply_from_json,
    scenarios_from_json,
    scenarios_to_json,
    trace_from_json,
)

READERS: tuple[Callable[[bytes], object], ...] = (
    declaration_from_json,
    scenarios_from_json,
    trace_from_json,
    reply_from_json,
)


def nested(levels: int) -> Any:
    """A value with so many levels."""
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


def chain(snapshots: int) -> Snapshot:
    """A snapshot with so many upstreams, itself among them."""
    last = Snapshot(7)
    for _ in range(snapshots - 1):
        last = Snapshot(7, (), None, last)
    return last


def records(count: int, at: int = 0) -> tuple[Timed, ...]:
    """So many different records."""
    return tuple(Timed(at, Record(number)) for number in range(count))


HIGH = 2**63 - 1
WAIT = f"must be a whole number from 0 to {LIMITS.duration}, got"
NUMBER = f"must be a whole number from {-HIGH - 1} to {HIGH}, got"
LEVELS = f"must have at most {LIMITS.levels}"
ITEMS = f"must hold 0 to {LIMITS.items} items, got {LIMITS.items + 1}"
NINES = f"{'9' * 122}... (218 more) ...{'9' * 60}"
TOO_MANY = LIMITS.items + 1


BEYOND: dict[str, tuple[Callable[[], object], str]] = {
    "input at": (lambda: Timed(10**15, Record(1)), f"at {WAIT} 1000000000000000 (int)"),
    "input blocks": (lambda: Timed(0, Record(1), 10**15), f"blocks {WAIT} 1000000000000000 (int)"),
    "record timestamp": (
        lambda: Timed(0, Record(1, HIGH + 1)),
        f"timestamp {NUMBER} {HIGH + 1} (int)",
    ),
    "watermark timestamp": (
        lambda: Timed(0, Watermark(-HIGH - 2)),
        f"timestamp {NUMBER} {-HIGH - 2} (int)",
    ),
    "barrier": (lambda: Timed(0, Barrier(HIGH + 1)), f"checkpoint_id {NUMBER} {HIGH + 1} (int)"),
    "deep value": (lambda: Timed(0, Record(nested(101))), f"element {LEVELS} levels, got more"),
    "deep key": (lambda: Timed(0, Record(1, 1, nested(101))), f"element {LEVELS} levels, got more"),
    "chain of snapshots": (lambda: Timed(0, chain(101)), f"element {LEVELS} snapshots in a chain"),
    "stored": (lambda: Timed(0, Snapshot(1, (Record(1),) * TOO_MANY)), f"in_flight {ITEMS}"),
    "step after": (lambda: Step(after=10**15), f"after {WAIT} 1000000000000000 (int)"),
    "fraction": (lambda: Step(after=1.5), f"after {WAIT} 1.5 (float)"),  # type: ignore[arg-type]
    "boolean": (lambda: Step(clean_up=True), f"clean_up {WAIT} True (bool)"),
    "deep results": (lambda: Step(results=(nested(101),)), f"results {LEVELS} levels, got more"),
    "many results": (lambda: Step(results=(1,) * TOO_MANY), f"results {ITEMS}"),
    "list": (lambda: Step(results=[1]), "results must be a tuple, got [1] (list)"),  # type: ignore[arg-type]
    "deep handler": (lambda: Handler(results=(nested(101),)), f"results {LEVELS} levels, got more"),
    "deep plan": (lambda: Plan(nested(101)), f"value {LEVELS} levels, got more"),
    "no steps": (lambda: Plan(1, ()), f"steps must hold 1 to {LIMITS.items} items, got 0"),
    "pause": (lambda: SinkStep("pause", 10**12), f"n {WAIT} 1000000000000 (int)"),
    "read": (
        lambda: SinkStep("read", LIMITS.count + 1),
        "n must be a whole number from 0 to 1000000, got 1000001 (int)",
    ),
    "request": (lambda: SnapshotRequest(0, HIGH + 1), f"checkpoint_id {NUMBER} {HIGH + 1} (int)"),
    "crash": (lambda: Crash(10**15), f"at {WAIT} 1000000000000000 (int)"),
    "capacity": (
        lambda: Scenario(capacity=10**7),
        "capacity must be a whole number from 1 to 1000000, got 10000000 (int)",
    ),
    "timeout": (
        lambda: Scenario(timeout=HIGH + 1),
        f"timeout must be a whole number from 1 to {HIGH}, got {HIGH + 1} (int)",
    ),
    "cancel_at": (lambda: Scenario(cancel_at=10**15), f"cancel_at {WAIT} 1000000000000000 (int)"),
    "inputs": (lambda: Scenario(inputs=records(1) * TOO_MANY), f"inputs {ITEMS}"),
    "crashes": (
        lambda: Scenario(crashes=(Crash(1),) * 100),
        "crashes must hold 0 to 99 items, got 100",
    ),
    "restore": (lambda: Scenario(restore=chain(101)), f"restore {LEVELS} snapshots in a chain"),
    "all together": (
        lambda: Scenario(inputs=records(3), timeout=10**12, plans=(Plan(0, (Step("never"),)),)),
        (
            "the longest legal duration must be at most 432000000 ms, all waits and deadlines "
            "together, got 4000000000000 (int)"
        ),
    ),
}


@pytest.mark.parametrize("name", BEYOND)
def test_what_is_beyond_a_limit_is_refused_by_name_when_it_is_built(name: str) -> None:
    """Whoever plays it could only accuse the operator of the time that it takes."""
    build, message = BEYOND[name]
    with pytest.raises(InvalidConfig) as caught:
        build()

    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            b'[{"source_ends_at": 1000000000000000}]',
            f"source_ends_at {WAIT} 1000000000000000 (int) - at `$[0]`",
        ),
        (
            b'[{"sink": [{"does": "read", "n": 1000000000000}]}]',
            f"n {WAIT} 1000000000000 (int) - at `$[0].sink[0]`",
        ),
        (
            b'[{"plans": [{"value": %s}]}]' % (b"[" * 200 + b"]" * 200),
            f"value {LEVELS} levels, got more - at `$[0].plans[0]`",
        ),
        (
            b'[{"plans": [{"value": %s}]}]' % (b"[" * 100_000 + b"]" * 100_000),
            "expected at most 100 levels",
        ),
        (
            b'[{"timeout": %s}]' % (b"9" * 400),
            f"timeout must be a whole number from 1 to {HIGH}, got {NINES} (int) - at `$[0]`",
        ),
        (b'[{"timeout": %s}]' % (b"9" * 5_000), "Integer value out of range - at `$[0].timeout`"),
        (b" " * (LIMITS.bytes + 1), f"expected at most {LIMITS.bytes} bytes, got 67108865"),
    ],
    ids=["wait", "count", "deep", "too deep to be read", "huge", "too huge to be read", "long"],
)
def test_what_is_beyond_a_limit_is_refused_by_name_when_it_is_read(
    data: bytes, message: str
) -> None:
    """With the place where it stands."""
    with pytest.raises(InvalidConfig) as caught:
        scenarios_from_json(data)

    assert str(caught.value) == f"the scenarios break their schema: {message}"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'[{"name": "\xff"}]', "'utf-8' codec can't decode byte 0xff in position 0"),
        (b'[{"name": "\xed\xa0\x80"}]', "'utf-8' codec can't decode byte 0xed in position 0"),
        (b'[{"name": "\\ud800"}]', "Input data was truncated"),
        (b'[{"timeout": NaN}]', "JSON is malformed: invalid character"),
        (b"\x00", "JSON is malformed: invalid character (byte 0)"),
    ],
    ids=["byte", "surrogate", "escaped surrogate", "nan", "nul"],
)
def test_what_is_no_json_is_refused(data: bytes, message: str) -> None:
    """Bytes of other kinds, and what only looks like JSON."""
    with pytest.raises(InvalidConfig) as caught:
        scenarios_from_json(data)

    assert str(caught.value).startswith(f"the scenarios are not JSON: {message}")


def test_a_trace_that_is_too_deep_is_refused() -> None:
    """In every place where a value stands."""
    at_limit, beyond = nested(LIMITS.levels), nested(LIMITS.levels + 1)

    for value, is_fine in ((at_limit, True), (beyond, False)):
        took = {"type": "took", "at": 0, "element": {"type": "record", "value": value}}
        for event in (
            took,
            {"type": "call", "at": 0, "call": 0, "value": value},
            {"type": "handler", "at": 0, "value": value},
            {"type": "call-ended", "at": 0, "call": 0, "results": [value]},
        ):
            trace = {"legs": [{"ending": {"how": "finished"}, "events": [event]}]}
            for read, data in (
                (trace_from_json, json.dumps(trace).encode()),
                (reply_from_json, json.dumps({"trace": trace}).encode()),
            ):
                assert reads(read, data) == is_fine


def reads(read: Callable[[bytes], object], data: bytes) -> bool:
    """Whether `data` is read; nothing but InvalidConfig may be raised if not."""
    try:
        read(data)
    except InvalidConfig:
        return False
    return True


DOCUMENTS = st.sampled_from(
    [
        b'{"profiles": ["ordered", "timeouts"], "lacks": ["cancel-calls"]}',
        scenarios_to_json((FULL,)),
        msgspec.json.encode(WHOLE),
        msgspec.json.encode(Reply(WHOLE)),
    ]
)
PIECES = st.one_of(
    st.sampled_from(
        [
            *(b"\xff", b"\xed\xa0\x80", b"\\ud800", b"\\u0000", b"\x00", b'"', b"\\", b"-"),
            *(b"NaN", b"Infinity", b"1e999", b"-1e-999", b"1e3", b"null", b"true", b"{", b"]"),
            *(b"9" * 400, b"9" * 5_000, b"18446744073709551616", b"[" * 300, b"[" * 9_000),
            *(b"[" * 500 + b"]" * 500, b'{"a":' * 500 + b"1" + b"}" * 500, b"1.5", b"-1"),
        ]
    ),
    st.binary(max_size=4),
)


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """A document in which up to three spots are overwritten, cut out, or filled with something."""
    data = draw(DOCUMENTS)
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(data)))
        data = data[:at] + draw(PIECES) + data[at + draw(st.integers(0, 8)) :]
    return data


@settings(max_examples=2_000)
@given(mutated() | st.binary())
def test_whatever_the_bytes_they_are_read_or_refused_in_words(data: bytes) -> None:
    """And what is read can be written."""
    for read in READERS:
        if reads(read, data):
            msgspec.json.encode(read(data))


def late(count: int, timeout: int) -> Scenario:
    """So many calls that never answer, one after the other, each up to its deadline."""
    plans = tuple(Plan(n, (Step("never"),), Handler(results=(n,))) for n in range(count))
    return Scenario(
        "ordered", 1, timeout, inputs=records(count), plans=plans, handled=True, name="late"
    )


DEEP = nested(LIMITS.levels)
BORDERS = {
    "the last input": Scenario(inputs=records(1, LIMITS.duration)),
    "a slow call": Scenario(
        inputs=records(1), plans=(Plan(0, (Step(after=LIMITS.duration // 2),)),)
    ),
    "deadlines": late(60, LIMITS.duration // 61),
    "one late deadline": late(1, LIMITS.duration // 2),
    "a deadline nobody sees": Scenario(
        timeout=LIMITS.timeout,
        inputs=records(3, LIMITS.duration - 200),
        plans=(Plan(0, (Step(after=37),)),),
    ),
    "room": Scenario(capacity=LIMITS.count, inputs=records(3)),
    "a reader": Scenario(inputs=records(3), sink=(SinkStep("read", LIMITS.count),)),
    "levels": Scenario(
        inputs=(Timed(0, Record(DEEP, 1, DEEP)), Timed(0, Barrier(1))),
        plans=(Plan(DEEP, (Step(after=40, results=(DEEP,)),)),),
        crashes=(Crash(20),),
    ),
    "snapshots": Scenario(
        inputs=(Timed(0, Record(0)), Timed(0, chain(LIMITS.levels))),
        plans=(Plan(0, (Step(after=40),)),),
        crashes=(Crash(20),),
    ),
    "numbers": Scenario(
        inputs=(
            Timed(0, Watermark(-HIGH - 1)),
            Timed(0, Record("low", -HIGH - 1)),
            Timed(0, Record("high", HIGH)),
            Timed(0, Barrier(HIGH)),
            Timed(0, Watermark(HIGH)),
        )
    ),
    "legs": Scenario(
        inputs=records(3),
        crashes=(Crash(1),) * (LIMITS.legs - 1),
        plans=(Plan(0, (Step(after=200),)),),
    ),
    "hundreds of records": Scenario(capacity=200, inputs=records(300)),
}


OPERATORS = [pool, reference, emitter]


@pytest.mark.parametrize("name", BORDERS)
@pytest.mark.parametrize("open_operator", OPERATORS, ids=["pool", "reference", "emitter"])
def test_at_its_limits_a_scenario_accuses_nobody(name: str, open_operator: OpenOperator) -> None:
    """Clock, harness and checks hold out as long as the limits say."""
    scenario = BORDERS[name]

    assert scenarios_from_json(scenarios_to_json((scenario,))) == (scenario,)
    assert broken_rules(Run(scenario, play(open_operator, scenario))) == {}
