"""Timelines as pictures."""

from xml.etree import ElementTree as ET

from asyncwait.conformance.harness import play
from asyncwait.conformance.judging import Violation
from asyncwait.conformance.timeline import draw_svg
from asyncwait.reference import open_operator
from asyncwait.spec import Record, Watermark
from asyncwait.spec.scenario import Scenario, Timed

SVG = "{http://www.w3.org/2000/svg}"
SCENARIO = Scenario(inputs=(Timed(0, Record("a")), Timed(0, Watermark(5))), name="two inputs")


def parsed(text: str) -> ET.Element:
    return ET.fromstring(text.encode())  # noqa: S314 - of our own


def drawn(scenario: Scenario, violation: Violation | None = None, title: str = "") -> ET.Element:
    return parsed(draw_svg(scenario, play(open_operator, scenario), violation, title=title))


def test_a_picture_says_what_it_shows() -> None:
    picture = drawn(SCENARIO, title="What a watermark does")

    assert picture.get("role") == "img"
    assert picture.findtext(f"{SVG}title") == "What a watermark does"
    assert picture.findtext(f"{SVG}desc") == (
        "ordered, capacity 4: 2 lanes, 6 steps. finished at 0 ms."
    )
    assert drawn(SCENARIO).findtext(f"{SVG}title") == "two inputs"


def test_a_picture_of_a_long_run_is_of_bounded_size() -> None:
    inputs = tuple(Timed(number, Record(number)) for number in range(400))
    scenario = Scenario(mode="unordered", capacity=8, inputs=inputs)

    text = draw_svg(scenario, play(open_operator, scenario), Violation("it is wrong", 200))

    assert len(text) < 60_000
    assert "more lanes are not shown" in text
    assert "steps are not shown" in text
