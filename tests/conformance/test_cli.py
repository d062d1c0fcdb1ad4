"""The command: exit codes, and one clear error for everything that a user can mend."""

import errno
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree as ET

import click
import msgspec
import pytest
from outside import SOUND, Folder, run
from remains import linux, wait_until, wait_until_gone
from reports import LATER, report, verdict

from asyncwait.conformance._commands import _group, _rules, _verify
from asyncwait.conformance._commands._verify import Board
from asyncwait.conformance.evidence import scenario_of
from asyncwait.conformance.harness import play
from asyncwait.conformance.report import FORMS, read_lines, report_to_lines
from asyncwait.reference import open_operator
from asyncwait.spec import Record
from asyncwait.spec.rules import carry_rules, hedge_rules, mailbox_rules, rules
from asyncwait.spec.scenario import Scenario, scenarios_to_json

A = Record("a")
SCENARIO = scenario_of("0: a; a: 40 gives x")
ONE = ("--count", "1", "--rule", "END-12")
"""A single scenario can show that rule."""


@pytest.mark.parametrize("area", ["COPY", "copies"])
def test_an_area_is_judged_by_its_rules(area: str) -> None:
    done = run("verify", "reference-asyncio", "--area", area, *ONE)

    ids = [rule for rule in rules() if rule.startswith("COPY-")]
    assert done.exit_code == 0, done.output
    assert f" END-12, {', '.join(ids)} ({len(ids) + 1} " in done.stdout.splitlines()[-1]


# A backend of the gallery, changed; one kind of scenario it may not play at all.
GATE = """
from msgspec.structs import replace
from asyncwait.conformance import StreamBackend
from asyncwait.conformance.running import load_backend
from asyncwait.spec.scenario import ALL_CAPABILITIES as WITH

class Dies(StreamBackend, frozen=True):
    def run(self, scenarios):
        if scenarios[0].capacity == 7: raise OSError("out of order")
        return StreamBackend.run(self, scenarios)

def backend():
    made = replace(load_backend("{name}"), {changes})
    return Dies(made.open_operator, made.loop, made.capabilities, made.expected_failures)
"""
FENCED = scenario_of("capacity 1; 0: ~0 ~1 ~2 ~3; sink pause 40")
DRAINED = scenario_of("0: a ^1; a: 40 gives x")
LATE = scenario_of("400: a")
DRAINS = "faulty-drains-at-barriers"


@pytest.mark.parametrize(
    ("name", "changes", "scenarios", "expected"),
    [
        # A SHOULD that is broken is shown, and forgiven.
        ("faulty-counts-records-only", "", [FENCED], (0, "CAP-5 broken (SHOULD): ", "error")),
        # A rule counts unless the backend lacks what it needs, or is known to break it.
        (DRAINS, "", [DRAINED], (1, "SNAP-5", "error")),
        (DRAINS, "expected_failures={'SNAP-5': 'known'}", [DRAINED], (0, "SNAP-5", "error")),
        (DRAINS, "capabilities=WITH - {'in-flight-snapshot'}", [DRAINED], (0, "", "SNAP-5")),
        # A backend without timed input is not asked to wait for it.
        ("reference-asyncio", "capabilities=WITH - {'timed-input'}", [LATE], (0, "", "400")),
        # A broken rule weighs more than a run in error, as in a verdict.
        (DRAINS, "", [DRAINED, Scenario(capacity=7)], (1, "OSError: out of order (", "bug")),
    ],
)
def test_playing_judges_as_verifying_does(
    outside: Folder,
    name: str,
    changes: str,
    scenarios: list[Scenario],
    expected: tuple[int, str, str],
) -> None:
    outside.write("gate.py", GATE.replace("{name}", name).replace("{changes}", changes))
    outside.write("scenarios.json", scenarios_to_json(scenarios).decode())
    code, told, untold = expected

    done = outside.here("play", "gate:backend", "scenarios.json")

    assert done.code == code, done
    assert told in done.out + done.err
    assert untold not in done.out + done.err


TOLD = msgspec.json.encode(play(open_operator, SCENARIO)).decode()


