"""Draws the pictures of docs/pictures.md, from real runs of the reference.

python docs/_site/pictures.py
"""

from collections.abc import Mapping

from where import ROOT

from asyncwait.conformance.evidence import at, replies
from asyncwait.conformance.harness import play
from asyncwait.conformance.timeline import draw_svg
from asyncwait.reference import open_operator
from asyncwait.spec import Barrier, Mode, Record, Watermark
from asyncwait.spec.scenario import Scenario, SinkStep

FOLDER = ROOT / "docs" / "pictures"
REPLIES = (replies("a", 160, "a1"), replies("b", 40, "b1"), replies("c", 80, "c1"))


def _two_fast_ones_behind_a_slow_one(mode: Mode) -> Scenario:
    inputs = at(0, Record("a"), Record("b"), Record("c"))
    return Scenario(mode=mode, inputs=inputs, plans=REPLIES)


PICTURES: Mapping[str, Scenario] = {
    "ordered": _two_fast_ones_behind_a_slow_one("ordered"),
    "unordered": _two_fast_ones_behind_a_slow_one("unordered"),
    "segments": Scenario(
        mode="unordered",
        inputs=at(0, Record("a", 1), Record("b", 2), Watermark(2), Record("c", 3)),
        plans=REPLIES,
    ),
    "snapshot": Scenario(
        inputs=at(0, Record("a"), Record("b")) + at(80, Barrier(1)) + at(120, Record("c")),
        plans=REPLIES,
    ),
    "back-pressure": Scenario(
        capacity=2,
        inputs=at(0, *map(Record, "abcd")),
        plans=(*REPLIES, replies("d", 40, "d1")),
        sink=(SinkStep("read", 1), SinkStep("pause", 200)),
    ),
}
"""What is drawn, by the name of its picture."""


def picture(name: str) -> str:
    """Return what is in the file of a picture."""
    scenario = PICTURES[name]
    drawn = draw_svg(scenario, play(open_operator, scenario, "asyncio"), title=name)
    return f"{drawn}\n"


def main() -> None:
    """Write all of them."""
    FOLDER.mkdir(exist_ok=True)
    for name in PICTURES:
        (FOLDER / f"{name}.svg").write_text(picture(name), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
