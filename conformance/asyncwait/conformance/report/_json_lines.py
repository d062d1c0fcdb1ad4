"""A report as JSON lines: written whole, and read back however damaged it is.

Damage must not make a report look better: a file that was cut lacks the line that counts the
others, or the end of that line. The reader returns all that can be read, and the reason why the
report proves nothing.
"""

import codecs
import hashlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import msgspec
from msgspec import Struct

from asyncwait.conformance._bounded import open_file
from asyncwait.conformance._words import counted
from asyncwait.conformance.judging import impossible
from asyncwait.conformance.report._model import (
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
from asyncwait.conformance.verdict import EXIT_CODES
from asyncwait.spec import InvalidConfig
from asyncwait.spec.scenario import require_flat_trace
from asyncwait.spec.texts import json_text, one_line, shown

T = TypeVar("T", bound=Struct)


def size_of(part: Struct) -> int:
    """Return the size of a part of a report, in bytes of JSON."""
    return len(msgspec.json.encode(readable(part)))


def readable(part: T) -> T:
    """Return a part of a report with characters escaped that no file can hold."""
    try:
        msgspec.json.encode(part)
    except UnicodeEncodeError:
        return msgspec.convert(_readable(msgspec.to_builtins(part)), type(part))
    return part


def _readable(value: Any) -> Any:
    match value:
        case str():
            return value.encode("utf-8", "backslashreplace").decode()
        case dict():
            return {_readable(key): _readable(each) for key, each in value.items()}
        case list() | tuple():
            return [_readable(each) for each in value]
        case _:
            return value


Line = Header | RuleText | RunHeader | Played | Result | RunFooter | Footer
_DECODER = msgspec.json.Decoder(Line)
_BEGINNING = b'{"type":"asyncwait-report",'
_UNKNOWN = Header(FORMAT, "unknown", "", "unknown", "unknown", "unknown")


class NotWholeError(Exception):
    """The file ends here, or can't be read from here on; the text says why."""


def no_report(name: str, number: int, got: str) -> InvalidConfig:
    """Return the error that a file is no report."""
    return InvalidConfig(
        f"{name}, line {number}: expected a line of a report, got {got}; "
        "name a file that `asyncwait verify --report DIR` has written as report.jsonl"
    )


class Reading:
    """The part of a file that was read so far."""

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
            InvalidConfig: the first line begins no report, or a later line begins another report.
            NotWholeError: it can't be read, or is out of place.
        """
        if number == 1:
            self._require_beginning(line)
        elif line.startswith(_BEGINNING):
            raise InvalidConfig(
                f"{self._name}: expected one report, got two or more: another one begins in line "
                f"{number}; give each as a file of its own"
            )
        if self._footer is not None:
            raise NotWholeError(f"line {number} stands behind the end")
        self._take(number, self._decoded(number, line))
        if self._footer is None:
            self._lines = number
            self._digest.update(line)

    def _require_beginning(self, line: bytes) -> None:
        if line.startswith(_BEGINNING):
            return
        if not line.endswith(b"\n") and _BEGINNING.startswith(line):
            raise NotWholeError("it was cut in its first line")
        raise no_report(self._name, 1, shown(line[:40])[1:])

    def _decoded(self, number: int, line: bytes) -> Line:
        if not line.endswith(b"\n"):
            raise NotWholeError(f"it was cut in line {number}")
        try:
            found: Line = _DECODER.decode(line)
            if isinstance(found, Played):
                _require_drawable(found)
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            if number == 1:
                self._refuse_newer(line)
            raise NotWholeError(f"line {number} can't be read: {one_line(error, 600)}") from error
        if isinstance(found, Header):
            self._refuse_newer(line)
        return found

    def _refuse_newer(self, line: bytes) -> None:
        try:
            written = msgspec.json.decode(line, type=_Form).format
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return
        if written != FORMAT:
            raise InvalidConfig(
                f"{self._name}, line 1: expected a report of format {FORMAT}, got one of format "
                f"{written}; read it with the version of asyncwait that wrote it, or a newer one"
            )

    def _take(self, number: int, line: Line) -> None:
        match line:
            case Header() if number == 1:
                self._header = line
            case RuleText() if not self._runs:
                self._rules[line.id] = line
            case RunHeader():
                self._runs.append(_OpenRun(line))
            case Result() if line.rule not in self._rules:
                raise NotWholeError(f"the text of rule {line.rule} is missing")
            case Played() | Result() | RunFooter() if self._runs and self._runs[-1].is_open:
                self._runs[-1].add(line)
            case Footer():
                self._footer = line
            case _:
                raise NotWholeError(f"line {number} is out of place")

    def require_end(self) -> None:
        """Refuse a file without an end, or with an end that does not fit the lines.

        Raises:
            NotWholeError: the end is missing, or does not fit.
        """
        footer = self._footer
        if self._lines == 0:
            raise NotWholeError("it is empty")
        if footer is None:
            raise NotWholeError(f"it was cut after line {self._lines}")
        if footer.lines != self._lines:
            left = counted(self._lines, "line is", "lines are")
            raise NotWholeError(f"{left} left of {footer.lines:,}")
        if footer.sha256 != self._digest.hexdigest():
            raise NotWholeError("it was changed after it was written")
        for run in self._runs:
            _require_whole(run.closed())

    def report(self, doubt: str) -> Report:
        """Return the report.

        Args:
            doubt: why the file is not whole; empty if it is.
        """
        said = f"{self._name} is not whole: {doubt}" if doubt else ""
        header = msgspec.structs.replace(self._header, doubt=said or self._header.doubt)
        runs = (*(run.closed(said) for run in self._runs), *self._unread(said))
        return Report(header, tuple(self._rules.values()), runs)

    def _unread(self, doubt: str) -> Iterator[Run]:
        """Yield a run without results for each backend of which only the name is left."""
        read = {run.name for run in self._runs}
        header = self._header
        for name in header.backends:
            if doubt and name not in read:
                yield Run(
                    RunHeader(name, (), (), 0, 0, header.created, header.asyncwait, doubt=doubt)
                )


class _OpenRun:
    def __init__(self, header: RunHeader) -> None:
        self._header = header
        self._played: list[Played] = []
        self._results: list[Result] = []
        self._footer: RunFooter | None = None

    @property
    def name(self) -> str:
        return self._header.name

    @property
    def is_open(self) -> bool:
        """Whether more lines of it may follow."""
        return self._footer is None

    def add(self, line: Played | Result | RunFooter) -> None:
        match line:
            case Played() if line.number != len(self._played):
                raise NotWholeError(f"evidence on {self._header.name} is missing")
            case Result() if any(piece.played >= len(self._played) for piece in line.evidence):
                raise NotWholeError(f"evidence on {line.rule} is missing")
            case Played():
                self._played.append(line)
            case Result():
                self._results.append(line)
            case RunFooter():
                self._footer = line

    def closed(self, doubt: str = "") -> Run:
        header = msgspec.structs.replace(self._header, doubt=doubt or self._header.doubt)
        return Run(header, tuple(self._played), tuple(self._results), self._footer)


class _Form(Struct, frozen=True):
    """The part of a header that every version writes."""

    format: int


def _require_drawable(played: Played) -> None:
    """Refuse a trace that no run can have given: it can't be drawn."""
    if played.trace is None or played.as_played is None:
        return
    require_flat_trace(played.trace)
    if why := impossible(played.as_played, played.trace):
        raise InvalidConfig(f"the trace is impossible: {why}")


def _require_whole(run: Run) -> None:
    """Refuse a run of which a part is missing, or whose verdict contradicts its results."""
    if run.header.doubt:
        return
    if run.footer is None:
        raise NotWholeError(f"the verdict on {run.name} is missing")
    if run.footer.counts != Counter(result.status for result in run.results):
        raise NotWholeError(f"results of {run.name} are missing")
    is_broken = any(not result.forgiven for result in run.failed)
    if is_broken and EXIT_CODES[run.footer.word] == 0:
        raise NotWholeError(f"the verdict on {run.name} is not that of its results")


LONGEST_LINE = 8 << 20
"""Longest line in bytes; lines of reports are far shorter, see `MOST_OF_ONE` in `_of_verdicts`."""

MOST_BYTES = 128 << 20
"""Largest file in bytes: some hundred backends, each of which breaks every rule."""

LONGEST_DOUBT = 1_000
"""Longest doubt about a report, in characters: it may quote the report."""


def report_to_lines(report: Report) -> bytes:
    """Return a report as the bytes of a file.

    Raises:
        InvalidConfig: it would exceed `MOST_BYTES`.
    """
    lines = [_encoded(line) for line in _lines_of(report)]
    body = b"".join(lines)
    if len(body) > MOST_BYTES:
        got = f"the report has {len(body):,} bytes, and {MOST_BYTES:,} are read at most"
        raise InvalidConfig(f"{got}: join fewer runs")
    return body + _encoded(Footer(len(lines), hashlib.sha256(body).hexdigest()))


def write_lines(report: Report, path: Path) -> None:
    """Write a report into a file.

    Raises:
        OSError: it can't be written.
    """
    path.write_bytes(report_to_lines(report))


def read_lines(path: Path) -> Report:
    """Read a report from a file.

    A damaged report is read as far as possible: its `doubt`, and the `doubt` of each of its runs,
    says why it proves nothing.

    Raises:
        InvalidConfig: the file is no readable report; the message says what to do.
    """
    try:
        with open_file(path) as file:
            return _read(file, str(path))
    except IsADirectoryError:
        raise InvalidConfig(f"{path} is a folder: name the report.jsonl in it") from None
    except (OSError, ValueError) as error:
        if isinstance(error, InvalidConfig):
            raise
        why = getattr(error, "strerror", None) or error
        raise InvalidConfig(f"{path} can't be read: {why}") from error


def _lines_of(report: Report) -> Iterator[Line]:
    yield report.header
    yield from report.rules
    for run in report.runs:
        yield run.header
        yield from run.played
        yield from run.results
        if run.footer is not None:
            yield run.footer


def _encoded(line: Line) -> bytes:
    return json_text(msgspec.json.encode(readable(line))).encode() + b"\n"


def _read(file: BinaryIO, name: str) -> Report:
    reading = Reading(name)
    doubt = ""
    try:
        for number, line in _raw_lines(file, name):
            reading.add(number, line)
        reading.require_end()
    except NotWholeError as error:
        doubt = one_line(error, LONGEST_DOUBT)
    return reading.report(doubt)


def _raw_lines(file: BinaryIO, name: str) -> Iterator[tuple[int, bytes]]:
    total = number = 0
    while line := file.readline(LONGEST_LINE + 1):
        number += 1
        total += len(line)
        if len(line) > LONGEST_LINE:
            raise no_report(name, number, f"a line of more than {LONGEST_LINE:,} bytes")
        if total > MOST_BYTES:
            raise no_report(name, number, f"more than {MOST_BYTES:,} bytes in all")
        yield number, _as_written(line)


def _as_written(line: bytes) -> bytes:
    """Return a line without the changes that other programs make to files of text.

    A program may have put a carriage return before the line feed, or a mark of UTF-8 before the
    first line. No written line contains either, so the digest covers the lines without them.
    """
    line = line.removeprefix(codecs.BOM_UTF8)
    return line.removesuffix(b"\r\n") + b"\n" if line.endswith(b"\r\n") else line
