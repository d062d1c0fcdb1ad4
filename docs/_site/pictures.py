"""Draws the pictures of docs/pictures.md, from real runs of the reference.

python docs/_site/pictures.py
"""

from collections.abc import Mapping

from where import ROOT

from asyncwait.conformance.evidence import scenario_of
from asyncwait.conformance.harness import play
from asyncwait.conformance.timeline import draw_svg
from asyncwait.reference import open_operator
from asyncwait.spec.scenario import Scenario

FOLDER = ROOT / "docs" / "pictures"
REPLIES = "a: 160 gives a1; b: 40 gives b1; c: 80 gives c1"

PICTURES: Mapping[str, Scenario] = {
    "ordered": scenario_of(f"0: a b c; {REPLIES}"),
    "unordered": scenario_of(f"unordered; 0: a b c; {REPLIES}"),
    "segments": scenario_of(f"unordered; 0: a@1 b@2 ~2 c@3; {REPLIES}"),
    "snapshot": scenario_of(f"0: a b; 80: ^1; 120: c; {REPLIES}"),
    "back-pressure": scenario_of(
        f"capacity 2; 0: a b c d; {REPLIES}; d: 40 gives d1; sink read 1, pause 200"
    ),
    "batches": scenario_of(
        "unordered; timeout 120; handled; retry initial=40; batch max_size=3 max_wait=40;"
        "0: a; 80: b c; a: 20 raises own, 100 gives a1, late gives a?; b c: 100 gives *1;"
        "source_ends_at 240"
    ),
}
"""The pictures to draw, by name."""


def picture(name: str) -> str:
    """Return the content of a picture's file."""
    scenario = PICTURES[name]
    drawn = draw_svg(scenario, play(open_operator, scenario, "asyncio"), title=name)
    return f"{drawn}\n"


def main() -> None:
    """Write all pictures."""
    FOLDER.mkdir(exist_ok=True)
    for name in PICTURES:
        (FOLDER / f"{name}.svg").write_text(picture(name), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
