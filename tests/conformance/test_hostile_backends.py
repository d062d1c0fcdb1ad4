"""Isolation: a backend in a child process changes no verdict, and leaves no process behind."""

import re
import shlex
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import suite
from click.testing import CliRunner, Result
from forging import assert_is_ours
from remains import linux, wait_until_gone

from asyncwait.conformance._commands import asyncwait

# On a busy machine a child gets ten times as long.
pytestmark = pytest.mark.timeout(300)

MODULE = """
import os, sys, time
from contextlib import asynccontextmanager

from asyncwait.conformance import StreamBackend
from asyncwait.reference import open_operator as sound

{module}

@asynccontextmanager
async def open_operator(config, fn, elements, restore=None):
    if getattr(config, "capacity", 0) == 8:
        {opening}
    async with sound(config, fn, elements, restore) as results:
        yield results

class Hostile(StreamBackend, frozen=True):
    def run(self, scenarios):
        scenario = scenarios[0]
        trace, = StreamBackend(open_operator).run([scenario])
        if scenario.capacity == 8: {run}
        yield trace

def backend():
    return Hostile(open_operator)
"""


def module_of(**attacks: str) -> str:
    places = {"module": "", "opening": "pass", "run": "pass", **attacks}
    text = MODULE
    for place, code in places.items():
        text = text.replace(f"{{{place}}}", code)
    return text


HIDES = "os.fork() or (os.setsid(), os.fork() or time.sleep(3600), os._exit(0))"
FAILS = "raise RuntimeError('hidden')"
FORGED = r"'no\x1b[2J\x1b]0;me\x07\n::error::CANARY\n##[error]CANARY\rCANARY\u202e\nCANARY: ok'"
"""A text with lines that imitate other programs' lines, as Python source."""

FORGES = f"print({FORGED}, file=sys.stderr, flush=True); raise RuntimeError({FORGED})"
BROKEN = "fail|error|inconclusive"

ATTACKS: dict[str, tuple[dict[str, str], str]] = {
    "leaves at once": (
        {"module": "os._exit(0)"},
        "not become ready to play: its process ended: exit code 0",
    ),
    "forges as it is imported": ({"module": FORGES}, r"can't import it: RuntimeError: no\\x1b\[2J"),
    # A child has the same user as its parent process, so it can kill it.
    "kills its parent": (
        {"module": "os.kill(os.getppid(), 9); time.sleep(9)"},
        "ended by SIGKILL",
    ),
    "leaves the run": ({"run": "raise SystemExit(0)"}, r"the backend raised SystemExit: 0 \("),
    "gives no trace": ({"run": "return"}, "scenarios given: 1, traces given back: 0"),
    "never ends": ({"run": "[0 for _ in iter(int, 1)]"}, "the loop is blocked "),
    "forges in a run": ({"opening": FORGES}, BROKEN),
    "hides a process": ({"opening": f"{HIDES}; os._exit(0)"}, "the process died: exit code 0"),
    "changes the verdict": (
        {
            "module": "from asyncwait.conformance.verdict import Verdict\n"
            "Verdict.word = 'conformant'",
            "opening": FAILS,
        },
        BROKEN,
    ),
}
"""Attacks of a backend, and a regular expression for the output of the command."""


def in_python(code: str) -> str:
    return f"{sys.executable} -u -c {shlex.quote(code)}"


PROGRAMS = {
    "hides a process": ("sh -c 'setsid sleep 3600 & exit 0'", "its process ended: exit code 0"),
    "forges": (
        in_python(
            "print()\nimport sys, json\nfor line in sys.stdin:\n"
            f" print(json.dumps({{'error': {FORGED}}})); print({FORGED}, file=sys.stderr)"
        ),
        r"no\\x1b\[2J",
    ),
}
"""Attacks of a program, and a regular expression for the output of the command."""


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
@pytest.mark.sampled(4)
@pytest.mark.parametrize("attack", ATTACKS)
def test_no_backend_is_green_silent_or_left_over(mark: str, attack: str) -> None:
    places, words = ATTACKS[attack]
    Path("gate.py").write_text(module_of(**places), encoding="utf-8")

    assert_is_told(verify("gate:backend"), words, mark)


@linux
@pytest.mark.parametrize("program", PROGRAMS)
def test_no_program_is_green_silent_or_left_over(mark: str, program: str) -> None:
    command, words = PROGRAMS[program]

    assert_is_told(verify("--exec", command), words, mark)
