"""A child process plays scenarios: it may block, die or talk nonsense, and the suite goes on."""

import fcntl
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import msgspec
import pytest

import asyncwait.spec.scenario
from asyncwait.conformance.harness import play
from asyncwait.conformance.running import ChildPlayer, _isolated, python_child
from asyncwait.reference import open_operator
from asyncwait.spec import Record
from asyncwait.spec.scenario import Plan, Reply, Request, Scenario, Step, Timed, Trace

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


FOREVER = "for _ in iter(int, 1)"


@pytest.mark.parametrize(
    "said",
    [
        f"[(print('x', end='', flush=True), time.sleep(0.01)) {FOREVER}]",
        f"[(print(flush=True), time.sleep(0.01)) {FOREVER}]",
        f"[print('') {FOREVER}]",
    ],
    ids=["dribbles", "empty lines", "a flood of empty lines"],
)
def test_patience_is_for_the_whole_reply(said: str) -> None:
    """Something that keeps coming is no answer."""
    with ChildPlayer(program(f"print(); {said}"), real_seconds=0.2) as player:
        assert endings(player.play([SCENARIO])) == [("blocked", "no answer for 0.2 s")]


def test_a_line_without_end_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a program says must not fill the memory."""
    monkeypatch.setattr(_isolated, "LONGEST_LINE", 1_000_000)
    endless = program(f"[print('x' * 9_999, end='') {FOREVER}]")
    with ChildPlayer(endless) as player:
        assert endings(player.play([SCENARIO])) == [("error", "a line of more than 1000000 bytes")]


LONG = Scenario(inputs=tuple(Timed(0, Record(f"a value of some length {n}")) for n in range(600)))


def test_long_requests_and_long_replies_stop_nobody() -> None:
    """Neither side waits for the other to read, however little fits into a pipe."""
    long = program("print('{\"error\": \"%s\"}' % ('x' * 100_000))")
    with ChildPlayer(long) as player:
        assert endings(player.play([LONG] * 12)) == [("error", "x" * 100_000)] * 12


def test_long_requests_are_played() -> None:
    """By our own child, and the traces are those of this process."""
    with ChildPlayer(python_child("reference-asyncio")) as player:
        assert list(player.play([LONG] * 9)) == [play(open_operator, LONG)] * 9


def test_a_child_that_reads_nothing_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """Patience counts while a request is written, too."""
    monkeypatch.setattr(_isolated, "START_SECONDS", 0.2)
    with ChildPlayer(["sleep", "60"], real_seconds=0.1) as player:
        assert endings(player.play([LONG] * 9))[0] == ("blocked", "no answer for 0.2 s")


def test_what_a_child_has_started_ends_with_it(tmp_path: Path) -> None:
    """Else a grandchild would hold the pipes, and the suite would wait for it."""
    lock = tmp_path / "lock"
    holds = (
        "import fcntl, subprocess; "
        f"file = open({str(lock)!r}, 'w'); fcntl.flock(file, fcntl.LOCK_EX); print(flush=True); "
        "subprocess.run(['sleep', '60'], pass_fds=[file.fileno()])"
    )
    began = time.monotonic()
    with ChildPlayer([sys.executable, "-c", holds], real_seconds=0.2) as player:
        assert endings(player.play([SCENARIO])) == [("blocked", "no answer for 0.2 s")]

    with lock.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
    assert time.monotonic() - began < 30


def test_a_child_that_closes_its_output_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """It can't answer any more, and nobody waits for it to go."""
    monkeypatch.setattr(_isolated, "END_SECONDS", 0.2)
    mute = ["sh", "-c", "echo too loud >&2; exec 1>&-; exec sleep 60"]
    with ChildPlayer(mute) as player:
        assert endings(player.play([SCENARIO])) == [
            ("died", "it closed its output and went on: too loud")
        ]


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
        (
            '{"trce": 7}',
            "the reply is no trace: Object contains unknown field `trce`",
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


GUIDE = Path(asyncwait.spec.scenario.__file__).with_name("json-lines.md")


def test_the_guide_shows_a_real_request_and_a_real_reply() -> None:
    """What a program in another language is written after must be true."""
    request, reply = (
        block.split("```")[0].strip()
        for block in GUIDE.read_text(encoding="utf-8").split("```json\n")[1:]
    )

    assert request.encode() == msgspec.json.encode(Request(SCENARIO))
    assert reply.encode() == msgspec.json.encode(Reply(trace=play(open_operator, SCENARIO)))


def test_the_guide_says_what_a_program_is_given() -> None:
    """Time to start and to answer, requests ahead, and the length of a reply."""
    guide = " ".join(GUIDE.read_text(encoding="utf-8").split())

    assert _isolated.AHEAD == 8
    assert "up to eight requests ahead" in guide
    assert f"is given {_isolated.START_SECONDS:g} seconds to start" in guide
    assert f"`--patience` seconds ({_isolated.REAL_SECONDS:g} unless told otherwise)" in guide
    assert f"no longer than {_isolated.LONGEST_LINE >> 20} MiB" in guide
