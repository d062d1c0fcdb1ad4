"""A report as JSON lines: written whole, and read back however damaged it is.

Damage must not make a report look better: a file that was cut lacks the line that counts the
others, or the end of that line. The reader returns all that can be read, and the reason why the
report proves nothing.
"""

import codecs
import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

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
from asyncwait.spec import InvalidConfig
from asyncwait.spec.scenario import LIMITS, require_flat_trace
from asyncwait.spec.texts import counted, json_text, one_line, shown


def file_bytes(file: Path, most: int = LIMITS.bytes) -> bytes:
    """Return the contents of a file of unknown origin: a regular file, up to a limit of bytes.

    Raises:
        OSError: it can't be opened; it is a folder, a pipe or a device; or it is longer.
    """
    opened = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))  # not on Windows
    mode = os.fstat(opened).st_mode
    if not stat.S_ISREG(mode):
        os.close(opened)
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(file))
        raise OSError(errno.EINVAL, "it is no file, but a pipe or a device", str(file))
    with os.fdopen(opened, "rb") as reader:
        data = reader.read(most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, f"it holds more than {most:,} bytes", str(file))
    return data


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

MOST_BYTES = 128 << 20
"""Largest file in bytes: some hundred backends, each of which breaks every rule."""

LONGEST_DOUBT = 1_000
"""Longest doubt about a report, in characters: it may quote the report."""


class NotWholeError(Exception):
    """The file ends here, or can't be read from here on; the text says why."""


class _Reading:
    """The part of a file that was read so far."""

    def __init__(self, header: Header) -> None:
        self.header = header
        self.rules: dict[str, RuleText] = {}
        self.runs: list[Run] = []
        self.footer: Footer | None = None

    def add(self, number: int, line: Line) -> None:
        """Take one line.

        Raises:
            NotWholeError: the line is out of place.
        """
        run = self.runs[-1] if self.runs else None
        match line:
            case Footer():
                self.footer = line
            case RuleText():
                self.rules[line.id] = line
            case RunHeader():
                self.runs.append(Run(line))
            case Played() if run and line.number == len(run.played):
                self.runs[-1] = msgspec.structs.replace(run, played=(*run.played, line))
            case Result() if (
                run
                and line.rule in self.rules
                and all(piece.played < len(run.played) for piece in line.evidence)
            ):
                self.runs[-1] = msgspec.structs.replace(run, results=(*run.results, line))
            case RunFooter() if run:
                self.runs[-1] = msgspec.structs.replace(run, footer=line)
            case _:
                raise NotWholeError(f"line {number} is out of place")

    def report(self, doubt: str) -> Report:
        """Return the report; `doubt` says why the file is not whole, and is empty if it is."""
        header = msgspec.structs.replace(self.header, doubt=doubt or self.header.doubt)
        runs = [
            msgspec.structs.replace(
                run, header=msgspec.structs.replace(run.header, doubt=doubt or run.header.doubt)
            )
            for run in self.runs
        ]
        read = {run.name for run in runs}
        for name in header.backends if doubt else ():
            if name not in read:
                made, by = header.created, header.asyncwait
                runs.append(Run(RunHeader(name, (), (), 0, 0, made, by, doubt=doubt)))
        return Report(header, tuple(self.rules.values()), tuple(runs))


def _decoded(number: int, line: bytes) -> Line:
    if not line.endswith(b"\n"):
        raise NotWholeError(f"it was cut in line {number}")
    try:
        found: Line = _DECODER.decode(line)
        if isinstance(found, Played) and found.trace is not None:
            require_flat_trace(found.trace)
            if found.as_played and (why := impossible(found.as_played, found.trace)):
                raise ValueError(f"the trace is impossible: {why}")
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise NotWholeError(f"line {number} can't be read: {one_line(error, 600)}") from error
    return found


class _Form(Struct, frozen=True):
    """The part of a header that every version writes."""

    format: int


def _header_of(name: str, line: bytes) -> Header:
    """Return the header in the first line of a file.

    Raises:
        InvalidConfig: the line begins no report, or a report of another format.
    """
    if not line.startswith(_BEGINNING):
        raise InvalidConfig(
            f"{name}, line 1: expected a line of a report, got {shown(line[:40])[1:]}; "
            "name a file that `asyncwait verify --report DIR` has written as report.jsonl"
        )
    try:
        written = msgspec.json.decode(line, type=_Form).format
    except (msgspec.MsgspecError, ValueError, RecursionError):
        written = FORMAT
    if written != FORMAT:
        raise InvalidConfig(
            f"{name}, line 1: expected a report of format {FORMAT}, got one of format "
            f"{written}; read it with the version of asyncwait that wrote it, or a newer one"
        )
    try:
        found = _decoded(1, line)
    except NotWholeError:
        found = None
    unknown = Header(FORMAT, "unknown", "", "unknown", "unknown", "unknown")
    return found if isinstance(found, Header) else unknown


def _read(data: bytes, name: str) -> Report:
    # Another program may have put carriage returns before line feeds, or a mark of UTF-8 in front.
    data = data.removeprefix(codecs.BOM_UTF8).replace(b"\r\n", b"\n")
    lines = data.splitlines(keepends=True)
    if not lines:
        return _Reading(_header_of(name, _BEGINNING)).report(f"{name} is not whole: it is empty")
    reading = _Reading(_header_of(name, lines[0]))
    doubt = ""
    try:
        for number, line in enumerate(lines[1:], 2):
            if line.removeprefix(codecs.BOM_UTF8).startswith(_BEGINNING):
                raise InvalidConfig(
                    f"{name}: expected one report, got two or more: another one begins in line "
                    f"{number}; give each as a file of its own"
                )
            reading.add(number, _decoded(number, line))
        _require_end(reading.footer, lines)
    except NotWholeError as error:
        doubt = f"{name} is not whole: {one_line(error, LONGEST_DOUBT)}"
    return reading.report(doubt)


def _require_end(footer: Footer | None, lines: list[bytes]) -> None:
    """Refuse a file without an end, or with an end that does not fit the lines."""
    if footer is None:
        raise NotWholeError(f"it was cut after line {len(lines)}")
    if footer.lines != len(lines) - 1:
        left = counted(len(lines) - 1, "line is", "lines are")
        raise NotWholeError(f"{left} left of {footer.lines:,}")
    if footer.sha256 != hashlib.sha256(b"".join(lines[:-1])).hexdigest():
        raise NotWholeError("it was changed after it was written")


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


def read_lines(path: Path) -> Report:
    """Read a report from a file.

    A damaged report is read as far as possible: its `doubt`, and the `doubt` of each of its runs,
    says why it proves nothing.

    Raises:
        InvalidConfig: the file is no readable report; the message says what to do.
    """
    try:
        data = file_bytes(path, MOST_BYTES)
    except IsADirectoryError:
        raise InvalidConfig(f"{path} is a folder: name the report.jsonl in it") from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise InvalidConfig(f"{path} can't be read: {why}") from error
    return _read(data, str(path))


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
