"""Child processes play scenarios: they may block, die or talk nonsense, and the suite goes on."""

import sys
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path

import msgspec
import pytest

import asyncwait.spec.scenario
from asyncwait.conformance.harness import play
from asyncwait.conformance.running import (
    UnknownBackend,
    _process,
    open_backend,
)
from asyncwait.conformance.running._crew import TURN, Crew
from asyncwait.conformance.running._speech import Program
from asyncwait.reference import open_operator
from asyncwait.spec import Record
from asyncwait.spec.scenario import Plan, Reply, Request, Scenario, Step, Timed, Trace

SCENARIO = Scenario(
    inputs=(Timed(0, Record("a")),), plans=(Plan("a", (Step(after=40, results=("x",)),)),)
)


def program(body: str) -> list[str]:
    loop = f"print(flush=True)\nfor number, line in enumerate(sys.stdin):\n    {body}\n"
    return [sys.executable, "-u", "-c", f"import os, sys, time\n{loop}"]


def crew(command: Sequence[str], patience: float = 10.0, size: int = 1) -> Crew:
    return Crew(Program("exec:test", tuple(command)), patience, size)


def endings(traces: Iterable[Trace]) -> list[tuple[str, str]]:
    return [(trace.legs[-1].ending.how, trace.legs[-1].ending.detail) for trace in traces]


@pytest.mark.parametrize("jobs", [1, 3])
def test_children_play_as_this_process_does(jobs: int) -> None:
    short = [msgspec.structs.replace(SCENARIO, capacity=number) for number in range(1, 3 * TURN)]
    expected = [*(play(open_operator, each) for each in short), *[play(open_operator, LONG)] * 9]
    with open_backend("reference-asyncio", jobs=jobs) as backend:
        assert list(backend.play([*short, *[LONG] * 9])) == expected


ERROR = '{"error": "fine"}'
FOREVER = "for _ in iter(int, 1)"
FINE = 'print(\'{"error": "fine"}\') if number == 0 else '
LATE = "the program is late: no answer for 0.3 s"
TOO_LONG = "a line of more than 1000000 bytes"
LONG = Scenario(inputs=tuple(Timed(0, Record(f"a value of some length {n}")) for n in range(600)))


@pytest.fixture
def bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_process, "LONGEST_LINE", 1_000_000)
    monkeypatch.setattr(_process, "END_SECONDS", 0.2)


def reply(said: str) -> list[str]:
    return program(FINE + said)


READS_ONE = f"import time; print({ERROR!r}, flush=True); time.sleep(60)"
DIED = "the program died: "
NO_TRACE = "the reply is no trace: "

MISTAKES: dict[str, tuple[list[str], str]] = {
    # Patience is for the whole reply, and counts while a request is written, too.
    "hangs": (reply("time.sleep(60)"), LATE),
    "floods": (reply(f"[print('x' * 9999, file=sys.stderr) {FOREVER}]"), LATE),
    "reads nothing": ([sys.executable, "-c", READS_ONE], LATE),
    # What a program says must not fill the memory.
    "endless line": (reply(f"[print('x' * 9_999, end='') {FOREVER}]"), TOO_LONG),
    # Neither side waits for the other to read, however little fits into a pipe.
    "long replies": (program("print('{\"error\": \"%s\"}' % ('x' * 100_000))"), "x" * 100_000),
    # Its last words are kept, and a signal has a name.
    "dies": (
        reply("[print('no memory', file=sys.stderr), os._exit(9)]"),
        f"{DIED}exit code 9: no memory",
    ),
    "is killed": (reply("os.kill(os.getpid(), 11)"), f"{DIED}ended by SIGSEGV"),
    "nothing": (program("print('{}')"), "the reply holds neither a trace nor an error"),
}


@pytest.mark.usefixtures("bounds")
@pytest.mark.parametrize("name", MISTAKES)
def test_what_is_wrong_with_a_child_is_an_error_of_its_runs(name: str) -> None:
    command, detail = MISTAKES[name]
    scenarios = [LONG] * 9 if name in {"reads nothing", "long replies"} else [SCENARIO] * 2
    with crew(command, 0.3 if "late" in detail else 10) as children:
        assert children.hello.protocol == 1
        said = endings(children.play(scenarios))

    assert said[0] == ("error", detail)
    assert len(said) == len(scenarios)


