"""`verify` by what stands in files: the project's own, and one of expected failures."""

import re
import sys
from datetime import date

import pytest
from outside import SOUND, Done, Folder

from asyncwait.conformance.expected_failures.file import entries_of

# Wrong in one example, and in what is like it.
GATE = """
from contextlib import asynccontextmanager

from msgspec.structs import replace

from asyncwait.conformance import Lacks, stream_backend
from asyncwait.reference import open_operator as sound


@asynccontextmanager
async def open_operator(config, fn, elements, restore=None):
    if getattr(config, "mode", "") == "ordered" and config.capacity == 4:
        config = replace(config, mode="unordered")
    async with sound(config, fn, elements, restore) as results:
        yield results


def backend():
    return stream_backend(open_operator, lacks={"copies": Lacks("not yet", "with 2.0")})
"""

ENTRY = """
[[expected-failure]]
rule = "ORD-1"
kind = "unsupported"
reason = "we promise no order"
"""


@pytest.fixture
def gate(outside: Folder) -> Folder:
    """A project with a backend that breaks ORD-1."""
    outside.write("gate.py", GATE)
    return outside


def verify(folder: Folder, *arguments: str) -> Done:
    """Verify with as few scenarios as may be."""
    return folder.asyncwait("verify", "--count", "1", "--no-shrink", *arguments)


def last(done: Done) -> str:
    """The verdict."""
    return done.out.splitlines()[-1]


def test_a_stale_entry_fails_and_is_named(gate: Folder) -> None:
    """Of a rule that does not apply, and of one that holds."""
    others = (ENTRY.replace("ORD-1", rule) for rule in ("COPY-1", "END-8"))
    gate.write("known.toml", ENTRY + "".join(others))

    done = verify(
        gate, "gate:backend", "--expected-failures", "known.toml",
        *("--rule", "ORD-1", "--rule", "END-8", "--rule", "COPY-1"),
    )  # fmt: skip

    assert done.code == 1
    assert (
        "gate:backend: expected failure that matches nothing: COPY-1: the rule does not "
        "apply: it needs copies\n"
    ) in done.out
    assert (
        "END-8 A run comes to its end: unexpected-pass: we promise no order: it holds, so take its "
        "entry out of known.toml\n"
    ) in done.out
    assert re.search(
        r" \(0 rules pass, 1 expected-fail \[1 unsupported\] in \d+ scenarios, 1 unexpected-pass, "
        r"1 not-applicable, expected failures that match nothing: COPY-1\)$",
        last(done),
    )


@pytest.mark.parametrize("updates", [(), ("--update-expected-failures",)])
def test_a_rule_that_there_is_not_is_wrong_usage(gate: Folder, updates: tuple[str, ...]) -> None:
    """Before anything is played, and nothing is written."""
    file = gate.write("known.toml", ENTRY + ENTRY.replace("ORD-1", "end-8"))
    before = file.read_text()

    done = verify(gate, "gate:backend", "--expected-failures", "known.toml", *updates)

    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "error: known.toml: entry 2: rule must be the id of a rule; see: asyncwait rules, "
        "got 'end-8' (str); did you mean END-8 or END-18 or END-9?\n"
    )
    assert file.read_text() == before


def test_an_expected_failure_that_is_seldom_seen_may_not_show(gate: Folder) -> None:
    """It is told in a line, and decides nothing."""
    seldom = ENTRY.replace("ORD-1", "END-8") + "seldom = true\n"
    gate.write("known.toml", ENTRY + seldom)

    done = verify(
        gate,
        "gate:backend",
        "--expected-failures",
        "known.toml",
        "--rule",
        "ORD-1",
        "--rule",
        "END-8",
    )

    assert done.code == 0, done.out
    assert (
        "gate:backend: seldom, not seen with seed 0: END-8; another seed may show it\n" in done.out
    )
    assert ": conformant with expected failures: " in last(done)


