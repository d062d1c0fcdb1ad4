"""Where few rules are asked for, only what can convict by them is played, and nothing is lost."""

import re
from collections.abc import Iterator
from functools import cache, partial
from itertools import chain, takewhile

import pytest
from click.testing import CliRunner

from asyncwait.backends.faulty import FAULTY, Faulty
from asyncwait.conformance._commands import asyncwait
from asyncwait.conformance._convicting import ANYWHERE, PREMISES, can_convict
from asyncwait.conformance._verify import Coverage, verify
from asyncwait.conformance.areas import CHECKS, EXAMPLES, all_witnesses
from asyncwait.conformance.generation import generate, shapes
from asyncwait.conformance.harness import play
from asyncwait.conformance.judging import judge
from asyncwait.conformance.running import adapted
from asyncwait.spec import LatencyMarker, Mode, Record, Snapshot, Watermark, WatermarkStatus
from asyncwait.spec.rules import rules
from asyncwait.spec.scenario import (
    PROFILES,
    CallCancelled,
    CallStarted,
    Ending,
    Event,
    Leg,
    Plan,
    Scenario,
    SinkTook,
    SinkWaits,
    SourceAsked,
    Step,
    Taken,
    Timed,
    Trace,
)

SAMPLE = [faulty for faulty in FAULTY if not faulty.blocks][::20]
"""A twentieth of the gallery, of all areas: the whole takes an hour."""

LARGE = 20
"""Inputs; what a larger example shows, a small one of the same rule does too."""

PLAYED: list[tuple[Scenario, tuple[str, ...]]] = [
    *((e.scenario, e.rules) for e in EXAMPLES[::3] if len(e.scenario.inputs) <= LARGE),
    *((scenario, ()) for scenario in generate(60, seed=0)),
]
"""Scenarios, each with the rules that it is about."""


@cache
def drawn() -> list[Scenario]:
    return [*(scenario for _, scenario in shapes(1_000, 0)), *generate(100, 0)]


def others() -> Iterator[tuple[Scenario, tuple[str, ...]]]:
    yield from ((example.scenario, example.rules) for example in EXAMPLES)
    yield from ((scenario, ()) for scenario in drawn())


def run(*arguments: str) -> tuple[int, str]:
    """Run the command in this process; return its exit code and what it said."""
    done = CliRunner().invoke(asyncwait, arguments)
    return done.exit_code, done.stdout


@pytest.mark.sampled(10)
@pytest.mark.timeout(300)
@pytest.mark.parametrize("faulty", SAMPLE, ids=lambda faulty: faulty.name)
def test_no_conviction_is_lost(faulty: Faulty) -> None:
    found, kept = set(), set()
    can = faulty.backend().capabilities
    area = rules()[faulty.rule].area
    its_own = [
        (e.scenario, e.rules) for e in EXAMPLES if area in {rules()[r].area for r in e.rules}
    ]
    rare = takewhile(lambda _: faulty.rule not in found, others())
    for scenario, about in chain(its_own, PLAYED, rare):
        fitting = adapted(scenario, can)
        trace = play(faulty.open_operator, fitting, faulty.loop)
        for rule, _ in judge(fitting, trace, CHECKS).violations():
            found.add(rule)
            if rule in about or can_convict(rules()[rule], fitting):
                kept.add(rule)

    assert faulty.rule in found
    assert found - kept == set()


@pytest.mark.parametrize("rule", PREMISES)
def test_what_a_check_looks_for_is_there_where_it_is_said_to_be(rule: str) -> None:
    spared = [scenario for scenario, _ in PLAYED if not PREMISES[rule](scenario)]
    check = {rule: CHECKS[rule]}
    applied = [
        judge(scenario, play(FAULTY[0].open_operator, scenario), check).by_rule[rule].applied
        for scenario in spared[::8]
    ]

    assert len(applied) > len(PLAYED) / 20
    assert sum(applied) == 0


@pytest.mark.parametrize("rule", rules())
def test_generated_scenarios_are_played_for_a_rule_where_they_may_show_it(rule: str) -> None:
    there = [scenario for scenario in drawn() if can_convict(rules()[rule], scenario)]

    assert there or rule in {"END-19", "FAIL-13"}  # nor are wrong arguments and elements
    if rule not in ANYWHERE and any(n <= set(PROFILES) for n in rules()[rule].needs[:1]):
        assert len(there) < len(drawn())


def test_what_breaks_a_rule_by_hand_can_convict_by_it() -> None:
    lost = [
        (witness.rule, rule)
        for witness in all_witnesses()
        for run in [witness.violating]
        for rule, _ in judge(run.scenario, run.trace, CHECKS).violations()
        if not can_convict(rules()[rule], run.scenario)
    ]

    assert lost == []


@pytest.mark.parametrize("mode", ["ordered", "unordered", "key-ordered"])
@pytest.mark.parametrize(
    "odd",
    [
        *map(partial(SinkTook, 20), (Watermark(3), WatermarkStatus(True), LatencyMarker(1))),
        *map(partial(SinkTook, 20), (Snapshot(1), Snapshot(1, (Record("z"),)), Record("x"))),
        CallCancelled(20, 0),
        CallStarted(20, 1, "a"),
        CallStarted(20, 1, "z"),
    ],
    ids=repr,
)
def test_what_nobody_has_planned_can_convict(odd: Event, mode: Mode) -> None:
    plain = Scenario(mode, inputs=(Timed(0, Record("a")),), plans=(Plan("a", (Step(after=40),)),))
    events = (SourceAsked(0), Taken(0, 0), CallStarted(0, 0, "a"), SinkWaits(0), odd)
    trace = Trace((Leg(Ending("finished", 40), events, abandoned=1),))

    found = [rule for rule, _ in judge(plain, trace, CHECKS).violations()]

    assert found
    assert [rule for rule in found if not can_convict(rules()[rule], plain)] == []


def test_a_rule_is_played_where_it_can_be_shown() -> None:
    code, out = run("verify", "reference-asyncio", "--rule", "STAT-7", "--count", "40")

    assert code == 0, out
    said = re.search(r"\(1 rule passes, (\d+) of (\d+) scenarios can show it\)$", out)
    assert said is not None, out
    assert int(said[1]) < len(EXAMPLES) < int(said[2])


def test_the_examples_about_a_rule_come_first() -> None:
    plan = Coverage(count=1, rules=("ORD-1",), fails_fast=True, jobs=1)
    verdict = verify("faulty-knows-one-mode", plan)

    (failed,) = verdict.failed
    assert "ORD-1" in next(e for e in EXAMPLES if e.name == failed.failures[0].case.name).rules
    assert verdict.scenarios < 10


def test_nothing_more_is_played_once_a_must_is_broken() -> None:
    code, out = run("verify", "faulty-knows-one-mode", "--fail-fast", "--count", "1", "--jobs", "1")

    assert code == 1
    stopped = r"^faulty-knows-one-mode: stopped: [A-Z0-9, -]+ broken; \d+ not played$"
    assert re.search(stopped, out, re.MULTILINE)
    last = out.splitlines()[-1]
    assert re.match(r"faulty-knows-one-mode: not conformant after \d+ of \d+ scenarios \(", last)


def test_a_should_stops_nothing() -> None:
    should = next(f for f in FAULTY if rules()[f.rule].level == "SHOULD" and not f.blocks)
    code, out = run(
        "verify", f"faulty-{should.name}", "--rule", should.rule, "--fail-fast", "--count", "1"
    )

    assert code == 0, out
    assert "1 fail, 1 of the failures not of a MUST" in out
    assert "stopped" not in out
