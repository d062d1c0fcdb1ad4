"""What of a verdict stands in a report."""

from pathlib import Path

import msgspec
from reports import FAILURE, report, result

from asyncwait.conformance.report import Evidence, read_lines, report_to_lines, timeline_lines
from asyncwait.conformance.verdict import Case, Failure, Verdict
from asyncwait.spec import Record
from asyncwait.spec.rules import rules
from asyncwait.spec.scenario import Scenario, Timed


def failure(inputs: int) -> Failure:
    """A failure in a scenario of so many inputs; that it fits the trace is of no matter here."""
    long = Scenario(inputs=tuple(Timed(0, Record(n)) for n in range(inputs)))
    return Failure(Case(f"with-{inputs}", long, long), FAILURE.trace, FAILURE.violation)


def test_a_scenario_that_would_fill_the_report_is_drawn_in_words() -> None:
    long = result("ORD-1", "fail", failure=failure(2_000))

    (run,) = report(Verdict("mine", (long,), 2, 2)).runs

    (played,) = run.played
    assert (played.planned, played.scenario, played.trace) == (None, None, None)
    assert played.left_out.startswith("scenario and trace: ")
    assert "40  >>> it is wrong" in [line.strip() for line in played.drawn]
    assert played.replay == f"asyncwait play mine {played.id}"
    assert list(timeline_lines(played, Evidence(0, "", 0))) == [
        f"| {line}" for line in played.drawn
    ]


def test_evidence_has_a_bound_and_every_rule_comes_before_a_second_piece() -> None:
    count = 40
    broken = [
        msgspec.structs.replace(
            result(rule, "fail"),
            failures=tuple(failure(400 + count * piece + n) for piece in range(3)),
        )
        for n, rule in enumerate(list(rules())[:count])
    ]

    told = report(Verdict("mine", tuple(broken), 2, 2))

    (run,) = told.runs
    assert len(report_to_lines(told)) < 1_200_000
    assert all(len(r.evidence) >= 1 for r in run.results)
    assert {len(r.evidence) + r.left_out for r in run.results} == {3}
    assert any(r.left_out for r in run.results)


def test_a_newer_rule_that_does_not_decide_leaves_the_report_as_it_is(tmp_path: Path) -> None:
    newer = [
        msgspec.structs.replace(result(rule, status), is_newer=True)
        for rule, status in (("ORD-1", "fail"), ("ORD-2", "untested"))
    ]
    said = Verdict("mine", (*newer, result("ORD-3", "pass")), 2, 2)

    (tmp_path / "r.jsonl").write_bytes(report_to_lines(report(said)))

    told = read_lines(tmp_path / "r.jsonl")
    assert (told.word, told.doubt) == ("conformant", "")
    assert [(r.status, r.forgiven) for r in told.runs[0].results] == [
        ("fail", True),
        ("untested", True),
        ("pass", False),
    ]
