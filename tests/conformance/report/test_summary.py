"""The page of Markdown that a build server shows."""

import msgspec
from reports import FAILURE, report, result

from asyncwait.conformance.judging import Violation
from asyncwait.conformance.report import FORMS, Report
from asyncwait.conformance.verdict import Verdict


def page(told: Report) -> list[str]:
    return FORMS["summary.md"](told).decode().splitlines()


def test_texts_of_others_are_no_markup() -> None:
    odd = "</summary>|*x*\n# head\n```` <b>"
    failure = msgspec.structs.replace(FAILURE, violation=Violation(odd, 0))
    broken = Verdict("my*<b>", (result("ORD-1", "fail", "", failure),), 2, 2, (odd,))

    lines = page(report(broken))

    assert any(line.startswith(r"| my\*\<b\> | ❌ not conformant") for line in lines)
    assert r"  - error: \</summary\>\|\*x\* \# head \`\`\`\` \<b\>" in lines
    assert not any(line.startswith("# head") for line in lines[: lines.index("`````text")])
    summary = next(line for line in lines if line.startswith("<details>"))
    assert summary.startswith("<details><summary>&lt;/summary&gt;|*x*")
