"""Texts that forge lines, and a check that finds forged lines in what is printed."""

import random
import re
from collections.abc import Iterator

from asyncwait.spec.texts import printable

CANARY = "CANARY"
"""Stands in each line of each text, behind what a line of ours may begin with, or a command."""

_STARTS = (
    "|  |::set-output name=x::|::error file=x::|##[error]|##vso[task.complete]|"
    "\x1b]0;title\x07|\x1b[2J\x1b[H|\x9b31m|\x1b]8;;http://evil\x1b\\|fatal: |[red]|[/red]|"
    "<img src=x>|</pre></details><script>|]]>|![x](http://evil/)|# |````\n|\u202e|\u2066|"
    "\u200b|\ufeff|\ud800|\udc9b|\ufffe|\x00|\x7f|BLOT|\u3164|\xe9\u65e5\u672c "
)
STARTS = tuple(_STARTS.replace("BLOT", "\u0301" * 50).split("|"))
ENDS = ("\n", "\r", "\r\n", "\x85", "\u2028", "\u2029", "\x0b", "\x0c", "\x1c", "\n\n", "\b" * 90)
TAILS = ("", "`", "```", "|", "\\", "'", '"', "&lt;", "{{ 7 * 7 }}", "%s{0}", "\n", "\t", "$(id)")
_STARTED = {form.strip() for start in STARTS for form in (start, printable(start))}

_LONG = re.compile(r"x{11000}|(\\x1b\[A){2000}|(CANARY: y..?){2000}")


def forging(seed: int = 0) -> Iterator[str]:
    """Yield such texts, without end; one of a hundred is very long."""
    drawn = random.Random(seed)
    number = 0
    while True:
        number += 1
        lines = [
            f"{drawn.choice(STARTS)}{CANARY}-{number}: conformant (161 rules pass)"
            for _ in range(drawn.randint(1, 4))
        ]
        long = drawn.choice(("x", "\x1b[A", "\u0301", f"\n{CANARY}: y")) * 50_000
        text = drawn.choice(ENDS).join(lines) + drawn.choice(TAILS)
        yield text + long if number % 100 == 0 else text


def forged_lines(output: str) -> Iterator[str]:
    """Yield the lines that the suite has not written, and those with what can't be seen."""
    for line in output.split("\n"):
        before, canary, _ = line.partition(CANARY)
        is_begun = (canary and before.strip() in _STARTED) or line.lstrip().startswith("::")
        is_obeyed = not line.isprintable() or re.search(r"##\w*\[", line)
        if is_begun or is_obeyed or _LONG.search(line):
            yield line


def assert_is_ours(output: str) -> None:
    found = [ascii(line[:400]) for line in forged_lines(output)][:3]
    assert not found, found
