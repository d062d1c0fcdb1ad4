"""Texts of others in Markdown, where they must mean nothing but themselves."""

import re

_SPECIAL = re.compile(r"[\\`*_~\[\]<>&|#]")
_FENCE = re.compile("`{3,}")


def plain(text: str) -> str:
    """Return `text` in one line, for a sentence or the cell of a table."""
    return _SPECIAL.sub(lambda found: f"\\{found.group()}", " ".join(text.split()))


def fenced(lines: list[str]) -> list[str]:
    """Return `lines` as a block of code, whatever fences are in them."""
    longest = max((len(f) for line in lines for f in _FENCE.findall(line)), default=2)
    fence = "`" * (longest + 1)
    return [f"{fence}text", *lines, fence]
