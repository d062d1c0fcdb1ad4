"""The pictures in docs are what the suite draws of their runs now, and show what the page says."""

import re

import pytest
from pictures import FOLDER, PICTURES, picture
from where import ROOT

from asyncwait.conformance.harness import play
from asyncwait.reference import open_operator
from asyncwait.spec import Record, Snapshot
from asyncwait.spec.scenario import CallStarted, SinkTook

PAGE = (ROOT / "docs" / "pictures.md").read_text(encoding="utf-8")


def output(name: str) -> list[object]:
    (leg,) = play(open_operator, PICTURES[name], "asyncio").legs
    elements = [event.element for event in leg.events if isinstance(event, SinkTook)]
    return [each.value if isinstance(each, Record) else each for each in elements]


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_what_is_drawn_now(name: str) -> None:
    assert (FOLDER / f"{name}.svg").read_text(encoding="utf-8") == picture(name)


def test_every_picture_stands_in_the_page() -> None:
    assert re.findall(r"\(pictures/(.*?)\.svg\)", PAGE) == list(PICTURES)
    assert sorted(file.stem for file in FOLDER.iterdir()) == sorted(PICTURES)


def test_the_modes_differ_as_the_page_says() -> None:
    assert output("ordered") == ["a1", "b1", "c1"]
    assert output("unordered") == ["b1", "c1", "a1"]


def test_nothing_crosses_the_watermark() -> None:
    (b, a, watermark, c) = output("segments")

    assert (b, a, c) == ("b1", "a1", "c1")
    assert not isinstance(watermark, str)


def test_the_snapshot_holds_what_the_page_says() -> None:
    snapshot = output("snapshot")[0]

    assert isinstance(snapshot, Snapshot)
    assert snapshot.in_flight == (Record("a"), Record("b"))


def test_a_record_leaves_its_batch_as_the_page_says() -> None:
    (leg,) = play(open_operator, PICTURES["batches"], "asyncio").legs

    assert output("batches") == ["a?", "b1", "c1"]
    calls = [(e.value, e.batch, e.at) for e in leg.events if isinstance(e, CallStarted)]
    assert sorted(calls) == [("a", 0, 40), ("a", 1, 100), ("b", 1, 100), ("c", 1, 100)]
