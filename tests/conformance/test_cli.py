"""The command: exit codes, and one clear error for everything that a user can mend."""

import errno
import json
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
from outside import SOUND, TROUBLED, Folder
from remains import linux, wait_until, wait_until_gone

from asyncwait.conformance._commands import _installed, _rules, asyncwait
from asyncwait.conformance.harness import play
from asyncwait.reference import open_operator
from asyncwait.spec import Barrier, Record, Watermark
from asyncwait.spec.rules import areas, mailbox_rules, rules
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


def test_an_unknown_backend_is_told_the_nearest() -> None:
    """Whoever misspells a name sees the right one, and where the others are."""
    done = run("verify", "pol-asyncio")

    assert done.exit_code == 2
    assert done.stderr == (
        "error: no backend is named 'pol-asyncio': give a name that asyncwait backends lists, or "
        "module:callable; did you mean pool-asyncio or pool-plain-asyncio or "
        "watching-pool-asyncio?\n"
    )


@pytest.mark.parametrize(
    ("text", "reference", "said"),
    [
        (None, "gate:backend", "can't import it: ModuleNotFoundError: No module named 'gate'\n"),
        (
            "import json\nimport nowhere",
            "gate:backend",
            "can't import it: ModuleNotFoundError: No module named 'nowhere' ({gate}:2)\n",
        ),
        (
            "import json\ntry:\n    json.loads('')\nexcept ValueError:\n    import nowhere",
            "gate:backend",
            "No module named 'nowhere' ({gate}:5), because of JSONDecodeError: ",
        ),
        (
            "this is no Python",
            "gate:backend",
            "can't import it: SyntaxError: invalid syntax (gate.py, line 1)\n",
        ),
        (
            "raise SystemExit(0)",
            "gate:backend",
            "can't import it: SystemExit: 0 ({gate}:1)\n",
        ),
        ("", "gate:backend", "gate has no 'backend'\n"),
        ("backends = 7", "gate:backend", "gate has no 'backend'; did you mean backends?\n"),
        ("", "gate:", "expected module:callable"),
        ("", ":backend", "expected module:callable"),
        (
            "def backend(): raise OSError('disk')",
            "gate:backend",
            "factory raised OSError: disk ({gate}:1)\n",
        ),
        (
            "def backend(): raise SystemExit(0)",
            "gate:backend",
            "factory raised SystemExit: 0 ({gate}:1)\n",
        ),
        ("backend = 7", "gate:backend", "TypeError: 'int' object is not callable\n"),
        (
            "def backend(): return 'fine'",
            "gate:backend",
            "expected a backend from its factory, got 'fine'; return stream_backend(open_operator)",
        ),
        (
            "import asyncwait.conformance as c\ndef backend(): return c.stream_backend(None)",
            "gate:backend",
            "open_operator must be callable, got None (NoneType)",
        ),
        (
            SOUND.replace("(open_operator)", "(open_operator, exceptions={'ORD-77': 'odd'})"),
            "gate:backend",
            "exceptions must be the id of a rule; see: asyncwait rules, got 'ORD-77' (str); did",
        ),
    ],
)
def test_a_backend_that_cant_be_had_is_a_usage_error(
    outside: Folder,
    monkeypatch: pytest.MonkeyPatch,
    text: str | None,
    reference: str,
    said: str,
) -> None:
    """One line says why, without a traceback of ours."""
    if text is not None:
        outside.write("gate.py", text)
    monkeypatch.syspath_prepend(outside.path)

    done = run("verify", reference, "--count", "1")

    sys.modules.pop("gate", None)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")
    assert said.replace("{gate}", str(outside.path / "gate.py")) in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("command", [("verify", "reference-asyncio", "--rule"), ("rules",)])
def test_an_unknown_rule_is_told_the_nearest(command: tuple[str, ...]) -> None:
    """A rule that is not there can't be judged by, nor read."""
    done = run(*command, "ORD-100")

    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(
        "error: rule must be the id of a rule; see: asyncwait rules, got 'ORD-100' (str); "
        "did you mean ORD-1 or "
    )


