"""What stands in the tutorials, and in the page on judging, runs and prints what they say."""

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest
from pages import blocks_of, run

from asyncwait.conformance.harness import VirtualLoop

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = ("index.md", "tutorials/stream.md", "judging.md")
ELSEWHERE = {
    "tutorials/gate.md": "in files of its own, by commands: test_gate.py",
    "tutorials/dataframe.md": "on Spark: tests/spark/test_whole_jobs.py",
    "streams.md": "on Spark: tests/spark/test_whole_jobs.py",
    "lookup.md": "on Redis: tests/lookup/test_redis.py",
    "your-loop.md": "tests/examples/test_your_loop.py",
    "operators.md": "block by block: test_readme.py",
    "gating.md": "the same",
    "expected-failures.md": "the same",
}
"""Pages with code that is run by another test."""


@pytest.fixture(autouse=True)
def on_a_clock_that_jumps(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page calls `asyncio.run`; here nothing waits for the wall clock."""

    def run_virtual(main: Coroutine[Any, Any, Any]) -> Any:
        with asyncio.Runner(loop_factory=VirtualLoop) as runner:
            return runner.run(main)

    monkeypatch.setattr(asyncio, "run", run_virtual)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_prints_what_it_says(page: str) -> None:
    blocks = [block for section in blocks_of(DOCS / page).values() for block in section]
    names: dict[str, Any] = {"__name__": "page"}

    printed = [run(block, DOCS / page, names) for block in blocks]

    assert {block.language for block in blocks} == {"python"}
    assert printed == [block.printed for block in blocks]


def test_every_page_with_code_is_run_somewhere() -> None:
    with_code = {
        path.relative_to(DOCS).as_posix()
        for path in DOCS.rglob("*.md")
        if "```python\n" in path.read_text(encoding="utf-8")
    }

    assert with_code == {*PAGES, *ELSEWHERE}
