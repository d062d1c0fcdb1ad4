"""How often each rule applies in the examples that are about it.

A check whose premise is a little too wide or too narrow convicts nobody of the gallery, and says
"passed" of what it has not looked at. So the numbers that the reference gives are kept in
`applied.txt`; whoever changes an example or a premise sees what that changes, and `python
tests/conformance/areas/test_applied.py` writes them anew.
"""

from collections import Counter
from pathlib import Path

from asyncwait.conformance.areas import CHECKS, EXAMPLES
from asyncwait.conformance.harness import play
from asyncwait.conformance.judging import judge
from asyncwait.reference import open_operator

FILE = Path(__file__).with_name("applied.txt")


def applied() -> str:
    found: Counter[str] = Counter()
    for example in EXAMPLES:
        judged = judge(example.scenario, play(open_operator, example.scenario, "asyncio"), CHECKS)
        assert not judged.error
        found.update({rule: judged.by_rule[rule].applied for rule in example.rules})
    return "".join(f"{rule} {found[rule]}\n" for rule in CHECKS)


def test_rules_look_at_what_they_are_about() -> None:
    assert applied() == FILE.read_text(encoding="utf-8")


if __name__ == "__main__":
    FILE.write_text(applied(), encoding="utf-8")