def test_a_name_that_is_like_none_has_no_suggestion() -> None:
    """To guess wildly helps nobody."""
    done = run("rules", "xyz")

    assert done.stderr.endswith("got 'xyz' (str)\n")


@pytest.mark.parametrize("typed", ["retry-3", "Retry-3", "RETRY-3"])
def test_the_id_of_a_rule_is_taken_in_any_letters(typed: str) -> None:
    """Nobody looks up how ids are written."""
    listed = run("rules", typed)
    judged = run("verify", "reference-asyncio", "--rule", typed, "--count", "1")
    shrunk = run(
        "play", "--shrink", "reference-asyncio", "the-last-finishes-first", "--rule", typed
    )

    assert (listed.exit_code, listed.stdout) == (0, run("rules", "RETRY-3").stdout)
    assert "conformant as to RETRY-3 (1 rule passes, " in judged.stdout.splitlines()[-1]
    assert shrunk.stderr.startswith("error: RETRY-3 is not broken by this scenario ")


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
    assert done.stdout.splitlines()[-1] == (
        f"reference-asyncio: conformant as to {', '.join(ids)}, END-8 ({len(ids) + 1} rules pass)"
    )


@pytest.mark.parametrize(
    ("typed", "near"),
    [
        ("ORDR", "; did you mean ORD?"),
        ("retri", "; did you mean RETRY or REST?"),
        ("xyz", ""),
    ],
)
def test_an_unknown_area_is_told_the_known_ones(typed: str, near: str) -> None:
    """There are few; the nearest by id or chapter, each by its id."""
    done = run("verify", "reference-asyncio", "--area", typed)

    assert done.exit_code == 2
    assert done.stderr == (
        f"error: area must be one of {', '.join(areas())}, got {typed!r} (str){near}\n"
    )


@pytest.mark.parametrize("patience", ["0", "-1", "nan", "inf", "1e9"])
def test_a_patience_that_is_no_time_is_a_usage_error(patience: str) -> None:
    """Whoever has none learns nothing, and whoever has it for ever waits."""
    done = run("verify", "reference-asyncio", "--patience", patience)

    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == (
        "error: patience must be a number of seconds above 0, at most 86400, "
        f"got {float(patience)} (float)\n"
    )


def test_verifying_nothing_is_a_usage_error() -> None:
    """A gate that holds nobody to anything must not be green."""
    done = run("verify")

    assert done.exit_code == 2
    assert done.stderr == (
        "error: name a backend, here or in [tool.asyncwait] of pyproject.toml, or give --all; "
        "see: asyncwait backends\n"
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["zzz"], "No such command 'zzz'; see: asyncwait --help"),
        (["report"], "Missing argument 'FILE...'; see: asyncwait report --help"),
        (
            ["verify", "--full", "--exhaustive"],
            (
                "--full and --exhaustive contradict each other: give one of them; "
                "see: asyncwait verify --help"
            ),
        ),
    ],
)
def test_wrong_usage_is_told_like_any_other_error(arguments: list[str], said: str) -> None:
    """In one line that says where help is."""
    done = CliRunner().invoke(asyncwait, arguments, prog_name="asyncwait")

    assert (done.exit_code, done.stdout, done.stderr) == (2, "", f"error: {said}\n")


def test_an_unknown_option_before_the_subcommand_is_told_in_the_same_way() -> None:
    """The words in the middle are those of click, in each version its own."""
    done = CliRunner().invoke(asyncwait, ["--nowhere"], prog_name="asyncwait")

    (line,) = done.stderr.splitlines()
    assert (done.exit_code, done.stdout) == (2, "")
    assert line.startswith("error: No such option")
    assert line.endswith("; see: asyncwait --help")


