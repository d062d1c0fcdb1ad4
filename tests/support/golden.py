"""What commands and reports say, word for word: a file of `tests/golden` for each form of output.

    python tests/support/golden.py --write

writes them anew, to be read as a diff. `tests/conformance/test_golden.py` compares; whatever else
tests an output asks for its data, codes and ids.
"""

import errno
import inspect
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import chdir
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import click
from click.testing import CliRunner
from golden_journal import told as journal
from golden_progress import told as progress
from golden_runs import DRAWN, MODULES, PLAYED, USAGE, VERIFIED
from golden_verdicts import told, verdicts
from rich.console import Console
from suite import few_examples, playing

from asyncwait.conformance._commands import asyncwait
from asyncwait.conformance.evidence import describe_scenario
from asyncwait.conformance.harness import play
from asyncwait.conformance.judging import Violation
from asyncwait.conformance.report import FORMS, print_report
from asyncwait.conformance.timeline import draw
from asyncwait.reference import open_operator

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


def steadied(text: str, folder: str = "") -> str:
    text = text.replace(f"{folder}/", "") if folder else text
    for varying, instead in VARYING:
        text = varying.sub(instead, text)
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


def said(line: str) -> str:
    known = set(sys.modules)
    arguments = line.replace("{python}", sys.executable)
    done = CliRunner(env={"NO_COLOR": "1", "COLUMNS": str(WIDTH)}).invoke(
        asyncwait, _split(arguments), prog_name="asyncwait", terminal_width=WIDTH
    )
    for name in MODULES:
        if name not in known:
            sys.modules.pop(name, None)
    return steadied(f"$ asyncwait {line}\n{done.stdout}{done.stderr}exit code {done.exit_code}\n")


def _split(line: str) -> list[str]:
    return [part.strip("'") for part in re.findall(r"'[^']*'|\S+", line)]


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
    commands = [asyncwait, *(asyncwait.get_command(context, name) for name in _names())]
    return "\n".join(_help(each) for each in commands if each is not None)


def _names() -> Iterator[str]:
    yield from ("backends", "compare", "play", "report", "rules", "vectors", "verify")


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
    return steadied(FORMS[name](told()).decode())


def page() -> str:
    text = FORMS["report.html"](told()).decode()
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
    "journal.txt": journal,
}
"""What each file holds."""


def recorded(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def main() -> None:
    for name in [each for each in sys.argv[1:] if each != "--write"] or GOLDEN:
        (FOLDER / name).write_text(GOLDEN[name](), encoding="utf-8")


if __name__ == "__main__":
    main()
