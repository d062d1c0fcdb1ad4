"""What a verification prints."""

import shlex
from io import StringIO

import msgspec
from rich.console import Console

from asyncwait.conformance.harness import play
from asyncwait.conformance.judging import Violation
from asyncwait.conformance.report import (
    area_table,
    backend_table,
    failure_lines,
    print_report,
    rule_lines,
)
from asyncwait.conformance.timeline import draw_lanes
from asyncwait.conformance.verdict import Case, Cause, Failure, RuleResult, Status, Verdict
from asyncwait.reference import open_operator
from asyncwait.spec import Record
from asyncwait.spec.rules import areas, rules
from asyncwait.spec.scenario import Scenario, Timed, scenarios_from_json, scenarios_to_json

SCENARIO = Scenario(inputs=(Timed(0, Record("a")),))
CASE = Case("one-record", SCENARIO, SCENARIO)
FAILURE = Failure(CASE, play(open_operator, SCENARIO), Violation("it is wrong", 0))


def result(rule: str, status: Status, note: str = "") -> RuleResult:
    """A result of one rule."""
    failures = (FAILURE,) if status == "fail" else ()
    return RuleResult(rules()[rule], status, 1, len(failures), failures, note)


def printed(*verdicts: Verdict) -> str:
    """The whole report."""
    console = Console(width=100, file=StringIO(), record=True)
    print_report(verdicts, console)
    return console.export_text()


def test_a_failure_shows_rule_sentence_scenario_and_timeline() -> None:
    """In this order, so that it can be read without the source of the suite."""
    rule = rules()["ORD-1"]

    assert list(rule_lines("mine", result("ORD-1", "fail"))) == [
        f"mine: ORD-1 {rule.title}: fail in 1 scenario",
        f"  MUST: {rule.sentence}",
        f"  why it matters: {rule.why}",
        f"  if it fails: {rule.hint}",
        f"  one-record ({CASE.id}): it is wrong (at 0 ms)",
        "  ordered, capacity 4, no timeout, coroutine",
        *(f"  {line}" for line in draw_lanes(SCENARIO, FAILURE.trace, FAILURE.violation)),
        "      ms  input                   calls                             output",
        "       0  'a'",
        "                                  #0 'a' called",
        "                                  #0 gave 'a'",
        "          end",
        "          closed",
        "                                                                    'a'",
        "                                                                    (waits)",
        "       0  >>> it is wrong",
        "       0  finished",
        f"  again: asyncwait play mine {CASE.id}",
        "",
    ]


def test_five_failing_rules_are_drawn_and_the_others_named() -> None:
    """A wholly broken operator does not bury its author."""
    broken = list(rules())[:8]
    verdict = Verdict("mine", tuple(result(rule, "fail") for rule in broken), 1, 1)

    lines = list(failure_lines(verdict))

    named = ", ".join(f"{rule} ({CASE.id})" for rule in broken[5:])
    assert sum(line.startswith("  MUST: ") for line in lines) == 5
    assert lines[-2:] == [
        f"mine: also broken: {named}; see one with --rule ID",
        f"mine: {HINT}",
    ]


def test_causes_are_drawn_first_and_name_what_they_explain() -> None:
    """Which is then neither drawn nor named once more."""
    causes = (Cause("ORD-4", ("ELEM-1", "ELEM-2")), Cause("END-8"))
    broken = ("ELEM-1", "ELEM-2", "ORD-4", "END-8")
    verdict = Verdict("mine", tuple(result(r, "fail") for r in broken), 1, 1, causes=causes)

    lines = list(failure_lines(verdict))

    titles = [line for line in lines if "fail in" in line]
    assert [title.split()[1] for title in titles] == ["ORD-4", "END-8"]
    assert "also broken" not in "".join(lines)
    assert lines[-2] == f"mine: likely cause: ORD-4 {rules()['ORD-4'].title}; further causes: END-8"
    assert lines[lines.index("") - 1] == (
        "  broken only where ORD-4, or a rule above it, is broken too: ELEM-1, ELEM-2"
    )


def again(case: Case, kept: frozenset[str] = frozenset()) -> list[str]:
    """The lines of a failure that say how to have it again."""
    failure = msgspec.structs.replace(FAILURE, case=case)
    failed = msgspec.structs.replace(result("ORD-1", "fail"), failures=(failure,))
    lines = [line.strip() for line in rule_lines("my gate:backend", failed, kept)]
    return lines[lines.index("0  finished") + 1 : -1]


HINT = (
    "asyncwait play --here plays in the process of the command: print and breakpoint() work; "
    "--trace prints each event, --json - writes the scenario as JSON"
)
GENERATED = Case("generated 7 of seed 0", SCENARIO, SCENARIO, generated=True)


def test_what_is_kept_here_is_played_again_by_its_id() -> None:
    """As an example is anywhere."""
    assert again(GENERATED, frozenset({GENERATED.id})) == [
        f"again: asyncwait play 'my gate:backend' {GENERATED.id}"
    ]
    assert again(CASE) == [f"again: asyncwait play 'my gate:backend' {CASE.id}"]


def test_what_is_read_elsewhere_holds_the_scenario_itself() -> None:
    """In a form that a shell takes as it stands."""
    _, anywhere = again(GENERATED)

    *command, scenario = shlex.split(anywhere.removeprefix("anywhere: "))
    assert command == ["asyncwait", "play", "my gate:backend"]
    assert scenarios_from_json(scenario.encode()) == (SCENARIO,)


