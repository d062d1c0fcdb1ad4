"""Keys of calls."""

import re
from typing import Any

import pytest

from asyncwait.backends.journal import key_of
from asyncwait.spec import InvalidConfig


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
