"""What is shown while backends are verified."""

from collections.abc import Callable
from io import StringIO
from types import SimpleNamespace
from typing import Any

import pytest
from reports import CASE, FAILURE, verdict
from rich.console import Console

from asyncwait.conformance._commands import _progress
from asyncwait.conformance._commands._progress import Board
from asyncwait.conformance.areas import CHECKS
from asyncwait.conformance.judging import Judgement
from asyncwait.conformance.verdict import Failure, Tally
from asyncwait.spec.rules import areas, rules

NAMES = ("first", "second", "third")


def shown(board: Board) -> list[list[str]]:
    columns = (map(str, column.cells) for column in board._table().columns)
    return [list(row) for row in zip(*columns, strict=True)]


@pytest.fixture
def verified(monkeypatch: pytest.MonkeyPatch) -> Callable[[Board, str, Callable[[], None]], None]:
    def verify(board: Board, name: str, look: Callable[[], None]) -> None:
        def verify_to_tell(_backend: Any, _plan: Any, show: Any, watch: Any, *, terms: Any) -> Any:
            tally = Tally(CHECKS, [rule for rule in rules() if rules()[rule].area != "KEY"])
            watch(tally)
            tally.counts["ORD-1"].found.add(Failure(CASE, FAILURE.trace, FAILURE.violation))
            for rule in ("ORD-1", "ORD-2", "CAP-1"):
                tally.counts[rule].add(Judgement(1))
            show("judged", 5, 40)
            look()
            return SimpleNamespace(verdict=verdict(name, {"ORD-1": "fail"}))

        monkeypatch.setattr(_progress, "verify_to_tell", verify_to_tell)
        board.verify(SimpleNamespace(name=name), None, None)  # type: ignore[arg-type]

    return verify


def test_areas_by_backend_are_shown_while_it_runs(
    verified: Callable[[Board, str, Callable[[], None]], None],
) -> None:
    board = Board(NAMES, Console(file=StringIO(), force_terminal=True))
    looks: list[list[list[str]]] = []

    verified(board, "first", lambda: None)
    verified(board, "second", lambda: looks.append(shown(board)))

    (lines,) = looks
    assert [f"ORD  {areas()['ORD'].title}", "4/5", "1 broken  1/5", ""] in lines
    assert [f"CAP  {areas()['CAP'].title}", "7/7", "1/7", ""] in lines
    assert [f"KEY  {areas()['KEY'].title}", "13/13", "-", ""] in lines
    assert ["verdict", "not conformant", "runs", "waits"] in lines


def test_without_a_terminal_nothing_is_drawn(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def verify_to_tell(_backend: Any, _plan: Any, say: Any, *, terms: Any) -> Any:
        for done in range(9):
            say("judged", done, 8)
        say("shrunk", 0, 2)
        return SimpleNamespace(verdict=verdict("first"))

    monkeypatch.setattr(_progress, "verify_to_tell", verify_to_tell)
    drawn = StringIO()

    with Board(NAMES, Console(file=drawn, force_terminal=False)) as board:
        board.verify(SimpleNamespace(name="first"), None, None)  # type: ignore[arg-type]

    assert drawn.getvalue() == ""
    assert capsys.readouterr().err.splitlines() == [
        *(f"first: {done} of 8 scenarios judged" for done in (0, 2, 4, 6, 8)),
        "first: shrinking failures, for 8 s at most: of 2 rules",
    ]
