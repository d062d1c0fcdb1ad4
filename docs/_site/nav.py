"""Menu of the site, made of pages by hand and of the areas of rules."""

import json
from collections.abc import Iterator
from itertools import chain
from typing import Any

from chapters import chapter_of, folder_of
from where import ROOT

from asyncwait.spec.rules import areas

DOCS = ROOT / "docs"


def menu() -> list[Any]:
    """Return it as MkDocs wants it; a page without a place comes last."""
    places = _places()
    by_hand = [path.relative_to(DOCS).as_posix() for path in sorted(DOCS.rglob("*.md"))]
    others = [page for page in by_hand if page not in _pages_in(places)]
    return [*places, {"More": others}] if others else places


def _pages_in(place: Any) -> Iterator[str]:
    if isinstance(place, str):
        yield place
    else:
        inside = place.values() if isinstance(place, dict) else place
        yield from chain.from_iterable(map(_pages_in, inside))


def _places() -> list[Any]:
    return [
        {"Home": "index.md"},
        {"Tutorials": _TUTORIALS},
        {"Guides": _GUIDES},
        {"Specification": _specification()},
        {"Evidence": _evidence()},
        {"Protocol": [{"JSON lines": "protocol/json-lines.md"}, {"How judging works": _JUDGING}]},
        {"Design": _DESIGN},
        {"Flink": _FLINK},
        {"Project": _PROJECT},
    ]


_TUTORIALS = [
    "tutorials/gate.md",
    "tutorials/stream.md",
    "tutorials/dataframe.md",
    "your-loop.md",
]
_GUIDES = [
    "which-operator.md",
    "operators.md",
    "lookup.md",
    {"DataFrames": ["spark.md", "spark-figures.md"]},
    {"Streams": ["streams.md", "streams-figures.md"]},
    "gating.md",
    "expected-failures.md",
    "reports.md",
    "other-languages.md",
    "mailbox.md",
]
_JUDGING = ["judging.md", {"Step by step": "judging-steps.md"}]
_DESIGN = [
    "pool.md",
    "figures.md",
    "figures-by-python.md",
    "growth.md",
    "jobs.md",
    "threads.md",
    "emitter.md",
    "soak.md",
]
_PROJECT = ["stability.md", "security.md", "tour.md", "developing.md", "changelog.md"]
_FLINK = ["flink.md", "flink-defects.md", "spec/departures.md", "spec/sources.md", "upstream.md"]


def _specification() -> list[Any]:
    chapters = [{area.title: chapter_of(f"{area.id}-1")} for area in areas().values()]
    mailbox = ["spec/mailbox/01-mailbox.md", "spec/mailbox/sources.md"]
    return [
        {"Introduction": "spec/00-introduction.md"},
        "pictures.md",
        {"All rules": "spec/rules.md"},
        {"Chapters": chapters},
        {"The contract": ["contract.md", {"Sentence by sentence": "spec/contract.md"}]},
        {"Capabilities": "capabilities.md"},
        {"The task mailbox": mailbox},
        {"Carried calls": chapter_of("CARRY-1")},
    ]


def _peers() -> list[str]:
    measured = (ROOT / "examples/peers/measured.json").read_text(encoding="utf-8")
    return [each["name"] for each in json.loads(measured)]


def _evidence() -> list[Any]:
    folders = {area.title: area.folder for area in areas().values()}
    folders["The task mailbox"] = folder_of("MBX-1")
    faulty = {**folders, "Carried calls": folder_of("CARRY-1")}
    return [
        {"The gallery": "faults/index.md"},
        {"Bugs that operators have had": "bugs.md"},
        {"The matrix": ["peers.md", *(f"peers/{name}.md" for name in _peers())]},
        {"Faulty operators": [{title: f"faults/{name}.md"} for title, name in faulty.items()]},
        {"Examples": [{title: f"spec/examples/{name}.md"} for title, name in folders.items()]},
    ]
