"""One way through the suite: play, judge, shrink, conclude."""

import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from outside import Folder

from asyncwait.conformance._verify import Coverage, verify
from asyncwait.conformance.areas import EXAMPLES
from asyncwait.conformance.generation import generate, shapes
from asyncwait.conformance.running import adapted
from asyncwait.spec.rules import rules
from asyncwait.spec.scenario import declared, key_of

# No example has this capacity, so only generated scenarios find out.
AT_CAPACITY_SIX = """
from contextlib import asynccontextmanager

import anyio
from msgspec.structs import replace

from asyncwait.conformance import stream_backend
from asyncwait.reference import open_operator as sound


@asynccontextmanager
async def open_operator(config, fn, elements, restore=None):
    {before}
    async with sound(config, fn, elements, restore) as results:
        yield results


def backend():
    return stream_backend(open_operator{more})
"""
UNORDERED = "if config.capacity == 6: config = replace(config, mode='unordered')"


@pytest.fixture
def gate(outside: Folder, monkeypatch: pytest.MonkeyPatch) -> Iterator[Folder]:
    """A folder whose module `gate` is found by this process and its children."""
    monkeypatch.syspath_prepend(outside.path)
    yield outside
    sys.modules.pop("gate", None)


SHAPED = [scenario for _, scenario in shapes(1, 0)]
PLANNED = len(EXAMPLES) + len(SHAPED) + 1
"""What is played where one scenario is to be generated."""


def write(gate: Folder, before: str = "pass", more: str = "") -> Path:
    """Write the module."""
    return gate.write("gate.py", AT_CAPACITY_SIX.format(before=before, more=more))


def test_a_backend_in_a_folder_that_only_this_process_knows_is_played(gate: Folder) -> None:
    """The child process looks for modules wherever its parent does."""
    write(gate)

    verdict = verify("gate:backend", Coverage(1, rules=("ORD-5",)))

    assert verdict.word == "conformant"
    assert (verdict.scenarios, verdict.planned) == (PLANNED, PLANNED)


def test_what_only_generated_scenarios_show_is_shrunk(gate: Folder) -> None:
    """The smallest failure stands in front of the others: two records that change places."""
    write(gate, UNORDERED)

    verdict = verify("gate:backend", Coverage(300, 1, ("ORD-1",)))

    (result,) = verdict.results
    smallest, *others = result.failures
    assert result.status == "fail"
    assert (smallest.case.name, len(smallest.case.planned.inputs)) == ("shrunk", 2)
    assert others[0].case.name.startswith("generated ")
    assert smallest.violation.text.startswith("results of Record ")


def test_nothing_is_shrunk_on_demand(gate: Folder) -> None:
    """A search costs time that not everybody has."""
    write(gate, UNORDERED)

    verdict = verify("gate:backend", Coverage(300, 1, ("ORD-1",), shrinks=False))

    assert verdict.results[0].failures[0].case.name.startswith("generated ")


def test_a_failing_example_is_not_shrunk(gate: Folder) -> None:
    """It is as small as somebody could make it."""
    write(gate, UNORDERED.replace("== 6", "== 4"))

    verdict = verify("gate:backend", Coverage(1, rules=("ORD-1",)))

    names = {example.name for example in EXAMPLES}
    assert verdict.results[0].failures[0].case.name in names


def test_a_known_failure_leaves_the_backend_conformant(gate: Folder) -> None:
    """With expected failures, which the line says."""
    write(
        gate,
        UNORDERED.replace("== 6", "== 4"),
        ", expected_failures={'ORD-1': 'we promise no order'}",
    )

    verdict = verify("gate:backend", Coverage(1, rules=("ORD-1", "END-8")))

    assert verdict.known > 40
    assert verdict.word == "conformant with expected failures"


def test_a_missing_ability_takes_its_rules_out(gate: Folder) -> None:
    """And the line counts them."""
    write(gate, more=", lacks=['on-demand-snapshot']")

    verdict = verify("gate:backend", Coverage(1, rules=("SNAP-8", "SNAP-9", "SNAP-1")))

    assert [result.status for result in verdict.results] == ["pass", *["not-applicable"] * 2]


def test_scenarios_that_are_one_to_a_backend_are_played_once(gate: Folder) -> None:
    """Without watermarks many examples about them are the same, and a name is that of the first."""
    write(gate, more=", profiles=['unordered']")
    can = declared(["unordered"])

    verdict = verify("gate:backend", Coverage(1, rules=("ORD-3", "WM-1")))

    planned = [*(example.scenario for example in EXAMPLES), *SHAPED, *generate(1, 0)]
    different = {key_of(adapted(scenario, can)) for scenario in planned}
    assert verdict.planned == len(different) < len(planned)
    assert verdict.claim.startswith("conformant: core, unordered")


