"""Strict reader of the rules in the chapters: a mistake in a chapter is an error."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from typing import Literal, TypeAlias, cast, get_args

from msgspec import Struct

from asyncwait.spec._errors import AsyncWaitError, InvalidConfig
from asyncwait.spec.scenario import Capability

Level: TypeAlias = Literal["MUST", "SHOULD", "MAY"]
"""Level of a rule: an operator that breaks a MUST does not conform."""

_NO_CHAPTERS = {"00-introduction.md", "departures.md", "sources.md", "retired.txt"}
_CHAPTER = re.compile(r"\d\d-(?P<folder>[a-z]+(?:_[a-z]+)*)\.md")
_TITLE = re.compile(r"# (?P<title>\S.*) \((?P<area>[A-Z]+)\)")
_HEADING = re.compile(r"## (?P<id>(?P<area>[A-Z]+)-(?P<number>[1-9]\d*)) (?P<title>\S.*)")
_META = re.compile(
    r"(?P<level>[A-Z]+) · since (?P<since>\d+\.\d+) · "
    r"(?:needs: (?P<needs>[a-z-]+(?:(?:,| or) [a-z-]+)*) · )?source: (?P<source>\S.*)"
)
RULE_ID = re.compile(r"[A-Z]+-[1-9]\d*")
_FLINK_ID = re.compile(r"[A-Z]{2,3}-[1-9]\d*")
_LINK = re.compile(r"\[([^]]+)\]\([^)]+\)")
_SECOND_SENTENCE = re.compile(r"[.!?]\s+[A-Z]")
_HINT = "If it fails: "
_COLUMNS = ("Flink", "Flink 2.3.0", "ours", "why")
_VERSION = re.compile(r"(\d{1,9})\.(\d{1,9})", re.ASCII)


class MalformedRules(AsyncWaitError, ValueError):
    """A chapter, the list of retired ids or the table of departures breaks its form.

    Args:
        file: name of the file.
        line: number of the line, from 1.
        problem: the expected text, and the text that was found.
    """

    def __init__(self, file: str, line: int, problem: str) -> None:
        super().__init__(f"{file}:{line}: {problem}")
        self.file = file
        self.line = line
        self.problem = problem

    def __reduce__(self) -> tuple[type["MalformedRules"], tuple[str, int, str]]:
        return type(self), (self.file, self.line, self.problem)


class Rule(Struct, frozen=True, kw_only=True):
    """One rule of the specification.

    Args:
        id: area and number, for example "ELEM-1"; never used again for another rule.
        area: the part of the id before the number.
        title: the rule in a few words.
        level: "MUST", "SHOULD" or "MAY".
        since: version of the specification that introduced the rule.
        needs: capabilities that a backend needs for the rule: at least one of each group.
        source: origin of the rule, as plain text.
        sentence: the rule in one sentence; Markdown in one line.
        why: the reason; Markdown, with an empty line between paragraphs.
        hint: what to look for in an operator that breaks it; Markdown in one line. The mailbox's
            rules have no hints.
    """

    id: str
    area: str
    title: str
    level: Level
    since: str
    needs: tuple[frozenset[Capability], ...]
    source: str
    sentence: str
    why: str
    hint: str = ""

    def missing(self, capabilities: frozenset[Capability]) -> tuple[str, ...]:
        """Return the needs that `capabilities` do not meet, with the alternatives in one text."""
        return tuple(
            " or ".join(sorted(either)) for either in self.needs if not either & capabilities
        )

    def applies_to(self, capabilities: frozenset[Capability]) -> bool:
        """Return whether the rule applies to a backend with `capabilities`."""
        return not self.missing(capabilities)


class Departure(Struct, frozen=True):
    """One behaviour of Apache Flink 2.3.0 that this specification does not follow.

    Args:
        flink: id of the behaviour, for example "TO-3".
        theirs: behaviour of Flink.
        ours: behaviour of this specification.
        why: the reason.
    """

    flink: str
    theirs: str
    ours: str
    why: str


class Area(Struct, frozen=True):
    """Subject of one chapter.

    Args:
        id: the part of its rules' ids before the number, for example "ELEM".
        title: title of the chapter.
        folder: name of its file without number and suffix, for example "elements"; other parts of
            the area have the same name.
    """

    id: str
    title: str
    folder: str


class Chapter(Struct, frozen=True):
    """One area, and its rules in the order of their numbers."""

    area: Area
    rules: tuple[Rule, ...]


class _Paragraph(Struct, frozen=True):
    """Consecutive lines without an empty line, joined by spaces."""

    line: int
    text: str


@cache
def rules() -> Mapping[str, Rule]:
    """Return all rules by id, in the order of the chapters.

    Raises:
        MalformedRules: a chapter breaks its form.
    """
    return _book()


def rules_for(capabilities: frozenset[Capability]) -> dict[str, Rule]:
    """Return the rules that apply to a backend with `capabilities`, by id.

    Raises:
        MalformedRules: a chapter breaks its form.
    """
    return {name: rule for name, rule in rules().items() if rule.applies_to(capabilities)}


@cache
def mailbox_rules() -> Mapping[str, Rule]:
    """Return the rules of the task mailbox by id; they do not apply to operators.

    Raises:
        MalformedRules: a chapter breaks its form.
    """
    return _book("mailbox")


@cache
def carry_rules() -> Mapping[str, Rule]:
    """Return the rules of carrying calls across micro-batches by id: a separate rule book.

    Raises:
        MalformedRules: a chapter breaks its form.
    """
    return _book("carry")


@cache
def hedge_rules() -> Mapping[str, Rule]:
    """Return the rules of hedges, a second call for the same record, by id: a separate rule book.

    Raises:
        MalformedRules: a chapter breaks its form.
    """
    return _book("hedge")


def _book(folder: str = "") -> Mapping[str, Rule]:
    return {rule.id: rule for chapter in _chapters(folder) for rule in chapter.rules}


@cache
def areas() -> Mapping[str, Area]:
    """Return all areas by their id, in the order of the chapters.

    Raises:
        MalformedRules: a chapter breaks its form.
    """
    return {chapter.area.id: chapter.area for chapter in _chapters()}


@cache
def departures() -> tuple[Departure, ...]:
    """Return the departures from Apache Flink 2.3.0.

    Raises:
        MalformedRules: the table breaks its form.
    """
    return parse_departures("departures.md", _texts()["departures.md"])


def version_key(version: object) -> tuple[int, int]:
    """Return a sort key for versions.

    Args:
        version: two numbers, like "0.1".

    Raises:
        InvalidConfig: `version` is not two numbers.
    """
    numbers = _VERSION.fullmatch(version) if isinstance(version, str) else None
    if numbers is None:
        raise InvalidConfig.of("version", version, "two numbers, like '0.1'")
    return int(numbers[1]), int(numbers[2])


@cache
def spec_version() -> str:
    """Return the version of the specification, which is the version of its newest rule.

    Raises:
        MalformedRules: a chapter breaks its form.
    """
    return max((rule.since for rule in rules().values()), key=version_key)


@cache
def _chapters(book: str = "") -> tuple[Chapter, ...]:
    texts = _texts(book)
    chapters = {name: text for name, text in texts.items() if name not in _NO_CHAPTERS}
    return parse_chapters(chapters, parse_retired("retired.txt", texts.get("retired.txt", "")))


def _texts(book: str = "") -> dict[str, str]:
    """Return the files of a rule book by name; an empty name is the book of the operator."""
    files = resources.files("asyncwait.spec.rules").joinpath(book).iterdir()
    names = sorted((file.name, file) for file in files if file.name.endswith((".md", ".txt")))
    return {name: file.read_text(encoding="utf-8") for name, file in names}


def parse_chapters(
    texts: Mapping[str, str], retired: frozenset[str] = frozenset()
) -> tuple[Chapter, ...]:
    """Read all chapters.

    Raises:
        MalformedRules: a chapter or its name breaks its form, or two chapters have one area.
    """
    chapters: list[Chapter] = []
    for file, text in texts.items():
        chapter = parse_chapter(file, text, retired)
        if chapter.area.id in {earlier.area.id for earlier in chapters}:
            raise MalformedRules(file, 1, f"area {chapter.area.id} has a chapter already")
        chapters.append(chapter)
    return tuple(chapters)


def parse_chapter(file: str, text: str, retired: frozenset[str] = frozenset()) -> Chapter:
    """Read one chapter.

    Raises:
        MalformedRules: the chapter, or its name, breaks its form.
    """
    name = _CHAPTER.fullmatch(file)
    if name is None:
        raise MalformedRules(file, 1, "expected the name of a chapter, like 01-elements.md")
    paragraphs = list(_paragraphs(text))
    first = paragraphs[0] if paragraphs else _Paragraph(1, "")
    title = _TITLE.fullmatch(first.text)
    if title is None:
        raise _expected(file, first, "a title like '# Elements and timestamps (ELEM)'")
    starts = [place for place, p in enumerate(paragraphs) if place and p.text.startswith("#")]
    if not starts:
        raise _expected(file, first, "at least one rule below the title")
    if starts[0] == 1:
        raise _expected(file, paragraphs[1], "a paragraph on what the chapter is about")
    area, rules_read = title["area"], list[Rule]()
    for start, end in zip(starts, [*starts[1:], len(paragraphs)], strict=True):
        rule = _rule(file, area, paragraphs[start:end])
        _check_number(file, paragraphs[start], rule, rules_read, retired)
        rules_read.append(rule)
    return Chapter(Area(area, title["title"], name["folder"]), tuple(rules_read))


def parse_retired(file: str, text: str) -> frozenset[str]:
    """Read the list of ids that may not be used again: one per line, `#` begins a comment.

    Raises:
        MalformedRules: a line is not an id, or repeats an earlier line.
    """
    ids: set[str] = set()
    for number, line in enumerate(text.splitlines(), 1):
        entry = line.partition("#")[0].strip()
        if not entry:
            continue
        if not RULE_ID.fullmatch(entry):
            raise MalformedRules(file, number, f"expected the id of a rule, got {entry!r}")
        if entry in ids:
            raise MalformedRules(file, number, f"{entry} is listed twice")
        ids.add(entry)
    return frozenset(ids)


def parse_departures(file: str, text: str) -> tuple[Departure, ...]:
    """Read the table of departures.

    Raises:
        MalformedRules: the table is missing, or a row of it breaks its form.
    """
    lines = enumerate(text.splitlines(), 1)
    rows = [(number, _cells(line)) for number, line in lines if line.startswith("|")]
    shown = " | ".join(_COLUMNS)
    if not rows:
        raise MalformedRules(file, 1, f"expected a table with the columns {shown}")
    head, cells = rows[0]
    if cells != _COLUMNS:
        raise MalformedRules(file, head, f"expected the columns {shown}, got {' | '.join(cells)}")
    found: dict[str, Departure] = {}
    for number, row in rows[2:]:
        if len(row) != len(_COLUMNS) or not all(row):
            raise MalformedRules(file, number, f"expected {len(_COLUMNS)} filled cells, got {row}")
        if not _FLINK_ID.fullmatch(row[0]):
            raise MalformedRules(file, number, f"expected an id like TO-3, got {row[0]!r}")
        if row[0] in found:
            raise MalformedRules(file, number, f"{row[0]} has a row already")
        found[row[0]] = Departure(*row)
    return tuple(found.values())


def _cells(line: str) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in line.strip().strip("|").split("|"))


def _paragraphs(text: str) -> Iterator[_Paragraph]:
    lines: list[str] = []
    for number, line in enumerate([*text.splitlines(), ""], 1):
        if lines and (not line.strip() or line.startswith("#")):
            yield _Paragraph(number - len(lines), " ".join(lines))
            lines = []
        if line.startswith("#"):
            yield _Paragraph(number, line.strip())
        elif line.strip():
            lines.append(line.strip())


def _rule(file: str, area: str, paragraphs: list[_Paragraph]) -> Rule:
    heading, *rest = paragraphs
    head = _HEADING.fullmatch(heading.text)
    if head is None or head["area"] != area:
        raise _expected(file, heading, f"a heading like '## {area}-1 What holds, in few words'")
    if not rest:
        raise MalformedRules(file, heading.line, f"{head['id']} has no meta line")
    meta = _META.fullmatch(rest[0].text)
    if meta is None:
        expected = (
            "'LEVEL · since VERSION · source: TEXT', with 'needs: CAPABILITY · ' before source"
        )
        raise _expected(file, rest[0], f"{expected} where it needs some")
    if meta["level"] not in get_args(Level):
        problem = f"expected MUST, SHOULD or MAY, got {meta['level']}"
        raise MalformedRules(file, rest[0].line, problem)
    if len(rest) == 1 or rest[1].text.startswith("Why:"):
        raise MalformedRules(
            file, heading.line, f"{head['id']} has no sentence that says what holds"
        )
    sentence = rest[1].text
    if not sentence.endswith(".") or _SECOND_SENTENCE.search(sentence):
        raise _expected(file, rest[1], "one sentence with a full stop")
    if len(rest) == 2 or not rest[2].text.startswith("Why: "):  # noqa: PLR2004 - after the two above
        raise MalformedRules(file, heading.line, f"{head['id']} has no paragraph 'Why: ...'")
    why, hint = _why_and_hint(file, rest[2:])
    return Rule(
        id=head["id"],
        area=area,
        title=head["title"],
        level=cast("Level", meta["level"]),
        since=meta["since"],
        needs=_needs(file, rest[0], meta["needs"]),
        source=_LINK.sub(r"(\1)", meta["source"]),
        sentence=sentence,
        why=why,
        hint=hint,
    )


def _why_and_hint(file: str, paragraphs: list[_Paragraph]) -> tuple[str, str]:
    """Return the reason of a rule, and its hint, which may be empty."""
    why, hint = list(paragraphs), ""
    if len(why) > 1 and why[-1].text.startswith(_HINT):
        last = why.pop()
        hint = last.text.removeprefix(_HINT)
        if not hint.endswith(".") or _SECOND_SENTENCE.search(hint):
            raise _expected(file, last, "one sentence with a full stop")
    for paragraph in why:
        if paragraph.text.startswith(_HINT.strip()):
            raise _expected(file, paragraph, f"'{_HINT}...' as the last paragraph of its rule")
    return "\n\n".join(paragraph.text for paragraph in why).removeprefix("Why: "), hint


def _needs(
    file: str, paragraph: _Paragraph, names: str | None
) -> tuple[frozenset[Capability], ...]:
    known = [capability.value for capability in Capability]
    groups = [group.split(" or ") for group in names.split(", ")] if names else []
    for name in (name for group in groups for name in group):
        if name not in known:
            problem = f"there is no capability {name!r}; there are {', '.join(known)}"
            raise MalformedRules(file, paragraph.line, problem)
    return tuple(frozenset(Capability(name) for name in group) for group in groups)


def _check_number(
    file: str, heading: _Paragraph, rule: Rule, before: list[Rule], retired: frozenset[str]
) -> None:
    if rule.id in retired:
        raise MalformedRules(file, heading.line, f"{rule.id} is retired and can't be used again")
    if rule.id in {earlier.id for earlier in before}:
        raise MalformedRules(file, heading.line, f"{rule.id} is there already")
    number = int(before[-1].id.rpartition("-")[2]) + 1 if before else 1
    while f"{rule.area}-{number}" in retired:
        number += 1
    if rule.id != f"{rule.area}-{number}":
        problem = f"expected {rule.area}-{number} next, got {rule.id}"
        raise MalformedRules(file, heading.line, problem)


def _expected(file: str, paragraph: _Paragraph, what: str) -> MalformedRules:
    return MalformedRules(file, paragraph.line, f"expected {what}, got {paragraph.text!r}")
