"""`[tool.asyncwait]` of the project: found from below, and wrong in one sentence."""

from pathlib import Path

import pytest

from asyncwait.conformance._gate import Settings, find_settings
from asyncwait.spec import InvalidConfig


def project(folder: Path, *lines: str) -> Path:
    """Write a project file with these lines in our table."""
    file = folder / "pyproject.toml"
    file.write_text("\n".join(["[project]", "name = 'x'", "[tool.asyncwait]", *lines]))
    return file


def test_the_table_says_what_is_verified_and_by_what(tmp_path: Path) -> None:
    """A path counts from the folder of the file."""
    file = project(
        tmp_path,
        "backend = ['a:b', 'c']",
        "spec = '0.1'",
        "expected-failures = 'tests/known.toml'",
        "seed = 3",
        "count = 50",
    )

    assert find_settings(tmp_path) == Settings(
        file, ("a:b", "c"), "0.1", tmp_path / "tests/known.toml", 3, 50
    )


def test_one_backend_may_stand_by_itself(tmp_path: Path) -> None:
    """Most projects have one."""
    file = project(tmp_path, "backend = 'mypkg.gate:backend'")

    assert find_settings(tmp_path) == Settings(file, ("mypkg.gate:backend",))


def test_it_is_looked_for_upwards(tmp_path: Path) -> None:
    """A project of a workspace that has no table of ours is passed over."""
    file = project(tmp_path, "backend = 'a:b'")
    below = tmp_path / "one" / "tests"
    below.mkdir(parents=True)
    (tmp_path / "one" / "pyproject.toml").write_text("[project]\nname = 'one'\n")

    found = find_settings(below)

    assert found is not None
    assert (found.file, found.folder) == (file, tmp_path)


def test_the_nearest_counts(tmp_path: Path) -> None:
    """As a whole: nothing is taken from one above it."""
    project(tmp_path, "backend = 'a:b'", "seed = 7")
    below = tmp_path / "below"
    below.mkdir()
    file = project(below, "backend = 'c:d'")

    assert find_settings(below) == Settings(file, ("c:d",))


def test_without_a_table_there_are_none(tmp_path: Path) -> None:
    """Nobody has to have one."""
    assert find_settings(tmp_path) is None


@pytest.mark.parametrize(
    "line",
    [
        "backends = 'a'",
        "backend = 7",
        "backend = []",
        "backend = ['a', '']",
        "spec = 0.1",
        "spec = 'new'",
        "expected-failures = true",
        "seed = '1'",
        "count = 0",
        "count = true",
    ],
)
def test_a_wrong_key_is_told_with_its_file(tmp_path: Path, line: str) -> None:
    """In one sentence."""
    file = project(tmp_path, line)
    key = line.split(maxsplit=1)[0]

    with pytest.raises(InvalidConfig, match=rf"\b{key}\b") as caught:
        find_settings(tmp_path)

    assert str(caught.value).startswith(f"{file}: [tool.asyncwait]: ")


def test_a_value_in_place_of_the_table_is_refused(tmp_path: Path) -> None:
    """It says nothing."""
    file = tmp_path / "pyproject.toml"
    file.write_text("[tool]\nasyncwait = 'a:b'\n")

    with pytest.raises(InvalidConfig) as caught:
        find_settings(tmp_path)

    assert str(caught.value) == f"{file}: [tool.asyncwait] must be a table, got 'a:b'"


def test_a_file_that_is_no_toml_is_refused(tmp_path: Path) -> None:
    """Whether there is a table in it, nobody knows."""
    file = tmp_path / "pyproject.toml"
    file.write_text("[tool\n")

    with pytest.raises(InvalidConfig) as caught:
        find_settings(tmp_path)

    assert str(caught.value).startswith(f"{file}: this is no TOML: Expected ']'")
