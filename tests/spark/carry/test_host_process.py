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
from asyncwait.backends.spark.carry._client import HostClient, HostFolder, NoCallHost, end_host
from asyncwait.backends.spark.carry._host import CarryWork

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


def test_visitors_share_one_process_that_is_replaced_when_it_ends(machine: Machine) -> None:
    made = tells_its_process(lease=1.0)
    clients = [machine.client(made) for _ in range(4)]
    with ThreadPoolExecutor(4) as threads:
        (first,) = {*threads.map(lambda client: asked(client, made), clients)}
    os.kill(first, signal.SIGKILL)
    until(lambda: not lives(first))
    second = asked(clients[0], made)

    assert len({os.getpid(), first, second}) == 3
    until(lambda: not machine.folder.path.exists())  # Its lease is over.
    until(lambda: not lives(second))


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


def test_a_host_that_is_stopped_fails_its_visits_and_goes_on_or_is_killed(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = tells_its_process(lease=2.0)
    which = (os.getpid(), "operator-settings")
    monkeypatch.setattr(_processor, "_clients", {which: machine.client(made)})
    process = asked(machine.clients[0], made)
    os.kill(process, signal.SIGSTOP)
    # The patience of the present query counts.
    impatient = _processor.client("operator", "settings", cloudpickle.dumps(made), 0.8)
    for _ in range(2):
        with pytest.raises(NoCallHost, match=rf"host .process {process}. .* for 0.8 s: .* not run"):
            impatient.visit(visit(made, 2))
    os.kill(process, signal.SIGCONT)
    assert asked(machine.client(made), made, 2) == process

    os.kill(process, signal.SIGSTOP)
    monkeypatch.setattr(_client, "_ENDING", 0.2)
    end_host(machine.folder)

    until(lambda: not lives(process))
    assert asked(machine.client(made), made) != process


def test_a_host_that_waits_is_never_too_slow_and_a_call_that_blocks_it_is_named(
    machine: Machine, tmp_path: Path
) -> None:
    goes = tmp_path / "goes"

    async def fn(row: Any) -> dict[str, str]:
        while row.id == 2 and not goes.exists():
            time.sleep(0.01)  # noqa: ASYNC251 - the call blocks its loop on purpose
        await asyncio.sleep(2.5 if row.id == 3 else 0.0)
        return {"told": str(os.getpid())}

    made = work(fn, budget=WITHIN)
    process = asked(machine.client(made), made)
    impatient = machine.client(made, patience=1.5)
    assert asked(impatient, made, 3) == process
    line = fn.__code__.co_firstlineno
    frame = rf'File "{re.escape(__file__)}", line ({line + 1}|{line + 2}) in fn'
    for _ in range(2):
        with pytest.raises(NoCallHost, match=rf"blocks its event loop: {frame}; await"):
            impatient.visit(visit(made, 2))

    goes.touch()
    assert asked(machine.client(made), made, 2) == process
