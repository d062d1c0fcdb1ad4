"""All there is to know of a rule stands on one page."""

import pytest
from click.testing import CliRunner, Result
from outside import Folder

from asyncwait.backends.faulty import FAULTY
from asyncwait.backends.faulty.mailbox import FAULTY_MAILBOXES
from asyncwait.conformance._commands import asyncwait
from asyncwait.conformance.areas import EXAMPLES, WITNESSES
from asyncwait.conformance.mailbox import MAILBOX_EXAMPLES, MAILBOX_WITNESSES
from asyncwait.spec.rules import mailbox_rules, rules

BOTH = [*rules().values(), *mailbox_rules().values()]


def run(*arguments: str) -> Result:
    """Run the command in this process."""
    return CliRunner().invoke(asyncwait, arguments)


def flat(text: str) -> str:
    """A text without the ends of its lines."""
    return " ".join(text.split())


def test_a_rule_is_shown_whole() -> None:
    """What holds, why, what Flink does, examples, two runs, and what breaks it, in this order."""
    rule = rules()["TIME-6"]
    (witness,) = (w for w in WITNESSES if w.rule == rule.id)
    example = next(e for e in EXAMPLES if rule.id in e.rules)
    faulty = next(f for f in FAULTY if f.rule == rule.id)

    done = run("rules", rule.id)

    assert done.exit_code == 0, done.output
    parts = [
        f"{rule.id} {rule.title} MUST, since {rule.since} {rule.sentence} Why: {rule.why} ",
        f"If it fails: {rule.hint} ",
        "Needs: timeouts Source: Flink TO-11; TO-6 (departed from) ",
        "- TO-6: there an answer after the deadline wins if ",
        f"- {example.name}: {flat(example.sentence)} ",
        "The smallest of them on reference-asyncio: asyncwait play reference-asyncio ",
        "A run that breaks it, written by hand: ",
        f">>> {witness.text} ",
        "Made to break it (asyncwait verify NAME --rule TIME-6): ",
        f"- faulty-{faulty.name}: {faulty.sentence} ",
    ]
    shown = flat(done.stdout) + " "
    assert [part for part in parts if part not in shown] == []
    places = [shown.index(part) for part in parts]
    assert places == sorted(places)


def test_what_a_rule_needs_is_shown() -> None:
    """Profiles and finer capabilities; most need neither."""
    done = run("rules", "CAP-6", "ORD-5", "CAP-6")

    assert done.stdout.count("\nNeeds: event-time or snapshots\n") == 1
    assert done.stdout.count("\nNeeds: nothing but the core\n") == 1


def test_a_rule_of_the_mailbox_is_shown_whole() -> None:
    """In the notation of its programs."""
    (witness,) = (w for w in MAILBOX_WITNESSES if w.rule == "MBX-4")
    example = next(e for e in MAILBOX_EXAMPLES if "MBX-4" in e.rules)
    faulty = next(f for f in FAULTY_MAILBOXES if f.rule == "MBX-4")

    done = run("rules", "MBX-4")

    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("MBX-4 First sent, first taken\nMUST, since 0.1\n")
    assert f"- {example.name}: {flat(example.sentence)}" in flat(done.stdout)
    assert "\n  steps:   a.execute:one b.execute:two execute:three run\n" in done.stdout
    assert f"\n  >>> {witness.text}\n" in done.stdout
    name = f"asyncwait.backends.faulty.mailbox:OPEN.{faulty.change.__name__}"
    assert f"- {name}: {faulty.sentence}" in flat(done.stdout)


def test_the_run_of_another_backend_is_drawn() -> None:
    """With what it breaks, if it breaks the rule there."""
    done = run("rules", "ORD-1", "--backend", "faulty-knows-one-mode")

    drawn = done.stdout.partition("The smallest of them on faulty-knows-one-mode:")[2]
    ran, by_hand, _ = drawn.partition("A run that breaks it")
    assert ">>> results of Record" in ran
    assert by_hand


def test_a_rule_that_does_not_apply_to_a_backend_is_shown_without_a_run() -> None:
    """It says what is missing."""
    done = run("rules", "TIME-5", "--backend", "threads")

    assert done.exit_code == 0, done.output
    assert "on threads:\n  not applicable: it needs cancel-calls\n" in done.stdout


def test_a_rule_is_shown_in_any_letters() -> None:
    """Nobody looks up how ids are written."""
    assert run("rules", "cap-6").stdout == run("rules", "CAP-6").stdout
    assert run("rules", "Mbx-4").stdout == run("rules", "MBX-4").stdout


@pytest.mark.parametrize("area", ["END", "end", "End", "MBX", "mbx"])
def test_an_area_is_listed_with_a_sentence_on_each_rule(area: str) -> None:
    """And how there is more to see of one."""
    done = run("rules", area)

    assert (done.exit_code, done.stderr) == (0, "")
    expected = [rule for rule in BOTH if rule.area == area.upper()]
    *listed, nothing, more = done.stdout.splitlines()
    assert listed == [f"{r.id:8} {r.level:6} {r.title}: {r.sentence}" for r in expected]
    assert nothing == ""
    assert more == f"one of them in full: asyncwait rules {area.upper()}-1"


def test_what_others_have_made_to_break_a_rule_is_listed(outside: Folder) -> None:
    """A family says so by two attributes of its factories; one that says nothing is none."""
    outside.write(
        "families.py",
        """
        class Slow:
            rule, sentence = "HOLD-4", "Takes its time."

        def members(): return {"slow-one": Slow(), "plain-one": lambda: None}
        """,
    )
    outside.write(
        "theirs-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: theirs\nVersion: 1\n"
    )
    outside.write(
        "theirs-1.dist-info/entry_points.txt",
        "[asyncwait.backend_families]\nwild = families:members\n",
    )

    done = outside.asyncwait("rules", "HOLD-4")

    assert done.code == 0, done.err
    assert "\n- slow-one: Takes its time.\n" in done.out
    assert "plain-one" not in done.out
