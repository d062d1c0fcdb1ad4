"""A file of expected failures is read strictly: what is wrong is told with its entry and key."""

from datetime import date
from pathlib import Path

import pytest

from asyncwait.conformance.expected_failures.file import Entry, entries_of, read_entries
from asyncwait.spec import InvalidConfig

WHOLE = """
[[expected-failure]]
rule = "ORD-1"
reason = "a queue too many"
scenarios = ["the-last-finishes-first", "0123456789ab"]
strict = false
until = 2027-01-31

[[expected-failure]]
rule = "CAP-5"
reason = "comes with 2.0"
"""


def test_an_entry_says_what_is_broken_why_and_for_how_long() -> None:
    assert entries_of(WHOLE, "file.toml") == (
        Entry(
            rule="ORD-1",
            reason="a queue too many",
            scenarios=("the-last-finishes-first", "0123456789ab"),
            strict=False,
            until=date(2027, 1, 31),
        ),
        Entry(rule="CAP-5", reason="comes with 2.0"),
    )


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "latin.toml"
    file.write_bytes(b"# \xe9\n")

    with pytest.raises(InvalidConfig, match=r"latin\.toml can't be read: it is not UTF-8$"):
        read_entries(file)
