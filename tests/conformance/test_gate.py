"""`[tool.asyncwait]` of a project, and `verify` by what stands in files."""

from datetime import date
from pathlib import Path

import pytest
import suite
from outside import CHANGED, SOUND, UNORDERED, Done, Folder

from asyncwait.conformance.verifying import (
    Settings,
    Terms,
    _gate,
    entries_of,
    find_settings,
    gate_of,
    read_entries,
)
from asyncwait.spec import InvalidConfig
from asyncwait.spec.scenario import declared

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
        count = 50
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
    assert (gate.folder("a:one"), gate.seed, gate.count) == (str(project), 3, 50)
    assert gate.taken() == (
        f"{project / 'pyproject.toml'} [tool.asyncwait]: backend a:one, a:two, spec 0.1, "
        "expected-failures known.toml, seed 3, count 50"
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


def test_the_nearest_counts(tmp_path: Path) -> None:
    outer = settings(tmp_path, "backend = 'a:b'", "seed = 7")
    below = tmp_path / "one" / "tests"
    below.mkdir(parents=True)
    (tmp_path / "one" / "pyproject.toml").write_text("[project]\nname = 'one'\n")

    assert find_settings(below) == Settings(outer, ("a:b",), seed=7)
    assert outer.parent == tmp_path
    inner = settings(tmp_path / "one", "backend = 'c:d'")
    assert find_settings(below) == Settings(inner, ("c:d",))


WRONG_KEYS = (
    *("backends = 'a'", "backend = 7", "backend = []", "backend = ['a', '']", "spec = 0.1"),
    *("spec = 'new'", "expected-failures = true", "seed = '1'", "count = 0", "count = true"),
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        *(
            (f"[tool.asyncwait]\n{line}\n", rf"\[tool.asyncwait\]: .*\b{line.split()[0]}\b")
            for line in WRONG_KEYS
        ),
        ("[tool]\nasyncwait = 'a:b'\n", r"\[tool.asyncwait\] must be a table, got 'a:b'"),
        # Whether there is a table in it, nobody knows.
        ("[tool\n", "this is no TOML: "),
    ],
)
def test_a_wrong_table_is_refused_with_its_file(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "pyproject.toml"
    file.write_text(text)

    with pytest.raises(InvalidConfig, match=f"^{file}: {said}"):
        find_settings(tmp_path)


# Wrong in one example, and in what is like it.
FOUR = UNORDERED.replace("== 6", "== 4 and config.mode == 'ordered'")

few = pytest.mark.usefixtures("few_examples")

KNOWN = ("--expected-failures", "known.toml")
RULES = ("--rule", "ORD-1", "--rule", "END-12")

ENTRY = """
[[expected-failure]]
rule = "ORD-1"
reason = "we promise no order"
"""


@pytest.fixture
def gate(outside: Folder) -> Folder:
    outside.write("gate.py", CHANGED.format(before=FOUR, more=""))
    return outside


def verify(folder: Folder, *arguments: str) -> Done:
    return folder.here("verify", "--count", "1", "--no-shrink", *arguments)


@few
def test_an_expected_failure_that_is_not_strict_may_not_show(gate: Folder) -> None:
    loose = ENTRY.replace("ORD-1", "END-12") + "strict = false\n"
    gate.write("known.toml", ENTRY + loose)

    done = verify(gate, "gate:backend", *KNOWN, *RULES)

    assert done.code == 0, done.out
    assert "gate:backend: expected to fail, not seen with seed 0: END-12" in done.out
    assert "shrinking" not in done.err


def test_a_gate_needs_no_arguments_and_its_expected_failures_write_themselves(gate: Folder) -> None:
    gate.write("gate.py", CHANGED.format(before=FOUR, more=", profiles=['ordered']"))
    file = gate.write(
        "pyproject.toml",
        """
        [tool.asyncwait]
        backend = "gate:backend"
        spec = "0.1"
        expected-failures = "known.toml"
        count = 1
        """,
    )
    taken = f"{file} [tool.asyncwait]: backend gate:backend, spec 0.1, expected-failures known.toml"

    once = suite.each_rule_once(declared(["ordered"]))
    with suite.playing(once):
        first = gate.here("verify", "--update-expected-failures", "--no-shrink")

    assert first.code == 1
    assert first.err.startswith(f"{taken}, count 1\n")
    assert "\nknown.toml: ORD-1 added: seen in " in first.err
    written = entries_of((gate.path / "known.toml").read_text(), "known.toml")
    assert "ORD-1" in {entry.rule for entry in written}
    assert all(entry.until and entry.until > date(2026, 1, 1) for entry in written)
    assert any(entry.scenarios for entry in written)

    (gate.path / "below").mkdir()
    with suite.playing(once):
        second = Folder(gate.path / "below", gate.path).here("verify", "--no-shrink", "--seed", "0")

    assert second.code == 0, second.out + second.err
    assert f" {len(written)} expected-fail in " in second.out.splitlines()[-1]


OUT_OF_ORDER = """
[{"capacity": 4, "inputs": [{"at": 0, "element": {"type": "record", "value": "a"}},
                            {"at": 0, "element": {"type": "record", "value": "b"}}],
  "plans": [{"value": "a", "steps": [{"after": 40, "results": ["a"]}]}]}]
"""


@pytest.mark.parametrize("where", [(), ("--here",)], ids=["apart", "here"])
def test_single_runs_are_judged_with_the_expected_failures_of_the_project(
    gate: Folder, where: tuple[str, ...]
) -> None:
    gate.write("one.json", OUT_OF_ORDER)
    gate.write(
        "pyproject.toml",
        "[tool.asyncwait]\nbackend = 'gate:backend'\nexpected-failures = 'known.toml'\n",
    )

    command = ("play", *where, "gate:backend", "one.json")
    before = gate.here(*command)
    gate.write("known.toml", ENTRY)
    expected = gate.here(*command)
    gate.write("known.toml", ENTRY.replace("ORD-1", "ORD-77"))
    wrong = gate.here(*command)

    assert [before.code, expected.code, wrong.code] == [1, 0, 2]
    assert ["we promise no order" in each.out for each in (before, expected)] == [False, True]
    assert wrong.err.startswith("error: known.toml: entry 1: ")


@pytest.mark.parametrize(("before", "so"), [(ENTRY, "is left as it is"), (None, "is not written")])
def test_a_run_that_is_cut_changes_no_file(outside: Folder, before: str | None, so: str) -> None:
    file = outside.path / "known.toml"
    if before is not None:
        file.write_text(before)
    dies = SOUND.replace(
        "def backend", "import os\n\n\ndef dies(*_):\n    os._exit(3)\n\n\ndef backend"
    )
    outside.write("gate.py", dies.replace("(open_operator)", "(dies)"))

    done = verify(outside, "gate:backend", *KNOWN, "--update-expected-failures")

    assert f"\nknown.toml {so}: gate:backend " in done.err
    assert (file.read_text() if file.exists() else None) == before
