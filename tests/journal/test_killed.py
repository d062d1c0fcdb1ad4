"""Processes that are killed: nothing for which `add` had returned is lost, and all can be used."""

import math
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from journals import entries, fill, find_all, found

from asyncwait.backends.journal import (
    Journal,
    _local,
    compact,
    key_of,
    summary,
)

WRITER = dedent(
    """
    import os, sys
    from asyncwait.backends.journal import Journal, key_of

    journal = Journal(sys.argv[1], "job", "1")
    journal.prepare()
    with journal.attempt("part") as attempt:
        number = 0
        while True:
            attempt.add(key_of(number), b"%d/" % number * (1 + number % 50))
            os.write(1, b"%d\\n" % number)
            number += 1
    """
)


class Killed(BaseException):
    """The process ends here: what would clean up does nothing any more."""


class FailingOs:
    """Stands for `os`: what changes files works so often, and then the process is dead."""

    CHANGING = frozenset({"open", "write", "rename", "unlink", "fsync", "ftruncate", "makedirs"})

    def __init__(self, steps: float, on_step: Callable[[], None] = lambda: None) -> None:
        self.steps = steps
        self.taken = 0
        self._on_step = on_step

    def __getattr__(self, name: str) -> Any:
        if name not in self.CHANGING:
            return getattr(os, name)

        def step(*args: Any, **options: Any) -> Any:
            if self.taken >= self.steps:
                raise Killed
            self._on_step()
            self.taken += 1
            return getattr(os, name)(*args, **options)

        return step


@pytest.fixture
def with_os(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Does something with another `os`; gives whether it came to its end."""

    def act(stand_in: Any, do: Callable[[], object]) -> bool:
        with monkeypatch.context() as patch:
            patch.setattr(_local, "os", stand_in)
            try:
                do()
            except Killed:
                return False
            return True

    return act


@pytest.mark.parametrize("seen", [1, 2, 500, 3000])
def test_a_writer_that_is_killed_loses_nothing_that_it_was_told_is_there(
    tmp_path: Path, seen: int
) -> None:
    journal = Journal(f"{tmp_path}/journal", "job", "1")
    command = [sys.executable, "-c", WRITER, journal.path]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        for _ in range(seen):
            process.stdout.readline()
        process.kill()
        rest = process.stdout.read()
    told = seen + rest.count(b"\n")

    journal.prepare()
    with journal.attempt("next") as attempt:
        for number in range(told):
            assert attempt.find(key_of(number)) == b"%d/" % number * (1 + number % 50)
        assert attempt.redone <= 1
    assert compact(journal.path).keys >= told


def test_merging_may_be_killed_at_each_step(on_disk: Journal, with_os: Any) -> None:
    right: dict[bytes, bytes] = {}
    steps, is_done = 0, False
    while not is_done:
        new = entries(*range(steps * 10, steps * 10 + 12))
        for name in ("one", "two"):
            fill(on_disk, new, name=name)
        right |= new
        is_done = with_os(FailingOs(steps), lambda: compact(on_disk.path))
        assert found(on_disk, right) == right
        compact(on_disk.path)
        assert found(on_disk, right) == right
        steps += 1

    assert steps > 10
    there = compact(on_disk.path)
    assert (there.files, there.entries, there.torn) == (1, len(right), 0)
    assert found(on_disk, right) == right
    assert [name for name in os.listdir(on_disk.path) if name.endswith(".tmp")] == []  # noqa: PTH208


def test_whoever_reads_at_any_step_of_merging_misses_nothing(
    on_disk: Journal, with_os: Any
) -> None:
    right = entries(*range(40))
    for begin in range(0, 40, 10):
        fill(on_disk, entries(*range(begin, begin + 10)))
    looks: list[Any] = []
    attempt = on_disk.attempt("before")

    def look() -> None:
        with_os(os, lambda: looks.append((found(on_disk, right), find_all(attempt, right))))

    with_os(FailingOs(math.inf, look), lambda: compact(on_disk.path))
    attempt.close()

    assert len(looks) > 10
    assert all(each == (right, right) for each in looks)


def test_an_attempt_may_be_killed_at_each_step(on_disk: Journal, with_os: Any) -> None:
    right: dict[bytes, bytes] = {}
    added: dict[bytes, bytes] = {}
    steps, is_done = 0, False

    def work() -> None:
        attempt = on_disk.attempt("part")
        try:
            for key, payload in entries(*range(steps * 10, steps * 10 + 5)).items():
                attempt.add(key, payload)
                added[key] = payload
            attempt.close()
        finally:
            if not attempt._is_closed:
                attempt._store.close()
            if not attempt._is_closed and attempt._writer._file >= 0:
                os.close(attempt._writer._file)

    while not is_done:
        is_done = with_os(FailingOs(steps), work)
        right |= added
        assert found(on_disk, right) == right
        compact(on_disk.path)
        steps += 1

    assert steps > 8
    assert found(on_disk, right) == right
    assert len(os.listdir(on_disk.path)) == 2  # noqa: PTH208 - a list of names


def test_preparing_may_be_killed_at_each_step(tmp_path: Path, with_os: Any) -> None:
    steps, is_done = 0, False
    while not is_done:
        journal = Journal(f"{tmp_path}/{steps}", "job", "1")
        is_done = with_os(FailingOs(steps), journal.prepare)
        journal.prepare()
        assert summary(journal.path).job == "job"
        steps += 1

    assert steps > 4


SPENDER = dedent(
    """
    import asyncio, os, sys
    from asyncwait.backends.journal import Journal, key_of, paid_once
    from asyncwait.backends.pool import unordered_wait
    from asyncwait.backends.services import Budget

    folder, most = sys.argv[1], float(sys.argv[2])

    async def ask(value):
        os.write(1, b"%d\\n" % value)
        await asyncio.sleep(0.001)
        return str(value)

    async def main():
        limits = [Budget(most, path=folder + ".budget")]
        journal = Journal(folder, "job", "1")
        journal.prepare()
        with journal.attempt("part") as attempt:
            fn = paid_once(ask, attempt, key_of, str.encode, bytes.decode)
            async with unordered_wait(range(500), fn, capacity=10, limits=limits) as results:
                assert {value async for value in results} == {str(each) for each in range(500)}

    asyncio.run(main())
    """
)


def test_a_budget_is_spent_once_by_a_job_that_is_killed_and_started_again(tmp_path: Path) -> None:
    def job(most: int) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-c", SPENDER, str(tmp_path / "journal"), str(most)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    calls: list[bytes] = []
    for _ in range(2):
        with job(200) as killed:
            assert killed.stdout is not None
            calls += [killed.stdout.readline() for _ in range(60)]
            killed.kill()
            calls += killed.stdout.readlines()
    with job(200) as spent:
        out, told = spent.communicate()
    calls += out.splitlines(keepends=True)
    assert b"BudgetSpent: 200 of a budget of 200 calls are spent" in told
    assert 200 - 2 * 10 <= len(calls) <= 200
    assert len(set(calls)) >= len(calls) - 2 * 10

    with job(600) as raised:
        out, told = raised.communicate()
    assert raised.returncode == 0, told
    assert len({*calls, *out.splitlines(keepends=True)}) == 500
