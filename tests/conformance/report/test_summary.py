"""The page of Markdown that a build server shows."""

import msgspec
import pytest
from reports import FAILURE, LATER, caused, report, result, verdict

from asyncwait.conformance.judging import Violation
from asyncwait.conformance.report import FORMS, Report, _markdown, header_of, merged
from asyncwait.conformance.verdict import Verdict
from asyncwait.spec.rules import areas, rules


def page(told: Report) -> list[str]:
    """Its lines."""
    return FORMS["summary.md"](told).decode().splitlines()


def test_the_page_has_a_row_for_each_backend_and_area() -> None:
    """What a reader looks for stands first."""
    lines = page(report(verdict("good"), verdict("bad", {"ORD-1": "fail"})))

    count = len(rules())
    assert lines[2:6] == [
        "| backend | verdict | rules passed / applicable | scenarios | seconds |",
        "| --- | --- | --- | --- | --- |",
        f"| good | ✅ conformant | {count}/{count} | 2 | 1.5 |",
        f"| bad | ❌ not conformant | {count - 1}/{count} | 2 | 1.5 |",
    ]
    assert f"| ORD {areas()['ORD'].title} | 5/5 | 4/5 |" in lines


def test_a_broken_rule_is_told_with_its_reason_and_its_timeline() -> None:
    """The timeline opens on a click."""
    rule = rules()["ORD-1"]

    lines = page(report(verdict("bad", {"ORD-1": "fail"})))

    start = lines.index(f"### ORD-1 {rule.title}")
    assert lines[start + 2] == f"MUST: {rule.sentence}"
    assert lines[start + 4] == f"Why it matters: {rule.why}"
    assert "<details><summary>it is wrong</summary>" in lines[start:]
    assert "    40  >>> it is wrong" in lines[start:]
    assert f"again: asyncwait play bad {FAILURE.case.id}" in lines[start:]


def test_the_cause_stands_first_and_names_what_follows_from_it() -> None:
    """What it explains is told there, and not once more below."""
    lines = page(report(caused()))

    assert [line.split()[1] for line in lines if line.startswith("### ")] == ["ORD-4", "CAP-1"]
    told = lines.index("Broken only where ORD-4, or a rule above it, is broken too: ELEM-1.")
    assert told < lines.index(f"### CAP-1 {rules()['CAP-1'].title}")
    assert not any(line.startswith("Also broken") for line in lines)


def test_expected_failures_that_match_nothing_are_told_with_the_reason() -> None:
    """Below the table, with the other remarks on the backend."""
    stale = msgspec.structs.replace(verdict("mine"), stale={"ORD-99": "there is no such rule"})

    lines = page(report(stale))

    assert "- mine: expected failure that matches nothing: ORD-99: there is no such rule" in lines


def test_texts_of_others_are_no_markup() -> None:
    """Neither in a sentence, nor in a table, nor in a block of code."""
    odd = "</summary>|*x*\n# head\n```` <b>"
    failure = msgspec.structs.replace(FAILURE, violation=Violation(odd, 0))
    broken = Verdict("my*<b>", (result("ORD-1", "fail", "", failure),), 2, 2, (odd,))

    lines = page(report(broken))

    assert any(line.startswith(r"| my\*\<b\> | ❌ not conformant") for line in lines)
    assert r"  - error: \</summary\>\|\*x\* \# head \`\`\`\` \<b\>" in lines
    assert not any(line.startswith("# head") for line in lines[: lines.index("`````text")])
    summary = next(line for line in lines if line.startswith("<details>"))
    assert summary.startswith("<details><summary>&lt;/summary&gt;|*x*")


def test_the_page_says_what_changed() -> None:
    """Between two runs of one backend."""
    old, new = report(verdict("mine", {"ORD-1": "fail"})), report(verdict("mine"), created=LATER)

    lines = page(merged((old, new), header_of(LATER)))

    start = lines.index("## mine: what changed")
    assert lines[start + 2 : start + 5] == [
        "- from 2026-01-01T00:00:00Z to 2026-02-01T00:00:00Z",
        "- verdict: not conformant -\\> conformant",
        "- ORD-1: fail -\\> pass",
    ]
    assert not any(line.startswith("### ORD-1") for line in lines)


def test_a_page_that_would_not_be_shown_is_ended_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """It says where the rest is."""
    monkeypatch.setattr(_markdown, "MOST_BYTES", 3_000)

    lines = page(report(verdict("bad", {"ORD-1": "fail", "ORD-2": "fail"})))

    assert lines[-1] == "More is in the log, and in `report.jsonl` if that was asked for."
    assert len("\n".join(lines)) < 3_100