def test_an_expected_failure_that_has_expired_counts_no_more(gate: Folder) -> None:
    """The failure is drawn as any other, and it says since when."""
    gate.write("known.toml", ENTRY + "expires = 2001-02-03\n")

    done = verify(gate, "gate:backend", "--expected-failures", "known.toml", "--rule", "ORD-1")

    assert done.code == 1
    assert "\n  note: its expected failure expired on 2001-02-03: we promise no order\n" in done.out
    assert last(done).endswith(
        "(0 rules pass, 1 fail, expected failures expired: ORD-1 on 2001-02-03, "
        "366 of 539 scenarios can show it)"
    )


def test_a_gate_needs_no_arguments_and_its_expected_failures_write_themselves(gate: Folder) -> None:
    """From red to conformant with expected failures, below the folder of the project file, too."""
    file = gate.write(
        "pyproject.toml",
        """
        [tool.asyncwait]
        backend = "gate:backend"
        spec = "0.1"
        expected-failures = "known.toml"
        count = 1
        """,
    )
    taken = f"{file} [tool.asyncwait]: backend gate:backend, spec 0.1, expected-failures known.toml"

    first = gate.asyncwait("verify", "--update-expected-failures", "--no-shrink")

    assert first.code == 1
    assert first.err.startswith(f"{taken}, count 1\n")
    assert "\nknown.toml: ORD-1 added: seen in " in first.err
    written = entries_of((gate.path / "known.toml").read_text(), "known.toml")
    assert "ORD-1" in {entry.rule for entry in written}
    assert {entry.kind for entry in written} == {"regression"}
    assert all(entry.expires and entry.expires > date(2026, 1, 1) for entry in written)

    (gate.path / "below").mkdir()
    second = Folder(gate.path / "below").asyncwait("verify", "--no-shrink", "--seed", "0")

    assert second.code == 0, second.out + second.err
    assert f" {len(written)} expected-fail [{len(written)} regression] in " in last(second)


def test_an_expected_failure_for_no_backend_of_the_project_is_wrong_usage(gate: Folder) -> None:
    """All of them are to be verified, so nobody would ever show it; no report is written."""
    gate.write("known.toml", ENTRY.replace("rule", "backend = 'gate:bakend'\nrule"))
    gate.write(
        "pyproject.toml",
        "[tool.asyncwait]\nbackend = 'gate:backend'\nexpected-failures = 'known.toml'\n",
    )

    done = verify(gate, "--rule", "END-8", "--report", "report")

    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "error: known.toml: entry 1 (ORD-1): the backend 'gate:bakend' is none of the project's; "
        "did you mean gate:backend?\n"
    )
    assert not (gate.path / "report").exists()


def test_an_expected_failure_for_a_backend_that_is_not_verified_is_told(gate: Folder) -> None:
    """The file may serve several backends, so it decides nothing: report and exit code agree."""
    gate.write("known.toml", ENTRY.replace("rule", "backend = 'gate:other'\nrule"))

    done = verify(
        gate,
        "gate:backend",
        "--expected-failures",
        "known.toml",
        "--rule",
        "END-8",
        "--report",
        "report",
    )

    assert done.code == 0
    assert (
        "known.toml: entry 1 (ORD-1): the backend 'gate:other' is not verified here"
        in done.err.splitlines()
    )
    assert '"message":"conformant: ' in (gate.path / "report" / "badge.json").read_text()


OUT_OF_ORDER = """
[{"capacity": 4, "inputs": [{"at": 0, "element": {"type": "record", "value": "a"}},
                            {"at": 0, "element": {"type": "record", "value": "b"}}],
  "plans": [{"value": "a", "steps": [{"after": 40, "results": ["a"]}]}]}]
"""


