"""A scenario that failed is played again, by the command that stands with its failure."""

import re
import shlex
from pathlib import Path

import pytest
from outside import CHANGED, UNORDERED, Folder, run

from asyncwait.conformance.areas import EXAMPLES
from asyncwait.spec.scenario import scenarios_from_json

OPENED = f"print('opened')\n    {UNORDERED.replace('== 6', '== 6 and config.batch is None')}"
VERIFY = ("verify", "gate:backend", "--count", "4", "--seed", "39", "--rule", "ORD-1")


@pytest.fixture
def gate(outside: Folder) -> Folder:
    outside.write("gate.py", CHANGED.format(before=OPENED, more=""))
    return outside


def said(out: str, word: str) -> list[str]:
    (command,) = re.findall(rf"^  {word}: asyncwait (.*)$", out, re.MULTILINE)
    return shlex.split(command)


@pytest.mark.usefixtures("few_examples")
def test_the_commands_that_stand_with_a_failure_show_it_again(gate: Folder) -> None:
    verified = gate.here(*VERIFY)
    (violation,) = re.findall(r"^  shrunk \(\w+\): (.*) \(at \d+ ms\)$", verified.out, re.MULTILINE)

    again = gate.here(*said(verified.out, "again"))
    (gate.path / ".asyncwait").rename(gate.path / "elsewhere")
    anywhere = gate.here(*said(verified.out, "anywhere"))

    assert [done.code for done in (verified, again, anywhere)] == [1, 1, 1]
    assert all(f">>> {violation}" in done.out for done in (again, anywhere))


def test_a_scenario_is_written_as_json(tmp_path: Path) -> None:
    file = tmp_path / "one.json"

    shown = run("play", "reference-asyncio", EXAMPLES[0].name, "--json", "-")
    written = run("play", "reference-asyncio", EXAMPLES[0].name, "--json", str(file))

    assert (shown.exit_code, written.exit_code, written.output) == (0, 0, "")
    assert scenarios_from_json(shown.stdout_bytes) == (EXAMPLES[0].scenario,)
    assert file.read_bytes() == shown.stdout_bytes
