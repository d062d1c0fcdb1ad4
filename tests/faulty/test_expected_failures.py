"""An expected failure hides no other bug of its rule, and goes on to hide its own."""

import gc
from collections.abc import Iterator
from datetime import date
from functools import cache
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from asyncwait.backends.faulty import FAULTY
from asyncwait.conformance.areas import CHECKS, EXAMPLES
from asyncwait.conformance.expected_failures.file import (
    Played,
    Settled,
    Terms,
    entries_of,
    settle,
    updated,
)
from asyncwait.conformance.generation import generate
from asyncwait.conformance.harness import play
from asyncwait.conformance.judging import Judged, judge
from asyncwait.conformance.running import adapted
from asyncwait.conformance.verdict import Case, RuleResult, Tally, Verdict, conclude
from asyncwait.spec.rules import rules
from asyncwait.spec.scenario import ALL_CAPABILITIES, Trace

TODAY = date(2026, 5, 1)
LARGE, GENERATED = 20, 100
FAULTS = {faulty.name: faulty for faulty in FAULTY}

PAIRS = (
    ("frees-a-slot-with-each-completion", "frees-silent-records-behind-a-half-read-one"),
    ("restores-before-it-emits", "waits-for-room-under-the-lock"),
    ("decides-whoever-has-the-slot", "lets-answers-win-that-came-with-the-timer"),
    ("decides-whoever-has-the-slot", "adds-late-answers-to-the-handlers"),
    ("lets-answers-win-that-came-with-the-timer", "adds-late-answers-to-the-handlers"),
    ("loses-the-slots-of-timeouts", "works-in-batches"),
    ("forgets-finished-records", "forgets-the-element-outside-the-queue"),
    ("forgets-the-element-outside-the-queue", "forgets-finished-records"),
    ("removes-before-it-emits", "forgets-finished-records"),
    ("removes-before-it-emits", "forgets-the-element-outside-the-queue"),
    ("takes-none-for-no-result", "merges-equal-results"),
    ("tries-failed-calls-again", "reads-into-one-object"),
    ("has-room-for-each-key", "restores-all-at-once"),
    ("fails-when-all-has-cleaned-up", "fails-with-the-next-answer"),
    ("keeps-a-heartbeat", "leaves-timers-behind"),
    ("counts-calls-that-have-ended", "counts-records-as-calls"),
    ("counts-records-as-calls", "counts-calls-that-have-ended"),
    ("merges-equal-markers", "ends-when-its-queue-is-empty"),
    ("merges-watermarks-in-a-row", "drops-watermarks-that-do-not-advance"),
    ("takes-time-zero-for-none", "keeps-the-last-timestamp"),
    ("keeps-the-last-timestamp", "counts-time-in-seconds"),
    ("counts-time-in-seconds", "keeps-the-last-timestamp"),
    ("queues-markers", "wakes-nobody-for-a-marker"),
    ("wakes-nobody-for-a-marker", "queues-markers"),
    ("drops-repeated-statuses", "lets-statuses-cancel-each-other"),
    ("bounds-markers-and-snapshots-apart", "takes-markers-without-end"),
    ("asks-whether-there-will-be-results", "tells-nobody-of-wrong-results"),
)
"""Two that break the same rule, in different ways."""

ITSELF = sorted({name for pair in PAIRS for name in pair})[::8]

WHOLE = (
    ("ends-when-all-is-decided", 2),
    ("gives-what-it-has-read", 2),
    ("has-room-for-each-key", 2),
    ("knows-one-mode", 1),
)
"""The seed breaks rules in the same instant as others, or with other elements, than seed 0 does."""


def cases(seed: int) -> Iterator[Case]:
    """The smaller examples, and some scenarios that the seed draws."""
    for example in EXAMPLES:
        scenario = example.scenario
        if len(scenario.inputs) <= LARGE and not scenario.tracked:
            yield Case(example.name, scenario, scenario, about=example.rules)
    for number, scenario in enumerate(generate(GENERATED, seed)):
        yield Case(f"generated {number}", scenario, scenario, generated=True)


@cache
def runs(name: str, seed: int) -> tuple[tuple[Case, Trace, Judged], ...]:
    """What an operator of the gallery does, and what all checks say of it.

    What is kept of other runs stays: a play that looks for garbage need not pass over it.
    """
    gc.freeze()
    faulty = FAULTS[name]
    can = faulty.backend().capabilities
    fitting = [replace(case, scenario=adapted(case.scenario, can)) for case in cases(seed)]
    traces = [(case, play(faulty.open_operator, case.scenario, faulty.loop)) for case in fitting]
    return tuple((case, trace, judge(case.scenario, trace, CHECKS)) for case, trace in traces)


def settled_by(text: str) -> Settled:
    """What an operator is held to, with a file of expected failures."""
    said: Any = SimpleNamespace(
        name="it", capabilities=ALL_CAPABILITIES, expected_failures={}, spec=""
    )
    return settle(Terms(entries_of(text, "file.toml"), today=TODAY), said, rules(), rules())


def judged(name: str, settled: Settled, seed: int) -> tuple[Tally, tuple[RuleResult, ...]]:
    """What is said of an operator."""
    tally = Tally(CHECKS, rules(), settled.expected_failures)
    for run in runs(name, seed):
        tally.add(*run)
    return tally, conclude(tally, rules(), ALL_CAPABILITIES, settled.expected_failures)


@cache
def expected_of(name: str) -> Settled:
    """What `--update-expected-failures` writes for an operator."""
    tally, results = judged(name, settled_by(""), seed=0)
    verdict = Verdict("it", results, tally.judged, tally.judged)
    played = Played(verdict, tally, settled_by(""), {})
    return settled_by(updated("", "file.toml", [played], TODAY).text)


def broken(name: str, settled: Settled, seed: int) -> list[str]:
    """The rules whose failures are not expected."""
    _, results = judged(name, settled, seed)
    return [r.rule.id for r in results if r.status == "fail" and not r.is_forgiven]


@pytest.mark.sampled(18)
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_the_same_rule_broken_in_another_way_is_red(one: str, other: str) -> None:
    assert FAULTS[one].rule == FAULTS[other].rule
    assert broken(one, expected_of(one), seed=0) == []
    assert broken(other, expected_of(one), seed=0) != []


@pytest.mark.sampled(18)
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", ITSELF)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_what_fails_as_expected_does_so_with_every_seed(name: str, seed: int) -> None:
    """The scenarios are others, and its rule fails in them in the same way.

    Another rule may be the first to fail in a rare scenario: nothing was expected of that one.
    """
    assert FAULTS[name].rule not in broken(name, expected_of(name), seed)


@pytest.mark.sampled(4)
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("name", "seed"), WHOLE)
def test_what_comes_in_one_instant_may_come_alone_with_another_seed(name: str, seed: int) -> None:
    assert broken(name, expected_of(name), seed) == []
