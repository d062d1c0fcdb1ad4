"""From what somebody types to scenarios, and the folder where those that failed are kept."""

import io
import re
import sys
from pathlib import Path

import pytest

from asyncwait.conformance.areas import EXAMPLES
from asyncwait.conformance.verifying import FOLDER, find_scenarios, keep
from asyncwait.spec import InvalidConfig, Record
from asyncwait.spec.scenario import Scenario, Timed, id_of, scenarios_to_json

ONE = Scenario(capacity=77, inputs=(Timed(0, Record("a")),))
EXAMPLE = EXAMPLES[0]
EXPECTED = "is no scenario: expected an id, the name of an example, a file, or JSON"
NOWHERE = (
    "there is no scenario 0123abcd: it is no example, and .asyncwait/scenarios of this folder has "
    "none; verify again here, or give the scenario as JSON, which stands in the log"
)
TEXT = scenarios_to_json((ONE,)).decode()


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        # An example, on any machine; what failed here, as long as it is kept;
        (EXAMPLE.name, (EXAMPLE.scenario,)),
        (id_of(EXAMPLE.scenario), (EXAMPLE.scenario,)),
        (id_of(ONE), (ONE,)),
        # JSON as it stands in a log, one or several in a file, and standard input.
        *((text, (ONE,)) for text in (TEXT, TEXT[1:-1], f"\n  {TEXT} \n")),
        ("some.json", (ONE, Scenario())),
        ("-", (ONE,)),
    ],
)
def test_scenarios_are_found(
    text: str, found: tuple[Scenario, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert keep([ONE]) == {id_of(ONE)}
    Path("some.json").write_bytes(scenarios_to_json((ONE, Scenario())))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode())))

    assert find_scenarios(text) == found


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0123abcd", NOWHERE),
        (EXAMPLE.name[:-1], f"'{EXAMPLE.name[:-1]}' {EXPECTED}; did you mean {EXAMPLE.name}"),
        ("xyz", f"'xyz' {EXPECTED}"),
        ("[", "the scenarios are not JSON: "),
        # A file that somebody has broken is theirs to mend.
        ("12345678", "the scenarios are not JSON: "),
    ],
)
def test_what_stands_for_nothing_says_what_would(text: str, said: str) -> None:
    keep([ONE])
    (FOLDER / "12345678.json").write_text("[", encoding="utf-8")

    with pytest.raises(InvalidConfig, match=f"^{re.escape(said)}"):
        find_scenarios(text)


def test_the_folder_stays_out_of_a_repository(tmp_path: Path) -> None:
    assert keep([]) == frozenset()
    assert list(tmp_path.iterdir()) == []

    keep([ONE])
    assert Path(".asyncwait", ".gitignore").read_text(encoding="utf-8") == "*\n"
