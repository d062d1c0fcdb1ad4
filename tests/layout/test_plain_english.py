"""Habits that make the project's English hard to read: their number may only decrease."""

import re
from collections.abc import Iterator
from pathlib import Path

BOUND = 23
"""Habits in the packages, the rules and the documentation. Lower it with each that you remove."""

PLACES = ("spec", "toolkit", "reference", "conformance", "backends", "docs")

HABITS = re.compile(
    r"""\b(?:nobody|somebody|whoever|anybody|is\ told|is\ had|one\ that|that\ of)\b
    | ^\s*r?\"{3}(?:What|How|Which|Who)\b""",
    re.IGNORECASE | re.VERBOSE,
)

PRINTED = re.compile(r"^```text\n.*?^```$", re.MULTILINE | re.DOTALL)
"""Timelines in a page, which repeat a message with every event."""


def test_habits_only_decrease(checkout: Path) -> None:
    found = list(_habits(checkout))

    assert len(found) <= BOUND, "\n".join(found)
    assert len(found) > BOUND - 10, f"lower BOUND in {__file__} to {len(found)}"


def _blank(found: re.Match[str]) -> str:
    return "\n" * found[0].count("\n")


def _habits(checkout: Path) -> Iterator[str]:
    pages = [checkout / name for name in ("README.md", "CONTRIBUTING.md")]
    below = (path for place in PLACES for path in sorted((checkout / place).rglob("*.*")))
    for path in (*pages, *below):
        if path.suffix not in {".py", ".md"}:
            continue
        prose = PRINTED.sub(_blank, path.read_text(encoding="utf-8"))
        for number, line in enumerate(prose.splitlines(), 1):
            for habit in HABITS.findall(line):
                yield f"{path.relative_to(checkout)}:{number}: {habit.strip()!r} in {line.strip()}"
