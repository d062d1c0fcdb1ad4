"""The process of a call host: who starts it, who finds it, and what is left of it."""

import asyncio
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from carried import told, visit, work
from msgspec.structs import replace
from pyspark import cloudpickle

from asyncwait.backends.spark.carry import _client, _processor
from asyncwait.backends.spark.carry._client import HostClient, end_host
from asyncwait.backends.spark.carry._folder import HostFolder, NoCallHost
from asyncwait.backends.spark.carry._work import CarryWork

WITHIN = 60.0


def until(holds: Callable[[], bool]) -> None:
    over = time.monotonic() + WITHIN
    while not holds():
        assert time.monotonic() < over
        time.sleep(0.02)  # What another process does rings no bell.


def lives(process: int) -> bool:
    try:
        told = Path(f"/proc/{process}/status").read_text()
        # Its sockets are open until its last thread has ended.
        return "\nState:\tZ" not in told or "\nThreads:\t1\n" not in told
    except FileNotFoundError:
        return False


def tells_its_process(**options: Any) -> CarryWork:
    async def fn(_row: Any) -> dict[str, str]:
        return {"told": str(os.getpid())}

    return work(fn, budget=WITHIN, **options)


class Machine:
    def __init__(self, folder: HostFolder) -> None:
        self.folder = folder
        self.clients: list[HostClient] = []

    def client(self, made: CarryWork, patience: float = WITHIN) -> HostClient:
        self.clients.append(HostClient(self.folder, cloudpickle.dumps(made), patience))
        return self.clients[-1]

    def end(self) -> None:
        for client in self.clients:
            client.close()
        end_host(self.folder)
        until(lambda: not self.folder.path.exists())


@pytest.fixture
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    made = Machine(HostFolder(tmp_path_factory.mktemp("h") / "host"))
    yield made
    made.end()


def asked(client: HostClient, made: CarryWork, number: int = 1) -> int:
    (rows,) = told(made, client.visit(visit(made, number))).values()
    return int(rows[0]["told"])


def test_visitors_share_one_process(machine: Machine) -> None:
    made = tells_its_process()
    clients = [machine.client(made) for _ in range(4)]
    with ThreadPoolExecutor(4) as threads:
        processes = {*threads.map(lambda client: asked(client, made), clients)}

    assert len(processes) == 1
    assert os.getpid() not in processes


def test_a_host_that_was_killed_is_started_again(machine: Machine) -> None:
    made = tells_its_process()
    client = machine.client(made)
    first = asked(client, made)
    os.kill(first, signal.SIGKILL)
    until(lambda: not lives(first))

    second = asked(client, made)

    assert second != first
    assert lives(second)


def test_a_host_without_visits_ends_and_leaves_nothing(machine: Machine) -> None:
    made = tells_its_process(lease=1.0)
    client = machine.client(made)
    process = asked(client, made)

    until(lambda: not machine.folder.path.exists())
    until(lambda: not lives(process))

    assert asked(client, made) != process


def test_what_a_killed_host_leaves_goes_when_another_one_starts(machine: Machine) -> None:
    made = tells_its_process()
    folders = [HostFolder(machine.folder.path.with_name(name)) for name in ("one", "two")]
    neighbours = [Machine(folder) for folder in folders]
    killed, alive = (asked(each.client(made), made) for each in neighbours)
    os.kill(killed, signal.SIGKILL)
    until(lambda: not lives(killed))

    asked(machine.client(made), made)

    assert [folder.path.exists() for folder in folders] == [False, True]
    for each in neighbours:
        each.end()
    until(lambda: not lives(alive))


def test_a_host_that_ends_leaves_the_folder_of_the_one_in_its_place(machine: Machine) -> None:
    made = tells_its_process()
    first = asked(machine.client(made), made)
    machine.folder.socket.unlink()
    client = machine.client(made)
    second = asked(client, made)

    os.kill(first, signal.SIGTERM)
    until(lambda: not lives(first))

    assert machine.folder.socket.exists()
    assert asked(machine.client(made), made, 2) == second != first


def test_calls_that_do_not_end_end_with_their_host(machine: Machine) -> None:
    async def fn(row: Any) -> dict[str, str]:
        if row.id == 1:
            return {"told": str(os.getpid())}
        sys.modules["__main__"]._CLOSING = 0.1  # type: ignore[attr-defined]
        loop = asyncio.get_running_loop()
        _ = loop.run_in_executor(None, time.sleep, 1e6)
        while True:
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(1e6)

    made = work(fn, budget=0.0)
    client = machine.client(made)
    client.visit(visit(made, 2))
    process = asked(client, replace(made, terms=replace(made.terms, budget=WITHIN)))

    end_host(machine.folder)

    until(lambda: not lives(process))