NOT_READY = "it did not become ready to play: "
SPEAKS = f"of JSON lines, and asyncwait {version('asyncwait')} speaks versions 1 to 2: "


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["false"], f"{NOT_READY}its process ended: exit code 1"),
        (
            ["sh", "-c", "echo out of order >&2; exit 3"],
            f"{NOT_READY}its process ended: exit code 3: out of",
        ),
        (["sleep", "60"], f"{NOT_READY}a longer --patience might help: no answer for 0.6 s"),
        # Another version is refused, whatever else it says in words that this one does not know.
        (
            ["sh", "-c", """echo '{"protocol": 0, "speed": "high"}'; cat"""],
            f"the program speaks version 0 {SPEAKS}the program is too old",
        ),
        (
            ["sh", "-c", """echo '{"protocol": 3, "speed": "high"}'; cat"""],
            f"the program speaks version 3 {SPEAKS}asyncwait is too old for it",
        ),
    ],
)
def test_a_program_that_never_speaks_our_lines_is_no_backend(command: list[str], said: str) -> None:
    with pytest.raises(UnknownBackend) as caught, crew(command, 0.2) as children:
        children.hello  # noqa: B018 - it waits for the first child

    assert str(caught.value).startswith(f"backend 'exec:test': {said}")


def test_a_program_need_not_speak_before_it_is_asked() -> None:
    silent = program('print(\'{"error": "%d"}\' % number)')
    silent[-1] = silent[-1].replace("print(flush=True)\n", "")
    with crew(silent) as children:
        assert endings(children.play([SCENARIO] * 2)) == [("error", "1"), ("error", "2")]


def test_what_is_printed_belongs_to_its_scenario(tmp_path: Path) -> None:
    (tmp_path / "loud.py").write_text(LOUD, encoding="utf-8")
    scenarios = [msgspec.structs.replace(SCENARIO, capacity=number) for number in range(1, 4)]
    with open_backend("loud:backend", jobs=1, folder=str(tmp_path)) as backend:
        traces = list(backend.play(scenarios))

    expected = [f"written\nprinted {number}\nwarned" for number in range(1, 4)]
    assert [trace.output for trace in traces] == expected


LOUD = """
import os, sys
from asyncwait.conformance import StreamBackend, stream_backend
from asyncwait.reference import open_operator

print("while it is loaded")

class Loud(StreamBackend, frozen=True):
    def run(self, scenarios):
        os.write(1, b"written\\n")
        print("printed", scenarios[0].capacity, flush=True)
        print("warned", file=sys.stderr)
        return stream_backend(open_operator).run(scenarios)

def backend():
    return Loud(open_operator)
"""


NUMBERED = """
import json, os, sys, time
print('{"protocol": 2}', flush=True)
for line in sys.stdin:
    number = json.loads(line).get("number")
    if number is None:
        print("{}", flush=True)
        continue
    REPLY
    print('{"number": %d, "error": "%d"}' % (number, os.getpid()), flush=True)
"""


def numbered(body: str) -> list[str]:
    return [sys.executable, "-c", NUMBERED.replace("REPLY", body)]


WRONG = "it answered the wrong scenario: the reply must have number 1, and has "


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ("if number == 1: number = 7", f"{WRONG}number 7"),
        ("if number == 1: print('{}', flush=True)", f"{WRONG}none"),
        (
            "if number == 1: print('by the way', flush=True)",
            NO_TRACE,
        ),
        ("if number == 1: os._exit(3)", "the program died: exit code 3"),
        # Nobody waits for that minute: the program is ended after half a second of patience.
        ("if number == 1: time.sleep(60)", "the program is late: no answer for 0.5 s"),
    ],
    ids=["another", "none", "garbage", "dies", "hangs"],
)
def test_a_program_that_has_lost_count_is_replaced(body: str, detail: str) -> None:
    with crew(numbered(body), 0.5) as children:
        before, (how, why), *after = endings(children.play([SCENARIO] * 5))

    assert how == "error"
    assert why.startswith(detail)
    assert [how for how, _ in after] == ["error"] * 3
    assert len(set(after)) == 1
    assert {before} != set(after)


GUIDE = Path(asyncwait.spec.scenario.__file__).with_name("json-lines.md")


def test_the_guide_shows_a_real_request_and_a_real_reply() -> None:
    request, reply = (
        block.split("```")[0].strip()
        for block in GUIDE.read_text(encoding="utf-8").split("```json\n")[1:]
    )

    assert request.encode() == msgspec.json.encode(Request(SCENARIO))
    assert reply.encode() == msgspec.json.encode(Reply(trace=play(open_operator, SCENARIO)))
