r"""Sanitized output of foreign text: errors, values, keys, names, and output of programs.

The author of a foreign text may try to clear the screen, to reverse the direction of writing, or to
print a line that looks like a verdict or a command of a build server. These functions return
printable text: invisible characters are escaped, such as `\x1b`; letters of all languages remain.
The text is bounded, and says how much is left out. It is one line of a sentence, or a block of
lines that each begin with a mark. A second pass changes nothing more.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
from unicodedata import category

from asyncwait.spec.exports import claim_exports

LONGEST = 200
"""Default number of characters of a text in a sentence."""

MOST_LINES, LONGEST_LINE = 100, 10_000
"""Bounds of the output of `lines_of`; a line of ours may hold several texts."""

MARK = "| "
"""Prefix of each line of a block, so that no foreign line looks like a line of ours."""

_STACKED = 4
"""Combining marks that scripts need on one letter; more marks would cover neighbouring lines."""

_BLANK = frozenset("\u034f\u115f\u1160\u2800\u3164\uffa0")
"""Letters to Python that have no visible shape."""

_COMMAND = re.compile(r"##(?=\w*\[)")
"""Build servers obey `##[...]` and `##vso[...]` anywhere in a line."""

_NAME = re.compile(r"(?!.*: )[\w./]")
"""A name that may begin a line: no sign of a command first, and no colon with a claim after it."""


def printable(text: str) -> str:
    """Return `text` with invisible characters, line ends and commands of build servers escaped."""
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
    if character.isprintable():  # blank letters, and excess marks
        return f"\\u{ord(character):04x}" if character <= "\uffff" else f"\\U{ord(character):08x}"
    return character.encode("unicode_escape").decode("ascii")


def shortened(text: str, most: int = LONGEST) -> str:
    """Return `text`, without its middle if it is long: the end is often informative, too.

    Args:
        text: text of any length.
        most: largest number of characters of the result; 40 at least.
    """
    if len(text) <= most:
        return text
    kept = most - len(f"... ({len(text):,} more) ...")
    tail = kept // 3
    gap = f"... ({len(text) - kept:,} more) ..."
    return f"{text[: kept - tail]}{gap}{text[len(text) - tail :]}"


def one_line(text: object, most: int = LONGEST) -> str:
    """Return a text or an error as one line for a sentence, printable and bounded.

    Args:
        text: object with a `str`; if `str` raises, the result names its type.
        most: largest number of characters.
    """
    try:
        said = str(text)
    except Exception as error:
        return printable(f"<{type(text).__name__}, whose text raised {type(error).__name__}>")
    return shortened(printable(shortened(said.strip(), most)), most)


def shown(value: object, most: int = LONGEST) -> str:
    """Return a user's value for a sentence: its `repr`, or its type if `repr` raises.

    The `repr` of an error may omit its text, as for errors of PySpark; then the text is added.

    Args:
        value: any object.
        most: largest number of characters.
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
    """Return a name for the beginning of a line; quoted if it could look like another line."""
    name = one_line(text, LONGEST_LINE)
    return name if _NAME.match(name) else f"'{name}'"


def block(text: str, lines: int = MOST_LINES, most: int = LONGEST) -> Iterator[str]:
    """Yield the lines of a text after a mark; only the last lines of a long text.

    Args:
        text: text of any length.
        lines: largest number of lines, besides a line with the number of omitted lines.
        most: largest number of characters of a line.
    """
    found = text.replace("\r\n", "\n").strip("\n").split("\n")
    if len(found) > lines:
        yield f"{MARK}... ({len(found) - lines:,} more lines)"
    for each in found[-lines:] if text else ():
        yield f"{MARK}{shortened(printable(shortened(each.expandtabs(4), most)), most)}".rstrip()


def lines_of(line: str, most: int = LONGEST_LINE) -> Iterator[str]:
    """Yield a composed line in printable form, whatever foreign texts it contains.

    The text after a line end is on further lines, each after the mark.

    Args:
        line: line that begins with our own words.
        most: largest number of characters of each line.
    """
    first, _, others = line.partition("\n")
    yield shortened(printable(shortened(first.rstrip("\r"), most)), most)
    if others.strip():
        indent = first[: len(first) - len(first.lstrip(" "))]
        yield from (f"{indent}  {each}" for each in block(others, MOST_LINES, most))


def message(text: str) -> str:
    """Return the text of an error in printable form: one line, and further lines after a mark.

    A line end in a foreign text is escaped. `joined` and `block` make the marks.

    Args:
        text: text of any length.
    """
    lines = re.split(rf"\n(?=  *{re.escape(MARK)})", text)
    return "\n".join(map(printable, lines))


def joined(lines: Iterable[str], most: int = LONGEST_LINE) -> str:
    """Return several lines of ours as one text; see `lines_of`."""
    return "\n".join(each for line in lines for each in lines_of(line, most))


def json_text(data: bytes) -> str:
    """Return JSON with invisible characters escaped, which is the same JSON.

    Args:
        data: JSON in UTF-8, with line ends only between its parts.
    """
    text = data.decode()
    if not text.isprintable() or not text.isascii():
        text = "".join(c if c.isprintable() or c == "\n" else _as_json(c) for c in text)
    return _COMMAND.sub(r"#\\u0023", text) if "##" in text else text


def _as_json(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    pairs = (units[place : place + 2] for place in range(0, len(units), 2))
    return "".join(f"\\u{pair.hex()}" for pair in pairs)


def counted(count: int, one: str, more: str = "") -> str:
    """Return a number and its noun: "1 rule", "1,260 rules".

    Args:
        count: the number.
        one: the noun for one.
        more: the noun for any other number; empty if it is `one` with an "s".
    """
    return f"{count:,} {one if count == 1 else more or f'{one}s'}"


_MOST_NAMES = 3
"""Most names in a suggestion."""


def nearest(name: str, known: Iterable[str], shown: Callable[[str], str] = str) -> str:
    """Return a question to append to an error about `name`; empty if no name is like it."""
    by_lower = {each.lower(): each for each in known}
    close = get_close_matches(name.lower(), by_lower, _MOST_NAMES)
    suggested = dict.fromkeys(shown(by_lower[each]) for each in close)
    return f"; did you mean {' or '.join(suggested)}?" if suggested else ""


__all__ = [
    "LONGEST",
    "MARK",
    "block",
    "counted",
    "joined",
    "json_text",
    "lines_of",
    "message",
    "name_of",
    "nearest",
    "one_line",
    "printable",
    "shortened",
    "shown",
]

claim_exports(__name__)
