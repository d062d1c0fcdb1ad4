"""Splits a text of many examples or witnesses into entries."""

import re
from collections.abc import Iterator
from textwrap import dedent


def entries(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each line at the margin, with the lines below it.

    An indented line continues the line before it. A line at the margin that begins with `#` is a
    remark.
    """
    for entry in re.split(r"\n(?=\S)", dedent(text).strip()):
        head, *below = (" ".join(each.split()) for each in re.split(r"\n {4}(?=\S)", entry))
        if not head.startswith("#"):
            yield head, below
