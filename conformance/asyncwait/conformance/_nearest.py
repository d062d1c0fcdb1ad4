"""What somebody may have meant who gave a name that there is not."""

from collections.abc import Callable, Iterable
from difflib import get_close_matches

MOST = 3
"""Names that are suggested."""


def nearest(name: str, known: Iterable[str], shown: Callable[[str], str] = str) -> str:
    """Return a question to be put behind an error about `name`; empty if nothing is like it."""
    by_lower = {each.lower(): each for each in known}
    close = get_close_matches(name.lower(), by_lower, MOST)
    suggested = dict.fromkeys(shown(by_lower[each]) for each in close)
    return f"; did you mean {' or '.join(suggested)}?" if suggested else ""
