"""One way through the suite: play, judge, shrink, conclude."""

import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
import suite
from outside import CHANGED, UNORDERED, Folder

from asyncwait.conformance.evidence import Example
from asyncwait.conformance.running import adapted
from asyncwait.conformance.verifying import Coverage, verify
from asyncwait.spec.scenario import Scenario, declared, key_of

pytestmark = pytest.mark.usefixtures("few_examples")


@pytest.fixture
def gate(outside: Folder, monkeypatch: pytest.MonkeyPatch) -> Iterator[Folder]:
    monkeypatch.syspath_prepend(outside.path)
    yield outside
    sys.modules.pop("gate", None)


@pytest.fixture
def planned(few_examples: tuple[Example, ...]) -> list[Scenario]:
    shaped, generated = suite.small_drawn(1, 0)
    return [*(e.scenario for e in few_examples), *(each for _, each in shaped), *generated]


def write(gate: Folder, before: str = "pass", more: str = "") -> Path:
    return gate.write("gate.py", CHANGED.format(before=before, more=more))


def test_a_backend_in_a_folder_that_only_this_process_knows_is_played(gate: Folder) -> None:
    write(gate)
    told: list[tuple[str, int, int]] = []

    verdict = verify(
        "gate:backend", Coverage(1, rules=("COPY-1",)), lambda *figures: told.append(figures)
    )

    total = verdict.planned
    assert (verdict.word, verdict.scenarios) == ("conformant", total)
    assert told == [*(("judged", n, total) for n in range(total + 1)), ("shrunk", 0, 0)]


@pytest.mark.parametrize("shrinks", [True, False])
def test_what_only_generated_scenarios_show_is_shrunk(gate: Folder, *, shrinks: bool) -> None:
    write(gate, UNORDERED)

    verdict = verify("gate:backend", Coverage(4, 39, ("ORD-1",), shrinks=shrinks))

    (result,) = verdict.results
    first, *others = result.failures
    assert result.status == "fail"
    if shrinks:
        assert (first.case.name, len(first.case.planned.inputs)) == ("shrunk", 2)
        assert first.violation.text.startswith("results of Record ")
        first = others[0]
    assert first.case.name.startswith("generated ")


def test_scenarios_that_are_one_to_a_backend_are_played_once(
    gate: Folder, planned: list[Scenario]
) -> None:
    """Without watermarks many examples about them are the same, and a name is that of the first.

    One that is not played counts as done with the earlier one, so the total stays the same.
    """
    write(gate, more=", profiles=['unordered']")
    can = declared(["unordered"])
    told: list[tuple[int, int]] = []

    verdict = verify(
        "gate:backend",
        Coverage(1, rules=("ORD-3", "WM-1"), shrinks=False),
        lambda _, done, of: told.append((done, of)),
    )

    # Nothing is drawn for batches, caches and limits, which it does not have.
    shaped = [each for _, each in suite.small_drawn(1, 0)[0]]
    drawn = [
        each
        for each in planned
        if each not in shaped or not (each.batch or each.cache or each.limits)
    ]
    different = {key_of(adapted(scenario, can)) for scenario in drawn}
    assert verdict.planned == len(different) < len(drawn)
    assert verdict.claim.startswith("conformant: core, unordered")
    total = len(drawn)
    assert {of for _, of in told} == {total}
    assert told == sorted(told)
    assert (told[0], told[-1]) == ((0, total), (total, total))


@pytest.mark.parametrize(
    ("trouble", "status", "played"),
    [
        # What was not played is blocked, and the reason says how the last run ended.
        ("import os; os._exit(3)", "blocked", 3),
        # What holds until then is not passed: the rest may break it.
        ("import os\n    if config.capacity == 1: os._exit(3)", "held", None),
    ],
)
def test_the_suite_stops_asking_a_backend_that_dies_each_time(
    gate: Folder, planned: list[Scenario], trouble: str, status: str, played: int | None
) -> None:
    write(gate, trouble)

    verdict = verify("gate:backend", Coverage(1, rules=("ORD-1", "END-8")))

    found = {result.rule.id: result.status for result in verdict.results}
    assert found == {"ORD-1": status, "END-8": "fail"}
    assert "exit code 3" in verdict.stopped
    assert verdict.planned == len(planned)
    if played is not None:
        assert (verdict.scenarios, verdict.results[0].note) == (played, verdict.stopped)


def test_the_suite_plays_on_if_it_is_to_keep_going(gate: Folder) -> None:
    write(gate, "import os\n    if config.capacity == 1: os._exit(3)")

    verdict = verify("gate:backend", Coverage(1, rules=("ORD-1",), keeps_going=True))

    assert (verdict.stopped, verdict.is_whole) == ("", True)


def test_the_verdict_does_not_depend_on_how_many_play(gate: Folder) -> None:
    write(gate, UNORDERED.replace("== 6", "> 2"))
    rules = ("COPY-1", "ORD-1")

    verdicts = [
        verify("gate:backend", Coverage(20, rules=rules, jobs=jobs, shrinks=False))
        for jobs in (1, 3)
    ]

    alone, other = (msgspec.structs.replace(each, seconds=0) for each in verdicts)
    assert other == alone
    assert [result.rule.id for result in alone.results] == ["ORD-1", "COPY-1"]
