"""All there is to know of a rule stands on one page."""

import pytest
from click.testing import CliRunner, Result
from outside import Folder

from asyncwait.conformance._commands import asyncwait
from asyncwait.spec.rules import mailbox_rules, rules

BOTH = [*rules().values(), *mailbox_rules().values()]


def run(*arguments: str) -> Result:
    """Run the command in this process."""
    return CliRunner().invoke(asyncwait, arguments)


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
