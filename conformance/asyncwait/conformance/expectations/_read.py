"""Reads a file of exceptions, and is strict about it: a slip is an error, never no exception."""

import tomllib
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Any

import msgspec

from asyncwait.conformance._nearest import nearest
from asyncwait.conformance.expectations._entry import KINDS, Entry, How
from asyncwait.conformance.running import TRAIT_NAMES
from asyncwait.spec import InvalidConfig

TABLE = "exception"
"""The tables of a file: `[[exception]]`, one for each rule."""

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
        hint = "; --update-expectations writes it" if is_missing else ""
        raise InvalidConfig(f"exceptions: {file} can't be read: {error.strerror}{hint}") from error
    except UnicodeDecodeError as error:
        raise InvalidConfig(f"exceptions: {file} can't be read: it is not UTF-8") from error
    return entries_of(text, file.name)


def entries_of(text: str, name: str) -> tuple[Entry, ...]:
    """Return the entries that stand in `text`.

    Args:
        text: TOML.
        name: of the file, for errors.

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
    # What nobody follows, and what never ends, would be an exception for ever.
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
    "--update-expectations writes it",
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
