"""What a verification prints."""

from io import StringIO

from rich.console import Console

from asyncwait.conformance.harness import play
from asyncwait.conformance.judging import Violation
from asyncwait.conformance.report import (
    area_table,
    failure_lines,
    print_report,
    rule_lines,
)
from asyncwait.conformance.verdict import Case, Failure, RuleResult, Status, Verdict
from asyncwait.reference import open_operator
from asyncwait.spec import Record
from asyncwait.spec.rules import areas, rules
from asyncwait.spec.scenario import Scenario, Timed

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
        f"mine: ORD-1 {rule.title}: fail in 1 scenarios",
        f"  MUST: {rule.sentence}",
        "  one-record: it is wrong (at 0 ms)",
        "  ordered, capacity 4, no timeout, coroutine",
        "      ms  input                   calls                             output",
        "       0  'a'",
        "          end",
        "          closed",
        "                                  #0 'a' called",
        "                                  #0 gave 'a'",
        "                                                                    'a'",
        "                                                                    (waits)",
        "       0  >>> it is wrong",
        "       0  finished",
        "",
    ]


def test_five_failing_rules_are_drawn_and_the_others_named() -> None:
    """A wholly broken operator does not bury its author."""
    broken = list(rules())[:8]
    verdict = Verdict("mine", tuple(result(rule, "fail") for rule in broken), 1, 1)

    lines = list(failure_lines(verdict))

    assert sum(line.startswith("  MUST: ") for line in lines) == 5
    assert lines[-1] == f"mine: also broken: {', '.join(broken[5:])}; see one with --rule ID"


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
    ]


def test_the_table_counts_by_area_what_passes_of_what_applies() -> None:
    """With a column for each backend."""
    first = Verdict(
        "first", (result("ORD-1", "pass"), result("ORD-2", "fail"), result("CAP-1", "pass")), 9, 9
    )
    second = Verdict("second", (result("ORD-1", "pass"), result("ORD-2", "not-applicable")), 9, 9)

    table = area_table([first, second])

    cells = [[str(cell) for cell in column.cells] for column in table.columns]
    row = list(areas()).index("ORD")
    assert [column.header for column in table.columns] == ["area", "first", "second"]
    assert [column[row] for column in cells] == [f"ORD  {areas()['ORD'].title}", "1/2", "1/1"]
    assert [column[list(areas()).index("CAP")] for column in cells][1:] == ["1/1", "-"]
    assert [column[-1] for column in cells] == ["verdict", "not conformant", "conformant"]


def test_the_table_counts_nothing_as_passed_if_a_part_was_played() -> None:
    """A rule that held so far is told as such."""
    verdict = Verdict("mine", (result("ORD-1", "held"), result("ORD-2", "blocked")), 1, 2)

    cells = [str(cell) for cell in area_table([verdict]).columns[1].cells]

    assert cells[list(areas()).index("ORD")] == "1 held so far of 2"


def test_a_report_ends_with_one_line_for_each_backend() -> None:
    """What a person who scrolls down sees first."""
    good = Verdict("good", (result("ORD-1", "pass"),), 1, 1)
    bad = Verdict("bad", (result("ORD-1", "fail"),), 1, 1)

    assert printed(good, bad).splitlines()[-2:] == [
        "good: conformant as to ORD-1 (1 rules pass)",
        "bad: not conformant as to ORD-1 (0 rules pass, 1 fail)",
    ]


def test_a_result_that_looks_like_markup_is_printed_as_it_is() -> None:
    """Values of users are text."""
    verdict = Verdict("mine", (), 0, 1, ("got [bold]x[/bold]",))

    assert "mine: error: got [bold]x[/bold]" in printed(verdict)
