"""The rules are read from their chapters, and a slip in a chapter is an error that says where."""

import re
from importlib import resources
from textwrap import dedent

import pytest
from msgspec.structs import replace

from asyncwait.spec import InvalidConfig
from asyncwait.spec.rules import (
    Area,
    MalformedRules,
    Rule,
    areas,
    departures,
    rules,
    spec_version,
    version_key,
)
from asyncwait.spec.rules._registry import (
    parse_chapter,
    parse_chapters,
)
from asyncwait.spec.scenario import ALL_CAPABILITIES, PROFILES, Capability, declared

RULE_ID = re.compile(r"\b[A-Z]+-\d+")
FLINK_ID = re.compile(r"\b[A-Z]{2,3}-\d+")

GOOD = dedent(
    """\
    # Colours of things (COL)

    What colours are about.

    ## COL-1 Grass is green

    MUST · since 0.1 · source: Flink EL-2, EL-3

    Grass is as green
    as it was.

    Why: Cows look
    for it.

    They find nothing else.

    ## COL-2 The sky is blue

    SHOULD · since 0.2 · needs: cancel-calls, in-flight-snapshot or event-time ·
    source: Flink OR-1; OR-2 [departed from](departures.md)

    The sky, i.e. the upper half, is blue.

    Why: Painters expect it.

    If it fails: look for clouds,
    and for the lamp.
    """
)

GREEN = Rule(
    id="COL-1",
    area="COL",
    title="Grass is green",
    level="MUST",
    since="0.1",
    needs=(),
    source="Flink EL-2, EL-3",
    sentence="Grass is as green as it was.",
    why="Cows look for it.\n\nThey find nothing else.",
)


def text_of(file: str) -> str:
    return (resources.files("asyncwait.spec.rules") / file).read_text(encoding="utf-8")


def test_the_areas_are_the_chapters_in_reading_order() -> None:
    folder = resources.files("asyncwait.spec.rules")
    chapters = sorted(file.name for file in folder.iterdir() if file.name[:2].isdigit())

    assert [area.folder for area in areas().values()] == [name[3:-3] for name in chapters[1:]]
    assert list(areas())[:2] == ["ELEM", "ORD"]


def test_a_rule_applies_where_nothing_that_it_needs_is_missing() -> None:
    core = declared(["ordered"])
    rule = rules()["CAP-6"]

    assert rule.missing(core) == ("event-time or snapshots",)
    assert rule.missing(core | {Capability.SNAPSHOTS}) == ()
    assert rules()["SNAP-5"].missing(core) == ("snapshots", "in-flight-snapshot")
    assert rules()["SNAP-5"].missing(declared(lacks=["in-flight-snapshot"])) == (
        "in-flight-snapshot",
    )
    assert [name for name, each in rules().items() if not each.applies_to(ALL_CAPABILITIES)] == []
    assert rules()["CAP-5"].applies_to(core | {Capability.EVENT_TIME})
    assert not rules()["CAP-5"].applies_to(core | {Capability.SNAPSHOTS})


def test_what_needs_a_part_needs_the_whole() -> None:
    for rule in rules().values():
        names = set().union(*rule.needs)
        assert {each.part_of for each in names if each.part_of} <= names, rule.id


def test_every_rule_has_a_short_title_and_says_what_to_look_for_both_unique() -> None:
    titles = {rule.title for rule in rules().values()}
    hints = {rule.hint for rule in rules().values()}

    assert len(titles) == len(hints) == len(rules())
    assert [title for title in titles if len(title) > 72 or title.endswith(".")] == []
    assert [hint for hint in hints if not hint.startswith("look for ")] == []


def test_every_profile_brings_rules() -> None:
    for profile in PROFILES:
        lacking = ALL_CAPABILITIES - {profile}
        assert [rule.id for rule in rules().values() if not rule.applies_to(lacking)]


def test_the_introduction_says_what_each_capability_brings() -> None:
    row = re.compile(r"^\| ([a-z]+(?:-[a-z]+)*) \| (.*?) \|$", re.MULTILINE)
    rows = row.findall(text_of("00-introduction.md"))
    parts = {each: f"; part of {each.part_of}" if each.part_of else "" for each in Capability}
    expected = [(each.value, each.brings + parts[each]) for each in Capability]

    assert [found for found in rows if found[0] in ALL_CAPABILITIES] == expected


def test_every_source_can_be_looked_up() -> None:
    followed = re.findall(r"^\| ([A-Z]+-\d+) \|", text_of("sources.md"), re.MULTILINE)
    left = [departure.flink for departure in departures()]
    named = {name for rule in rules().values() for name in FLINK_ID.findall(rule.source)}

    assert sorted(followed) == sorted(set(followed))
    assert set(followed).isdisjoint(left)
    assert named - set(left) == set(followed)