def test_a_program_that_does_not_exist_is_a_usage_error() -> None:
    """The command of a foreign program is looked up before anything is played."""
    done = run("verify", "--exec", "no-such-program --fast")

    assert (done.exit_code, done.stderr) == (
        2,
        "error: the command 'no-such-program --fast' can't be started: no such program\n",
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[{", "the scenarios are not JSON: Input data was truncated"),
        ("#", "the scenarios are not JSON: JSON is malformed: invalid character (byte 0)"),
        ('[{"mode": 1}]', "the scenarios break their schema: Expected `str`, got `int`"),
        ('[{"inputs": [{"at": 0}]}]', "missing required field `element` - at `$[0].inputs[0]`"),
        ('[{"capacity": 0}]', "capacity must be"),
        ('[{"speed": 1}]', "Object contains unknown field `speed` - at `$[0]`"),
    ],
)
def test_a_file_that_holds_no_scenarios_says_where_it_breaks(
    tmp_path: Path, text: str, said: str
) -> None:
    """A slip in a scenario file is one line, with the place."""
    file = tmp_path / "scenarios.json"
    file.write_text(text, encoding="utf-8")

    done = run("play", "reference-asyncio", str(file))

    assert done.exit_code == 2
    assert said in done.stderr
    assert done.stderr.startswith("error: ")


def test_playing_a_file_draws_each_run(tmp_path: Path) -> None:
    """What a scenario does on a backend can be looked at without the suite."""
    file = tmp_path / "scenarios.json"
    file.write_bytes(scenarios_to_json((SCENARIO, SCENARIO)))

    done = run("play", "reference-asyncio", str(file))

    assert done.exit_code == 0
    assert done.stdout.count("    40                          #0 gave 'x'\n") == 2
    assert done.stdout.count("no rule is broken\n") == 2


def test_playing_on_a_broken_operator_names_the_rule(tmp_path: Path) -> None:
    """The exit code says that a rule is broken, and the text says which."""
    file = tmp_path / "scenarios.json"
    raising = (Plan("a", (Step("raise", 40, error="ValueError"),)),)
    file.write_bytes(scenarios_to_json((msgspec.structs.replace(SCENARIO, plans=raising),)))

    done = run("play", "faulty-fails-with-a-group", str(file))

    assert done.exit_code == 1
    assert "FAIL-9 broken: The consumer gets the plain error, never" in done.stdout


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
    ("changes", "code", "said"),
    [
        ("", 1, "SNAP-5 broken:"),
        ("exceptions={'SNAP-5': 'it drains'}", 0, "(a known exception: it drains)"),
        ("capabilities=ALL_CAPABILITIES - {'in-flight-snapshot'}", 0, "no rule is broken"),
    ],
    ids=["a fault", "an exception", "no ability"],
)
def test_playing_judges_as_verifying_does_what_a_backend_declares(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: str, code: int, said: str
) -> None:
    """A rule counts unless the backend lacks what it needs, or is known to break it."""
    monkeypatch.chdir(tmp_path)
    faulty_gate(tmp_path, "faulty-drains-at-barriers", changes)
    file = tmp_path / "scenarios.json"
    file.write_bytes(scenarios_to_json((DRAINED,)))

    done = run("play", "gate:backend", str(file))

    assert said in " ".join(done.stdout.split())
    assert done.exit_code == code


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
    place = f"{tmp_path / 'breaks.py'}:10"
    assert done.stderr == f"error: the backend raised OSError: out of order ({place})\n"


BREAKS = """
class Dies:
    batch = False
    def __init__(self, backend):
        self.run_by, self.capabilities, self.exceptions = backend, backend.capabilities, {}
    def run(self, scenarios):
        if scenarios[0].capacity == 7: raise OSError("out of order")
        return self.run_by.run(scenarios)
"""


