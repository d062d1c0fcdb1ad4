"""The entries of a file of expected failures, and how they are read: a slip is always an error."""

import tomllib
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Any, get_args

import msgspec
from msgspec import Struct

from asyncwait.conformance._words import nearest
from asyncwait.conformance.expected_failures import TRAIT_NAMES, ExpectedFailure, Kind
from asyncwait.spec import InvalidConfig

KINDS: tuple[Kind, ...] = get_args(Kind)


class How(Struct, frozen=True):
    """One way in which a rule is broken: any other speaks against the backend.

    Args:
        examples: names of those that show it, and no other does; None for any.
    """

    finding: str
    needs: tuple[str, ...] = ()
    seldom: bool = False
    examples: tuple[str, ...] | None = None


class Entry(Struct, frozen=True, kw_only=True):
    """A rule that is known to be broken.

    Args:
        kind: what becomes of it: a "regression" is to be mended, what is "unsupported" stays, and
            what is of the "future" comes with a later version.
        backend: name of the only backend that it is about; empty for each that is verified.
    """

    rule: str
    kind: Kind
    reason: str
    link: str = ""
    expires: date | None = None
    backend: str = ""
    seldom: bool = False
    how: tuple[How, ...] = ()

    def speaks_of(self, backend: str) -> bool:
        """Whether it is about the backend of that name."""
        return self.backend in {"", backend}

    def is_over(self, today: date) -> bool:
        """Whether it counts no more."""
        return self.expires is not None and self.expires < today

    @property
    def said(self) -> str:
        """The reason, and where it is followed."""
        return f"{self.reason} ({self.link})" if self.link else self.reason

    @property
    def expected_failures(self) -> tuple[ExpectedFailure, ...]:
        """The same, as a backend says it of itself: an expected failure for each way."""
        return tuple(
            ExpectedFailure(self.said, way.needs, self.seldom, self.kind, way.finding, way.examples)
            for way in self.how or (How(""),)
        )


TABLE = "expected-failure"
"""The tables of a file: `[[expected-failure]]`, one for each rule."""

REQUIRED = ("rule", "kind", "reason")


LONGEST = 1_000
"""Characters of what is said of an entry: a key, or the name of a rule, may be of any length."""


def read_entries(file: Path) -> tuple[Entry, ...]:
    """Return the entries of a file.

    Raises:
        InvalidConfig: it can't be read, or is wrong; the message names it, the entry and the key.
    """
    try:
        text = file.read_bytes().decode()
    except OSError as error:
        is_missing = isinstance(error, FileNotFoundError)
        hint = "; --update-expected-failures writes it" if is_missing else ""
        raise InvalidConfig(
            f"expected failures: {file} can't be read: {error.strerror}{hint}"
        ) from error
    except UnicodeDecodeError as error:
        raise InvalidConfig(f"expected failures: {file} can't be read: it is not UTF-8") from error
    return entries_of(text, file.name)


def entries_of(text: str, name: str) -> tuple[Entry, ...]:
    """Return the entries that stand in `text`.

    Raises:
        InvalidConfig: it is wrong; the message names the file, the entry and the key.
    """
    try:
        tables = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # a number may be too long for Python
        raise InvalidConfig(f"{name}: this is no TOML: {error}") from error
    for key in tables:
        if key != TABLE:
            near = nearest(key, [TABLE])
            got = f"{key[:LONGEST]!r}{near}"
            raise InvalidConfig(f"{name}: expected tables [[{TABLE}]] only, got {got}")
    found = tables.get(TABLE, [])
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise InvalidConfig(f"{name}: expected tables [[{TABLE}]], in double brackets")
    entries = tuple(_entry(table, name, place) for place, table in enumerate(found, 1))
    _refuse_twins(entries, name)
    return entries


def _entry(table: Mapping[str, Any], name: str, place: int) -> Entry:
    where = f"{name}: entry {place} ({table.get('rule', 'of no rule')})"
    for problem in _problems(table):
        raise InvalidConfig(f"{where}: {problem}"[:LONGEST])
    ways = tuple(msgspec.convert(way, How) for way in table.get("how", ()))
    return Entry(**{**table, "how": ways})


def _problems(table: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with an entry."""
    for key, value in table.items():
        if key not in Entry.__struct_fields__:
            known = Entry.__struct_fields__
            yield f"there is no key {key!r}; there are {', '.join(known)}{nearest(key, known)}"
        elif expected := _expected(key, value):
            near = nearest(value, KINDS) if key == "kind" and isinstance(value, str) else ""
            yield f"{InvalidConfig.of(key, value, expected)}{near}"
    for key in REQUIRED:
        if key not in table:
            yield f"it needs a {key}: {_SAID[key]}"
    # What nobody follows, and what never ends, would be an expected failure for ever.
    if table.get("kind") == "regression" and not ({"link", "expires"} & table.keys()):
        yield "a regression needs a link, where it is followed, or a date on which it expires"


_SAID = {
    "rule": "the id of one; see: asyncwait rules",
    "kind": f"one of {', '.join(KINDS)}",
    "reason": "why the rule is broken, in a sentence",
    "link": "a text that is not empty, like 'https://.../issues/7'",
    "expires": "a date without quotes, like 2027-01-31: the last day on which it counts",
    "backend": "the name of the only backend that it is about",
    "seldom": "true or false",
    "how": "a list of tables like {finding = 'the kind of it', needs = ['retry'], seldom = true}: "
    "--update-expected-failures writes it",
}


def _expected(key: str, value: object) -> str:
    """Return what was expected in place of `value`; nothing if it is fine."""
    if key == "expires":
        fits = isinstance(value, date) and not isinstance(value, datetime)
    elif key == "seldom":
        fits = isinstance(value, bool)
    elif key == "how":
        fits = isinstance(value, list) and bool(value) and all(map(_is_way, value))
    else:
        fits = isinstance(value, str) and bool(value.strip())
    if key == "kind":
        fits = fits and value in KINDS
    return "" if fits else _SAID[key]


def _is_way(way: object) -> bool:
    try:
        read = msgspec.convert(way, How)
    except msgspec.ValidationError:
        return False
    known = isinstance(way, dict) and way.keys() <= set(How.__struct_fields__)
    return known and bool(read.finding.strip()) and set(read.needs) <= set(TRAIT_NAMES)


def _refuse_twins(entries: tuple[Entry, ...], name: str) -> None:
    for place, entry in enumerate(entries, 1):
        for other in entries[: place - 1]:
            if other.rule == entry.rule and (
                entry.speaks_of(other.backend) or other.speaks_of(entry.backend)
            ):
                of = entry.backend or other.backend
                raise InvalidConfig(
                    f"{name}: entry {place} ({entry.rule}): the rule has an entry already"
                    f"{f' for backend {of!r}' if of else ''}; keep one of them"
                )
