"""What of a verdict stands in a report."""

from datetime import date
from pathlib import Path

import msgspec
from reports import CASE, FAILURE, SCENARIO, THEN, report, result, verdict

from asyncwait.conformance.report import (
    Evidence,
    draw,
    header_of,
    merged,
    read_lines,
    report_of,
    report_to_lines,
    timeline_lines,
    write_lines,
)
from asyncwait.conformance.verdict import Case, Cause, Failure, Status, Verdict
from asyncwait.spec import Record
from asyncwait.spec.rules import rules, spec_version
from asyncwait.spec.scenario import Scenario, Timed, declared


def test_a_report_holds_what_the_verdict_says() -> None:
    """Word, line and figures are the verdict's own."""
    said = verdict("mine", {"ORD-1": "fail", "ORD-2": "untested", "SNAP-8": "not-applicable"})

    told = report(said)

    (run,) = told.runs
    assert run.footer is not None
    assert (run.word, run.line, run.exit_code) == (said.word, said.line, 1)
    assert (told.word, told.exit_code) == ("not conformant", 1)
    assert (told.header.spec, told.header.created) == (spec_version(), THEN)
    assert run.footer.counts == {
        "pass": len(rules()) - 3,
        "fail": 1,
        "untested": 1,
        "not-applicable": 1,
    }
    assert [r.status for r in run.results] == [r.status for r in said.results]
    assert told.by_rule["ORD-1"].sentence == rules()["ORD-1"].sentence
    assert told.by_rule["ORD-1"].why == rules()["ORD-1"].why


def test_evidence_is_the_run_itself() -> None:
    """Whoever reads it can draw it, judge it, and play it again."""
    (run,) = report(verdict("mine", {"ORD-1": "fail"})).runs

    (piece,) = run.by_rule["ORD-1"].evidence
    (played,) = run.played
    assert piece == Evidence(0, "it is wrong", 40)
    assert (played.label, played.replay) == (
        f"two-records ({CASE.id})",
        f"asyncwait play mine {CASE.id}",
    )
    assert (played.as_played, played.trace) == (SCENARIO, FAILURE.trace)
    assert (
        list(timeline_lines(played, piece))[-10:]
        == [*draw(SCENARIO, FAILURE.trace, FAILURE.violation)][-10:]
    )


def test_a_scenario_that_shows_several_rules_stands_there_once() -> None:
    """Most slips break more than one rule in the same run."""
    (run,) = report(verdict("mine", {"ORD-1": "fail", "ORD-2": "fail"})).runs

    assert len(run.played) == 1
    assert [piece.played for r in run.failed for piece in r.evidence] == [0, 0]


def test_causes_stand_before_what_they_explain() -> None:
    """As in what the command prints."""
    said = verdict("mine", {"ELEM-1": "fail", "ORD-4": "fail"})
    said = msgspec.structs.replace(said, causes=(Cause("ORD-4", ("ELEM-1",)),))

    (run,) = report(said).runs

    assert [(r.rule, r.explains, r.explained_by) for r in run.failed] == [
        ("ORD-4", ("ELEM-1",), ""),
        ("ELEM-1", (), "ORD-4"),
    ]


def test_several_causes_keep_the_order_of_the_verdict(tmp_path: Path) -> None:
    """Also in a file, and merged: the one that explains most goes first, whatever its id is."""
    statuses: dict[str, Status] = dict.fromkeys(("CAP-1", "ELEM-1", "ORD-1", "ORD-4"), "fail")
    causes = (Cause("ORD-4", ("ELEM-1",)), Cause("CAP-1"), Cause("ORD-1"))
    said = msgspec.structs.replace(verdict("mine", statuses), causes=causes)
    write_lines(report(said), tmp_path / "r.jsonl")

    (run,) = merged([read_lines(tmp_path / "r.jsonl")], header_of(THEN)).runs

    assert [r.rule for r in run.failed] == [r.rule.id for r in said.failed]
    assert [(r.rule, r.cause) for r in run.failed] == [
        ("ORD-4", 1),
        ("CAP-1", 2),
        ("ORD-1", 3),
        ("ELEM-1", 0),
    ]


