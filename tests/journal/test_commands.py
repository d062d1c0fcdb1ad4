"""`asyncwait journal`: what it prints, word for word."""

import json
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from click.testing import CliRunner, Result

from asyncwait.backends.journal import (
    FileSummary,
    Journal,
    JournalSummary,
    _compact,
    _local_writer,
    summary,
)
from asyncwait.backends.journal._commands import journal as command


@pytest.fixture(autouse=True)
def numbered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are numbered one after the other."""
    numbers = iter(range(1, 100))
    for module in (_local_writer, _compact):
        monkeypatch.setattr(module, "uuid4", lambda: UUID(int=next(numbers)))


@pytest.fixture
def mixed(on_disk: Journal, entries: Any, fill: Any) -> str:
    """The path of a journal with files of each kind."""
    fill(on_disk, entries(*range(1200)), name="early")
    run("compact", on_disk.path)
    fill(on_disk, entries(0, 1, 2000), name="late")
    fill(on_disk, entries(*range(10)), name="torn", is_closed=False)
    (torn,) = Path(on_disk.path).glob("torn-*")
    torn.write_bytes(torn.read_bytes()[:-1])
    Path(on_disk.path, f"worse-{UUID(int=0).hex}.loose").write_bytes(b"x" * 500)
    return on_disk.path


def run(*arguments: str) -> Result:
    """Run the command in this process."""
    return CliRunner().invoke(command, arguments)


def name_of(number: int) -> str:
    """How a numbered file ends."""
    return UUID(int=number).hex


def test_a_journal_is_shown_as_a_table(mixed: str) -> None:
    """First in a line, then file by file."""
    done = run("show", mixed)

    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout == (
        f"{mixed}: job 'job', version '1'\n"
        "4 files, 91,511 bytes, 1,212 entries of 1,201 keys, 1 torn, 1 corrupt\n"
        "\n"
        "entries   bytes  state    file\n"
        f"  1,200  90,106  whole    all-{name_of(2)}.merged\n"
        f"      3     334  whole    late-{name_of(3)}.loose\n"
        f"      9     571  torn     torn-{name_of(4)}.loose\n"
        f"      0     500  corrupt  worse-{name_of(0)}.loose\n"
    )


def test_a_journal_is_shown_as_json(mixed: str) -> None:
    """What the summary says."""
    done = run("show", mixed, "--json")

    there = summary(mixed)
    assert json.loads(done.stdout) == {
        "path": mixed,
        "job": "job",
        "version": "1",
        "files": 4,
        "entries": 1212,
        "keys": 1201,
        "bytes": 91511,
        "torn": 1,
        "corrupt": 1,
        "loose": [as_dict(file) for file in there.loose],
        "merged": [as_dict(file) for file in there.merged],
        "settings": {},
        "format": 2,
    }
    assert done.stdout.startswith('{\n  "path": "')


def as_dict(file: FileSummary) -> dict[str, Any]:
    """A file, as JSON has it."""
    fields = ("name", "entries", "bytes", "state")
    return {field: getattr(file, field) for field in fields}


def test_an_empty_journal_is_shown_in_two_lines(on_disk: Journal) -> None:
    """There is no table."""
    assert run("show", on_disk.path).stdout == (
        f"{on_disk.path}: job 'job', version '1'\n"
        "0 files, 0 bytes, 0 entries of 0 keys, 0 torn, 0 corrupt\n"
    )


def test_settings_are_shown_and_that_there_were_none_yet(tmp_path: Path, old: Journal) -> None:
    """Who is refused can look up what they were; those of an old journal nobody knows."""
    journal = Journal(f"{tmp_path}/new", "job", "1", settings=(("zone", "UTC\n"), ("many", "True")))
    journal.prepare()
    shown = run("show", journal.path).stdout.splitlines()
    assert shown[1:3] == [r"zone: 'UTC\n'", "many: 'True'"]
    assert summary(journal.path).settings == dict(journal.settings)

    assert "format: 1" in run("show", old.path).stdout


def test_merging_shows_what_is_there_then(mixed: str) -> None:
    """All that can be read, once."""
    Path(mixed, f"worse-{name_of(0)}.loose").unlink()

    done = run("compact", mixed)

    assert done.exit_code == 0
    assert done.stdout == (
        f"{mixed}: job 'job', version '1'\n"
        "1 file, 90,183 bytes, 1,201 entries of 1,201 keys, 0 torn, 0 corrupt\n"
        "\n"
        "entries   bytes  state  file\n"
        f"  1,201  90,183  whole  all-{name_of(5)}.merged\n"
    )
    assert run("compact", mixed, "--json").exit_code == 0


def test_what_can_not_be_merged_is_a_usage_error(mixed: str) -> None:
    """In one line; nothing has changed."""
    before = summary(mixed)

    done = run("compact", mixed)

    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == (
        f"error: {mixed}/worse-{name_of(0)}.loose does not say whose it is: its header is damaged; "
        "delete that file, and what is in there is called again\n"
    )
    assert summary(mixed) == before


@pytest.mark.parametrize("name", ["show", "compact"])
def test_a_folder_without_a_journal_is_a_usage_error(tmp_path: Path, name: str) -> None:
    """Whoever has mistaken the folder is told so."""
    done = run(name, str(tmp_path / "nowhere"))

    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: {tmp_path}/nowhere holds no journal; ")


def test_a_summary_says_of_each_file_what_is_in_it(mixed: str) -> None:
    """As data."""
    there = summary(mixed)

    assert isinstance(there, JournalSummary)
    assert there.merged == (FileSummary(f"all-{name_of(2)}.merged", 1200, 90106, "whole"),)
    assert there.loose == (
        FileSummary(f"late-{name_of(3)}.loose", 3, 334, "whole"),
        FileSummary(f"torn-{name_of(4)}.loose", 9, 571, "torn"),
        FileSummary(f"worse-{name_of(0)}.loose", 0, 500, "corrupt"),
    )


def test_a_file_of_another_job_is_told_from_a_damaged_one(
    on_disk: Journal, tmp_path: Path, entries: Any, fill: Any
) -> None:
    """It is whole, and somebody may want it."""
    other = Journal(f"{tmp_path}/other", "other", "1")
    other.prepare()
    fill(other, entries(1))
    (file,) = Path(other.path).glob("part-*")
    file.rename(f"{on_disk.path}/{file.name}")

    (shown,) = summary(on_disk.path).loose
    assert (shown.state, shown.entries, summary(on_disk.path).corrupt) == ("foreign", 0, 1)
