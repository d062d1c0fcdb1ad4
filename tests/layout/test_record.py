"""The record of what the suite can do: written twice it is the same, and a change is named."""

import json
import sys
from functools import partial
from operator import truediv
from pathlib import Path

import pytest
import record


def test_a_record_is_the_same_when_nothing_has_changed(tmp_path: Path) -> None:
    """No place, time or order of work shows in it."""
    for folder, jobs in (("before", 1), ("after", 2)):
        record.write(tmp_path / folder, "examples", jobs, "mailbox a")

    assert json.loads((tmp_path / "after/examples.json").read_text())
    assert list(record.differences(tmp_path / "before", tmp_path / "after")) == []


def test_what_differs_is_named_and_ends_in_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The part, the key, what it was and what it is."""
    parts = {
        "before": {"same": {"A-1": 1}, "moved": {"A-1": 1, "A-2": [2, 1]}, "lost": {"A-1": 1}},
        "after": {"same": {"A-1": 1}, "moved": {"A-1": 1, "A-2": 2}, "new": {"A-1": 1}},
    }
    for folder, part in parts.items():
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "examples.json").write_text(json.dumps(part), encoding="utf-8")
    folders = [str(tmp_path / name) for name in parts]
    monkeypatch.setattr(sys, "argv", ["record.py", "diff", *folders])

    with pytest.raises(SystemExit) as ended:
        record.main()

    assert ended.value.code == 1
    assert capsys.readouterr().out.splitlines()[:-1] == [
        'examples: lost: {"A-1": 1} -> nothing',
        "examples: moved: A-2: [2, 1] -> 2",
        'examples: new: nothing -> {"A-1": 1}',
    ]


def test_a_record_that_was_broken_off_goes_on(tmp_path: Path) -> None:
    """What is there stays, and is not made again."""
    (tmp_path / "witnesses.json").write_text('{"CAP-1": "there"}', encoding="utf-8")

    record.write(tmp_path, "witnesses", 1, "CAP-", goes_on=True)

    found = json.loads((tmp_path / "witnesses.json").read_text(encoding="utf-8"))
    assert found.pop("CAP-1") == "there"
    assert found["CAP-2"]["violating"]


def test_a_key_that_breaks_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hours of work are not lost without a word about where."""
    monkeypatch.setitem(record.PARTS, "witnesses", lambda: {"A-1": partial(truediv, 1, 0)})

    with pytest.raises(SystemExit, match="witnesses: A-1: ZeroDivisionError"):
        record.write(tmp_path, "witnesses", 1)
