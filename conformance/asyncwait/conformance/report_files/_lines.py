"""A report as lines of JSON in a file; and back, whatever has become of the file since.

A report tells what is broken, so it must not look better for being damaged: a file that was cut
lacks the line that counts the others, or the end of it. All that can be read of it is given, and
with it the reason why it proves nothing.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec
from msgspec import Struct

from asyncwait.conformance.judging import impossible
from asyncwait.conformance.report_files._data import (
    FORMAT,
    Footer,
    Header,
    Played,
    Report,
    Result,
    RuleText,
    Run,
    RunFooter,
    RunHeader,
)
from asyncwait.conformance.report_files._readable import readable
from asyncwait.conformance.verdict import EXIT_CODES
from asyncwait.spec import InvalidConfig
from asyncwait.spec.scenario import require_flat_trace

LONGEST_LINE = 8 << 20
"""Bytes; what a report holds is far below, see `MOST_OF_ONE` in `_of_verdicts`."""

MOST_BYTES = 128 << 20
"""Of a file: some hundred backends, each of which breaks every rule."""

_Line = Header | RuleText | RunHeader | Played | Result | RunFooter | Footer
_DECODER = msgspec.json.Decoder(_Line)
_BEGINNING = b'{"type":"asyncwait-report",'
_UNKNOWN = Header(FORMAT, "unknown", "", "unknown", "unknown", "unknown")

LONGEST_DOUBT = 1_000
"""Characters of what is said of a report that is not whole: it may quote what stands there."""


class _NotWholeError(Exception):
    """The file ends here, or can't be read from here on; the text says why."""


def report_to_lines(report: Report) -> bytes:
    """Return a report as it stands in a file."""
    lines = [_encoded(line) for line in _lines_of(report)]
    body = b"".join(lines)
    return body + _encoded(Footer(len(lines), hashlib.sha256(body).hexdigest()))


def write_lines(report: Report, path: Path) -> None:
    """Write a report into a file.

    Raises:
        OSError: it can't be written.
    """
    path.write_bytes(report_to_lines(report))


def read_lines(path: Path) -> Report:
    """Read a report from a file.

    One that is not whole is read as far as that goes: its `doubt`, and that of each run in it,
    says why it proves nothing.

    Raises:
        InvalidConfig: there is no report to be read; the message says what to do.
    """
    try:
        with path.open("rb") as file:
            return _read(file, str(path))
    except IsADirectoryError:
        raise InvalidConfig(f"{path} is a folder: name the report.jsonl in it") from None
    except (OSError, ValueError) as error:
        if isinstance(error, InvalidConfig):
            raise
        raise InvalidConfig(f"{path} can't be read: {error}") from error


def _lines_of(report: Report) -> Iterator[_Line]:
    yield report.header
    yield from report.rules
    for run in report.runs:
        yield run.header
        yield from run.played
        yield from run.results
        if run.footer is not None:
            yield run.footer


def _encoded(line: _Line) -> bytes:
    return msgspec.json.encode(readable(line)) + b"\n"


def _read(file: BinaryIO, name: str) -> Report:
    reading = _Reading(name)
    doubt = ""
    try:
        for number, line in _raw_lines(file, name):
            reading.add(number, line)
        reading.require_end()
    except _NotWholeError as error:
        doubt = str(error)[:LONGEST_DOUBT]
    return reading.report(doubt)


def _raw_lines(file: BinaryIO, name: str) -> Iterator[tuple[int, bytes]]:
    """Yield the lines with their numbers, from 1 on.

    Raises:
        InvalidConfig: one is far longer than any of a report, or there is far too much of it.
    """
    total = number = 0
    while line := file.readline(LONGEST_LINE + 1):
        number += 1
        total += len(line)
        if len(line) > LONGEST_LINE:
            raise _no_report(name, number, f"a line of more than {LONGEST_LINE:,} bytes")
        if total > MOST_BYTES:
            raise _no_report(name, number, f"more than {MOST_BYTES:,} bytes in all")
        yield number, line


def _no_report(name: str, number: int, got: str) -> InvalidConfig:
    return InvalidConfig(
        f"{name}, line {number}: expected a line of a report, got {got}; "
        "name a file that `asyncwait verify --report DIR` has written as report.jsonl"
    )


class _OpenRun:
    """What was read of a run so far.

    Args:
        header: its first line.
    """

    def __init__(self, header: RunHeader) -> None:
        self._header = header
        self._played: list[Played] = []
        self._results: list[Result] = []
        self._footer: RunFooter | None = None

    @property
    def is_open(self) -> bool:
        """Whether more of it may follow."""
        return self._footer is None

    def add(self, line: Played | Result | RunFooter) -> None:
        """Take one line of it.

        Raises:
            _NotWholeError: what it speaks of is not there.
        """
        match line:
            case Played() if line.number != len(self._played):
                raise _NotWholeError(f"evidence on {self._header.name} is missing")
            case Result() if any(piece.played >= len(self._played) for piece in line.evidence):
                raise _NotWholeError(f"evidence on {line.rule} is missing")
            case Played():
                self._played.append(line)
            case Result():
                self._results.append(line)
            case RunFooter():
                self._footer = line

    def closed(self, doubt: str = "") -> Run:
        """Return the run as far as it was read.

        Args:
            doubt: why it is not whole; empty if it is.
        """
        header = msgspec.structs.replace(self._header, doubt=doubt or self._header.doubt)
        return Run(header, tuple(self._played), tuple(self._results), self._footer)


