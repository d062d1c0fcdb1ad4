"""Isolation: a backend in a child process changes no verdict, and leaves no process behind."""

import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import suite
from click.testing import CliRunner, Result
from forging import assert_is_ours
from hostile import ALL, BROKEN, FAILS, PROGRAMS, SABOTAGE, module_of
from remains import linux, wait_until_gone

from asyncwait.conformance._commands import asyncwait

# On a busy machine a child is given ten times as long.
pytestmark = pytest.mark.timeout(300)


@pytest.fixture
def mark(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TEST_MARK", str(tmp_path))
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    return f"TEST_MARK={tmp_path}"


@pytest.fixture(autouse=True)
def few() -> Iterator[None]:
    chosen = suite.each_rule_once()
    assert any(example.scenario.capacity == 8 for example in chosen)  # Then the backend attacks.
    with suite.playing(chosen):
        yield


def verify(*arguments: str, patience: float = 0.5) -> Result:
    few = ("--count", "1", "--patience", str(patience), "--jobs", "1", "--no-shrink")
    return CliRunner().invoke(asyncwait, ["verify", *arguments, *few])


def assert_is_told(done: Result, words: str, mark: str) -> None:
    said = done.stdout + done.stderr
    assert_is_ours(said)
    assert re.search(words, said), said
    if done.exit_code == 2:
        assert done.stdout == ""
        assert re.fullmatch("error: .*\n", done.stderr)
    else:
        word = {1: "not conformant", 3: "inconclusive"}[done.exit_code]
        assert f": {word} " in done.stdout
    assert "this is a bug of asyncwait" not in said
    wait_until_gone(mark)
    assert list(Path("temporary").iterdir()) == []


@linux
@pytest.mark.sampled(8)
@pytest.mark.parametrize(
    ("module", "words"),
    [
        *((module_of(place, code), words) for place, code, words in ALL),
        *((module_of("module", code, FAILS), BROKEN) for code in SABOTAGE),
    ],
    ids=[*(f"{place} {code[:40]!r}" for place, code, _ in ALL), *(each[:40] for each in SABOTAGE)],
)
def test_no_backend_is_green_silent_or_left_over(mark: str, module: str, words: str) -> None:
    Path("gate.py").write_text(module, encoding="utf-8")
    assert_is_told(verify("gate:backend"), words, mark)


@linux
@pytest.mark.sampled(8)
@pytest.mark.parametrize(("command", "words"), PROGRAMS)
def test_no_program_is_green_silent_or_left_over(mark: str, command: str, words: str) -> None:
    assert_is_told(verify("--exec", command.replace("{python}", sys.executable)), words, mark)


@linux
def test_without_an_attack_it_is_conformant(mark: str) -> None:
    Path("gate.py").write_text(module_of(), encoding="utf-8")

    done = verify("gate:backend", patience=10)

    assert done.exit_code == 0
    assert done.stdout.splitlines()[-1].startswith("gate:backend: conformant (")
    wait_until_gone(mark)
