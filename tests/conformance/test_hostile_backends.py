"""Backends that leave, hang, lie, hide and sabotage: never green, never silent, never left over."""

import os
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import suite
from click.testing import CliRunner, Result
from forging import assert_is_ours
from hostile import ALL, PROGRAMS, Hostile, Program
from remains import linux, wait_until_gone

from asyncwait.conformance._commands import asyncwait

# On a busy machine a child is given ten times as long.
pytestmark = pytest.mark.timeout(300)

PATIENCE = 0.5
AT = 8
"""The capacity of scenarios in which a backend plays its trick."""

VERDICT = re.compile(r": (not conformant|inconclusive) ")

each_backend = pytest.mark.parametrize("hostile", ALL, ids=[each.name for each in ALL])
each_program = pytest.mark.parametrize("program", PROGRAMS, ids=[each.name for each in PROGRAMS])


@pytest.fixture
def mark(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """A variable by which every process that a test starts is known, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TEST_MARK", str(tmp_path))
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    # Nobody's machine is to suffer from who eats memory, nor wait for scenarios nobody needs.
    memory, told = {"SC_PAGE_SIZE": 1, "SC_PHYS_PAGES": 4 << 30}, os.sysconf
    monkeypatch.setattr(os, "sysconf", lambda name: memory.get(name) or told(name))
    return f"TEST_MARK={tmp_path}"


@pytest.fixture(autouse=True)
def few() -> Iterator[None]:
    """An example of each rule: without its trick, a backend keeps them all."""
    chosen = suite.each_rule_once()
    assert any(example.scenario.capacity == AT for example in chosen)
    with suite.playing(chosen):
        yield


def verify(*arguments: str, patience: float = PATIENCE) -> Result:
    """Run the command in this process."""
    few = ("--count", "1", "--patience", str(patience), "--jobs", "1", "--no-shrink")
    return CliRunner().invoke(asyncwait, ["verify", *arguments, *few])


def assert_is_told(done: Result, words: str) -> None:
    """The command is not green, and says in these words why, and nothing that others wrote."""
    said = done.stdout + done.stderr
    assert_is_ours(said)
    assert re.search(words, said), said
    if done.exit_code == 2:
        assert done.stdout == ""
        assert re.fullmatch("error: .*\n", done.stderr)
    else:
        assert done.exit_code in {1, 3}
        assert VERDICT.search(done.stdout)
    assert "this is a bug of asyncwait" not in said


def assert_nothing_remains(mark: str, folder: Path) -> None:
    """No process and no file of it is there."""
    wait_until_gone(mark)
    assert list((folder / "temporary").iterdir()) == []


@linux
@pytest.mark.sampled(8)
@each_backend
def test_no_backend_is_green_silent_or_left_over(
    tmp_path: Path, mark: str, hostile: Hostile
) -> None:
    (tmp_path / "gate.py").write_text(hostile.text, encoding="utf-8")

    done = verify("gate:backend", patience=hostile.patience)

    assert_is_told(done, hostile.words)
    assert_nothing_remains(mark, tmp_path)


@linux
@pytest.mark.sampled(8)
@each_program
def test_no_program_is_green_silent_or_left_over(
    tmp_path: Path, mark: str, program: Program
) -> None:
    done = verify("--exec", program.command.replace("{python}", sys.executable))

    assert_is_told(done, program.words)
    assert_nothing_remains(mark, tmp_path)


@linux
def test_without_its_trick_it_is_conformant(tmp_path: Path, mark: str) -> None:
    (tmp_path / "gate.py").write_text(Hostile("none", "", {}).text, encoding="utf-8")

    done = verify("gate:backend", patience=10)

    assert done.exit_code == 0
    assert done.stdout.splitlines()[-1].startswith("gate:backend: conformant (")
    assert_nothing_remains(mark, tmp_path)
