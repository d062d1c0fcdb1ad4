"""What stands in the README runs, with the names that its text takes for granted."""

import ast
import copy
import inspect
import re
import shlex
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from outside import Folder

from asyncwait.backends import pool
from asyncwait.backends.watching import export_metrics, show_progress
from asyncwait.conformance.harness import run_virtual
from asyncwait.spec import OperatorConfig, Retry

README = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
PYTHON = [code for language, code in BLOCKS if language == "python"]
LINES = [line for language, code in BLOCKS if not language for line in code.splitlines()]

ON_SPARK = [code for code in PYTHON if "backends.spark" in code]
"""Run in tests/spark/test_tutorial.py."""

COMMANDS = {
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
    "pip install 'asyncwait[conformance,trio]'": "the environment of the tests has it",
    "pip install 'asyncwait[conformance]'": "the same",
    "pip install -e '.[progress]' --group examples": "the same",
    "pip install -e '.[progress,spark]' --group examples": "the same",
    "asyncwait verify pool-asyncio pool-trio": "tox runs it, in `lowest`",
    "python examples/http/run.py --plot http.png": "tests/examples/test_http.py runs it smaller",
    "python examples/airports/run.py --plot airports.png": "tests/spark/test_airports.py, the same",
    "asyncwait verify mypkg.gate:backend": "mypkg is the reader's; the tutorial has one that runs",
    "pytest --pyargs asyncwait.conformance --asyncwait-backend mypkg.gate:backend": "the same",
}
"""Lines that are not run, and why."""


async def _reply(value: Any) -> str:
    return f"reply to {value}"


async def _replies(value: Any) -> list[str]:
    return [await _reply(value)]


async def _elements() -> Any:
    for value in ():
        yield value


GIVEN = {
    **{name: getattr(pool, name) for name in ("key_ordered_wait", "ordered_wait", "open_operator")},
    "changes": [{"row": 1}],
    "config": OperatorConfig(),
    "copy": copy,
    "Dead": SimpleNamespace,
    "download": lambda path: f"contents of {path}",
    "elements": _elements(),
    "export_metrics": export_metrics,
    "fetch": _reply,
    "look_up_city": _replies,
    "look_up_user": _replies,
    "orders": [{"voucher": 1}],
    "paths": ["a", "b"],
    "Retry": Retry,
    "service": SimpleNamespace(book=_reply),
    "show_progress": show_progress,
    "urls": ["a", "b"],
    "write": _reply,
}
"""What the text is about when it names them."""


@pytest.mark.parametrize("code", [code for code in PYTHON if code not in ON_SPARK])
def test_a_block_of_the_readme_runs(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Alone, with what is given; on a clock that jumps where it awaits."""
    package: Any = ModuleType("mypkg")
    package.open_operator = pool.open_operator
    monkeypatch.setitem(sys.modules, "mypkg", package)
    monkeypatch.setattr("asyncio.run", lambda main: run_virtual(lambda _: main))
    names = {"__name__": "readme", "stream_backend": None, **GIVEN}

    compiled = compile(code, "README.md", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    if compiled.co_flags & inspect.CO_COROUTINE:

        async def main(_watch: object) -> None:
            await eval(compiled, names)  # noqa: S307 - the page is ours

        run_virtual(main)
    else:
        exec(compiled, names)  # noqa: S102 - the same


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_of_the_readme_exits_as_it_should(line: str, tmp_path: Path) -> None:
    """A sound mailbox is conformant, and one that is not is seen."""
    done = Folder(tmp_path).asyncwait(*shlex.split(line)[1:])

    assert done.code == COMMANDS[line], done.err


def test_every_line_of_the_readme_is_run_or_says_why_not() -> None:
    """The two lists hold all of them, and nothing that was dropped."""
    assert {*LINES} == {*COMMANDS, *NOT_RUN}
    assert len(NOT_RUN) == 11
    assert len(ON_SPARK) == 1