@pytest.mark.parametrize(
    ("trace", "code", "out", "err"),
    [
        (TOLD, 0, "\nself-reported: ", ""),
        # A trace that a foreign program did not finish is wrong usage, not a wrong operator.
        (TOLD[:-20], 2, "", "error: "),
        # A trace that the plan rules out tells nothing of the operator.
        (TOLD.replace('"results":["x"]', '"results":["forged"]'), 3, "", 'gave ["forged"]'),
    ],
    ids=["whole", "cut short", "impossible"],
)
def test_a_trace_of_a_foreign_program_is_judged(
    tmp_path: Path, trace: str, code: int, out: str, err: str
) -> None:
    (tmp_path / "scenario.json").write_bytes(scenarios_to_json((SCENARIO,)))
    (tmp_path / "trace.json").write_text(trace)

    done = run("play", str(tmp_path / "scenario.json"), "--judge", str(tmp_path / "trace.json"))

    assert done.exit_code == code
    assert out in done.stdout
    assert err in done.stderr


def raising(error: BaseException) -> Callable[..., None]:
    def raises(*_: object, **__: object) -> None:
        raise error

    return raises


BUG = "this is a bug of asyncwait"


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        # It ends in one line, and in the exit code of what is not decided.
        (RuntimeError("out of\norder"), 3, f"error: RuntimeError: out of order; {BUG}"),
        # Whoever pressed the keys knows.
        (KeyboardInterrupt(), 130, ""),
        # That is no bug of ours.
        (OSError(errno.EMFILE, "Too many open files"), 3, "error: "),
    ],
    ids=["ours", "interrupted", "no more descriptors"],
)
def test_what_breaks_a_command_is_no_verdict(
    monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, said: str
) -> None:
    monkeypatch.setattr(_rules, "_list_rules", raising(error))

    done = run("rules")

    assert (done.exit_code, done.stdout) == (code, "")
    assert done.stderr.startswith(said)
    assert done.stderr.count("\n") == bool(said)
    assert ("bug" in done.stderr) == (BUG in said)


def test_an_error_of_ours_is_shown_whole_on_demand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_rules, "_list_rules", raising(RuntimeError("out of order")))
    monkeypatch.setenv("ASYNCWAIT_TRACEBACK", "1")

    done = run("rules")

    assert done.exit_code == 3
    assert Path(__file__).name in done.stderr
    assert "RuntimeError: out of order\n" in done.stderr


@linux
@pytest.mark.sampled(4)
@pytest.mark.parametrize("arguments", ["--help", "rules", "verify --help", "verify nope"])
@pytest.mark.parametrize("full", ["1>/dev/full 2>/dev/null", "1>/dev/full 2>/dev/full"])
def test_output_that_can_not_be_written_is_no_verdict(arguments: str, full: str) -> None:
    command = f"exec {sys.executable} -m asyncwait {arguments} {full}"
    done = subprocess.run(command, shell=True, check=False)  # noqa: S602 - of a test

    is_usage = arguments == "verify nope" and full.endswith("null")
    assert done.returncode == (2 if is_usage else 3)


@pytest.mark.parametrize(
    "arguments",
    [("rules",), ("verify", "reference-asyncio", *ONE)],
    ids=["click writes", "rich writes"],
)
def test_a_closed_pipe_ends_a_command_quietly(arguments: tuple[str, ...]) -> None:
    command = [str(Path(sys.executable).with_name("asyncwait")), *arguments]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read()

    assert process.returncode == 141
    assert "rror" not in said


@linux
@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("number", "code"),
    [
        (signal.SIGINT, 130),
        (signal.SIGHUP, 129),
        (signal.SIGTERM, 143),
        (signal.SIGKILL, -signal.SIGKILL),
    ],
)
def test_nothing_survives_a_command_that_a_signal_ends(
    outside: Folder, monkeypatch: pytest.MonkeyPatch, number: signal.Signals, code: int
) -> None:
    spins = "import os, signal\n[signal.signal(n, signal.SIG_IGN) for n in (1, 2, 15)]\n"
    forks = "os.fork() or os.setsid()\nopen('spins', 'w').close()\nwhile True: pass\n"
    outside.write("gate.py", spins + forks)
    temporary = outside.path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TEST_MARK", str(outside.path))
    monkeypatch.setenv("TMPDIR", str(temporary))
    command = [str(Path(sys.executable).with_name("asyncwait")), "verify", "gate:backend"]
    with subprocess.Popen(command, cwd=outside.path, stderr=subprocess.PIPE, text=True) as process:
        wait_until((outside.path / "spins").exists)
        process.send_signal(number)
        assert process.stderr
        said = process.stderr.read()

    assert process.returncode == code
    told = f"error: ended by {number.name}; "
    assert (told in said) == (number in {signal.SIGHUP, signal.SIGTERM})
    wait_until_gone(f"TEST_MARK={outside.path}")
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("missing", ["click", "rich"])
def test_a_missing_extra_is_named(outside: Folder, missing: str) -> None:
    outside.block(missing)

    done = outside.asyncwait("verify", "reference-trio")

    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error: {missing} is not installed; ")
    assert "'asyncwait[conformance]'" in done.err


