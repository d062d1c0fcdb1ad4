"""The folder where scenarios that failed are found again."""

import os
from pathlib import Path

import pytest

from asyncwait.conformance._find_scenarios import MOST_KEPT, keep, kept
from asyncwait.spec import InvalidConfig, Record
from asyncwait.spec.scenario import Scenario, Timed, id_of

ONE = Scenario(inputs=(Timed(0, Record("a")),))
OTHER = Scenario(capacity=1)


def test_what_is_kept_is_found_by_its_id(tmp_path: Path) -> None:
    """In the same folder, in another process."""
    folder = tmp_path / ".asyncwait" / "scenarios"

    assert keep([ONE, OTHER], folder) == {id_of(ONE), id_of(OTHER)}
    assert kept(id_of(ONE), folder) == (ONE,)
    assert kept(id_of(Scenario()), folder) == ()


def test_the_folder_stays_out_of_a_repository(tmp_path: Path) -> None:
    """Without a line in anybody's list of what to ignore."""
    keep([ONE], tmp_path / ".asyncwait" / "scenarios")

    assert (tmp_path / ".asyncwait" / ".gitignore").read_text(encoding="utf-8") == "*\n"


def test_where_nothing_failed_nothing_is_left(tmp_path: Path) -> None:
    """No folder either."""
    assert keep([], tmp_path / ".asyncwait" / "scenarios") == frozenset()
    assert list(tmp_path.iterdir()) == []


def test_the_oldest_are_dropped(tmp_path: Path) -> None:
    """Verifying every day for a year fills no disk."""
    for number in range(MOST_KEPT):
        file = tmp_path / f"{number:08}.json"
        file.touch()
        os.utime(file, (number, number))

    keep([ONE, OTHER], tmp_path)

    left = {file.stem for file in tmp_path.glob("*.json")}
    assert len(left) == MOST_KEPT
    assert left >= {id_of(ONE), id_of(OTHER), "00000002"}
    assert left.isdisjoint({"00000000", "00000001"})


def test_where_nothing_can_be_written_nothing_is_kept(tmp_path: Path) -> None:
    """The verdict stands all the same."""
    (tmp_path / "taken").touch()

    assert keep([ONE], tmp_path / "taken" / "scenarios") == frozenset()


def test_a_broken_file_is_told(tmp_path: Path) -> None:
    """It is the user's to mend."""
    (tmp_path / "12345678.json").write_text("[", encoding="utf-8")

    with pytest.raises(InvalidConfig, match="the scenarios are not JSON"):
        kept("12345678", tmp_path)
