"""The command: exit codes, and one clear error for everything that a user can mend."""

import errno
import json
import re
import shlex
import signal
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import msgspec
import pytest
from click.testing import CliRunner, Result
from outside import TROUBLED, Folder
from remains import linux, wait_until, wait_until_gone

from asyncwait.conformance._commands import _group, _rules, asyncwait
from asyncwait.conformance.harness import play
from asyncwait.reference import open_operator
from asyncwait.spec import Barrier, Record, Watermark
from asyncwait.spec.rules import mailbox_rules, rules
from asyncwait.spec.scenario import (
    Plan,
    Scenario,
    SinkStep,
    SnapshotRequest,
    Step,
    Timed,
    scenarios_to_json,
)
from asyncwait.spec.texts import name_of

SCENARIO = Scenario(
    inputs=(Timed(0, Record("a")),), plans=(Plan("a", (Step(after=40, results=("x",)),)),)
)


def run(*arguments: str) -> Result:
    """Run the command in this process."""
    return CliRunner().invoke(asyncwait, arguments)


@pytest.mark.parametrize("typed", ["retry-3", "Retry-3", "RETRY-3"])
def test_the_id_of_a_rule_is_taken_in_any_letters(typed: str) -> None:
    """Nobody looks up how ids are written."""
    listed = run("rules", typed)
    judged = run("verify", "reference-asyncio", "--rule", typed, "--count", "1")
    shrunk = run(
        "play", "--shrink", "reference-asyncio", "the-last-finishes-first", "--rule", typed
    )

    assert (listed.exit_code, listed.stdout) == (0, run("rules", "RETRY-3").stdout)
    assert (judged.exit_code, "RETRY-3" in judged.stdout.splitlines()[-1]) == (0, True)
    assert (shrunk.exit_code, shrunk.stderr.split()[1]) == (2, "RETRY-3")


@pytest.mark.parametrize("typed", ["mbx", "end", "watermarks"])
def test_the_rules_of_an_area_are_listed_in_any_letters(typed: str) -> None:
    """By the name of its chapter, too."""
    wanted = {"watermarks": "WM"}.get(typed, typed.upper())

    assert run("rules", typed).stdout == run("rules", wanted).stdout
    assert run("rules", typed).stdout.startswith(f"{wanted}-1 ")


@pytest.mark.sampled(4)
@pytest.mark.parametrize("area", ["ORD", "order", "ord", "Order"])
def test_an_area_is_judged_by_its_rules(area: str) -> None:
    """Named as in the ids, or as the chapter."""
    done = run("verify", "reference-asyncio", "--area", area, "--rule", "END-8", "--count", "1")

    ids = [rule for rule in rules() if rule.startswith("ORD-")]
    assert done.exit_code == 0, done.output
    assert f" {', '.join(ids)}, END-8 ({len(ids) + 1} " in done.stdout.splitlines()[-1]


@pytest.mark.parametrize("patience", ["0", "-1", "nan", "inf", "1e9"])
def test_a_patience_that_is_no_time_is_a_usage_error(patience: str) -> None:
    """Whoever has none learns nothing, and whoever has it for ever waits."""
    done = run("verify", "reference-asyncio", "--patience", patience)

    assert (done.exit_code, done.stdout) == (2, "")
    assert str(float(patience)) in done.stderr


def test_an_unknown_option_before_the_subcommand_is_told_in_the_same_way() -> None:
    """The words in the middle are those of click, in each version its own."""
    done = CliRunner().invoke(asyncwait, ["--nowhere"], prog_name="asyncwait")

    (line,) = done.stderr.splitlines()
    assert (done.exit_code, done.stdout) == (2, "")
    assert line.startswith("error: No such option")
    assert line.endswith("; see: asyncwait --help")


