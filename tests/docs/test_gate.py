"""The tutorial "gate your operator" is walked in an empty folder: first red, then green."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
import sample
from outside import Folder
from pages import Block, blocks_of, put_in_place, shows, without_figures

PAGE = Path(__file__).resolve().parents[2] / "docs" / "tutorials" / "gate.md"

NOT_RUN = {
    "python3 -m venv .venv": "the environment of the tests is one already",
    ". .venv/bin/activate": "the same",
    "pip install 'asyncwait[conformance]'": "the same; what is tested is installed in it",
}
CODES = [1, 1, 1, 0, 0]
"""Of the commands in their order: twice red, with a look at one failure; green; green in pytest."""

pytestmark = pytest.mark.timeout(600)


def steps() -> Iterator[Block]:
    for blocks in blocks_of(PAGE).values():
        yield from blocks


@pytest.mark.sampled
def test_a_reader_sees_what_the_tutorial_says(tmp_path: Path) -> None:
    folder, gate, codes = Folder(tmp_path), "", []
    if sample.SEED != sample.WHOLE:  # by day fewer scenarios, of which END-7 still is the cause
        folder.write("pyproject.toml", "[tool.asyncwait]\ncount = 150\n")
    for step in steps():
        if step.language == "python":
            gate = put_in_place(step.code, gate) if gate else step.code
            folder.write("gate.py", gate)
            continue
        for line in re.findall(r"^\$ (.*)$", step.code, re.MULTILINE):
            if line in NOT_RUN:
                continue
            command, *arguments = shlex.split(line)
            done = {"asyncwait": folder.asyncwait, "pytest": folder.pytest}[command](*arguments)
            codes.append(done.code)
            if step.printed:
                shown = shows(without_figures(step.printed), without_figures(done.out))
                assert shown, f"{line}\n{done.out}\n{done.err}"
    assert codes == CODES


def test_every_line_that_is_not_run_is_in_the_tutorial() -> None:
    lines = [line for step in steps() for line in step.code.splitlines()]

    assert all(f"$ {line}" in lines for line in NOT_RUN)
    assert len(NOT_RUN) == 3
