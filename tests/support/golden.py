"""What commands and reports say, word for word: a file of `tests/golden` for each form of output.

    python tests/support/golden.py --write

writes them anew, to be read as a diff. `tests/conformance/test_golden.py` compares; whatever else
tests an output asks for its data, codes and ids.
"""

import errno
import inspect
import os
import re
import shlex
import sys
from collections.abc import Callable, Mapping
from contextlib import chdir
from datetime import date
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch
from uuid import UUID

import click
import lookup_scripts
import refused_arguments
from click.testing import CliRunner
from golden_runs import DRAWN, MODULES, PLAYED, USAGE, VERIFIED
from journals import entries, fill, prepared
from msgspec import convert
from msgspec.structs import replace
from reports import LATER, THEN, result
from rich.console import Console
from suite import few_examples, playing

from asyncwait.backends.journal import _local, _whole, compact
from asyncwait.backends.journal._commands import journal
from asyncwait.backends.spark.progress import JobFigures
from asyncwait.backends.spark.progress._figures import summary
from asyncwait.backends.spark.progress._figures import words as figure_words
from asyncwait.backends.watching._figures import METRICS
from asyncwait.conformance._commands import asyncwait
from asyncwait.conformance.evidence import describe_scenario
from asyncwait.conformance.harness import play
from asyncwait.conformance.judging import Violation
from asyncwait.conformance.report import FORMS, Report, header_of, merged, print_report, report_of
from asyncwait.conformance.timeline import draw
from asyncwait.conformance.verdict import Cause, Verdict
from asyncwait.reference import open_operator
from asyncwait.spec.scenario import declared

FOLDER = Path(__file__).resolve().parents[1] / "golden"
WIDTH = 100

VARYING = (
    (re.compile(r"^.*scenarios judged\n", re.MULTILINE), ""),
    (re.compile(r"\d+ of \d+ scenarios can"), "# of # scenarios can"),
    (re.compile(r"\d\d+ scenarios"), "# scenarios"),
    # Of a table the cells stay: rich draws the rest.
    (re.compile(r"^[┏┡├└].*\n", re.MULTILINE), ""),
    (re.compile(r"^[│┃] *| *[│┃]$", re.MULTILINE), ""),
    (re.compile(r" *[│┃] *"), " | "),
    (re.compile(r"^(scenarios|seconds) \| .*", re.MULTILINE), r"\1 | #"),
    # The interpreter and other libraries word these.
    (re.compile(r"((ModuleNotFound|Syntax|Type|Value)Error: ).*?(?= \(\S+\.py:|\n)"), r"\1#"),
    (re.compile(r"(?<=JSON: |TOML: |hema: ).*"), "#"),
    (re.compile(rf"\b({'|'.join(map(os.strerror, (errno.ENOENT, errno.EEXIST)))})\b"), "#"),
    (re.compile(r"\d+(\.\d+)? s\b"), "# s"),
    (re.compile(r"asyncwait \S+ on Python [^;]*;"), "asyncwait # on Python #;"),
    (re.compile(r'name="asyncwait" value="[^"]*"'), 'name="asyncwait" value="#"'),
    (re.compile(r'"(asyncwait|python|platform|version|sha256)":"[^"]*"'), r'"\1":"#"'),
)
"""Texts that differ between runs, machines, and versions of other libraries."""

UNREAD = re.compile(r"<(style|script|svg)\b.*?</\1>|<[^>]*>(?=\s*</)", re.DOTALL)
INLINE = re.compile(r"</?(a|abbr|b|button|code|em|label|option|span|strong|summary|t[dh])\b[^>]*>")
TAG = re.compile(r"<[^>]*>")


def steadied(text: str) -> str:
    for varying, instead in VARYING:
        text = varying.sub(instead, text)
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


def said(line: str) -> str:
    known = set(sys.modules)
    arguments = line.replace("{python}", sys.executable)
    done = CliRunner(env={"NO_COLOR": "1", "COLUMNS": str(WIDTH)}).invoke(
        asyncwait, shlex.split(arguments), prog_name="asyncwait", terminal_width=WIDTH
    )
    for name in MODULES:
        if name not in known:
            sys.modules.pop(name, None)
    return steadied(f"$ asyncwait {line}\n{done.stdout}{done.stderr}exit code {done.exit_code}\n")


