"""A scenario is played again: apart, or in the process of the command."""

import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from outside import CHANGED, UNORDERED, Folder, run
from remains import wait_until

from asyncwait.conformance.areas import EXAMPLES
from asyncwait.spec.scenario import scenarios_from_json

OPENED = f"print('opened')\n    {UNORDERED.replace('== 6', '== 6 and config.batch is None')}"
VERIFY = ("verify", "unordered:backend", "--count", "4", "--seed", "39", "--rule", "ORD-1")


@pytest.fixture
def unordered(outside: Folder) -> Folder:
    outside.write("unordered.py", CHANGED.format(before=OPENED, more=""))
    return outside


def said(out: str, word: str) -> list[str]:
    (command,) = re.findall(rf"^  {word}: asyncwait (.*)$", out, re.MULTILINE)
    return shlex.split(command)


@pytest.mark.usefixtures("few_examples")
def test_the_commands_that_stand_with_a_failure_show_it_again(unordered: Folder) -> None:
    verified = unordered.here(*VERIFY)
    (violation,) = re.findall(r"^  shrunk \(\w+\): (.*) \(at \d+ ms\)$", verified.out, re.MULTILINE)

    again = unordered.here(*said(verified.out, "again"))
    (unordered.path / ".asyncwait").rename(unordered.path / "elsewhere")
    anywhere = unordered.here(*said(verified.out, "anywhere"))

    assert [done.code for done in (verified, again, anywhere)] == [1, 1, 1]
    assert all(f">>> {violation}" in done.out for done in (again, anywhere))


def test_a_scenario_is_written_as_json(tmp_path: Path) -> None:
    file = tmp_path / "one.json"

    shown = run("play", "reference-asyncio", EXAMPLES[0].name, "--json", "-")
    written = run("play", "reference-asyncio", EXAMPLES[0].name, "--json", str(file))

    assert (shown.exit_code, written.exit_code, written.output) == (0, 0, "")
    assert scenarios_from_json(shown.stdout_bytes) == (EXAMPLES[0].scenario,)
    assert file.read_bytes() == shown.stdout_bytes


OPERATOR = """
import asyncio
import time
from contextlib import asynccontextmanager

from asyncwait.conformance import stream_backend
from asyncwait.reference import open_operator as sound


@asynccontextmanager
async def open_operator(config, fn, elements, restore=None):
    async def watched(value):
        if value == "a":
            {trouble}
        return await fn(value)

    async with sound(config, watched, elements, restore) as results:
        yield results


def backend():
    return stream_backend(open_operator)


def on_trio():
    return stream_backend(open_operator, loop="trio")
"""
ONE = '{"inputs": [{"at": 0, "element": {"type": "record", "value": "a"}}]}'


def gate(outside: Folder, trouble: str) -> Folder:
    outside.write("gate.py", OPERATOR.replace("{trouble}", trouble))
    return outside


def test_a_breakpoint_stops_it_with_what_happened_in_front_of_it(outside: Folder) -> None:
    folder = gate(outside, "print('mine'); breakpoint()")

    done = folder.asyncwait("play", "gate:backend", ONE, "--trace", stdin="p value\nc\n")

    assert done.code == 0, done.err
    told, stopped, after = re.split(r"\(Pdb\) ", done.out)
    assert told.splitlines()[:5] == [
        "    ms  input                   calls                             output",
        "     0                                                            (waits)",
        "     0  (asked)",
        "     0  'a'",
        "mine",
    ]
    assert stopped == "'a'\n"
    assert after.startswith("     0                          #0 'a' called\n")
    assert after.endswith("no rule is broken\n")


@pytest.mark.sampled(4)
@pytest.mark.parametrize("backend", ["backend", "on_trio"])
@pytest.mark.parametrize("typed", ["q\n", "exit\n", "n\nquit\n", ""], ids=repr)
def test_leaving_the_debugger_ends_the_run(outside: Folder, typed: str, backend: str) -> None:
    folder = gate(outside, "breakpoint()")
    files = {path for path in folder.path.iterdir() if path.name != "__pycache__"}

    done = folder.asyncwait("play", "--here", f"gate:{backend}", ONE, stdin=typed)

    assert (done.code, done.err) == (130, "stopped by the debugger: no verdict\n")
    assert "broken" not in done.out
    assert done.out.count("(Pdb) ") == 1 + typed.startswith("n")
    assert {path for path in folder.path.iterdir() if path.name != "__pycache__"} == files


@pytest.mark.parametrize("backend", ["backend", "on_trio"])
def test_where_it_hangs_is_shown(outside: Folder, backend: str) -> None:
    folder = gate(outside, "import anyio; await anyio.sleep_forever()")

    done = folder.asyncwait("play", "--here", f"gate:{backend}", ONE)

    assert done.code == 1
    head, stacks = done.out.split("\n", 1)
    assert head == "hung: it stands here"
    assert "in watched\n  |     import anyio; await anyio.sleep_forever()\n" in stacks
    assert stacks.count("in __anext__\n") == 1
    assert "conformance/harness" not in stacks
    assert "END-8 broken: " in stacks


@pytest.mark.parametrize("backend", ["backend", "on_trio"])
def test_an_interruption_shows_where_it_stands(outside: Folder, backend: str) -> None:
    there = outside.path / "there"
    # In short naps: a signal that comes in the moment before a long one would not end it.
    blocks = "any(time.sleep(0.05) for _ in range(12_000))"
    # And the last that makes itself seen is no line of Python, which the signal could interrupt.
    folder = gate(outside, f"import os; os.mkdir({str(there)!r}); {blocks}")

    command = [
        str(Path(sys.executable).with_name("asyncwait")),
        "play",
        "--here",
        f"gate:{backend}",
        ONE,
    ]
    with subprocess.Popen(
        command,
        cwd=folder.path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(folder.path)},
    ) as process:
        wait_until(there.exists)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()

    assert (process.returncode, err) == (130, "")
    assert out.startswith("interrupted: it stands here (press again to end at once)\n")
    assert out.rstrip().endswith(blocks)
    assert "thread 'MainThread':\n" in out


def test_each_leg_is_traced_for_itself() -> None:
    crashing = next(e for e in EXAMPLES if e.scenario.crashes)

    done = run("play", "reference-asyncio", crashing.name, "--trace")

    assert done.exit_code == 0, done.output
    traced = done.stdout.partition(": ordered, capacity")[0]
    assert traced.count("leg 2\n    ms  input ") == 1
    assert "(context left)" in traced