def test_what_became_of_expected_failures_and_newer_rules_has_fields_of_its_own() -> None:
    """A program need not take the line apart."""
    known = [
        msgspec.structs.replace(result(rule, "expected-fail"), kinds=(kind,))
        for rule, kind in (("ORD-1", "future"), ("ORD-2", "regression"), ("ORD-3", "future"))
    ]
    newer = msgspec.structs.replace(result("ORD-4", "fail"), is_newer=True)
    said = Verdict(
        "mine",
        (*known, newer),
        2,
        2,
        stale={"ORD-9": "there is no such rule"},
        expired={"ORD-5": date(2026, 1, 31)},
        spec="0.1",
    )

    (run,) = report(said).runs

    assert run.footer is not None
    assert run.footer.kinds == {"future": 2, "regression": 1}
    assert run.footer.stale == {"ORD-9": "there is no such rule"}
    assert run.footer.expired == {"ORD-5": "2026-01-31"}
    assert (run.header.spec, run.footer.newer) == ("0.1", ("ORD-4",))


def test_the_reason_of_an_expected_failure_stands_with_the_backend() -> None:
    """Also where the rule happens to hold; a reason why nothing was seen is none."""
    said = verdict("mine", {"ORD-1": "expected-fail", "ORD-2": "pass"}, "see our issue 7")
    untested = result("ORD-3", "untested", "it never applied")
    results = tuple(untested if r.rule.id == "ORD-3" else r for r in said.results)

    (run,) = report(msgspec.structs.replace(said, results=results)).runs

    assert run.header.expected_failures == {"ORD-1": "see our issue 7", "ORD-2": "see our issue 7"}


def test_a_run_by_some_rules_says_so() -> None:
    """It is not taken for a verdict on the whole."""
    (run,) = report(Verdict("mine", (result("ORD-1", "pass"),), 2, 2)).runs

    assert run.header.only == ("ORD-1",)
    assert run.claim == "conformant as to 1 rule"


def test_a_backend_tells_what_it_claims() -> None:
    """The core first."""
    some = declared(("ordered", "timeouts"), ("virtual-time",))

    (run,) = report(msgspec.structs.replace(verdict(), capabilities=some)).runs

    assert run.header.profiles == ("core", "ordered", "timeouts")
    assert run.header.capabilities == tuple(sorted(some))


def failure(inputs: int) -> Failure:
    """A failure in a scenario of so many inputs; that it fits the trace is of no matter here."""
    long = Scenario(inputs=tuple(Timed(0, Record(n)) for n in range(inputs)))
    return Failure(Case(f"with-{inputs}", long, long), FAILURE.trace, FAILURE.violation)


def test_a_scenario_that_would_fill_the_report_is_drawn_in_words() -> None:
    """It says what is left out, and how to have it."""
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
    """A backend that breaks everything makes no report that nobody can open."""
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


def test_errors_are_told_up_to_a_bound() -> None:
    """The others are counted."""
    said = msgspec.structs.replace(verdict(), errors=tuple("x" * 3_000 for _ in range(30)))

    (run,) = report(said).runs

    assert run.footer is not None
    assert len(run.footer.errors) == 20
    assert {(len(each), "(1,020 more)" in each) for each in run.footer.errors} == {(2_000, True)}
    assert run.footer.errors_left_out == 10


def test_what_could_not_be_verified_leaves_a_report_inconclusive() -> None:
    """However green the others are."""
    told = report_of((verdict(),), THEN, {"spark": "pyspark is not installed"})

    assert told.runs[0].word == "conformant"
    assert (told.word, told.doubt.split(":")[0]) == ("inconclusive", "spark")


def test_a_newer_rule_that_does_not_decide_leaves_the_report_as_it_is(tmp_path: Path) -> None:
    """Whatever became of it; it is told."""
    newer = [
        msgspec.structs.replace(result(rule, status), is_newer=True)
        for rule, status in (("ORD-1", "fail"), ("ORD-2", "untested"))
    ]
    said = Verdict("mine", (*newer, result("ORD-3", "pass")), 2, 2)

    write_lines(report(said), tmp_path / "r.jsonl")

    told = read_lines(tmp_path / "r.jsonl")
    assert (told.word, told.doubt) == ("conformant", "")
    assert [(r.status, r.forgiven) for r in told.runs[0].results] == [
        ("fail", True),
        ("untested", True),
        ("pass", False),
    ]