def test_judging_a_trace_that_is_cut_short_says_so(tmp_path: Path) -> None:
    """A trace that a foreign program did not finish is wrong usage, not a wrong operator."""
    done = judge(tmp_path, msgspec.json.encode(play(open_operator, SCENARIO))[:-20])

    assert done.exit_code == 2
    assert done.stderr.startswith("error: the trace is not whole JSON: Input data was truncated")


def test_judging_a_whole_trace_draws_it(tmp_path: Path) -> None:
    """A sound run of a foreign program breaks no rule."""
    done = judge(tmp_path, msgspec.json.encode(play(open_operator, SCENARIO)))

    assert done.exit_code == 0
    assert done.stdout.endswith(
        "self-reported: these are the words of whoever wrote the trace\nno rule is broken\n"
    )


def test_judging_an_impossible_trace_is_an_error(tmp_path: Path) -> None:
    """A trace that the plan rules out tells nothing of the operator."""
    trace = json.loads(msgspec.json.encode(play(open_operator, SCENARIO)))
    for event in trace["legs"][0]["events"]:
        if event["type"] == "call-ended":
            event["results"] = ["forged"]

    done = judge(tmp_path, json.dumps(trace).encode())

    assert done.exit_code == 3
    assert done.stderr.startswith(
        "error: the trace is impossible: leg 0: call 0 of 'a' gave ('forged',), planned is Step("
    )


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
    """They are listed all the same, with the reason; a verdict on them is to be had elsewhere."""
    listed, verified = (
        run("rules", "MBX", "--backend", "pool-asyncio"),
        run("verify", "pool-asyncio", "--rule", "MBX-3"),
    )

    assert listed.stdout.startswith(
        f"MBX-1    MUST   A mail comes out once: {mailbox_rules()['MBX-1'].sentence} "
        "(not applicable: it is for mailboxes)\n"
    )
    assert verified.exit_code == 2
    assert verified.stderr == (
        "error: rule: MBX-3 is a rule of the task mailbox, to which no operator is held; "
        "see: asyncwait verify --mailbox\n"
    )


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
    assert done.out.splitlines()[-1] == (
        f"exec:{sys.executable} program.py: conformant as to ORD-5 (1 rule passes, self-reported)"
    )


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("os._exit(3)", "the program died: exit code 3: out of order"),
        ("time.sleep(60)", "the program is late: no answer for 0.5 s"),
        ("answer = answer.replace('0', '1')", "the wrong scenario: the reply must have number 0"),
        ("answer = 'as you like'", "the reply is no trace: JSON is malformed"),
        (
            "answer = answer.replace('[]', str(EARLY))",
            "the trace is impossible: leg 0: input 99 was taken",
        ),
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
    assert "inconclusive as to ORD-1" in done.out.splitlines()[-1]


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
    assert (
        "the program is late: it answered the handshake, and then gave no answer to the first "
        'scenario, {"scenario":{}}, within 0.6 s, three times --patience; a longer one might help'
    ) in done.out
    name = name_of(f"exec:sh -c {command}")
    assert done.out.splitlines()[-1].startswith(f"{name}: inconclusive after 0 of ")


def test_a_foreign_program_that_talks_nonsense_is_no_backend(outside: Folder) -> None:
    """What never said a word that can be read says nothing of an operator."""
    done = outside.asyncwait("verify", "--exec", "yes", "--count", "1", "--rule", "ORD-1")

    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: backend 'exec:yes': the first line must be empty or say ")
    assert done.err.endswith(": JSON is malformed: invalid character (byte 0)\n")