@pytest.mark.parametrize("where", [(), ("--here",)], ids=["apart", "here"])
def test_single_runs_are_judged_with_the_expected_failures_of_the_project(
    gate: Folder, where: tuple[str, ...]
) -> None:
    """As they are where it is verified: the file counts where it is there, and has to be right."""
    gate.write("one.json", OUT_OF_ORDER)
    gate.write(
        "pyproject.toml",
        "[tool.asyncwait]\nbackend = 'gate:backend'\nexpected-failures = 'known.toml'\n",
    )

    before = gate.asyncwait("play", *where, "gate:backend", "one.json")
    gate.write("known.toml", ENTRY)
    expected = gate.asyncwait("play", *where, "gate:backend", "one.json")
    gate.write("known.toml", ENTRY.replace("ORD-1", "ORD-77"))
    wrong = gate.asyncwait("play", *where, "gate:backend", "one.json")

    assert [before.code, expected.code, wrong.code] == [1, 0, 2]
    assert "expected failure" not in before.out
    assert re.search(
        r"^ORD-1 broken: .* \(an expected failure: we promise no order\)$",
        expected.out,
        re.MULTILINE,
    )
    assert wrong.err.startswith("error: known.toml: entry 1: rule must be the id of a rule; ")


def test_a_program_may_have_expected_failures_too(outside: Folder) -> None:
    """By the name that its verdict has."""
    program = f"exec:{sys.executable} program.py"
    outside.write("program.py", PROGRAM)
    outside.write("known.toml", ENTRY.replace("rule", f"backend = '{program}'\nrule"))

    done = outside.asyncwait(
        "verify", "--exec", program.removeprefix("exec:"), "--count", "1", "--rule", "ORD-1",
        "--expected-failures", "known.toml", "--no-shrink",
    )  # fmt: skip

    assert done.code == 0, done.out + done.err
    assert re.search(
        r": conformant with expected failures as to ORD-1 \(0 rules pass, 1 expected-fail "
        r"\[1 unsupported\] in \d+ scenarios, self-reported, 366 of 539 scenarios can show it\)$",
        last(done),
    )


PROGRAM = """
import sys

import msgspec

from asyncwait.conformance.harness import play
from asyncwait.reference import open_operator
from asyncwait.spec.scenario import scenarios_from_json


def unordered(config, fn, elements, restore=None):
    if getattr(config, "mode", "") == "ordered":
        config = msgspec.structs.replace(config, mode="unordered")
    return open_operator(config, fn, elements, restore)


for line in sys.stdin.buffer:
    (scenario,) = scenarios_from_json(b"[" + line[len(b'{"scenario":') : -2] + b"]")
    reply = msgspec.json.encode({"trace": play(unordered, scenario)})
    sys.stdout.buffer.write(reply + b"\\n")
    sys.stdout.buffer.flush()
"""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("--update-expected-failures",),
            "--update-expected-failures: name the file with --expected-failures",
        ),
        (
            ("--update-expected-failures", "--rule", "ORD-1"),
            "--update-expected-failures and --rule contradict each other: give one of them",
        ),
        (
            ("--expected-failures", "none.toml"),
            (
                "expected failures: none.toml can't be read: No such file or directory; "
                "--update-expected-failures writes it"
            ),
        ),
    ],
)
def test_what_cant_be_done_is_wrong_usage(
    outside: Folder, arguments: tuple[str, ...], said: str
) -> None:
    """Before anything is played."""
    done = outside.asyncwait("verify", "reference-asyncio", *arguments)

    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert "judged" not in done.err


@pytest.mark.parametrize(("before", "so"), [(ENTRY, "is left as it is"), (None, "is not written")])
def test_a_run_that_is_cut_changes_no_file(outside: Folder, before: str | None, so: str) -> None:
    """What was not played may be broken or not; what to do is told."""
    file = outside.path / "known.toml"
    if before is not None:
        file.write_text(before)
    dies = SOUND.replace(
        "def backend", "import os\n\n\ndef dies(*_):\n    os._exit(3)\n\n\ndef backend"
    )
    outside.write("gate.py", dies.replace("(open_operator)", "(dies)"))

    done = verify(
        outside, "gate:backend", "--expected-failures", "known.toml", "--update-expected-failures"
    )

    assert re.search(
        rf"^known\.toml {so}: gate:backend was not played to its end: 3 runs blocked, died or "
        r"broke \(.*\); \d+ not played\. Mend that first, see the errors, and verify again$",
        done.err,
        re.MULTILINE,
    )
    assert (file.read_text() if file.exists() else None) == before


