"""Readers of input from outside accept a mutated input, or refuse it in a line."""

from collections.abc import Callable, Iterable
from pathlib import Path
from random import Random
from typing import TypeAlias

import msgspec
import pytest
from mutations import mutated
from reports import report, verdict
from whole_run import VARIED

from asyncwait.conformance.areas import CHECKS, EXAMPLES
from asyncwait.conformance.generation import generate
from asyncwait.conformance.harness import play
from asyncwait.conformance.judging import judge
from asyncwait.conformance.report import read_lines, report_to_lines
from asyncwait.conformance.report._junit import to_junit
from asyncwait.conformance.running import Broken, checked
from asyncwait.conformance.running._speech import Program, told_from, trace_of
from asyncwait.conformance.timeline import draw
from asyncwait.conformance.verifying import entries_of
from asyncwait.reference import open_operator
from asyncwait.spec import AsyncWaitError
from asyncwait.spec.scenario import (
    Request,
    Scenario,
    Trace,
    declaration_from_json,
    protocol_from_json,
    request_from_json,
    scenarios_from_json,
    scenarios_to_json,
    trace_from_json,
)
from asyncwait.spec.vectors import shipped_vectors, vectors_from_json, vectors_to_json

LONGEST = 2_000
"""Characters of a message, or of a line that is shown."""

Read: TypeAlias = Callable[[bytes], object]

pytestmark = pytest.mark.timeout(600)


def assert_short(lines: Iterable[str]) -> None:
    longest = max(lines, key=len, default="")
    assert len(longest) <= LONGEST, f"{len(longest)} characters: {longest[:300]}"


def judged(scenario: Scenario, trace: Trace) -> Trace:
    """Judge a trace as the command does: whatever the trace says, no check may break."""
    run = checked(scenario, trace)
    if isinstance(run, Broken):
        assert_short([run.text])
        raise AsyncWaitError("the trace is refused")
    assert_short(draw(scenario, run, None))
    judged = judge(scenario, run, CHECKS)
    broken = [f"{rule}: {each.error}" for rule, each in judged.by_rule.items() if each.error]
    assert (judged.error, broken) == ("", [])
    assert_short(violation.text for _, violation in judged.violations())
    return run


def from_program(data: bytes) -> Trace:
    program = Program("exec:test", ("test",))
    assert_short([program.astray(data, 7, 2)])
    return program.reply(data)


def expected_failures(data: bytes) -> object:
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise AsyncWaitError("not UTF-8") from error
    return entries_of(text, "known.toml")


KNOWN = b"""
[[expected-failure]]
rule = "ORD-1"
reason = "a queue too many"
scenarios = ["the-last-finishes-first"]
until = 2027-01-31
strict = false

[[expected-failure]]
rule = "CAP-5"
reason = "comes with 2.0"
"""
DECLARATIONS = [
    b'{"protocol": 2, "profiles": ["ordered", "timeouts"], "lacks": ["timed-input"]}',
    b'{"lacks": ["restore"]}',
    b"{}",
]
PLAYED: list[Scenario] = [
    *(example.scenario for example in EXAMPLES[::12]),
    *generate(30, seed=0),
]
KINDS: dict[str, tuple[Callable[[], list[bytes]], Read]] = {
    "scenarios": (
        lambda: [scenarios_to_json((each,)) for each in (*VARIED, *PLAYED)],
        scenarios_from_json,
    ),
    "requests": (
        lambda: [msgspec.json.encode(Request(each, 7)) for each in PLAYED],
        request_from_json,
    ),
    "first lines": (
        lambda: DECLARATIONS,
        lambda data: (protocol_from_json(data), declaration_from_json(data)),
    ),
    "expected failures": (lambda: [KNOWN], expected_failures),
    "vectors": (
        lambda: [vectors_to_json(file) for file in shipped_vectors().values()][:3],
        vectors_from_json,
    ),
}
"""Sound input of each kind, and its reader. Tests of snapshots and journals damage theirs."""

OF_TRACES: dict[str, tuple[bytes, bytes, Callable[[bytes], Trace]]] = {
    "traces": (b"", b"", trace_from_json),
    "replies": (b'{"trace":', b',"number":7}', from_program),
    "told": (b'{"trace":', b"}", lambda data: trace_of(told_from(data))),
}
"""The bytes around a trace, and the reader of all."""


def refused_of(read: Read, sound: list[bytes], count: int) -> int:
    """Read mutated inputs; return how many the reader refuses, each in a line."""
    refused = 0
    for number in range(count):
        chance = Random(number)
        try:
            read(mutated(chance, chance.choice(sound)))
        except AsyncWaitError as error:
            refused += 1
            said = str(error)
            assert "\n" not in said
            assert 0 < len(said) <= LONGEST, f"{len(said)} characters: {said[:300]}"
        except Exception as error:
            error.add_note(f"input {number}")
            raise
    return refused


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", KINDS)
def test_mutated_input_is_read_or_refused_in_a_line(kind: str) -> None:
    make, read = KINDS[kind]
    count = 100 if kind == "vectors" else 1_000

    assert count // 2 < refused_of(read, make(), count) < count


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", OF_TRACES)
def test_a_mutated_trace_is_judged_or_refused_in_a_line(kind: str) -> None:
    before, after, read = OF_TRACES[kind]
    refused = 0
    for scenario in PLAYED[::4]:
        sound = before + msgspec.json.encode(play(open_operator, scenario)) + after
        refused += refused_of(lambda data, s=scenario: judged(s, read(data)), [sound], 60)

    count = 60 * len(PLAYED[::4])
    assert count // 2 < refused < count


@pytest.mark.sampled
def test_a_mutated_report_is_read_doubted_or_refused_in_a_line(tmp_path: Path) -> None:
    def read(data: bytes) -> None:
        (tmp_path / "report.jsonl").write_bytes(data)
        told = read_lines(tmp_path / "report.jsonl")
        to_junit(told)
        if told.doubt:
            raise AsyncWaitError(told.doubt)

    sound = report_to_lines(report(verdict("good"), verdict("bad", {"ORD-1": "fail"})))
    assert 150 < refused_of(read, [sound], 300) < 300
