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
    print_report,
    rule_lines,
)
from asyncwait.conformance.verdict import Case, Failure, RuleResult, Status, Verdict
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


def again(case: Case, kept: frozenset[str] = frozenset()) -> list[str]:
    """The lines of a failure that say how to have it again."""
    failure = msgspec.structs.replace(FAILURE, case=case)
    failed = msgspec.structs.replace(result("ORD-1", "fail"), failures=(failure,))
    lines = [line.strip() for line in rule_lines("my gate:backend", failed, kept)]
    return lines[lines.index("0  finished") + 1 : -1]


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

    (anywhere,) = again(Case("large", large, SCENARIO, generated=True))[1:]
    assert f" {size:,} characters" in anywhere


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
