"""How a text of many examples or witnesses is taken apart."""

import re
from collections.abc import Iterator
from textwrap import dedent


def entries(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each line at the margin, and the lines below it.

    A line further in continues the one before. A line at the margin that begins with `#` is a
    remark.
    """
    for entry in re.split(r"\n(?=\S)", dedent(text).strip()):
        head, *below = (" ".join(each.split()) for each in re.split(r"\n {4}(?=\S)", entry))
        if not head.startswith("#"):
            yield head, below