def faulty_gate(folder: Path, name: str, changes: str = "") -> None:
    """Make `gate:backend` the faulty backend of that name, changed."""
    (folder / "gate.py").write_text(
        "from msgspec.structs import replace\n"
        "from asyncwait.conformance.running import load_backend\n"
        "from asyncwait.spec.scenario import ALL_CAPABILITIES, declared\n"
        f"def backend(): return replace(load_backend({name!r}), {changes})\n",
        encoding="utf-8",
    )


FENCED = Scenario(
    capacity=1,
    inputs=tuple(Timed(0, Watermark(n)) for n in range(4)),
    sink=(SinkStep("pause", 40),),
)
DRAINED = Scenario(
    inputs=(Timed(0, Record("a")), Timed(0, Barrier(1))),
    plans=(Plan("a", (Step(after=40, results=("x",)),)),),
)


def test_playing_judges_as_verifying_does_should(tmp_path: Path) -> None:
    """A SHOULD that is broken is shown, and forgiven."""
    file = tmp_path / "scenarios.json"
    file.write_bytes(scenarios_to_json((FENCED,)))

    done = run("play", "faulty-counts-records-only", str(file))

    assert "CAP-5 broken (SHOULD): " in done.stdout
    assert done.exit_code == 0


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ("", 1),
        ("expected_failures={'SNAP-5': 'it drains'}", 0),
        ("capabilities=ALL_CAPABILITIES - {'in-flight-snapshot'}", 0),
    ],
    ids=["a fault", "an expected failure", "no capability"],
)
def test_playing_judges_as_verifying_does_what_a_backend_declares(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: str, code: int
) -> None:
    """A rule counts unless the backend lacks what it needs, or is known to break it."""
    monkeypatch.chdir(tmp_path)
    faulty_gate(tmp_path, "faulty-drains-at-barriers", changes)
    file = tmp_path / "scenarios.json"
    file.write_bytes(scenarios_to_json((DRAINED,)))

    done = run("play", "gate:backend", str(file))

    assert done.exit_code == code
    assert ("SNAP-5" in done.stdout) == ("capabilities" not in changes)


