"""The contract: each of its sentences is held by a rule, or it is said why it is held by none."""

import subprocess
import sys
from pathlib import Path

import pytest

from asyncwait.spec.rules import _contract
from asyncwait.spec.rules._contract import UnheldPromise, promises


def test_the_command_prints_the_page() -> None:
    printed = subprocess.check_output([sys.executable, "-m", "asyncwait.spec.rules"], text=True)

    rows = [line for line in printed.splitlines() if line.startswith("| ")]
    answers = [" ".join(promise.rules) or promise.because for promise in promises()]
    assert [
        promise.sentence
        for promise, answer in zip(promises(), answers, strict=True)
        if not any(promise.sentence in row and answer in row for row in rows)
    ] == []


def test_most_sentences_are_rules() -> None:
    held = [promise for promise in promises() if promise.rules]

    assert len(held) > len(promises()) / 2
    assert all(promise.because for promise in promises() if not promise.rules)


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ("", r"contract.toml: no answer in \[thing\] to 'It is one.'"),
        (
            '[thing]\n"It is two." = "END-1"',
            r"contract.toml: \[thing\] says no longer: 'It is two.'",
        ),
        (
            '[thing]\n"It is one." = "END-1 END-999"',
            r"contract.toml: 'END-999' is no rule, in \[thing\] 'It is one.'",
        ),
    ],
)
def test_what_does_not_fit_the_docstrings_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, answers: str, said: str
) -> None:
    (tmp_path / "contract.toml").write_text(answers, encoding="utf-8")
    monkeypatch.setattr(_contract, "sentences", lambda: iter([("thing", "It is one.")]))
    monkeypatch.setattr(_contract.resources, "files", lambda _: tmp_path)

    with pytest.raises(UnheldPromise, match=said):
        promises()
