"""What is added is found: at once, by the next attempt, and after files were merged."""

import pickle
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from journals import add_all, entries, fill, find_all, found, prepared

from asyncwait.backends.journal import Journal, JournalError, _files, compact, key_of, summary
from asyncwait.spec import InvalidConfig

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.integers(0, 20), st.binary(max_size=40)),
        st.tuples(st.sampled_from(["open", "flush", "compact"]), st.just(0), st.just(b"")),
    ),
    max_size=40,
)


@pytest.mark.parametrize("is_merged", [False, True])
def test_a_long_files_is_searched_where_it_is(
    journal: Journal,
    monkeypatch: pytest.MonkeyPatch,
    *,
    is_merged: bool,
) -> None:
    monkeypatch.setattr(_files, "_WORTH", 1)
    some, others = entries(*range(0, 2000, 2)), entries(*range(1, 2000, 2))
    fill(journal, some)
    if is_merged:
        compact(journal.path)

    assert found(journal, [*some, *others]) == some


@pytest.mark.parametrize("size", [0, 1, 4067, 4068, 4069, 5000, 3_000_000])
def test_a_payload_may_have_any_size(journal: Journal, size: int) -> None:
    fine = {key_of(n): bytes([n]) * size for n in range(3)}
    with journal.attempt("part") as attempt:
        add_all(attempt, fine)
        assert find_all(attempt, fine) == fine

    assert found(journal, fine) == fine
    compact(journal.path)
    assert found(journal, fine) == fine


@settings(max_examples=60)
@given(steps=STEPS, kind=st.sampled_from(["disk", "memory"]))
def test_any_order_of_steps_keeps_what_was_added(
    tmp_path_factory: pytest.TempPathFactory, steps: list[Any], kind: str
) -> None:
    folder = tmp_path_factory.mktemp("any")
    path = f"memory://{folder.name}" if kind == "memory" else str(folder)
    journal = prepared(path, flush_rows=3)
    before: dict[bytes, set[bytes]] = {}
    here: dict[bytes, bytes] = {}
    attempt = journal.attempt("part")
    for step, number, payload in steps:
        if step == "add":
            attempt.add(key_of(number), payload)
            here[key_of(number)] = payload
        elif step == "flush":
            attempt.flush()
        elif step == "compact":
            compact(path)
        else:
            attempt.close()
            attempt = journal.attempt("part")
            for key, added in here.items():
                before.setdefault(key, set()).add(added)
            here = {}
        for key in map(key_of, range(21)):
            possible = {here[key]} if key in here else before.get(key, {None})
            assert attempt.find(key) in possible
    attempt.close()


def test_a_journal_travels_to_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    journal = Journal("kept", "job", "1")

    assert pickle.loads(pickle.dumps(journal)) == journal  # noqa: S301 - of our own making
    assert journal.path == str(tmp_path / "kept")


def test_a_closed_attempt_is_of_no_use(journal: Journal) -> None:
    attempt = journal.attempt("part")
    assert attempt.find(key_of(1)) is None
    attempt.close()
    attempt.close()
    assert summary(journal.path).files == 0

    for use in (
        lambda: attempt.find(key_of(1)),
        lambda: attempt.add(key_of(1), b""),
        attempt.flush,
    ):
        with pytest.raises(JournalError, match="attempt is closed"):
            use()


def test_keys_stay_the_same() -> None:
    assert key_of("model", "prompt", 7).hex() == "72e35941ea332d1e9308e53319b48a98"
    assert key_of(b"", "", 0, -1).hex() == "6d19a5696ff2062b37004bfc021eb770"


def test_parts_of_a_key_do_not_run_into_each_other() -> None:
    texts = [("ab", "c"), ("a", "bc"), ("abc",), (b"ab", "c"), ("1",), ("", ""), ("",), ("\ud800",)]
    others = [(1,), (b"1",), (1, 0), (256,), (-1,), (255,), (0,), (b"\0",)]
    parts = [*texts, *others]

    assert len({key_of(*each) for each in parts}) == len(parts)


@pytest.mark.parametrize("parts", [(), (True,), (1.5,), (None,)])
def test_what_is_no_part_of_a_key_is_refused(parts: Any) -> None:
    wrong = parts[0] if parts else parts
    with pytest.raises(
        InvalidConfig, match=rf"{re.escape(repr(wrong))} \({type(wrong).__name__}\)"
    ):
        key_of(*parts)
