"""How texts stand in a page."""

import re
from collections.abc import Iterator

from markupsafe import Markup

from asyncwait.conformance.timeline import printable

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
    "conformant with exceptions": "~",
    "not conformant": "✗",
    "inconclusive": "?",
}

LONGEST = 2_000
"""Characters of a line."""


def sign_of(status: str) -> str:
    """Return a character that stands for a status or a verdict, beside its colour."""
    return _SIGNS.get(status, "?")


def shown(text: str) -> Markup:
    """Return a text for a page, escaped, its lines kept and cut where they are long.

    Quotes stay as they are: it stands between tags, never in an attribute.
    """
    lines = (printable(line.replace("\t", "    ")) for line in text.split("\n"))
    return escaped(
        "\n".join(line if len(line) <= LONGEST else f"{line[:LONGEST]}…" for line in lines)
    )


def escaped(text: str) -> Markup:
    """Return a text that is no markup."""
    safe = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return Markup(safe)  # noqa: S704 - nothing of it is markup any more


def paragraphs(text: str) -> Markup:
    """Return the text of a rule: paragraphs, in which code stands between backticks."""
    found = (part for part in text.split("\n\n") if part.strip())
    return Markup("").join(Markup("<p>{}</p>").format(Markup("").join(_inline(p))) for p in found)


def _inline(text: str) -> Iterator[Markup]:
    for number, part in enumerate(re.split(r"`([^`]*)`", text)):
        plain = shown(part)
        yield Markup("<code>{}</code>").format(plain) if number % 2 else plain


def json_text(data: bytes) -> str:
    """Return JSON with all that can't be seen as escapes, which is the same JSON."""
    return "".join(c if c.isprintable() else _as_json(c) for c in data.decode())


def command(text: str) -> str:
    """Return a command that a shell takes as it stands, as far as it can be seen."""
    return json_text(text.encode("utf-8", "backslashreplace"))


def _as_json(character: str) -> str:
    units = character.encode("utf-16-be")
    pairs = (units[place : place + 2] for place in range(0, len(units), 2))
    return "".join(f"\\u{pair.hex()}" for pair in pairs)
