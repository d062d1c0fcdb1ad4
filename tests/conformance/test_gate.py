"""What is verified, and by what: names and options come before the project's own file."""

from datetime import date
from pathlib import Path

import pytest

from asyncwait.conformance import _gate
from asyncwait.conformance._gate import gate_of
from asyncwait.conformance.expected_failures.file import Terms, read_entries

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