# Makes one rule newer than all others, in every process that runs in the folder.
NEWER = """
import asyncwait.spec.rules._registry as registry

read = registry._texts


def texts(book=""):
    found = read(book)
    if not book:
        head, mark, rest = found["02-order.md"].partition("## ORD-1 ")
        found["02-order.md"] = head + mark + rest.replace("since 0.1", "since 0.2", 1)
    return found


registry._texts = texts
"""


def test_a_newer_rule_is_advisory_until_the_backend_moves(gate: Folder) -> None:
    """It is played, judged, drawn and told; it decides for whoever claims the version."""
    gate.write("sitecustomize.py", NEWER)
    table = "[tool.asyncwait]\nbackend = 'gate:backend'\nspec = '0.1'\n"
    gate.write("pyproject.toml", table)
    rules = ("--rule", "ORD-1", "--rule", "END-8")

    pinned = verify(gate, *rules)

    assert pinned.code == 0, pinned.out
    assert (
        "\n  since 0.2: newer than what the backend claims, so it does not decide\n" in pinned.out
    )
    assert last(pinned).startswith("gate:backend: conformant to spec 0.1: core, ")
    assert last(pinned).endswith(
        " as to ORD-1, END-8 (1 rule passes); advisory: of 1 rule newer than 0.1 it fails 1: ORD-1"
    )

    gate.write("pyproject.toml", table.replace("0.1", "0.2"))
    moved = verify(gate, *rules)

    assert moved.code == 1
    assert last(moved).endswith(" as to ORD-1, END-8 (1 rule passes, 1 fail)")


def test_a_version_that_nobody_knows_is_wrong_usage(gate: Folder) -> None:
    """In one line."""
    gate.write("gate.py", GATE.replace("(open_operator,", "(open_operator, spec='0.7',"))

    done = verify(gate, "gate:backend")

    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "error: spec must be a version of the rules: 0.1, got '0.7' (str); "
        "a newer asyncwait may know it\n"
    )


def test_pytest_holds_the_backend_of_the_project(gate: Folder) -> None:
    """With its expected failures, which have to match."""
    gate.write(
        "pyproject.toml",
        "[tool.asyncwait]\nbackend = 'gate:backend'\nexpected-failures = 'known.toml'\ncount = 1\n",
    )
    gate.write("known.toml", ENTRY + ENTRY.replace("ORD-1", "COPY-1"))

    done = gate.pytest("--pyargs", "asyncwait.conformance", "--asyncwait", "-rxf")

    assert done.code == 1
    assert re.search(
        r"^XFAIL .*::test_rule\[ORD-1\] - .*we promise no order$", done.out, re.MULTILINE
    )
    assert "::test_every_expected_failure_matches" in done.out
    assert "\nCOPY-1: the rule does not apply: it needs copies\n" in done.out
    assert (
        " [tool.asyncwait]: backend gate:backend, expected-failures known.toml, count 1\n"
        in done.out
    )


def test_pytest_wants_one_backend(outside: Folder) -> None:
    """Each has a verdict of its own."""
    outside.write("pyproject.toml", "[tool.asyncwait]\nbackend = ['a:b', 'c:d']\n")

    done = outside.pytest("--pyargs", "asyncwait.conformance", "--asyncwait")

    assert done.code == 4
    assert done.err == (
        "ERROR: --asyncwait must be with one backend in [tool.asyncwait] of pyproject.toml; else "
        "name it with --asyncwait-backend, got 'a:b, c:d' (str)\n\n"
    )


def test_the_levels_of_what_is_missing_are_listed(gate: Folder) -> None:
    """Beside the rules that need it."""
    done = gate.asyncwait("rules", "COPY", "--backend", "gate:backend")

    assert done.code == 0
    assert all(
        line.endswith(" (not applicable: needs copies (not yet: with 2.0))")
        for line in done.out.splitlines()
        if line.startswith("COPY-")
    )
