r"""The door for text that is not ours: errors, values, keys, names, and what programs print.

Whoever writes such a text may want to clear the screen, turn the direction of writing, or print a
line that looks like a verdict or a command of a build server. What leaves through here is
printable: all that can't be seen is written out, such as `\x1b`; letters of all languages stay.
It is bounded, and says how much is left out. And it keeps to its place: it is one line of a
sentence, or a block of lines that each stand behind a mark. To pass twice changes nothing more.
"""

import re
from collections.abc import Iterable, Iterator
from unicodedata import category

from asyncwait.spec.exports import claim_exports

LONGEST = 200
"""Characters of a text in a sentence, unless it is said."""

MOST_LINES, LONGEST_LINE = 100, 10_000
"""Of what `lines_of` gives; a line of ours may hold several texts."""

MARK = "| "
"""Stands before each line of a block, so that none can begin like a line of ours."""

_STACKED = 4
"""Marks upon one letter that some script needs; with more a text paints over its neighbours."""

_BLANK = frozenset("\u034f\u115f\u1160\u2800\u3164\uffa0")
"""Letters to Python, and nothing to the eye."""

_COMMAND = re.compile(r"##(?=\w*\[)")
"""Build servers obey `##[...]` and `##vso[...]` wherever in a line they stand."""

_NAME = re.compile(r"(?!.*: )[\w./]")
"""What a line may begin with: no sign of a command, and no claim of its own behind a colon."""


def printable(text: str) -> str:
    """Return `text` with all written out that can't be seen or would be obeyed, line ends too."""
    if not text.isprintable() or not text.isascii():
        text = "".join(_seen(text))
    return _COMMAND.sub(r"#\\x23", text) if "##" in text else text


def _seen(text: str) -> Iterator[str]:
    stacked = 0
    for each in text:
        stacked = stacked + 1 if each > "\u02ff" and category(each) in {"Mn", "Me"} else 0
        if each.isprintable() and each not in _BLANK and stacked <= _STACKED:
            yield each
        else:
            yield _escaped(each)


def _escaped(character: str) -> str:
    if character.isprintable():  # which is letters that are none, and too many marks
        return f"\\u{ord(character):04x}" if character <= "\uffff" else f"\\U{ord(character):08x}"
    return character.encode("unicode_escape").decode("ascii")


def shortened(text: str, most: int = LONGEST) -> str:
    """Return `text`, its middle left out if it is long: what stands at its end tells, too.

    Args:
        text: of any length.
        most: characters of what is returned; 40 at least.
    """
    if len(text) <= most:
        return text
    kept = most - len(f"... ({len(text):,} more) ...")
    tail = kept // 3
    gap = f"... ({len(text) - kept:,} more) ..."
    return f"{text[: kept - tail]}{gap}{text[len(text) - tail :]}"


def one_line(text: object, most: int = LONGEST) -> str:
    """Return what a sentence says of a text or an error: one line of it, printable and bounded.

    Args:
        text: whatever has a `str`; if that raises, its type is told.
        most: characters.
    """
    try:
        said = str(text)
    except Exception as error:
        return printable(f"<{type(text).__name__}, whose text raised {type(error).__name__}>")
    return shortened(printable(shortened(said.strip(), most)), most)


def shown(value: object, most: int = LONGEST) -> str:
    """Return what a sentence says of a user's value: its `repr`, and if that raises, its type.

    The `repr` of an error leaves out what only its text says, as with those of PySpark.

    Args:
        value: any.
        most: characters.
    """
    try:
        if isinstance(value, BaseException) and not value.args:
            is_plain = type(value).__repr__ is BaseException.__repr__
            if is_plain and (said := str(value)):
                return one_line(f"{type(value).__name__}({said!r})", most)
        return one_line(repr(value), most)
    except Exception as error:
        return printable(f"<{type(value).__name__}, whose repr raised {type(error).__name__}>")


def name_of(text: str) -> str:
    """Return a name as a line can begin with it; in quotes if that would look like another line."""
    name = one_line(text, LONGEST_LINE)
    return name if _NAME.match(name) else f"'{name}'"


def block(text: str, lines: int = MOST_LINES, most: int = LONGEST) -> Iterator[str]:
    """Yield the lines of a text behind a mark; of one with too many the last.

    Args:
        text: of any length.
        lines: so many at most, and one that counts the others.
        most: characters of a line.
    """
    found = text.replace("\r\n", "\n").strip("\n").split("\n")
    if len(found) > lines:
        yield f"{MARK}... ({len(found) - lines:,} more lines)"
    for each in found[-lines:] if text else ():
        yield f"{MARK}{shortened(printable(shortened(each.expandtabs(4), most)), most)}".rstrip()


def lines_of(line: str, most: int = LONGEST_LINE) -> Iterator[str]:
    """Yield a line that we have composed as it may be printed, whatever texts are in it.

    Where a text has line ends, what follows stands on lines of its own, behind the mark.

    Args:
        line: that begins with words of ours.
        most: characters of each.
    """
    first, _, others = line.partition("\n")
    yield shortened(printable(shortened(first.rstrip("\r"), most)), most)
    if others.strip():
        indent = first[: len(first) - len(first.lstrip(" "))]
        yield from (f"{indent}  {each}" for each in block(others, MOST_LINES, most))


def message(text: str) -> str:
    """Return the text of an error as it may be printed: one line, and others behind a mark.

    A line end in a text that is not ours is written out. `joined` and `block` make such marks.

    Args:
        text: of any length.
    """
    lines = re.split(rf"\n(?=  *{re.escape(MARK)})", text)
    return "\n".join(map(printable, lines))


def joined(lines: Iterable[str], most: int = LONGEST_LINE) -> str:
    """Return several lines of ours as one text; see `lines_of`."""
    return "\n".join(each for line in lines for each in lines_of(line, most))


def json_text(data: bytes) -> str:
    """Return JSON with all that can't be seen as escapes, which is the same JSON.

    Args:
        data: JSON in UTF-8; no line ends but those between its parts.
    """
    text = data.decode()
    if not text.isprintable() or not text.isascii():
        text = "".join(c if c.isprintable() or c == "\n" else _as_json(c) for c in text)
    return _COMMAND.sub(r"#\\u0023", text) if "##" in text else text


def _as_json(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    pairs = (units[place : place + 2] for place in range(0, len(units), 2))
    return "".join(f"\\u{pair.hex()}" for pair in pairs)


__all__ = [
    "LONGEST",
    "MARK",
    "block",
    "joined",
    "json_text",
    "lines_of",
    "message",
    "name_of",
    "one_line",
    "printable",
    "shortened",
    "shown",
]

claim_exports(__name__)