def test_the_suite_stops_asking_a_backend_that_dies_each_time(gate: Folder) -> None:
    """What was not played is blocked, and the reason says how the last run ended."""
    write(gate, "import os; os._exit(3)")

    verdict = verify("gate:backend", Coverage(1, rules=("ORD-1", "END-8")))

    assert [(r.rule.id, r.status) for r in verdict.results] == [
        ("ORD-1", "blocked"),
        ("END-8", "fail"),
    ]
    assert verdict.results[0].note == verdict.stopped
    assert "exit code 3" in verdict.stopped
    assert (verdict.scenarios, verdict.planned) == (3, PLANNED)


def test_what_holds_until_the_suite_stops_asking_is_not_passed(gate: Folder) -> None:
    """The rest may break it."""
    write(gate, "import os\n    if config.capacity == 1: os._exit(3)")

    verdict = verify("gate:backend", Coverage(1, rules=("ORD-1", "END-8")))

    assert [(r.rule.id, r.status) for r in verdict.results] == [
        ("ORD-1", "held"),
        ("END-8", "fail"),
    ]


def test_a_backend_that_can_be_loaded_only_once_is_an_error(gate: Folder) -> None:
    """What the first child could do the next one can't: that is not the operator's fault."""
    file = write(gate, "import os; os._exit(3)")
    text = file.read_text(encoding="utf-8")
    once = (
        "if not (mark := __import__('pathlib').Path(__file__ + '.loaded')).exists(): mark.touch()"
    )
    file.write_text(f"{once}\nelse: raise OSError('no disk')\n{text}", encoding="utf-8")

    verdict = verify("gate:backend", Coverage(1, rules=("ORD-1",), jobs=1))

    assert verdict.word == "inconclusive"
    assert len(verdict.errors) == 2
    assert verdict.errors[0].endswith(f"OSError: no disk ({file}:2)")


FURTHER = """
from asyncwait.conformance import StreamBackend
from asyncwait.conformance.harness import play
from asyncwait.reference import open_operator
from asyncwait.spec.scenario import Ending, Leg, Trace


class Further(StreamBackend, frozen=True):
    def further_runs(self, scenarios):
        name, scenario = next(iter(scenarios.items()))
        yield f"{name}, again", scenario, play(open_operator, scenario)
        yield f"{name}, badly", scenario, Trace((Leg(Ending("hung", 5)),))
        yield f"{name}, not at all", scenario, Trace((Leg(Ending("error", detail="no power")),))
        raise LookupError("no more")


def backend():
    return Further(open_operator, batch={batch})
"""


@pytest.mark.parametrize("batch", [True, False])
def test_further_runs_of_a_backend_are_judged_with_the_others(gate: Folder, *, batch: bool) -> None:
    """They count, break rules under their own names, and may end in errors."""
    gate.write("gate.py", FURTHER.replace("{batch}", str(batch)))

    verdict = verify("gate:backend", Coverage(count=1))

    name = EXAMPLES[0].name
    assert (verdict.scenarios, verdict.planned) == (PLANNED + 2, PLANNED + 3)
    assert verdict.errors == (
        f"{name}, not at all: no power",
        f"the backend raised LookupError: no more ({gate.path / 'gate.py'}:14)",
    )
    (failure,) = [f for result in verdict.results for f in result.failures]
    assert failure.case.name == f"{name}, badly"
    assert verdict.word == "not conformant"


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_the_verdict_does_not_depend_on_how_many_play(gate: Folder, jobs: int) -> None:
    """Rules, counts, failures and their order are the same."""
    write(gate, UNORDERED.replace("== 6", "> 2"))

    verdict = verify("gate:backend", Coverage(60, jobs=jobs, shrinks=False))

    alone = verify("gate:backend", Coverage(60, jobs=1, shrinks=False))
    assert msgspec.structs.replace(verdict, seconds=0) == msgspec.structs.replace(alone, seconds=0)


def test_progress_is_told_from_nothing_to_all(gate: Folder) -> None:
    """Once for each scenario, and at the end; and for each failure that is shrunk."""
    write(gate)
    told: list[tuple[str, int, int]] = []

    verify("gate:backend", Coverage(1, rules=("ORD-5",)), lambda *figures: told.append(figures))

    total = PLANNED
    assert told == [
        *(("judged", number, total) for number in range(total + 1)),
        ("shrunk", 0, 0),
    ]


def test_the_total_stays_the_same_where_scenarios_come_out_equal(gate: Folder) -> None:
    """One that is equal to an earlier one is not played, and counts as done with it."""
    write(gate, more=", profiles=['unordered']")
    told: list[tuple[int, int]] = []

    verdict = verify(
        "gate:backend",
        Coverage(1, shrinks=False),
        lambda _, done, of: told.append((done, of)),
    )

    assert verdict.planned < PLANNED
    assert {of for _, of in told} == {PLANNED}
    assert told == sorted(told)
    assert (told[0], told[-1]) == ((0, PLANNED), (PLANNED, PLANNED))


def test_rules_are_judged_in_the_order_of_the_chapters() -> None:
    """However they were asked for."""
    verdict = verify("reference-asyncio", Coverage(1, rules=("END-1", "ELEM-1")))

    assert [r.rule.id for r in verdict.results] == ["ELEM-1", "END-1"]
    assert set(rules()) >= {"ELEM-1", "END-1"}