def commands(lines: tuple[str, ...]) -> str:
    with TemporaryDirectory() as folder, chdir(folder):
        for name, text in MODULES.items():
            Path(name if "." in name else f"{name}.py").write_text(text, encoding="utf-8")
        sys.path.insert(0, folder)
        os.environ["PYTHONPATH"] = folder
        try:
            return "\n".join(said(line).replace(f"{folder}/", "") for line in lines)
        finally:
            sys.path.remove(folder)
            del os.environ["PYTHONPATH"]


def verdicts_of_few() -> str:
    with playing(few_examples()):
        return commands(VERIFIED)


def help_texts() -> str:
    context = click.Context(asyncwait)
    names = ("backends", "compare", "play", "report", "rules", "vectors", "verify")
    commands = [asyncwait, *(asyncwait.get_command(context, name) for name in names)]
    return "\n".join(_help(each) for each in commands if each is not None)


def _help(command: click.Command) -> str:
    lines = [f"# {command.name}", "", inspect.cleandoc(command.help or "")]
    for each in command.params:
        if not each.is_eager:
            said = f": {each.help}" if isinstance(each, click.Option) else ""
            lines += ["", " ".join(filter(None, [*each.opts, each.metavar])) + said]
    return "\n".join([*lines, ""])


def terminal() -> str:
    console = Console(width=9 * WIDTH, record=True, file=StringIO())
    print_report(verdicts(), console)
    return steadied(console.export_text())


def form(name: str) -> str:
    return steadied(FORMS[name](verdict_report()).decode())


def page() -> str:
    text = FORMS["report.html"](verdict_report()).decode()
    for tags, instead in ((UNREAD, "\n"), (INLINE, " "), (TAG, "\n")):
        text = tags.sub(instead, text)
    lines = (" ".join(line.split()) for line in text.splitlines())
    return steadied("\n".join(filter(None, lines)))


def timelines() -> str:
    lines: list[str] = []
    for title, scenario in DRAWN.items():
        trace, wrong = play(open_operator, scenario), Violation("it is wrong", 40)
        drawn = draw(scenario, trace, wrong)
        lines += [f"# {title}", "", *describe_scenario(scenario), "", *drawn, ""]
    return "\n".join(lines)


SOME = declared(["unordered", "timeouts"])


def verdicts() -> tuple[Verdict, ...]:
    passes = result("ORD-1", "pass")
    conformant = Verdict(
        "sound", (passes, result("SNAP-8", "not-applicable", "needs snapshots")), 2, 2
    )
    broken = tuple(result(rule, "fail") for rule in ("ELEM-1", "ORD-4", "CAP-1"))
    failed = Verdict(
        "broken",
        (passes, *broken, result("CAP-5", "fail")),
        2,
        2,
        causes=(Cause("ORD-4", ("ELEM-1",)), Cause("CAP-1"), Cause("CAP-5")),
    )
    many = ("ORD-1", "ORD-2", "ORD-3", "ORD-4", "ORD-5", "WM-1", "WM-2")
    wholly = Verdict("wholly-broken", tuple(result(rule, "fail") for rule in many), 2, 2)
    open_ = (
        result("ORD-1", "untested", "it never applied"),
        result("ORD-2", "blocked", "3 runs died"),
        result("ORD-3", "error", "one: its check failed: KeyError: 7"),
        result("ORD-4", "held", "3 runs died"),
        result("WM-1", "untested", "it never applied"),
        result("SNAP-8", "not-applicable", "needs on-demand-snapshot"),
        result("TIME-5", "not-applicable", "needs cancel-calls"),
    )
    errors = tuple(f"run {number}: no trace" for number in range(7))
    cut = Verdict("cut", open_, 1, 2, errors, stopped="3 runs died")
    expected = Verdict(
        "expected",
        (
            passes,
            result("CAP-1", "expected-fail", "it has no bound"),
            replace(result("RES-1", "pass", "seen with some seeds")),
        ),
        2,
        2,
        known=1,
    )
    stale = Verdict(
        "stale",
        (
            passes,
            result("CAP-1", "unexpected-pass", "it holds, so take its entry out of known.toml"),
        ),
        2,
        2,
        stale={"ORD-99": "there is no such rule"},
        expired={"ORD-1": date(2001, 2, 3)},
    )
    newer = Verdict(
        "pinned",
        (passes, replace(result("CAP-1", "fail"), is_newer=True)),
        2,
        2,
        spec="0.1",
        capabilities=SOME,
    )
    odd = Verdict(
        "odd",
        (passes,),
        1,
        2,
        ("got [bold]x[/bold] <b>*x*|",),
        self_reported=True,
    )
    return (conformant, failed, wholly, cut, expected, stale, newer, odd)


