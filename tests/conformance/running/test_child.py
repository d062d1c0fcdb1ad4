"""A child process plays scenarios: it may block, die or talk nonsense, and the suite goes on."""

import sys
from collections.abc import Iterable

import pytest

from asyncwait.conformance.harness import play
from asyncwait.conformance.running import ChildPlayer, python_child
from asyncwait.reference import open_operator
from asyncwait.spec import Record
from asyncwait.spec.scenario import Plan, Scenario, Step, Timed, Trace

SCENARIO = Scenario(
    inputs=(Timed(0, Record("a")),), plans=(Plan("a", (Step(after=40, results=("x",)),)),)
)


def program(body: str) -> list[str]:
    """A program that does `body` with each line that it reads."""
    text = f"import os, sys, time\nfor number, line in enumerate(sys.stdin):\n    {body}\n"
    return [sys.executable, "-u", "-c", text]


def endings(traces: Iterable[Trace]) -> list[tuple[str, str]]:
    """How each run ended."""
    return [(trace.legs[-1].ending.how, trace.legs[-1].ending.detail) for trace in traces]


def test_a_child_plays_as_this_process_does() -> None:
    """The trace that comes back through the pipe is the same."""
    with ChildPlayer(python_child("reference-asyncio")) as player:
        assert list(player.play([SCENARIO] * 3)) == [play(open_operator, SCENARIO)] * 3


def test_a_child_is_kept_from_one_play_to_the_next() -> None:
    """Starting one costs more than many scenarios."""
    said = 'print(\'{"error": "%d"}\' % os.getpid())'
    with ChildPlayer(program(said)) as player:
        first, second = (endings(player.play([SCENARIO])) for _ in range(2))

    assert first == second


def test_a_child_that_does_not_answer_is_ended() -> None:
    """After the patience that is set; an empty line says that it was ready."""
    with ChildPlayer(program("print(); time.sleep(60)"), real_seconds=0.2) as player:
        assert endings(player.play([SCENARIO])) == [("blocked", "no answer for 0.2 s")]


def test_the_start_of_a_child_takes_no_patience() -> None:
    """An interpreter that starts slowly is no operator that blocks."""
    slow = program('print(\'{"error": "late"}\')')
    slow[-1] = "import time; time.sleep(0.3)\n" + slow[-1]
    with ChildPlayer(slow, real_seconds=0.1) as player:
        assert endings(player.play([SCENARIO])) == [("error", "late")]


def test_a_child_that_dies_is_replaced() -> None:
    """Its last words are kept, and the next scenario gets a new one."""
    dying = program("print('no memory', file=sys.stderr); os._exit(9)")
    with ChildPlayer(dying) as player:
        assert endings(player.play([SCENARIO] * 2)) == [("died", "exit code 9: no memory")] * 2


def test_what_an_operator_prints_does_not_stand_between_the_replies() -> None:
    """Only traces do."""
    code = (
        "import sys, asyncwait.conformance.running._child as c\n"
        "from asyncwait.conformance.running import _backend as b\n"
        "known = b.load_backend('reference-asyncio')\n"
        "class Loud:\n"
        "    capabilities, exceptions, in_child = known.capabilities, {}, True\n"
        "    def run(self, scenarios):\n"
        "        print('hello')\n"
        "        return known.run(scenarios)\n"
        "c.load_backend = lambda name: Loud()\n"
        "c.main('loud')\n"
    )
    with ChildPlayer([sys.executable, "-c", code]) as player:
        assert endings(player.play([SCENARIO])) == [("finished", "")]


@pytest.mark.parametrize(
    ("said", "detail"),
    [
        ("nonsense", "the reply is no trace: JSON is malformed: invalid character (byte 4)"),
        (
            '{"trace": 7}',
            "the reply is no trace: Expected `object | null`, got `int` - at `$.trace`",
        ),
        ("{}", "the reply holds neither a trace nor an error"),
        ('{"error": "out of order"}', "out of order"),
    ],
)
def test_a_reply_that_is_no_trace_is_an_error(said: str, detail: str) -> None:
    """The scenario after it is played by the same child."""
    with ChildPlayer(program(f"print({said!r})")) as player:
        assert endings(player.play([SCENARIO] * 2)) == [("error", detail)] * 2


def test_the_traces_of_a_foreign_program_are_marked() -> None:
    """They are its own words."""
    with ChildPlayer(python_child("reference-asyncio"), self_reported=True) as player:
        (trace,) = player.play([SCENARIO])

    assert trace.self_reported
    assert trace.legs == play(open_operator, SCENARIO).legs
