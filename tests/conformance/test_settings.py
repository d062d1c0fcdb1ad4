"""`[tool.asyncwait]` of the project: found from below, and wrong in one sentence."""

from pathlib import Path

import pytest

from asyncwait.conformance._gate import Settings, find_settings
from asyncwait.spec import InvalidConfig


def project(folder: Path, *lines: str) -> Path:
    file = folder / "pyproject.toml"
    file.write_text("\n".join(["[project]", "name = 'x'", "[tool.asyncwait]", *lines]))
    return file


def test_the_table_says_what_is_verified_and_by_what(tmp_path: Path) -> None:
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


def test_the_nearest_counts(tmp_path: Path) -> None:
    outer = project(tmp_path, "backend = 'a:b'", "seed = 7")
    below = tmp_path / "one" / "tests"
    below.mkdir(parents=True)
    (tmp_path / "one" / "pyproject.toml").write_text("[project]\nname = 'one'\n")

    assert find_settings(below) == Settings(outer, ("a:b",), seed=7)
    assert outer.parent == tmp_path
    inner = project(tmp_path / "one", "backend = 'c:d'")
    assert find_settings(below) == Settings(inner, ("c:d",))


def test_without_a_table_there_are_none(tmp_path: Path) -> None:
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
    file = project(tmp_path, line)
    key = line.split(maxsplit=1)[0]

    with pytest.raises(InvalidConfig, match=rf"\b{key}\b") as caught:
        find_settings(tmp_path)

    assert str(caught.value).startswith(f"{file}: [tool.asyncwait]: ")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[tool]\nasyncwait = 'a:b'\n", "[tool.asyncwait] must be a table, got 'a:b'"),
        # Whether there is a table in it, nobody knows.
        ("[tool\n", "this is no TOML: "),
    ],
)
def test_a_file_without_a_table_that_can_be_read_is_refused(
    tmp_path: Path, text: str, said: str
) -> None:
    file = tmp_path / "pyproject.toml"
    file.write_text(text)

    with pytest.raises(InvalidConfig) as caught:
        find_settings(tmp_path)

    assert str(caught.value).startswith(f"{file}: {said}")