def verdict_report() -> Report:
    few = [each for each in verdicts() if each.backend != "wholly-broken"]
    now = report_of(few, THEN, {"spark": "pyarrow is not installed"})
    mended = report_of((Verdict("broken", (result("ORD-4", "pass"),), 9, 9),), LATER)
    return merged((now, mended), header_of(LATER))


JOBS = {
    "of which nothing is known": {},
    "with little to tell": {
        "rows_in": 1, "rows_out": 1, "rows_done": 1, "calls": 1, "errors": 1, "tasks_done": 1,
        "reported": True, "seconds": 2,
    },
    "with much to tell": {
        "rows_in": 4_200, "rows_out": 3_900, "rows_done": 4_000, "found": 900, "in_flight": 200,
        "calls": 5_120, "calls_in_vain": 1_020, "retries": 100, "timeouts": 3,
        "hits": 2_000, "shared": 4, "loads": 3, "stale": 1, "null_keys": 2, "held": 7,
        "failures_handled": 2, "abandoned": 1, "errors": 1_018,
        "causes": {"HTTPStatusError 400": 12, "TimeoutError": 3, "A\nB": 2, "B": 1, "other": 1_000},
        "tasks_running": 2, "tasks_done": 5,
        "tasks_failed": 1, "attempts_failed": 2, "reported": True, "total": 5_000,
        "seconds": 62.04, "rows_per_second": 64.5, "seconds_left": 75.5,
    },
}  # fmt: skip


def progress() -> str:
    lines: list[str] = []
    for name, known in JOBS.items():
        figures = convert(known, JobFigures)
        words = ", ".join(figure_words(figures, "none has reported"))
        lines += [f"# A job {name}\n", f"{words}\n", f"{summary(figures, 'none has reported')}\n"]
    return "\n".join(lines)


def metrics() -> str:
    return "".join(f"{m.name}: {m.kind}, {m.unit}. {m.description}\n" for m in METRICS)


def mixed(path: str) -> Path:
    made = prepared(path)
    fill(made, entries(*range(1200)), name="early")
    compact(path)
    fill(made, entries(0, 1, 2000), name="late")
    fill(made, entries(*range(10)), name="torn", is_closed=False)
    (torn,) = Path(path).glob("torn-*")
    torn.write_bytes(torn.read_bytes()[:-1])
    worse = Path(path, f"worse-{UUID(int=0).hex}.loose")
    worse.write_bytes(b"x" * 500)
    return worse


def journals_shown() -> str:
    ids = (UUID(int=number) for number in range(1, 100))
    with (
        TemporaryDirectory() as folder,
        patch.object(_local, "uuid4", ids.__next__),
        patch.object(_whole, "uuid4", ids.__next__),
    ):
        path, empty = f"{folder}/mixed", f"{folder}/empty"
        worse = mixed(path)
        prepared(empty, settings=(("zone", "UTC\n"),))
        steps: list[tuple[str, Callable[[], object]]] = [
            (f"show {path}", str),
            (f"show {path} --json", str),
            (f"compact {path}", worse.unlink),
            (f"compact {path}", str),
            (f"compact {path} --json", str),
            (f"show {empty}", str),
            (f"show {folder}/nowhere", str),
            (f"compact {folder}/nowhere", str),
        ]
        return "\n".join(_journal_said(line, then) for line, then in steps).replace(
            folder, "FOLDER"
        )


def _journal_said(line: str, then: Callable[[], object]) -> str:
    done = CliRunner().invoke(journal, line.split())
    then()
    return f"$ asyncwait journal {line}\n{done.stdout}{done.stderr}exit code {done.exit_code}\n"


GOLDEN: Mapping[str, Callable[[], str]] = {
    "help.txt": help_texts,
    "usage.txt": lambda: commands(USAGE),
    "played.txt": lambda: commands(PLAYED),
    "verified.txt": verdicts_of_few,
    "timelines.txt": timelines,
    "verdicts.txt": terminal,
    "page.txt": page,
    "junit.xml": lambda: form("junit.xml"),
    "summary.md": lambda: form("summary.md"),
    "report.jsonl": lambda: form("report.jsonl"),
    "progress.txt": progress,
    "journal.txt": journals_shown,
    "lookups.txt": lookup_scripts.told,
    "metrics.txt": metrics,
    "refused.txt": refused_arguments.told,
}
"""What each file holds."""


def recorded(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def main() -> None:
    for name in [each for each in sys.argv[1:] if each != "--write"] or GOLDEN:
        (FOLDER / name).write_text(GOLDEN[name](), encoding="utf-8")


if __name__ == "__main__":
    main()
