"""Timelines as pictures."""

from xml.etree import ElementTree as ET

from asyncwait.conformance.areas import CHECKS, WITNESSES
from asyncwait.conformance.harness import play
from asyncwait.conformance.judging import Violation, judge
from asyncwait.conformance.timeline import draw_svg, lay_out, svg_of
from asyncwait.reference import open_operator
from asyncwait.spec import Record, Watermark
from asyncwait.spec.scenario import Scenario, Timed

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "</script><script>alert(1)</script>\"'&\x00\x1b\u202e\ud800"
SCENARIO = Scenario(inputs=(Timed(0, Record("a")), Timed(0, Watermark(5))), name="two inputs")


def parsed(text: str) -> ET.Element:
    """The picture that a text is."""
    return ET.fromstring(text.encode())  # noqa: S314 - of our own


def drawn(scenario: Scenario, violation: Violation | None = None, title: str = "") -> ET.Element:
    """A picture of what the reference makes of a scenario."""
    return parsed(draw_svg(scenario, play(open_operator, scenario), violation, title=title))


def shapes(picture: ET.Element, kind: str) -> list[ET.Element]:
    """The elements of a class, without those of the legend."""
    return [each for each in picture.iter() if kind in each.get("class", "").split()]


def test_a_picture_says_what_it_shows() -> None:
    """To whoever can't see it: its name, and a sentence."""
    picture = drawn(SCENARIO, title="What a watermark does")

    assert picture.get("role") == "img"
    assert picture.findtext(f"{SVG}title") == "What a watermark does"
    assert picture.findtext(f"{SVG}desc") == (
        "ordered, capacity 4: 2 lanes, 8 steps. finished at 0 ms."
    )
    assert drawn(SCENARIO).findtext(f"{SVG}title") == "two inputs"


def test_a_picture_needs_nothing_else() -> None:
    """No fonts, no scripts, no files; and it is dark where the reader's screen is."""
    text = draw_svg(SCENARIO, play(open_operator, SCENARIO))

    assert text.count("http") == 1
    assert "prefers-color-scheme:dark" in text
    assert "<script" not in text
    assert "@import" not in text


def test_what_is_wrong_is_marked_and_told() -> None:
    """In the band of its instant, and in words below."""
    picture = drawn(SCENARIO, Violation("the watermark came out first", 0))

    assert len(shapes(picture, "bad")) == 1
    assert [each.text for each in shapes(picture, "wrong")] == [
        "▲ at 0 ms: the watermark came out first"
    ]


def test_kinds_are_told_apart_without_colours() -> None:
    """By a pattern, a dash or a letter; the legend names each that is there."""
    text = draw_svg(SCENARIO, play(open_operator, SCENARIO))

    assert ".waiting{stroke:var(--wait);stroke-dasharray" in text
    assert ".held{fill:url(#aw-held)" in text
    words = [each.text for each in parsed(text).iter(f"{SVG}text")]
    assert {"waits for its call", "its call runs", "decided and held", "comes out"} <= set(words)


def test_whatever_stands_in_a_value_or_an_error_is_text() -> None:
    """Also what XML can't hold at all."""
    scenario = Scenario(inputs=(Timed(0, Record(HOSTILE.replace("\ud800", ""))),))

    text = draw_svg(scenario, play(open_operator, scenario), Violation(HOSTILE, 0), title=HOSTILE)

    picture = parsed(text)
    assert [each for each in picture.iter() if "script" in each.tag] == []
    assert picture.findtext(f"{SVG}title") == (
        "</script><script>alert(1)</script>\"'&\\x00\\x1b\\u202e\\ud800"
    )


def test_a_picture_of_a_long_run_is_of_bounded_size() -> None:
    """As its text is; what is not drawn is counted."""
    inputs = tuple(Timed(number, Record(number)) for number in range(400))
    scenario = Scenario(mode="unordered", capacity=8, inputs=inputs)

    text = draw_svg(scenario, play(open_operator, scenario), Violation("it is wrong", 200))

    assert len(text) < 60_000
    assert "more lanes are not shown" in text
    assert "steps are not shown" in text


def test_in_a_page_that_holds_the_style_a_picture_goes_without() -> None:
    """It stands there once for all."""
    timeline = lay_out(SCENARIO, play(open_operator, SCENARIO))

    text = svg_of(timeline, title="in a page", alone=False)

    assert "<style" not in text
    assert "<pattern" not in text
    assert "xmlns" not in text


def test_a_picture_of_each_broken_rule_is_whole() -> None:
    """It is XML, and nothing else."""
    for witness in WITNESSES:
        run = witness.violating
        found = dict(judge(run.scenario, run.trace, CHECKS).violations())[witness.rule]
        picture = parsed(draw_svg(run.scenario, run.trace, found, title=witness.rule))
        assert picture.findtext(f"{SVG}title") == witness.rule
        assert shapes(picture, "wrong") != []
