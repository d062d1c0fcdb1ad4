"""`[tool.asyncwait]` of a project: its settings, and what is verified by them."""

from datetime import date
from pathlib import Path

import pytest

from asyncwait.conformance.verifying import (
    Settings,
    Terms,
    _gate,
    find_settings,
    gate_of,
    read_entries,
)
from asyncwait.spec import InvalidConfig

TODAY = date(2026, 5, 1)

ENTRIES = """
[[expected-failure]]
rule = "ORD-1"
reason = "we promise no order"

[[expected-failure]]
rule = "END-4"
reason = "with 2.0"
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a project with two backends; a folder below it is where commands are given."""
    (tmp_path / "known.toml").write_text(ENTRIES)
    (tmp_path / "pyproject.toml").write_text(
        """
        [tool.asyncwait]
        backend = ["a:one", "a:two"]
        spec = "0.1"
        expected-failures = "known.toml"
        seed = 3
        """
    )
    (tmp_path / "below").mkdir()
    monkeypatch.setattr(_gate, "today", lambda: TODAY)
    return tmp_path


def test_without_names_the_project_says_all(project: Path) -> None:
    gate = gate_of([], project / "below")

    entries = read_entries(project / "known.toml")
    assert gate.names == ("a:one", "a:two")
    assert gate.terms("a:one") == Terms(entries, "known.toml", TODAY, "0.1")
    assert (gate.folder("a:one"), gate.seed, gate.count) == (str(project), 3, None)
    assert gate.taken() == (
        f"{project / 'pyproject.toml'} [tool.asyncwait]: backend a:one, a:two, spec 0.1, "
        "expected-failures known.toml, seed 3"
    )


def test_another_backend_has_nothing_to_do_with_it(project: Path) -> None:
    gate = gate_of(["pool-asyncio"], project / "below")

    assert gate.terms("pool-asyncio") == Terms()
    assert (gate.folder("pool-asyncio"), gate.seed) == (str(project / "below"), None)
    assert gate.taken() == ""


def test_a_file_that_is_named_counts_for_all(project: Path) -> None:
    other = project / "other.toml"
    other.write_text(ENTRIES.replace("ORD-1", "ORD-3"))

    gate = gate_of(["a:one", "pool-asyncio"], project, other)

    assert [entry.rule for entry in gate.terms("a:one").entries] == ["ORD-3", "END-4"]
    assert gate.terms("pool-asyncio").file == "other.toml"
    assert gate.taken() == f"{project / 'pyproject.toml'} [tool.asyncwait]: spec 0.1"


def settings(folder: Path, *lines: str) -> Path:
    file = folder / "pyproject.toml"
    file.write_text("\n".join(["[project]", "name = 'x'", "[tool.asyncwait]", *lines]))
    return file


def test_the_table_says_what_is_verified_and_by_what(tmp_path: Path) -> None:
    file = settings(
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
    outer = settings(tmp_path, "backend = 'a:b'", "seed = 7")
    below = tmp_path / "one" / "tests"
    below.mkdir(parents=True)
    (tmp_path / "one" / "pyproject.toml").write_text("[project]\nname = 'one'\n")

    assert find_settings(below) == Settings(outer, ("a:b",), seed=7)
    assert outer.parent == tmp_path
    inner = settings(tmp_path / "one", "backend = 'c:d'")
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
    file = settings(tmp_path, line)
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
