"""From what somebody types to scenarios."""

import io
import re
import sys
from pathlib import Path

import pytest

from asyncwait.conformance._find_scenarios import find_scenarios, keep
from asyncwait.conformance.areas import EXAMPLES
from asyncwait.spec import InvalidConfig, Record
from asyncwait.spec.scenario import Scenario, Timed, id_of, scenarios_to_json

ONE = Scenario(capacity=77, inputs=(Timed(0, Record("a")),))
NAME = EXAMPLES[0].name
EXPECTED = "is no scenario: expected an id, the name of an example, a file, or JSON"
NOWHERE = (
    "there is no scenario 0123abcd: it is no example, and .asyncwait/scenarios of this folder has "
    "none; verify again here, or give the scenario as JSON, which stands in the log"
)
TEXT = scenarios_to_json((ONE,)).decode()


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_an_example_is_found_by_its_name_and_by_its_id() -> None:
    """On any machine."""
    example = EXAMPLES[0]

    assert find_scenarios(example.name) == (example.scenario,)
    assert find_scenarios(id_of(example.scenario)) == (example.scenario,)


def test_what_failed_here_is_found_by_its_id() -> None:
    """As long as it is kept."""
    keep([ONE])

    assert find_scenarios(id_of(ONE)) == (ONE,)


@pytest.mark.parametrize("text", [TEXT, TEXT[1:-1], f"\n  {TEXT} \n"], ids=["list", "one", "space"])
def test_json_is_read_as_it_stands(text: str) -> None:
    """Copied from a log."""
    assert find_scenarios(text) == (ONE,)


def test_a_file_may_hold_several(tmp_path: Path) -> None:
    """They are played one after the other."""
    (tmp_path / "some.json").write_bytes(scenarios_to_json((ONE, Scenario())))

    assert find_scenarios("some.json") == (ONE, Scenario())


def test_a_dash_is_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    """As for other commands."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode())))

    assert find_scenarios("-") == (ONE,)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0123abcd", NOWHERE),
        (NAME[:-1], f"'{NAME[:-1]}' {EXPECTED}; did you mean {NAME}"),
        ("xyz", f"'xyz' {EXPECTED}"),
        ("[", "the scenarios are not JSON: Input data was truncated"),
    ],
)
def test_what_stands_for_nothing_says_what_would(text: str, said: str) -> None:
    """And what it may have been meant to be."""
    with pytest.raises(InvalidConfig, match=f"^{re.escape(said)}"):
        find_scenarios(text)