SOME = ("flink", "pool-asyncio", "pool-plain-trio", "reference-trio", "spark-streaming", "threads")


def test_all_goes_on_past_what_is_not_installed(
    outside: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside.block("trio", "pyarrow", "jpype")
    monkeypatch.setattr(_verify, "shipped_backends", lambda: SOME)

    done = outside.here("verify", "--all", *ONE)
    named = outside.here("verify", "--all", "pool-trio")

    assert (named.code, named.out) == (2, "")
    assert named.err.startswith("error: trio is not installed; ")
    assert "'asyncwait[trio]'" in named.err
    lines = done.out.splitlines()[-len(SOME) :]
    assert done.code == 3
    assert [re.findall(r"^(\S+): (\w+)", line)[0] for line in lines[:2]] == [
        ("pool-asyncio", "conformant"),
        ("threads", "conformant"),
    ]
    missing = [re.findall(r"^(\S+): not verified: (\w+) ", line)[0] for line in lines[2:]]
    assert missing == [
        ("flink", "jpype1"),
        ("pool-plain-trio", "trio"),
        ("reference-trio", "trio"),
        ("spark-streaming", "pyarrow"),
    ]


def bring(monkeypatch: pytest.MonkeyPatch, **values: str) -> None:
    entries = [EntryPoint(name, value, _group.GROUP) for name, value in values.items()]
    monkeypatch.setattr(_group, "entry_points", lambda group: entries)


def test_backends_are_listed_without_those_that_are_made_to_break_a_rule() -> None:
    sound, faulty = (run("backends", *more).stdout.splitlines() for more in ((), ("--faulty",)))

    assert "pool-asyncio" in sound
    assert "faulty-fails-once-only  FAIL-6" in faulty
    assert not any(line.startswith("faulty-") for line in sound)
    assert all(line.startswith("faulty-") for line in faulty)


def test_a_subcommand_that_is_installed_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    bring(monkeypatch, extra="outside_command:extra", rules="outside_command:extra")

    assert (run("backends").exit_code, run("backends").stderr) == (0, "")
    monkeypatch.setitem(sys.modules, "outside_command", SimpleNamespace(extra=extra_command))
    assert run("extra").stdout == "more\n"
    assert re.search(r"\n  extra +Say more\.\n", run("--help").stdout)
    assert run("rules", "ORD-1").stdout.startswith("ORD-1 ")


@click.command(help="Say more.")
def extra_command() -> None:
    click.echo("more")


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("nowhere_at_all:extra", "ModuleNotFoundError: "),
        ("json:no_such_name", "AttributeError: "),
        ("json:__name__", "expected a command of click, got 'json'"),
    ],
)
def test_a_broken_subcommand_is_one_clear_error(
    monkeypatch: pytest.MonkeyPatch, value: str, why: str
) -> None:
    bring(monkeypatch, extra=value)

    done, listed = run("extra", "--deep", "x"), run("--help")

    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: the command 'extra' ({value}) can't be loaded: {why}")
    assert done.stderr.count("\n") == 1
    assert listed.exit_code == 0
    assert "\n  extra     Can't be loaded: " in listed.stdout


APART = {**mailbox_rules(), **carry_rules(), **hedge_rules()}
ALL = [*rules().values(), *APART.values()]


def test_a_rule_is_shown_in_any_letters() -> None:
    assert run("rules", "cap-6").stdout.startswith("CAP-6 ")
    assert run("rules", "Mbx-4").stdout.startswith("MBX-4 ")
    assert run("rules", "carry-5").stdout.startswith("CARRY-5 ")


def test_the_rules_are_listed() -> None:
    assert run("rules").stdout.splitlines() == [f"{r.id:8} {r.level:6} {r.title}" for r in ALL]
    of_backend = run("rules", "--backend", "reference-asyncio").stdout
    assert "MBX" not in of_backend
    assert "CARRY" not in of_backend


@pytest.fixture
def red(tmp_path: Path) -> Path:
    (tmp_path / "red").write_bytes(
        report_to_lines(report(verdict("mine", {"ORD-1": "fail"}), verdict("other")))
    )
    return tmp_path / "red"


