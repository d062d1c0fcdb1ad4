"""The command that holds a mailbox to the rules of MBX."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from outside import Folder

from asyncwait.conformance._commands import asyncwait

REFERENCE = "asyncwait.reference:MailboxProcessor"

GATE = """\
import os, time
from asyncwait.reference import MailboxProcessor


class Late(MailboxProcessor):
    def suspend(self):
        self.executor(5).execute(super().suspend)


class Blocks(MailboxProcessor):
    async def run(self):
        while True:
            time.sleep(1)  # in a child, which is ended from outside: the suite does not wait for it


class Ends(MailboxProcessor):
    async def run(self):
        os._exit(7)


def prints(loop, action):
    print("I am a mailbox")
    return MailboxProcessor(loop, action)


def refuses(loop, action):
    raise ValueError("not today")


def nobody(loop, action):
    return None


number = 5
"""


@pytest.fixture(autouse=True)
def gate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gate.py").write_text(GATE, encoding="utf-8")
    (tmp_path / "stops.py").write_text("raise KeyboardInterrupt", encoding="utf-8")
    monkeypatch.chdir(tmp_path)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(asyncwait, ["verify", "--mailbox", *arguments])


def test_a_sound_mailbox_conforms() -> None:
    done = run(REFERENCE, "--count", "20")

    assert done.exit_code == 0
    assert done.stdout == f"{REFERENCE}: conformant (47 rules pass)\n"
    assert f"{REFERENCE}: 125 of 250 runs judged\n" in done.stderr


def test_what_a_mailbox_prints_is_not_taken_for_an_answer() -> None:
    assert run("gate:prints", "--count", "1", "--loop", "asyncio").exit_code == 0


def test_a_rule_that_shows_elsewhere_is_not_missed_where_it_was_not_asked_for() -> None:
    done = run(REFERENCE, "--count", "1", "--loop", "trio")

    assert (done.exit_code, "conformant" in done.stdout) == (0, True)


def test_a_broken_rule_is_shown_with_its_sentence_its_program_and_its_trace() -> None:
    done = run("gate:Late", "--count", "1", "--loop", "asyncio")

    assert done.exit_code == 1
    assert "gate:Late: MBX-54 " in done.stdout
    assert " scenarios\n  MUST: When the loop is suspended it ends " in done.stdout
    assert "\n  steps:   " in done.stdout
    assert "\n  >>> " in done.stdout
    assert "gate:Late: not conformant (" in done.stdout


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("gate:Blocks", "it blocks its thread: no answer for 1 s"),
        ("gate:Ends", "it died: its process ended: exit code 7\n"),
    ],
)
def test_a_mailbox_that_blocks_or_ends_its_process_is_convicted(name: str, said: str) -> None:
    done = run(name, "--count", "1", "--patience", "1", "--loop", "asyncio")

    assert done.exit_code == 1
    assert "MBX-62 " in done.stdout
    assert said in done.stdout


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("gate", "expected module:callable, got 'gate'"),
        ("gate:number", "expected a callable, gate:number is int"),
        ("stops:Late", "can't import it: KeyboardInterrupt ("),
        ("gate:refuses", "opening it raised ValueError: not today"),
        ("gate:nobody", "opening it gave a NoneType, which has no mailbox, no executor, no run"),
    ],
)
def test_a_name_that_says_nothing_is_wrong_usage(name: str, said: str) -> None:
    done = run(name)

    assert done.exit_code == 2
    assert done.stderr.startswith(f"error: mailbox {name!r}: {said}")


def test_no_time_is_no_patience() -> None:
    done = run(REFERENCE, "--patience", "nan")

    assert done.exit_code == 2
    assert done.stderr.startswith("error: patience must be a number of seconds > 0, got ")


@pytest.mark.parametrize(
    "other", [("pool-asyncio",), ("--full",), ("--report", "there"), ("--jobs", "2")]
)
def test_what_is_for_backends_only_is_refused_beside_a_mailbox(other: tuple[str, ...]) -> None:
    done = run(REFERENCE, *other)

    assert (done.exit_code, done.stdout) == (2, "")
    named = other[0] if other[0].startswith("-") else "BACKENDS"
    assert f"--mailbox and {named} contradict each other" in done.stderr


def test_a_loop_is_refused_without_a_mailbox() -> None:
    done = CliRunner().invoke(asyncwait, ["verify", "pool-asyncio", "--loop", "trio"])

    assert (done.exit_code, done.stdout) == (2, "")


def test_where_trio_is_not_installed_one_line_says_what_to_install(outside: Folder) -> None:
    outside.block("trio")

    done = outside.asyncwait("verify", "--mailbox", REFERENCE, "--count", "1")

    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "error: trio is not installed; try: pip install 'asyncwait[trio]', "
        "or leave it out: --loop asyncio --loop threads\n"
    )


def test_without_trio_the_other_loops_can_be_asked_for(outside: Folder) -> None:
    outside.block("trio")
    asked = ("verify", "--mailbox", REFERENCE, "--count", "1", "--loop")

    assert outside.asyncwait(*asked, "asyncio", "--loop", "threads").code == 0
    assert outside.asyncwait(*asked, "trio").code == 2
