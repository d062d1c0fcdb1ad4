"""`verify` by what stands in files: the project's own, and one of expected failures."""

from datetime import date

import pytest
import suite
from outside import CHANGED, SOUND, UNORDERED, Done, Folder

from asyncwait.conformance.verifying import entries_of
from asyncwait.spec.scenario import declared

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


def last(done: Done) -> str:
    return done.out.splitlines()[-1]


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
    assert f" {len(written)} expected-fail in " in last(second)


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
