"""How texts stand in a page."""

import re
from collections.abc import Iterable, Iterator

from markupsafe import Markup

from asyncwait.spec.texts import joined, one_line, printable, shortened

_SIGNS = {
    "pass": "✓",
    "held": "…",
    "fail": "✗",
    "expected-fail": "~",
    "unexpected-pass": "!",
    "not-applicable": "-",
    "blocked": "?",
    "untested": "?",
    "error": "!",
    "conformant": "✓",
    "conformant with expected failures": "~",
    "not conformant": "✗",
    "inconclusive": "?",
}

LONGEST = 2_000
"""Characters of a line."""


def sign_of(status: str) -> str:
    """Return a character that stands for a status or a verdict, beside its colour."""
    return _SIGNS.get(status, "?")


def shown(text: str) -> Markup:
    """Return a text for a page, in one line and escaped.

    Quotes stay as they are: it stands between tags, never in an attribute.
    """
    return escaped(one_line(text, LONGEST))


def lines_shown(lines: Iterable[str]) -> Markup:
    """Return lines of ours for a page, whatever texts are in them."""
    return escaped(joined(lines, LONGEST))


def escaped(text: str) -> Markup:
    """Return a text that is no markup."""
    safe = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return Markup(safe)  # noqa: S704 - nothing of it is markup any more


def paragraphs(text: str) -> Markup:
    """Return the text of a rule: paragraphs, in which code stands between backticks."""
    found = (part for part in text.split("\n\n") if part.strip())
    return Markup("").join(Markup("<p>{}</p>").format(Markup("").join(_inline(p))) for p in found)


def _inline(text: str) -> Iterator[Markup]:
    for number, part in enumerate(re.split(r"`([^`]*)`", " ".join(text.split()))):
        plain = escaped(shortened(printable(part), LONGEST))
        yield Markup("<code>{}</code>").format(plain) if number % 2 else plain
