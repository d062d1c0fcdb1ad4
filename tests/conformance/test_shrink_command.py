"""A scenario that fails is made smaller on demand, and kept to be played again."""

import re
from pathlib import Path

import pytest
from outside import run

from asyncwait.conformance.verifying import find_scenarios
from asyncwait.spec.scenario import id_of, scenarios_from_json

BACKEND = "faulty-knows-one-mode"
EXAMPLE = "the-last-finishes-first"


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_nothing_can_be_left_out_of_what_it_finds() -> None:
    done = run("play", "--shrink", BACKEND, EXAMPLE)

    *_, said, found, again = done.stdout.splitlines()
    (smallest,) = scenarios_from_json(found.encode())
    assert done.exit_code == 1, done.output
    assert len(smallest.inputs) == 2
    assert smallest.plans[0].steps[0].after == 40
    assert said.startswith("326 characters of JSON before, 174 now; ")
    assert done.stdout.startswith(f"{id_of(smallest)}: ordered; ")
    assert again == f"again: asyncwait play {BACKEND} {id_of(smallest)} --trace"
    assert find_scenarios(id_of(smallest)) == (smallest,)


def test_when_the_time_is_over_the_smallest_so_far_is_shown() -> None:
    done = run("play", "--shrink", BACKEND, EXAMPLE, "--seconds", "1e-9")

    said = done.stdout.splitlines()[-3]
    assert done.exit_code == 1, done.output
    assert re.search(r" 326 now; 0 tried; .* --seconds 2e-09 ", said)


def test_a_chosen_rule_stays_broken_and_by_default_the_first() -> None:
    example = "a-clean-up-when-a-run-crashes"  # It breaks ORD-1, and REST-7 later.
    first = run("play", "--shrink", BACKEND, example, "--seconds", "5")
    chosen = run("play", "--shrink", BACKEND, example, "--rule", "REST-7")

    assert "REST-7 broken: " not in first.stdout
    assert "REST-7 broken: " in chosen.stdout
    (smallest,) = scenarios_from_json(chosen.stdout.splitlines()[-2].encode())
    assert smallest.crashes
