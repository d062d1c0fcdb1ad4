"""Texts of others in errors, values and names, which forge no line of what the suite prints."""

import io
import json
import re
from collections.abc import Callable, Iterator
from enum import Enum
from itertools import cycle
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from forging import CANARY, assert_is_ours, forging
from golden import verdict_report
from markdown_it import MarkdownIt
from msgspec import Struct, structs
from rich.console import Console

from asyncwait.backends.threads._operator import _run_on
from asyncwait.conformance import report
from asyncwait.conformance._commands import _report
from asyncwait.conformance.report._json_lines import readable
from asyncwait.conformance.report._junit import to_junit
from asyncwait.conformance.report._markdown import to_badge, to_row, to_summary
from asyncwait.conformance.report._page import html_of
from asyncwait.conformance.verdict import Cause
from asyncwait.spec import AsyncWaitError, InvalidResult, Record, Snapshot
from asyncwait.spec.rules import Rule
from asyncwait.spec.scenario import (
    Leg,
    Scenario,
    scenarios_from_json,
)
from asyncwait.spec.snapshots import NotPortable, encode_snapshot
from asyncwait.toolkit import call_failed, collect_results, join_errors

TEXTS = 2_500
"""Forged texts that each way to print has to bear."""

Texts = Iterator[str]
pytestmark = pytest.mark.timeout(300)


def clean(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def short(text: str) -> str:
    return clean(text)[:60]


def forged(value: Any, texts: Texts) -> Any:
    known: dict[str, str] = {}
    fills = cycle([True, False])

    def replaced(value: Any, form: Callable[[str], str]) -> Any:
        match value:
            case Enum() | Rule() | Cause():
                return value
            case str():
                return form(known.setdefault(value, next(texts)) if value else next(texts))
            case tuple():
                return tuple(replaced(each, form) for each in value)
            case dict():
                return {replaced(k, form): replaced(v, form) for k, v in value.items()}
            case Struct():
                return structs.replace(value, **dict(fields(value, form)))
        return value

    def fields(value: Struct, form: Callable[[str], str]) -> Iterator[tuple[str, Any]]:
        form = clean if isinstance(value, Scenario | Leg) else form
        for field in structs.fields(value):
            kind, old = str(field.type), getattr(value, field.name)
            if "Literal" not in kind and (old != "" or (form is not clean and next(fills))):
                yield field.name, replaced(old, short if "max_length" in kind else form)

    return replaced(value, str)


@pytest.fixture(scope="module", params=range(3))
def reports(request: pytest.FixtureRequest) -> report.Report:
    return readable(forged(verdict_report(), forging(request.param)))  # type: ignore[no-any-return]


def test_no_line_of_a_report_on_the_terminal_is_forged(reports: report.Report) -> None:
    plain = Console(file=io.StringIO(), width=120)
    styled = Console(file=io.StringIO(), width=120, force_terminal=True, color_system="standard")
    for out in (plain, styled):
        _report._print(reports, out, every=True)
        _report._print_verdicts(reports, out)

        text = out.file.getvalue()  # type: ignore[attr-defined]
        assert_is_ours(re.sub(r"\x1b\[(0|1|2|3|31|32|33|35|1;31|1;32|1;33|1;35)m", "", text))
    assert "\x1b" not in plain.file.getvalue()  # type: ignore[attr-defined]


def test_no_line_of_a_report_in_a_file_is_forged(reports: report.Report, tmp_path: Path) -> None:
    summary, page, junit = to_summary(reports), html_of(reports), to_junit(reports).decode()
    for text in (summary, to_row(reports), page, junit, to_badge(reports).decode()):
        assert_is_ours(text)
    drawn = MarkdownIt("commonmark").enable("table").render(summary)
    assert not re.search("<img|<a |<script", drawn)
    assert drawn.count("<h1>") == 1
    assert ("<img" not in page, page.count("<script>")) == (True, 1)
    ET.fromstring(junit)  # noqa: S314 - of our own

    data = report.report_to_lines(reports)
    assert data.decode().replace("\n", "").isprintable()
    assert "##[" not in data.decode()
    assert all(json.loads(line) for line in data.splitlines())
    file = tmp_path / "report.jsonl"
    file.write_bytes(data)
    assert report.read_lines(file).runs[0].name == reports.runs[0].name
    assert report.merged([reports], reports.header).runs


class Odd(Exception):
    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return str(self)


def errors_of(texts: Texts) -> Iterator[str]:
    record = Record(Odd(next(texts)), key=Odd(next(texts)))
    yield str(call_failed(record, Odd(next(texts))))
    yield _run_on([Odd(next(texts))])
    yield str(join_errors(OSError("first"), Odd(next(texts))).__notes__[0])  # type: ignore[union-attr]
    unread = json.dumps([{"mode": next(texts)}]).encode("utf-8", "replace")
    for raised, refused in (
        (InvalidResult, lambda: collect_results(record, Odd(next(texts)))),
        (NotPortable, lambda: encode_snapshot(Snapshot(1, (record,)))),
        (AsyncWaitError, lambda: scenarios_from_json(unread)),
    ):
        with pytest.raises(raised) as caught:
            refused()
        yield str(caught.value)


def test_the_text_of_an_error_is_one_line_whatever_was_raised_and_returned() -> None:
    texts = forging()
    while int(next(texts).partition(f"{CANARY}-")[2].partition(":")[0]) < TEXTS:
        for said in errors_of(texts):
            assert_is_ours(f"asyncwait: {said}")
            assert "\n" not in said
            assert len(said) < 3_000