def test_playing_adapts_the_scenarios(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A backend without timed input is not asked to wait for it."""
    monkeypatch.chdir(tmp_path)
    lacking = "capabilities=ALL_CAPABILITIES - {'timed-input', 'on-demand-snapshot'}"
    faulty_gate(tmp_path, "reference-asyncio", lacking)
    file = tmp_path / "scenarios.json"
    late = Scenario(inputs=(Timed(400, Record("a")),), requests=(SnapshotRequest(0, 1),))
    file.write_bytes(scenarios_to_json((late,)))

    done = run("play", "gate:backend", str(file))

    assert done.exit_code == 0, done.output
    assert "400" not in done.stdout
    assert "snapshot" not in done.stdout


def test_the_worst_of_several_runs_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A broken rule weighs more than a run in error, as in a verdict."""
    monkeypatch.chdir(tmp_path)
    faulty_gate(tmp_path, "faulty-drains-at-barriers")
    dies = "import os\nfrom gate import backend as gate\ndef backend(): return Dies(gate())\n"
    (tmp_path / "breaks.py").write_text(dies + BREAKS, encoding="utf-8")
    file = tmp_path / "scenarios.json"
    file.write_bytes(scenarios_to_json((DRAINED, Scenario(capacity=7))))

    done = run("play", "breaks:backend", str(file))

    assert done.exit_code == 1
    assert f"OSError: out of order ({tmp_path / 'breaks.py'}:10)" in done.stderr


BREAKS = """
class Dies:
    batch = False
    def __init__(self, backend):
        self.run_by, self.capabilities, self.expected_failures = backend, backend.capabilities, {}
    def run(self, scenarios):
        if scenarios[0].capacity == 7: raise OSError("out of order")
        return self.run_by.run(scenarios)
"""


def test_judging_a_trace_that_is_cut_short_says_so(tmp_path: Path) -> None:
    """A trace that a foreign program did not finish is wrong usage, not a wrong operator."""
    done = judge(tmp_path, msgspec.json.encode(play(open_operator, SCENARIO))[:-20])

    assert (done.exit_code, done.stdout) == (2, "")


def test_judging_a_whole_trace_draws_it(tmp_path: Path) -> None:
    """A sound run of a foreign program breaks no rule."""
    done = judge(tmp_path, msgspec.json.encode(play(open_operator, SCENARIO)))

    assert done.exit_code == 0
    assert "\nself-reported: " in done.stdout


def test_judging_an_impossible_trace_is_an_error(tmp_path: Path) -> None:
    """A trace that the plan rules out tells nothing of the operator."""
    trace = json.loads(msgspec.json.encode(play(open_operator, SCENARIO)))
    for event in trace["legs"][0]["events"]:
        if event["type"] == "call-ended":
            event["results"] = ["forged"]

    done = judge(tmp_path, json.dumps(trace).encode())

    assert done.exit_code == 3
    assert "gave ('forged',)" in done.stderr


def judge(folder: Path, trace: bytes) -> Result:
    """Judge `trace` as one of `SCENARIO`."""
    (folder / "scenario.json").write_bytes(scenarios_to_json((SCENARIO,)))
    (folder / "trace.json").write_bytes(trace)
    return run("play", str(folder / "scenario.json"), "--judge", str(folder / "trace.json"))


def test_the_rules_are_listed() -> None:
    """All of them, those of the mailbox last; to a backend only the others may apply."""
    both = [*rules().values(), *mailbox_rules().values()]
    assert run("rules").stdout.splitlines() == [f"{r.id:8} {r.level:6} {r.title}" for r in both]
    assert "MBX" not in run("rules", "--backend", "reference-asyncio").stdout


def test_no_rule_of_the_mailbox_is_for_a_backend() -> None:
    """They are listed all the same, as not applicable."""
    listed = run("rules", "MBX", "--backend", "pool-asyncio").stdout.splitlines()

    apart = [line.split()[0] for line in listed if "(not applicable: " in line]
    assert apart == list(mailbox_rules())


def test_the_rules_that_do_not_apply_to_a_backend_are_listed_with_what_they_need(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All others stand there as ever."""
    monkeypatch.chdir(tmp_path)
    declared = "capabilities=declared(['ordered', 'snapshots'])"
    faulty_gate(tmp_path, "reference-asyncio", declared)

    lines = run("rules", "--backend", "gate:backend").stdout.splitlines()

    apart = {line.split()[0]: line for line in lines if "not applicable" in line}
    assert [line for line in lines if line.split()[0] not in apart] == [
        line
        for line in run("rules").stdout.splitlines()
        if line.split()[0] not in {*apart, *mailbox_rules()}
    ]
    assert apart["REST-3"].endswith(" (not applicable: needs restore, event-time)")
    assert "CAP-6" not in apart
    assert run("rules", "--backend", "nobody").exit_code == 2


def test_a_foreign_program_is_verified_and_marked(outside: Folder) -> None:
    """Whatever speaks the lines is judged like any other; that it wrote its traces stays said."""
    outside.write(
        "program.py",
        """
        import sys

        import msgspec

        from asyncwait.conformance.harness import play
        from asyncwait.reference import open_operator
        from asyncwait.spec.scenario import scenarios_from_json

        for line in sys.stdin.buffer:
            (scenario,) = scenarios_from_json(b"[" + line[len(b'{"scenario":'):-2] + b"]")
            reply = msgspec.json.encode({"trace": play(open_operator, scenario)})
            sys.stdout.buffer.write(reply + b"\\n")
            sys.stdout.buffer.flush()
        """,
    )

    done = outside.asyncwait(
        "verify", "--exec", f"{sys.executable} program.py", "--count", "1", "--rule", "ORD-5"
    )

    assert done.code == 0, done.err
    last = done.out.splitlines()[-1]
    assert last.startswith(f"exec:{sys.executable} program.py: conformant ")
    assert "self-reported" in last


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("os._exit(3)", "exit code 3"),
        ("time.sleep(60)", " late: "),  # it is killed long before
        ("answer = answer.replace('0', '1')", "wrong scenario"),
        ("answer = 'as you like'", "JSON is malformed"),
        ("answer = answer.replace('[]', str(EARLY))", "input 99 "),
    ],
    ids=["dies", "hangs", "mixes up", "garbage", "impossible"],
)
def test_what_is_wrong_with_a_foreign_program_is_an_error(
    outside: Folder, reply: str, said: str
) -> None:
    """It tells nothing of its operator, and what it has printed stands beside that."""
    outside.write(
        "program.py",
        f"""
        import json, os, sys, time

        EARLY = '[{{"type": "taken", "at": 9.0, "index": 99}}]'
        LEG = '{{"ending": {{"how": "finished"}}, "events": []}}'
        print('{{"protocol": 2}}', flush=True)
        for line in sys.stdin:
            answer = '{{"number": %s, "trace": {{"legs": [%s]}}}}' % (
                json.loads(line).get("number", 0), LEG
            )
            if "number" in json.loads(line):
                print("out of order", file=sys.stderr, flush=True)
                {reply}
            print(answer, flush=True)
        """,
    )

    done = outside.asyncwait(
        "verify", "--exec", f"{sys.executable} program.py", "--count", "1", "--patience", "0.5",
        "--rule", "ORD-1", "--jobs", "1",
    )  # fmt: skip

    assert done.code == 3, done
    assert said in done.out
    assert "out of order" in done.out


@pytest.mark.parametrize(
    "hello", ["echo", """echo '{"protocol": 2}'"""], ids=["version 1", "version 2"]
)
def test_a_foreign_program_that_hangs_at_its_first_scenario_is_an_error(
    outside: Folder, hello: str
) -> None:
    """As one is that hangs later: it was had, and nothing is known of its operator."""
    command = shlex.quote(f"{hello}; sleep 60")

    done = outside.asyncwait(
        "verify", "--exec", f"sh -c {command}", "--count", "1", "--patience", "0.2", "--jobs", "1"
    )

    assert done.code == 3, done
    assert '{"scenario":{}}, within 0.6 s' in done.out
    name = name_of(f"exec:sh -c {command}")
    assert done.out.splitlines()[-1].startswith(f"{name}: inconclusive after 0 of ")


def test_a_foreign_program_that_talks_nonsense_is_no_backend(outside: Folder) -> None:
    """What never said a word that can be read says nothing of an operator."""
    done = outside.asyncwait("verify", "--exec", "yes", "--count", "1", "--rule", "ORD-1")

    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: backend 'exec:yes': ")


def test_a_foreign_program_that_begins_to_talk_nonsense_is_an_error(outside: Folder) -> None:
    """What is no trace says nothing of an operator either."""
    done = outside.asyncwait("verify", "--exec", "sh -c 'echo; yes'", "--count", "1")

    assert done.code == 3
    assert "JSON is malformed" in done.out


def raising(error: BaseException) -> Any:
    """A function that raises whatever it is given."""

    def raises(*_: object, **__: object) -> None:
        raise error

    return raises


def test_an_error_of_ours_is_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends in one line, and in the exit code of what is not decided."""
    monkeypatch.setattr(_rules, "_list_rules", raising(RuntimeError("out of\norder")))

    done = run("rules")

    assert (done.exit_code, done.stdout) == (3, "")
    assert done.stderr.startswith("error: RuntimeError: out of order; ")
    assert done.stderr.count("\n") == 1


def test_an_error_of_ours_is_shown_whole_on_demand(monkeypatch: pytest.MonkeyPatch) -> None:
    """For a report of the bug."""
    monkeypatch.setattr(_rules, "_list_rules", raising(RuntimeError("out of order")))
    monkeypatch.setenv("ASYNCWAIT_TRACEBACK", "1")

    done = run("rules")

    assert done.exit_code == 3
    assert done.stderr.startswith("Traceback (most recent call last):\n")
    assert "RuntimeError: out of order\n" in done.stderr


def test_an_interrupted_command_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever pressed the keys knows."""
    monkeypatch.setattr(_rules, "_list_rules", raising(KeyboardInterrupt()))

    done = run("rules")

    assert (done.exit_code, done.output) == (130, "")


def test_a_process_that_gets_no_more_descriptors_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """That is no bug of ours, and no verdict."""
    monkeypatch.setattr(
        _rules, "_list_rules", raising(OSError(errno.EMFILE, "Too many open files"))
    )

    done = run("rules")

    assert (done.exit_code, done.stdout) == (3, "")
    assert "Too many open files" in done.stderr
    assert "bug" not in done.stderr


def test_a_working_directory_that_was_deleted_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """That is no bug of ours, and no verdict."""
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()

    done = run("backends")

    assert (done.exit_code, done.stdout) == (3, "")
    assert "working directory" in done.stderr
    assert "bug" not in done.stderr


@linux
@pytest.mark.parametrize("arguments", ["--help", "rules", "verify --help", "verify nope"])
@pytest.mark.parametrize("full", ["1>/dev/full 2>/dev/null", "1>/dev/full 2>/dev/full"])
def test_output_that_can_not_be_written_is_no_verdict(arguments: str, full: str) -> None:
    """Help, lists and errors alike."""
    command = f"exec {sys.executable} -m asyncwait {arguments} {full}"
    done = subprocess.run(command, shell=True, check=False)  # noqa: S602 - of a test

    is_usage = arguments == "verify nope" and full.endswith("null")
    assert done.returncode == (2 if is_usage else 3)


def test_an_interruption_while_modules_are_imported_says_nothing() -> None:
    """It comes as soon as the command imports the suite."""
    interrupts = """if True:
        import sys

        class Interrupts:
            def find_spec(self, name, *_):
                if name == "asyncwait.conformance":
                    raise KeyboardInterrupt

        sys.meta_path.insert(0, Interrupts())
        from asyncwait.__main__ import main
        main()
    """

    command = [sys.executable, "-c", interrupts]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.parametrize(
    "arguments",
    [("rules",), ("verify", "reference-asyncio", "--count", "1", "--rule", "ORD-1")],
    ids=["click writes", "rich writes"],
)
def test_a_closed_pipe_ends_a_command_quietly(arguments: tuple[str, ...]) -> None:
    """As `| head` does; and not in the exit code of a verdict."""
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
    """No child that spins, nothing that it started, no file; it is said that no verdict came."""
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


@pytest.mark.parametrize(
    ("missing", "extra"), [("click", "conformance"), ("rich", "conformance"), ("trio", "trio")]
)
def test_a_missing_extra_is_named(outside: Folder, missing: str, extra: str) -> None:
    """Without what a command or a backend needs, one line says what to install."""
    outside.block(missing)

    done = outside.asyncwait("verify", "reference-trio")

    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error: {missing} is not installed; ")
    assert f"'asyncwait[{extra}]'" in done.err


def test_without_trio_the_other_loop_is_verified(outside: Folder) -> None:
    """Only what is asked for has to be installed."""
    outside.block("trio")

    done = outside.asyncwait("verify", "pool-asyncio", "--count", "1", "--rule", "ORD-1")

    assert done.code == 0, done.err


def test_all_goes_on_past_what_is_not_installed(outside: Folder) -> None:
    """What was not verified is named, and is not green."""
    outside.block("trio", "pyarrow", "jpype")

    done = outside.asyncwait("verify", "--all", "--count", "1", "--rule", "ORD-5")

    lines = done.out.splitlines()[-17:]
    operators = ["emitter", "pool", "reference"]
    here = [f"{name}{form}" for name in operators for form in ("-asyncio", "-plain-asyncio")]
    assert done.code == 3
    assert [line.split(":")[0] for line in lines[:7]] == [*here, "threads"]
    assert all(": conformant" in line for line in lines[:7])
    missing = [re.findall(r"^(\S+): not verified: (\w+) ", line)[0] for line in lines[7:]]
    assert missing == [
        ("emitter-plain-trio", "trio"),
        ("emitter-trio", "trio"),
        ("flink", "jpype1"),
        ("flink-keyed", "jpype1"),
        ("pool-plain-trio", "trio"),
        ("pool-trio", "trio"),
        ("reference-plain-trio", "trio"),
        ("reference-trio", "trio"),
        ("spark", "pyarrow"),
        ("spark-dataframe", "pyarrow"),
    ]


def test_what_was_asked_for_by_name_has_to_be_there(outside: Folder) -> None:
    """Although --all would leave it out."""
    outside.block("trio", "pyarrow")

    done = outside.asyncwait("verify", "--all", "pool-trio", "--count", "1", "--rule", "ORD-1")

    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: trio is not installed; ")


def test_failures_stay_as_they_are_on_demand(outside: Folder) -> None:
    """Shrinking takes seconds, which the log says."""
    # No example in this mode has this capacity, so only generated scenarios find out.
    at_six = TROUBLED.replace("capacity == 8", "capacity == 6 and config.mode == 'ordered'")
    outside.write("gate.py", at_six.replace("{trouble}", "raise OSError"))
    shrinking = "gate:backend: shrinking "

    shrunk = outside.asyncwait("verify", "gate:backend", "--count", "99", "--rule", "FAIL-8")
    as_is = outside.asyncwait(
        "verify", "gate:backend", "--count", "99", "--rule", "FAIL-8", "--no-shrink"
    )

    assert shrinking in shrunk.err
    assert "  shrunk (" in shrunk.out
    assert "shrinking" not in as_is.err
    assert "  generated " in as_is.out


def bring(monkeypatch: pytest.MonkeyPatch, **values: str) -> None:
    """Have other distributions bring these subcommands: what their entry points say, by name."""
    entries = [EntryPoint(name, value, _group.GROUP) for name, value in values.items()]
    monkeypatch.setattr(_group, "entry_points", lambda group: entries)


def test_a_subcommand_that_is_installed_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """It stands among the others in the help."""
    bring(monkeypatch, extra="outside_command:extra", rules="outside_command:extra")
    monkeypatch.setitem(sys.modules, "outside_command", SimpleNamespace(extra=extra_command))

    assert run("extra").stdout == "more\n"
    assert "\n  extra     Say more.\n" in run("--help").stdout
    assert run("rules", "ORD-1").stdout.startswith("ORD-1 ")


@click.command()
def extra_command() -> None:
    """Say more."""
    click.echo("more")


def test_a_subcommand_is_loaded_when_it_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not by another one."""
    bring(monkeypatch, extra="nowhere_at_all:extra")

    assert run("backends").exit_code == 0
    assert run("backends").stderr == ""


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("nowhere_at_all:extra", "ModuleNotFoundError: No module named 'nowhere_at_all'"),
        ("json:no_such_name", "AttributeError: module 'json' has no attribute 'no_such_name'"),
        ("json:__name__", "expected a command of click, got 'json'"),
    ],
)
def test_a_broken_subcommand_is_one_clear_error(
    monkeypatch: pytest.MonkeyPatch, value: str, why: str
) -> None:
    """When it is run, whatever its arguments are; the others are listed all the same."""
    bring(monkeypatch, extra=value)
    said = f"error: the command 'extra' ({value}) can't be loaded: {why}"

    done = run("extra", "--deep", "x")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(said)
    assert done.stderr.count("\n") == 1
    listed = run("--help")
    assert listed.exit_code == 0
    assert "\n  extra     Can't be loaded: " in listed.stdout
