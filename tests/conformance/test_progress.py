"""What is shown while backends are verified."""

from types import SimpleNamespace
from typing import Any

import pytest
from reports import verdict

from asyncwait.conformance._commands import _verify
from asyncwait.conformance._commands._verify import Board


def test_without_a_terminal_nothing_is_drawn(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def verify_to_tell(_backend: Any, _plan: Any, say: Any, *, terms: Any) -> Any:
        for done in range(9):
            say("judged", done, 8)
        say("shrunk", 0, 2)
        return SimpleNamespace(verdict=verdict("first"))

    monkeypatch.setattr(_verify, "verify_to_tell", verify_to_tell)

    with Board() as board:
        board.verify(SimpleNamespace(name="first"), None, None)  # type: ignore[arg-type]

    assert capsys.readouterr().err.splitlines() == [
        *(f"first: {done} of 8 scenarios judged" for done in (0, 2, 4, 6, 8)),
        "first: shrinking failures, for 8 s at most: of 2 rules",
    ]
