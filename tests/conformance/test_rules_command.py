"""All there is to know of a rule stands on one page."""

from outside import SOUND, Folder, run

from asyncwait.spec.rules import carry_rules, hedge_rules, mailbox_rules, rules

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


def test_the_rules_that_do_not_apply_to_a_backend_are_listed_with_what_they_need(
    outside: Folder,
) -> None:
    outside.write(
        "gate.py",
        SOUND.replace("(open_operator)", "(open_operator, profiles=['ordered', 'snapshots'])"),
    )

    lines = outside.here("rules", "--backend", "gate:backend").out.splitlines()
    mailbox = run("rules", "MBX", "--backend", "pool-asyncio").stdout.splitlines()

    apart = {line.split()[0]: line for line in lines if "not applicable" in line}
    assert [line for line in lines if line.split()[0] not in apart] == [
        line for line in run("rules").stdout.splitlines() if line.split()[0] not in {*apart, *APART}
    ]
    assert apart["REST-3"].endswith(" (not applicable: needs restore, event-time)")
    assert "CAP-6" not in apart
    assert [line.split()[0] for line in mailbox if "(not applicable: " in line] == [
        *mailbox_rules()
    ]
    assert run("rules", "--backend", "nobody").exit_code == 2
