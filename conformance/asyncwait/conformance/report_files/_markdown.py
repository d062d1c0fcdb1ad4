"""Texts of others in Markdown, where they must mean nothing but themselves."""

import re
from collections.abc import Iterable

from asyncwait.spec.texts import lines_of, one_line

_SPECIAL = re.compile(r"[\\`*_~\[\]<>&|#$@]|:(?=//)|(?<=www)\.|^[-+=]")
_NUMBER = re.compile(r"^(\d+)([.)])(?= )")
LONGEST = 2_000
"""Characters of a text in a sentence or a cell."""

_FENCE = re.compile("`{3,}")


def plain(text: str) -> str:
    """Return `text` in one line, for a sentence or the cell of a table."""
    said = one_line(" ".join(text.split()), LONGEST)
    return _NUMBER.sub(r"\1\\\2", _SPECIAL.sub(r"\\\g<0>", said))


def with_code(text: str) -> str:
    """Return a text of a rule in one line: as it is between backticks, else plain."""
    parts = " ".join(text.split()).split("`")
    if len(parts) % 2 == 0:
        return plain(text)
    return "".join(
        f"`{one_line(part, LONGEST)}`" if number % 2 and part.strip() else _spaced(part)
        for number, part in enumerate(parts)
    )


def _spaced(part: str) -> str:
    """Return a part plain, with the space at its ends."""
    before, after = " " * part.startswith(" "), " " * part.endswith(" ")
    return f"{before}{plain(part)}{after}" if part.strip() else part


def fenced(given: Iterable[str]) -> list[str]:
    """Return lines of ours as a block of code, whatever fences are in them."""
    lines = [each for line in given for each in lines_of(line)]
    longest = max((len(f) for line in lines for f in _FENCE.findall(line)), default=2)
    fence = "`" * (longest + 1)
    return [f"{fence}text", *lines, fence]