class _Reading:
    """What was read of a file so far.

    Args:
        name: of the file.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._header = _UNKNOWN
        self._rules: dict[str, RuleText] = {}
        self._runs: list[_OpenRun] = []
        self._footer: Footer | None = None
        self._lines = 0
        self._digest = hashlib.sha256()

    def add(self, number: int, line: bytes) -> None:
        """Take one line.

        Raises:
            InvalidConfig: it is the first, and no report begins so.
            _NotWholeError: it can't be read, or is out of place.
        """
        if number == 1:
            self._require_beginning(line)
        if self._footer is not None:
            raise _NotWholeError(f"line {number} stands behind the end")
        self._take(number, self._decoded(number, line))
        if self._footer is None:
            self._lines = number
            self._digest.update(line)

    def _require_beginning(self, line: bytes) -> None:
        if line.startswith(_BEGINNING):
            return
        if not line.endswith(b"\n") and _BEGINNING.startswith(line):
            raise _NotWholeError("it was cut in its first line")
        raise _no_report(self._name, 1, repr(line[:40])[1:])

    def _decoded(self, number: int, line: bytes) -> _Line:
        if not line.endswith(b"\n"):
            raise _NotWholeError(f"it was cut in line {number}")
        try:
            found: _Line = _DECODER.decode(line)
            if isinstance(found, Played):
                _require_drawable(found)
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            if number == 1:
                self._refuse_newer(line)
            raise _NotWholeError(f"line {number} can't be read: {error}") from error
        if isinstance(found, Header):
            self._refuse_newer(line)
        return found

    def _refuse_newer(self, line: bytes) -> None:
        """Refuse what a newer version wrote in a form that nobody here knows."""
        try:
            written = msgspec.json.decode(line, type=_Form).format
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return
        if written != FORMAT:
            raise InvalidConfig(
                f"{self._name}, line 1: expected a report of format {FORMAT}, got one of format "
                f"{written}; read it with the version of asyncwait that wrote it, or a newer one"
            )

    def _take(self, number: int, line: _Line) -> None:
        match line:
            case Header() if number == 1:
                self._header = line
            case RuleText() if not self._runs:
                self._rules[line.id] = line
            case RunHeader():
                self._runs.append(_OpenRun(line))
            case Result() if line.rule not in self._rules:
                raise _NotWholeError(f"the text of rule {line.rule} is missing")
            case Played() | Result() | RunFooter() if self._runs and self._runs[-1].is_open:
                self._runs[-1].add(line)
            case Footer():
                self._footer = line
            case _:
                raise _NotWholeError(f"line {number} is out of place")

    def require_end(self) -> None:
        """Refuse what has no end, or another one than it was written with.

        Raises:
            _NotWholeError: it has not.
        """
        footer = self._footer
        if self._lines == 0:
            raise _NotWholeError("it is empty")
        if footer is None:
            raise _NotWholeError(f"it was cut after line {self._lines}")
        if footer.lines != self._lines:
            raise _NotWholeError(f"{self._lines} lines are left of {footer.lines}")
        if footer.sha256 != self._digest.hexdigest():
            raise _NotWholeError("it was changed after it was written")
        for run in self._runs:
            _require_whole(run.closed())

    def report(self, doubt: str) -> Report:
        """Return what was read.

        Args:
            doubt: why it is not whole; empty if it is.
        """
        said = f"{self._name} is not whole: {doubt}" if doubt else ""
        header = msgspec.structs.replace(self._header, doubt=said or self._header.doubt)
        return Report(
            header, tuple(self._rules.values()), tuple(run.closed(said) for run in self._runs)
        )


class _Form(Struct, frozen=True):
    """As much of a header as every version writes."""

    format: int


def _require_drawable(played: Played) -> None:
    """Refuse a trace that no run can have given: nobody could draw it.

    Raises:
        InvalidConfig: it is one.
    """
    if played.trace is None or played.as_played is None:
        return
    require_flat_trace(played.trace)
    if why := impossible(played.as_played, played.trace):
        raise InvalidConfig(f"the trace is impossible: {why}")


def _require_whole(run: Run) -> None:
    """Refuse a run of which a part is missing, or whose verdict is not that of its results.

    Raises:
        _NotWholeError: it is one.
    """
    if run.header.doubt:
        return
    if run.footer is None:
        raise _NotWholeError(f"the verdict on {run.name} is missing")
    if run.footer.counts != Counter(result.status for result in run.results):
        raise _NotWholeError(f"results of {run.name} are missing")
    is_broken = any(not result.forgiven for result in run.failed)
    if is_broken and EXIT_CODES[run.footer.word] == 0:
        raise _NotWholeError(f"the verdict on {run.name} is not that of its results")