@pytest.fixture
def green(tmp_path: Path) -> Path:
    (tmp_path / "green").write_bytes(report_to_lines(report(verdict("mine"), created=LATER)))
    return tmp_path / "green"


def test_runs_of_several_files_stand_in_one_table(red: Path, green: Path) -> None:
    done = run("report", green, red)

    lines = done.stdout.splitlines()
    assert done.exit_code == 0
    assert "  ORD-1: fail -> pass" in lines
    assert [line.split()[:2] for line in lines[-2:]] == [
        ["mine:", "conformant"],
        ["other:", "conformant"],
    ]
    (row,) = [line for line in lines if "ORD-1  Ordered results" in line]
    assert [cell.strip() for cell in row.split("│")[2:5]] == ["fail", "pass", "pass"]
    assert not any("ORD-2" in line for line in lines)
    assert "ORD-2  A decided head" in run("report", green, "--all").stdout


def test_a_report_of_which_nothing_is_left_is_inconclusive(red: Path, green: Path) -> None:
    red.write_bytes(b"")

    done = run("report", red)

    assert (done.exit_code, done.stdout.split()[:2]) == (3, ["inconclusive:", str(red)])
    assert run("report", green, red).exit_code == 3


@pytest.mark.usefixtures("few_examples")
def test_a_verification_writes_what_it_found(
    outside: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside.write("gate.py", SOUND)
    arguments = ("verify", "gate:backend", "--count", "1", "--rule", "ORD-1", "--report", "told")

    step = outside.write("step", "before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(step))
    done = outside.here(*arguments)

    folder = outside.path / "told"
    assert done.code == 0
    assert done.out.endswith(f"written into told: {', '.join(FORMS)}\n")
    assert [run.claim for run in read_lines(folder / "report.jsonl").runs] == [
        "conformant as to 1 rule"
    ]
    root = ET.parse(folder / "junit.xml").getroot()  # noqa: S314 - our own
    assert root.get("tests") == "2"
    assert json.loads(folder.joinpath("badge.json").read_text())["color"] == "lightgrey"
    assert step.read_text(encoding="utf-8").startswith("before\n# Conformance")


def test_wrong_usage_leaves_the_report_of_the_last_run(tmp_path: Path) -> None:
    (tmp_path / "report.jsonl").write_text("the last one", encoding="utf-8")

    done = run("verify", "reference-asyncio", "--rule", "ORD-99", "--report", tmp_path)

    assert done.exit_code == 2
    assert (tmp_path / "report.jsonl").read_text(encoding="utf-8") == "the last one"


def test_without_a_terminal_nothing_is_drawn(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def verify_to_tell(_backend: Any, _plan: Any, say: Any, *, terms: Any) -> Any:
        for done in range(9):
            say("judged", done, 8)
        say("shrunk", 0, 2)
        return SimpleNamespace(verdict=verdict("first"))

    monkeypatch.setattr(_verify, "verify_to_tell", verify_to_tell)

    with Board() as board:
        board.verify(SimpleNamespace(name="first"), None, None)  # type: ignore[arg-type]

    assert capsys.readouterr().err.splitlines() == [
        *(f"first: {done} of 8 scenarios judged" for done in (0, 2, 4, 6, 8)),
        "first: shrinking failures, for 8 s at most: of 2 rules",
    ]


READERS = {
    "vectors": ("vectors", "run", "reference-asyncio", "FILE"),
    "expected failures": ("verify", "reference-asyncio", "--expected-failures", "FILE"),
    "report": ("report", "FILE"),
    "trace": ("play", "--judge", "FILE", "the-last-finishes-first"),
    "scenario": ("play", "reference-asyncio", "FILE"),
}


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    pipe, large = tmp_path / "pipe", tmp_path / "large"
    os.mkfifo(pipe)
    with large.open("wb") as file:
        file.truncate(4 << 30)
    return {"pipe": pipe, "device": Path("/dev/zero"), "large": large}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("kind", ["pipe", "device", "large"])
def test_no_file_is_waited_for_or_fills_the_memory(
    files: dict[str, Path], reader: str, kind: str
) -> None:
    arguments = [each.replace("FILE", str(files[kind])) for each in READERS[reader]]

    done = run(*arguments)

    assert done.exit_code == 2, done.output
    assert str(files[kind]) in done.stderr
    assert len(done.stderr.splitlines()) == 1
