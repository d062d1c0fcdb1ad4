"""A report as lines of JSON in a file; and back, whatever has become of the file since.

A report tells what is broken, so it must not look better for being damaged: a file that was cut
lacks the line that counts the others, or the end of it. All that can be read of it is given, and
with it the reason why it proves nothing.
"""

import codecs
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec

from asyncwait.conformance.report_files._data import Footer, Report
from asyncwait.conformance.report_files._readable import readable
from asyncwait.conformance.report_files._reading import Line, NotWholeError, Reading, no_report
from asyncwait.spec import InvalidConfig
from asyncwait.spec.texts import json_text, one_line

LONGEST_LINE = 8 << 20
"""Bytes; what a report holds is far below, see `MOST_OF_ONE` in `_of_verdicts`."""

MOST_BYTES = 128 << 20
"""Of a file: some hundred backends, each of which breaks every rule."""

LONGEST_DOUBT = 1_000
"""Characters of what is said of a report that is not whole: it may quote what stands there."""


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
    """Yield the lines with their numbers, from 1 on.

    Raises:
        InvalidConfig: one is far longer than any of a report, or there is far too much of it.
    """
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
    """Return a line without what other programs do to files of text.

    A line feed may have become one behind a carriage return, and a mark of UTF-8 may stand before
    the first: neither can be a part of what was written, so the digest is that of the lines
    without them.
    """
    line = line.removeprefix(codecs.BOM_UTF8)
    return line.removesuffix(b"\r\n") + b"\n" if line.endswith(b"\r\n") else line
