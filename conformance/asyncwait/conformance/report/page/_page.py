"""Makes a page of a report: one file that needs nothing else, no network, and no script.

What it shows was written by strangers: values, names and texts of errors. All of it is escaped by
the template, and what would change how its neighbours look is written out. Besides, the page
forbids whatever it does not hold itself.
"""

import base64
import functools
import hashlib
from importlib.resources import files

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from asyncwait.conformance._counted import counted
from asyncwait.conformance.report._merge import Changed, changes
from asyncwait.conformance.report._model import Report
from asyncwait.conformance.report._words import besides_lines, change_lines
from asyncwait.conformance.report.page._evidence import Drawn, draw_within
from asyncwait.conformance.report.page._rows import by_area, causes_first, rows_of, runs_of
from asyncwait.conformance.report.page._texts import paragraphs, shown, sign_of
from asyncwait.conformance.timeline import PATTERNS, STYLE
from asyncwait.spec.texts import printable

MOST = 2_000_000
"""Bytes of a page, to open quickly; of evidence there is as much as fits."""


def html_of(report: Report) -> str:
    """Return a report as one HTML file."""
    bare = _rendered(report, Drawn())
    room = MOST - len(bare.encode())
    return _rendered(report, draw_within(report, room))


def _rendered(report: Report, drawn: Drawn) -> str:
    style, script = _style(), _asset("page.js")
    rows = rows_of(report, drawn)
    return (
        _environment()
        .get_template("page.html")
        .render(
            report=report,
            runs=runs_of(report),
            rows=causes_first(rows),
            groups=by_area(rows),
            drawn=drawn,
            statuses=sorted({result.status for run in report.runs for result in run.results}),
            areas={rule.area: rule.chapter for rule in report.rules},
            besides=[list(besides_lines(run)) for run in report.runs],
            levels=sorted({rule.level for rule in report.rules}),
            changes=[(each, _changed(each)) for each in changes(report)],
            style=Markup(style),  # noqa: S704 - of our own
            script=Markup(script),  # noqa: S704 - of our own
            patterns=Markup(PATTERNS),  # noqa: S704 - of our own
            policy=_policy(style, script),
        )
    )


def _changed(changed: Changed) -> list[str]:
    return list(change_lines(changed))


def _policy(style: str, script: str) -> str:
    """Return what the page may do: look as it says, and run its own script."""
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


@functools.cache
def _style() -> str:
    return f"{STYLE}\n{_asset('page.css')}"


@functools.cache
def _asset(name: str) -> str:
    return files("asyncwait.conformance.report.page").joinpath(name).read_text(encoding="utf-8")


def _seen(value: object) -> object:
    """Write out what can't be seen where a text stands in an attribute."""
    return printable(value) if type(value) is str else value


@functools.cache
def _environment() -> Environment:
    environment = Environment(
        loader=FunctionLoader(_asset),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_seen,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(shown=shown, paragraphs=paragraphs, sign=sign_of, counted=counted)
    return environment