def test_a_scenario_that_would_bury_the_report_is_left_out_of_it() -> None:
    """It is found by its id where it was played, or is played again."""
    large = Scenario(inputs=tuple(Timed(0, Record(n)) for n in range(200)))
    size = len(scenarios_to_json((large,)))

    assert again(Case("large", large, SCENARIO, generated=True))[1:] == [
        f"anywhere: verify again, then as above: its JSON has {size:,} characters"
    ]


def test_what_a_backend_plays_in_a_way_of_its_own_has_no_command() -> None:
    """Nobody could ask it for just that."""
    assert again(Case("one, in real time", SCENARIO, SCENARIO, repeatable=False)) == [
        "played in a way of the backend's own, which a verification alone repeats"
    ]


def test_errors_are_told_apart_from_failures() -> None:
    """The first five, and how many more there are."""
    verdict = Verdict("mine", (), 0, 7, tuple(f"run {number}: no trace" for number in range(7)))

    assert list(failure_lines(verdict)) == [
        *(f"mine: error: run {number}: no trace" for number in range(5)),
        "mine: and 2 more errors",
    ]


def test_what_was_not_tested_says_why() -> None:
    """Each such reason has a line; why the suite has stopped is said once."""
    verdict = Verdict(
        "mine",
        (
            result("ORD-1", "untested", "it never applied"),
            result("ORD-2", "blocked", "3 runs died"),
            result("ORD-3", "error", "one: its check failed: KeyError: 7"),
            result("ORD-4", "held", "3 runs died"),
            result("ORD-5", "blocked", "3 runs died"),
            result("WM-1", "untested", "it never applied"),
            result("SNAP-8", "not-applicable", "needs on-demand-snapshot"),
            result("TIME-5", "not-applicable", "needs cancel-calls"),
            result("SNAP-9", "not-applicable", "needs on-demand-snapshot"),
        ),
        1,
        2,
        stopped="3 runs died",
    )

    assert list(failure_lines(verdict)) == [
        "mine: stopped: 3 runs died",
        "mine: untested (it never applied): ORD-1, WM-1",
        "mine: blocked: ORD-2, ORD-5",
        "mine: error (one: its check failed: KeyError: 7): ORD-3",
        "mine: not applicable (needs on-demand-snapshot): SNAP-8, SNAP-9",
        "mine: not applicable (needs cancel-calls): TIME-5",
    ]


def test_the_table_counts_by_area_what_passes_of_what_applies() -> None:
    """With a column for each backend, and a row for each area that is judged."""
    first = Verdict(
        "first", (result("ORD-1", "pass"), result("ORD-2", "fail"), result("CAP-1", "pass")), 9, 9
    )
    second = Verdict("second", (result("ORD-1", "pass"), result("ORD-2", "not-applicable")), 9, 9)

    table = area_table([first, second])

    cells = [[str(cell) for cell in column.cells] for column in table.columns]
    assert [str(column.header) for column in table.columns] == ["area", "first", "second"]
    assert [column[0] for column in cells] == [f"ORD  {areas()['ORD'].title}", "1/2", "1/1"]
    assert [column[1] for column in cells][1:] == ["1/1", "-"]
    assert [column[-1] for column in cells] == ["verdict", "not conformant", "conformant"]


def test_many_backends_are_rows_and_no_word_is_broken() -> None:
    """Each with the areas that do not pass; the widest name has its place."""
    passes = result("ORD-1", "pass")
    names = [f"somebody.elses.operators:backend_{number}" for number in range(5)]
    bad = Verdict(names[4], (passes, result("CAP-1", "fail"), result("CAP-2", "pass")), 9, 9)
    verdicts = [*(Verdict(name, (passes,), 9, 9) for name in names[:4]), bad]

    table = backend_table(verdicts)
    lines = printed(*verdicts).splitlines()

    cells = [[str(cell) for cell in column.cells] for column in table.columns]
    assert cells[0] == names
    assert cells[1:] == [
        ["conformant"] * 4 + ["not conformant"],
        ["1/1"] * 4 + ["2/3"],
        ["9"] * 5,
        ["0.0"] * 5,
        [""] * 4 + ["CAP\N{NO-BREAK SPACE}1/2"],
    ]
    assert sum(name in line and "onformant" in line for name in names for line in lines[:-5]) == 5


def test_the_table_counts_nothing_as_passed_if_a_part_was_played() -> None:
    """A rule that held so far is told as such."""
    verdict = Verdict("mine", (result("ORD-1", "held"), result("ORD-2", "blocked")), 1, 2)

    cells = [str(cell) for cell in area_table([verdict]).columns[1].cells]

    assert cells[0] == "1 held so far of 2"


def test_a_report_ends_with_one_line_for_each_backend() -> None:
    """What a person who scrolls down sees first."""
    good = Verdict("good", (result("ORD-1", "pass"),), 1, 1)
    bad = Verdict("bad", (result("ORD-1", "fail"),), 1, 1)

    assert printed(good, bad).splitlines()[-2:] == [
        "good: conformant as to ORD-1 (1 rule passes)",
        "bad: not conformant as to ORD-1 (0 rules pass, 1 fail)",
    ]


def test_a_result_that_looks_like_markup_is_printed_as_it_is() -> None:
    """Values of users are text."""
    verdict = Verdict("mine", (), 0, 1, ("got [bold]x[/bold]",))

    assert "mine: error: got [bold]x[/bold]" in printed(verdict)
