"""What `asyncwait journal` knows of a journal; `tests/golden/journal.txt` is what it says."""

import json
import os
from pathlib import Path

from click.testing import CliRunner
from journals import entries, fill

from asyncwait.backends.journal import (
    Failure,
    Journal,
    key_of,
    summary,
    version_of,
)
from asyncwait.backends.journal._commands import journal as command


def run(*arguments: str) -> str:
    return CliRunner().invoke(command, arguments).output


def test_a_file_of_another_job_is_told_from_a_damaged_one(on_disk: Journal, tmp_path: Path) -> None:
    other = Journal(f"{tmp_path}/other", "other", "1")
    other.prepare()
    fill(other, entries(1))
    (file,) = Path(other.path).glob("part-*")
    file.rename(f"{on_disk.path}/{file.name}")

    (shown,) = summary(on_disk.path).loose
    assert (shown.state, shown.entries, summary(on_disk.path).corrupt) == ("foreign", 0, 1)


def test_failures_are_shown_by_cause_and_dropped(on_disk: Journal) -> None:
    fill(on_disk, entries(1))
    with on_disk.attempt("run") as attempt:
        for number, why in enumerate(["no such city: Ys", "no such city: Thule"]):
            attempt.add_failure(Failure(key_of("row", number), "LookupError", why))
        attempt.add_failure(Failure(key_of("row", 2), "HTTPStatusError", "bad", 1, 400))
    assert summary(on_disk.path).failed == 3
    assert run("show", on_disk.path).splitlines()[2:5] == [
        "3 failures that are not called again:",
        "2 LookupError, for example: no such city: Ys",
        "1 HTTPStatusError 400, for example: bad",
    ]
    fill(on_disk, {key_of("row", 2): b"a result that came later"})
    assert summary(on_disk.path).failed == 2
    assert "2 entries of 2 keys" in run("drop-failures", on_disk.path)
    assert (summary(on_disk.path).failed, summary(on_disk.path).keys) == (0, 2)


def test_a_failure_whose_key_is_none_is_no_failure(on_disk: Journal) -> None:
    with on_disk.attempt("run") as attempt:
        attempt.add_failure(Failure(b"", "LookupError", "no such city: Ys"))

    found = summary(on_disk.path)

    assert (found.failed, found.entries) == (0, 1)


def test_a_name_that_is_no_text_is_written_out_in_json(on_disk: Journal) -> None:
    fill(on_disk, entries(1))
    os.close(os.open(os.fsencode(on_disk.path) + b"/\xff.loose", os.O_CREAT))

    shown = json.loads(run("show", on_disk.path, "--json"))

    assert shown["loose"][1]["name"] == r"\udcff.loose"


def test_everything_is_listed_that_a_version_is_a_digest_of() -> None:
    first, *lines = run("explain", "journals.fill").splitlines()

    assert first == f"journals.fill: version {version_of(fill)!r}"
    listed = [(kind, name) for kind, _, name in (line.split(maxsplit=2) for line in lines)]
    assert {("module", "journals"), ("function", "journals.fill")} <= {*listed}
    assert [name.split()[0] for kind, name in listed if kind == "package"] == [
        "asyncwait",
        "python",
    ]
    assert run("explain", "journals.nothing").startswith("error: job must be module.function")