def test_a_source_says_departed_from_exactly_where_the_table_does() -> None:
    left = {departure.flink for departure in departures()}
    for rule in rules().values():
        for part in rule.source.split("; "):
            named = set(FLINK_ID.findall(part))
            assert named <= left if part.endswith("(departed from)") else named.isdisjoint(left)


def test_departures_name_rules_that_exist() -> None:
    named = {name for departure in departures() for name in RULE_ID.findall(departure.ours)}

    assert "FAIL-3" in named
    assert named <= set(rules())


def test_a_chapter_becomes_its_rules() -> None:
    chapter = parse_chapter("01-colours.md", GOOD)

    assert chapter.area == Area("COL", "Colours of things", "colours")
    assert chapter.rules == (
        GREEN,
        replace(
            GREEN,
            id="COL-2",
            title="The sky is blue",
            level="SHOULD",
            since="0.2",
            needs=(
                frozenset({Capability.CANCEL_CALLS}),
                frozenset({Capability.EVENT_TIME, Capability.IN_FLIGHT_SNAPSHOT}),
            ),
            source="Flink OR-1; OR-2 (departed from)",
            sentence="The sky, i.e. the upper half, is blue.",
            why="Painters expect it.",
            hint="look for clouds, and for the lamp.",
        ),
    )


HEADING = "expected a heading "
META = "expected 'LEVEL"
MALFORMED = {
    "title without area": (
        "# Colours of things (COL)",
        "# Colours of things",
        1,
        "expected a title ",
    ),
    "no introduction": ("What colours are about.\n\n", "", 3, "expected a paragraph "),
    "another area": ("## COL-1 ", "## SND-1 ", 5, HEADING),
    "no version": ("MUST · since 0.1 ·", "MUST ·", 7, META),
    "no source": (" · source: Flink EL-2, EL-3", "", 7, META),
    "unknown level": (
        "MUST · since 0.1",
        "SHALL · since 0.1",
        7,
        "expected MUST, SHOULD or MAY, got ",
    ),
    "unknown capability": (
        "cancel-calls, in",
        "cancel-call, in",
        19,
        "there is no capability 'canc",
    ),
    "no sentence": ("Grass is as green\nas it was.\n\n", "", 5, "COL-1 has no sentence "),
    "two sentences": ("as it was.", "as it was. Cows too.", 9, "expected one sentence "),
    "no reason": ("Why: Painters expect it.\n", "", 17, "COL-2 has no paragraph 'Why: "),
    "hint too early": (
        "They find",
        "If it fails: run.\n\nThey find",
        15,
        "expected 'If it fails: ",
    ),
    "duplicate": ("## COL-2 ", "## COL-1 ", 17, "COL-1 is there already"),
    "gap": ("## COL-2 ", "## COL-3 ", 17, "expected COL-2 next, got COL-3"),
    "no rules": (GOOD, "# Colours (COL)\n\nNo rules here.\n", 1, "expected at least one rule "),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_chapter_is_refused(name: str) -> None:
    old, new, line, problem = MALFORMED[name]
    assert GOOD.count(old) == 1

    with pytest.raises(MalformedRules) as caught:
        parse_chapter("01-colours.md", GOOD.replace(old, new))

    assert (caught.value.file, caught.value.line) == ("01-colours.md", line)
    assert caught.value.problem.startswith(problem)


@pytest.mark.parametrize(
    ("chapters", "told"),
    [
        (("01-colours.md", "02-colours.md"), "02-colours.md:1: area COL "),
        (("colours.md",), "colours.md:1: "),
    ],
    ids=["an area has one", "a stray file"],
)
def test_chapters_that_do_not_go_together_are_refused(chapters: tuple[str, ...], told: str) -> None:
    with pytest.raises(MalformedRules, match=f"^{told}"):
        parse_chapters(dict.fromkeys(chapters, GOOD))


def test_a_retired_id_is_never_used_again() -> None:
    with pytest.raises(MalformedRules, match=r"^01-colours.md:17: COL-2 is retired"):
        parse_chapter("01-colours.md", GOOD, frozenset({"COL-2"}))


def test_the_version_is_that_of_the_newest_rule() -> None:
    assert spec_version() == "0.1"
    assert sorted(["0.10", "1.0", "0.9"], key=version_key) == ["0.9", "0.10", "1.0"]


@pytest.mark.parametrize("text", ["1", "9" * 5000 + ".1", "0.1.2", "v0.1", "0.\u0661", ""])
def test_a_version_is_two_numbers(text: str) -> None:
    with pytest.raises(InvalidConfig, match=r"^version must be two numbers, like '0\.1', got "):
        version_key(text)