def test_a_foreign_program_that_begins_to_talk_nonsense_is_an_error(outside: Folder) -> None:
    """What is no trace says nothing of an operator either."""
    done = outside.asyncwait("verify", "--exec", "sh -c 'echo; yes'", "--count", "1")

    assert done.code == 3
    assert "the reply is no trace: JSON is malformed: invalid character (byte 0)" in done.out


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
    assert done.stderr == (
        "error: RuntimeError: out of order; this is a bug of asyncwait; "
        "set ASYNCWAIT_TRACEBACK=1 to see its traceback\n"
    )


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
    told = f"error: ended by {number.name}; what was told so far is no verdict\n"
    assert said.endswith(told) == (number in {signal.SIGHUP, signal.SIGTERM})
    wait_until_gone(f"TEST_MARK={outside.path}")
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("missing", ["click", "rich"])
def test_a_missing_extra_of_the_suite_is_named(outside: Folder, missing: str) -> None:
    """Without what the commands need, one line says what to install."""
    outside.block(missing)

    done = outside.asyncwait("verify", "reference-asyncio")

    assert (done.code, done.out) == (2, "")
    assert done.err == (
        f"error: {missing} is not installed; try: pip install 'asyncwait[conformance]'\n"
    )


@pytest.mark.parametrize("backend", ["emitter-trio", "pool-plain-trio", "reference-trio"])
def test_a_missing_trio_is_named(outside: Folder, backend: str) -> None:
    """A backend on the loop that is not installed says so before anything is played."""
    outside.block("trio")

    done = outside.asyncwait("verify", backend)

    assert (done.code, done.out) == (2, "")
    assert done.err == "error: trio is not installed; try: pip install 'asyncwait[trio]'\n"


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
    here.append("threads")
    no_flink = "not verified: jpype1 is not installed; try: pip install 'asyncwait[flink]'"
    no_spark = "not verified: pyarrow is not installed; try: pip install 'asyncwait[spark]'"
    assert done.code == 3
    no_trio = "not verified: trio is not installed; try: pip install 'asyncwait[trio]'"
    assert [line.split(":")[:2] for line in lines[:7]] == [
        [name, " conformant" if "-plain" in name else " conformant as to ORD-5 (1 rule passes)"]
        for name in here
    ]
    assert lines[7:] == [
        f"emitter-plain-trio: {no_trio}",
        f"emitter-trio: {no_trio}",
        f"flink: {no_flink}",
        f"flink-keyed: {no_flink}",
        f"pool-plain-trio: {no_trio}",
        f"pool-trio: {no_trio}",
        f"reference-plain-trio: {no_trio}",
        f"reference-trio: {no_trio}",
        f"spark: {no_spark}",
        f"spark-dataframe: {no_spark}",
    ]


def test_what_was_asked_for_by_name_has_to_be_there(outside: Folder) -> None:
    """Although --all would leave it out."""
    outside.block("trio", "pyarrow")

    done = outside.asyncwait("verify", "--all", "pool-trio", "--count", "1", "--rule", "ORD-1")

    assert (done.code, done.out) == (2, "")
    assert done.err == "error: trio is not installed; try: pip install 'asyncwait[trio]'\n"


def test_failures_stay_as_they_are_on_demand(outside: Folder) -> None:
    """Shrinking takes seconds, which the log says."""
    # No example in this mode has this capacity, so only generated scenarios find out.
    at_six = TROUBLED.replace("capacity == 8", "capacity == 6 and config.mode == 'ordered'")
    outside.write("gate.py", at_six.replace("{trouble}", "raise OSError"))
    shrinking = "gate:backend: shrinking failures, for 8 s at most: of 1 rule"

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
    entries = [EntryPoint(name, value, _installed.GROUP) for name, value in values.items()]
    monkeypatch.setattr(_installed, "entry_points", lambda group: entries)


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


def test_an_unknown_subcommand_is_a_usage_error() -> None:
    """Nothing is loaded for it."""
    done = run("no-such-command")

    assert done.exit_code == 2
    assert "No such command 'no-such-command'" in done.stderr


def test_the_shipped_subcommands_are_listed() -> None:
    """By name; the journal's comes by its entry point."""
    listed = run("--help").stdout

    names = ["backends", "compare", "journal", "play", "report", "rules", "vectors", "verify"]
    assert [line.split()[0] for line in listed.partition("Commands:\n")[2].splitlines()] == names
