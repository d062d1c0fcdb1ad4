"""What stands in the README and in the guides runs, with the names that their text assumes."""

import ast
import asyncio
import copy
import inspect
import re
import shlex
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import sample
import suite
from outside import Folder
from pages import Block, blocks_of, shows, without_figures
from where import ROOT

from asyncwait.backends import pool
from asyncwait.backends.services import InFlight
from asyncwait.backends.watching import export_metrics, show_progress
from asyncwait.conformance import Lacks, StreamBackend, stream_backend
from asyncwait.conformance._commands import _verify
from asyncwait.conformance.areas import EXAMPLES
from asyncwait.conformance.harness import run_virtual
from asyncwait.spec import OperatorConfig, Retry

README = ROOT / "README.md"
GUIDES = ("operators", "gating", "expected-failures", "reports", "other-languages", "mailbox")
BLOCKS = [
    block
    for page in (README, *(ROOT / "docs" / f"{name}.md" for name in GUIDES))
    for section in blocks_of(page).values()
    for block in section
]
PYTHON = [block for block in BLOCKS if block.language == "python"]
RED = "asyncwait verify faulty-forgets-what-waits-for-room"

FEWER = ("--count", "1", "--no-shrink")

COMMANDS = {
    RED: 1,
    "asyncwait rules MBX": 0,
    "asyncwait verify --mailbox asyncwait.reference:MailboxProcessor": 0,
    "asyncwait verify --mailbox asyncwait.backends.faulty.mailbox:OPEN.TakesTheLastFirst": 1,
}
"""Lines that are run, and what they exit with."""

NOT_RUN = {
    "python3 -m venv .venv && .venv/bin/pip install tox && .venv/bin/tox run -e conformance": (
        "this is what runs the tests"
    ),
    "python3 -m venv .venv && .venv/bin/pip install tox && .venv/bin/tox run-parallel": "the same",
    "pip install asyncwait": "the environment of the tests has it",
    "pip install 'asyncwait[conformance,trio]'": "the same",
    "pip install 'asyncwait[spark]'": "the same",
    "pip install 'asyncwait[conformance]'": "the same",
    "pip install -e '.[progress,spark]' --group examples": "the same",
    "python examples/airports/run.py": "in tests/spark/test_whole_jobs.py",
    "asyncwait verify mypkg.gate:backend": "mypkg is the reader's; the tutorial has one that runs",
    "pytest --pyargs asyncwait.conformance --asyncwait-backend mypkg.gate:backend": "the same",
}
"""Lines that are not run, and why."""


def lines_of(block: Block) -> list[str]:
    if block.language == "console":
        return re.findall(r"^\$ (.*)$", block.code, re.MULTILINE)
    if block.language == "sh":
        return [re.sub(r"\s+#.*", "", line) for line in block.code.splitlines()]
    return []


async def _reply(value: Any) -> str:
    return f"reply to {value}"


async def _replies(value: Any) -> list[str]:
    return [await _reply(value)]


async def _balances(accounts: list[str]) -> list[dict[str, Any]]:
    return [
        {"account": account} | ({"balance": 7} if account < "c" else {}) for account in accounts
    ]


async def _elements() -> Any:
    for value in ():
        yield value


GIVEN = {
    **{name: getattr(pool, name) for name in ("key_ordered_wait", "ordered_wait", "open_operator")},
    "accounts": ["a", "b", "c"],
    "ask": _reply,
    "asyncio": asyncio,
    "changes": [{"row": 1}],
    "config": OperatorConfig(),
    "copy": copy,
    "Dead": SimpleNamespace,
    "download": lambda path: f"contents of {path}",
    "elements": _elements(),
    "export_metrics": export_metrics,
    "fetch": _reply,
    "fetch_from_mirror": _reply,
    "Lacks": Lacks,
    "limits": [InFlight(64)],
    "look_up_city": _replies,
    "look_up_user": _replies,
    "orders": [{"voucher": 1}],
    "ordered_wait": pool.ordered_wait,
    "paths": ["a", "b"],
    "questions": ["a", "b"],
    "Retry": Retry,
    "service": SimpleNamespace(book=_reply, balances=_balances),
    "show_progress": show_progress,
    "stream_backend": stream_backend,
    "urls": ["a", "b"],
    "write": _reply,
}
"""What the text is about when it names them."""


@pytest.mark.parametrize("block", PYTHON)
def test_a_block_runs(block: Block, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    package: Any = ModuleType("mypkg")
    package.open_operator = pool.open_operator
    monkeypatch.setitem(sys.modules, "mypkg", package)
    monkeypatch.setattr("asyncio.run", lambda main: run_virtual(lambda _: main))
    names = {"__name__": "page", **GIVEN}

    compiled = compile(block.code, "page", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    if compiled.co_flags & inspect.CO_COROUTINE:

        async def main(_watch: object) -> None:
            await eval(compiled, names)  # noqa: S307 - the page is ours

        run_virtual(main)
    else:
        exec(compiled, names)  # noqa: S102 - the same
    if "def backend" in block.code:
        assert isinstance(names["backend"](), StreamBackend)  # type: ignore[operator]


@pytest.mark.sampled
@pytest.mark.timeout(300)  # a whole verdict, perhaps on a busy machine
@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_exits_as_it_should(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (told,) = {block.printed for block in BLOCKS if line in lines_of(block)}
    folder, arguments = Folder(tmp_path), shlex.split(line)[1:]

    if sample.SEED == sample.WHOLE:
        done = folder.asyncwait(*arguments)
    else:
        monkeypatch.setattr(_verify, "GENERATED", 20)  # of mailboxes
        with suite.playing(EXAMPLES):
            done = folder.here(*arguments, *(FEWER if line == RED else ()))

    assert done.code == COMMANDS[line], done.err
    assert not told or shows(without_figures(told), without_figures(done.out)), done.out
    assert bool(told) is (line == RED)


def test_every_line_is_run_or_says_why_not() -> None:
    assert {line for block in BLOCKS for line in lines_of(block)} == {*COMMANDS, *NOT_RUN}
    assert len(NOT_RUN) == 10


def test_the_readme_can_be_read_in_a_minute() -> None:
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 120