def test_what_hosts_have_printed_last_is_told(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def exits(_row: Any) -> Any:
        sys.exit("no licence")

    monkeypatch.setattr(_client, "_HOSTS", 2)
    made = work(exits, budget=WITHIN)

    with pytest.raises(NoCallHost, match=r"2 call hosts have ended, .*: no licence"):
        machine.client(made).visit(visit(made, 1))


def test_a_function_that_does_not_open_is_an_error_of_the_visit(machine: Machine) -> None:
    class Closed:
        async def open(self) -> None:
            raise ConnectionRefusedError("no service")

        async def __call__(self, _row: Any) -> Any:
            return {"told": ""}

    made = work(Closed, budget=WITHIN)
    client = machine.client(made)

    with pytest.raises(NoCallHost, match=r"broken down: .*no service"):
        client.visit(visit(made, 1))

    until(lambda: not machine.folder.path.exists())


def test_where_no_process_can_be_started_calls_run_here(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def refused(*_: Any, **__: Any) -> Any:
        raise OSError("no more processes")

    monkeypatch.setattr(subprocess, "run", refused)
    made = tells_its_process()
    client = machine.client(made)

    assert [asked(client, made), asked(client, made, 2)] == [os.getpid()] * 2

    client.close()
    assert capfd.readouterr().err.count("no call host can be started: no more processes") == 1


def test_a_host_without_room_for_its_files_is_an_error(machine: Machine) -> None:
    made = tells_its_process()
    machine.folder.log.mkdir(parents=True)

    with pytest.raises(NoCallHost, match="the call host has no place"):
        machine.client(made).visit(visit(made, 1))


@pytest.mark.parametrize("what", ["open", "file", "dangling link", "long"])
def test_a_folder_that_others_can_enter_is_refused(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    tmp_path = tmp_path_factory.mktemp("h")
    home = tmp_path / ("x" * 120 if what == "long" else "h")
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    base = home / ".asyncwait"
    if what == "open":
        base.mkdir(mode=0o755)
    elif what == "file":
        base.touch()
    elif what == "dangling link":
        base.symlink_to(tmp_path / "nowhere")

    with pytest.raises(NoCallHost, match="set XDG_RUNTIME_DIR"):
        HostFolder.named("a")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert HostFolder.named("a").path == tmp_path / "asyncwait" / "a"


def test_a_host_that_is_stopped_fails_its_visits_and_goes_on(machine: Machine) -> None:
    made = tells_its_process(lease=2.0)
    process = asked(machine.client(made), made)
    os.kill(process, signal.SIGSTOP)
    impatient = machine.client(made, patience=0.8)

    for _ in range(2):
        with pytest.raises(NoCallHost, match=f"host .process {process}. .* does not run"):
            impatient.visit(visit(made, 2))

    os.kill(process, signal.SIGCONT)
    assert asked(machine.client(made), made, 2) == process


def test_the_patience_of_the_present_query_counts(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = tells_its_process()
    which = (os.getpid(), "operator-settings")
    monkeypatch.setattr(_processor, "_clients", {which: machine.client(made)})
    process = asked(machine.clients[0], made)
    os.kill(process, signal.SIGSTOP)

    impatient = _processor.client("operator", "settings", cloudpickle.dumps(made), 1.0)
    with pytest.raises(NoCallHost, match=r"has not answered for 1 s"):
        impatient.visit(visit(made, 2))

    os.kill(process, signal.SIGCONT)


def blocks_until(goes: Path) -> CarryWork:
    """Return work whose function blocks the event loop of its host for one row."""

    async def fn(row: Any) -> dict[str, str]:
        while row.id == 2 and not goes.exists():  # noqa: ASYNC240 - it blocks
            time.sleep(0.01)  # noqa: ASYNC251 - the call blocks its loop on purpose
        return {"told": str(os.getpid())}

    return work(fn, budget=WITHIN)


def test_a_call_that_blocks_its_host_is_named(machine: Machine, tmp_path: Path) -> None:
    made = blocks_until(tmp_path / "goes")
    process = asked(machine.client(made), made)
    line = made.task.fn.__code__.co_firstlineno
    frame = rf'File "{re.escape(__file__)}", line ({line + 1}|{line + 2}) in fn'
    impatient = machine.client(made, patience=1.0)

    for _ in range(2):
        with pytest.raises(NoCallHost, match=rf"blocks its event loop: {frame}; await"):
            impatient.visit(visit(made, 2))

    (tmp_path / "goes").touch()
    assert asked(machine.client(made), made, 2) == process


def test_a_host_that_waits_for_calls_is_never_too_slow(machine: Machine) -> None:
    async def fn(row: Any) -> dict[str, str]:
        await asyncio.sleep(4.0 if row.id == 2 else 0.0)
        return {"told": str(os.getpid())}

    made = work(fn, budget=WITHIN)
    process = asked(machine.client(made), made)
    assert asked(machine.client(made, patience=2.0), made, 2) == process


def test_a_host_that_hangs_is_killed_when_it_is_to_end(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_client, "_ENDING", 0.2)
    made = tells_its_process()
    process = asked(machine.client(made), made)
    os.kill(process, signal.SIGSTOP)

    end_host(machine.folder)

    until(lambda: not lives(process))
    assert asked(machine.client(made), made) != process
