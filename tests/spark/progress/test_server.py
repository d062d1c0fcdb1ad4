"""Whoever finds the port of a progress without being a task, and tasks in great numbers."""

import socket
import threading
from contextlib import ExitStack, suppress
from time import monotonic
from typing import Any

import pytest
from progress_reports import FIRST, NEVER, SOON, Played, connected, message, wait

from asyncwait.backends.spark.progress import (
    Progress,
    TaskFigures,
    TaskName,
    _server,
    reporting,
)
from asyncwait.backends.spark.progress._wire import LONGEST


def hung_up(stream: socket.socket) -> bool:
    with suppress(ConnectionError):
        return stream.recv(1) == b""
    return True


def refused(progress: Progress, stream: socket.socket, data: bytes) -> bool:
    with stream:
        with suppress(ConnectionError):
            stream.sendall(data)
        return hung_up(stream) and not progress.figures().reported


def stranger(progress: Progress) -> socket.socket:
    return socket.create_connection(("127.0.0.1", progress.endpoint.port), SOON)


@pytest.mark.parametrize("data", [b"\0\0\0\0", b"\0\0\0\1\xc1", b"\0\0\0\5hello"])
def test_what_is_no_report_ends_its_connection(data: bytes) -> None:
    with Progress() as progress:
        assert refused(progress, connected(progress), data)
        with reporting(progress.endpoint, FIRST, Played(calls=1), every=NEVER):
            wait(progress, lambda figures: figures.calls == 1)


@pytest.mark.parametrize("data", [b"GET / HTTP/1.1\r\n\r\n", bytes(16), b"\xff" * 100_000])
def test_a_wrong_secret_and_a_message_that_is_too_long_end_their_connection(data: bytes) -> None:
    with Progress() as progress:
        assert refused(progress, stranger(progress), data + message())
        assert refused(progress, connected(progress), (LONGEST + 1).to_bytes(4, "big"))


def test_a_message_may_come_in_pieces() -> None:
    with Progress() as progress, connected(progress) as stream:
        data = message() + message(number=1, figures=TaskFigures(calls=2))
        for byte in data[:-1]:
            stream.sendall(bytes([byte]))
        wait(progress, lambda figures: figures.calls == 1)
        stream.sendall(data[-1:])
        wait(progress, lambda figures: figures.calls == 2)


def test_silent_clients_don_t_keep_a_progress_open() -> None:
    with ExitStack() as clients:
        with Progress() as progress:
            silent = clients.enter_context(stranger(progress))
            begun = clients.enter_context(connected(progress))
            begun.sendall(message()[:7])
            began = monotonic()
        assert monotonic() - began < 1.0
        assert hung_up(silent)
        assert hung_up(begun)


def test_silence_ends_a_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_server, "_SILENCE", 0.0)
    with Progress() as progress, stranger(progress) as stream:
        assert hung_up(stream)


def test_with_too_many_connections_the_later_ones_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_server, "_most_connections", lambda: 1)
    with Progress() as progress:
        with connected(progress) as one, connected(progress) as two:
            one.sendall(message())
            wait(progress, lambda figures: figures.calls == 1)
            two.sendall(message(run=b"two", name=TaskName(1, 1, 0), state="ended"))
        figures = wait(progress, lambda figures: figures.tasks_done == 1)

    assert (figures.calls, figures.attempts_failed) == (2, 1)


def test_without_files_to_open_connections_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_server, "_TICK", 0.01)
    accept = socket.socket.accept
    refusals = 0

    def scarce(self: socket.socket) -> Any:
        nonlocal refusals
        refusals += 1
        if refusals <= 3:
            raise OSError(24, "Too many open files")
        return accept(self)

    monkeypatch.setattr(socket.socket, "accept", scarce)
    with (
        Progress() as progress,
        reporting(progress.endpoint, FIRST, Played(calls=1), every=NEVER),
    ):
        wait(progress, lambda figures: figures.calls == 1)

    assert refusals > 3


def test_hundreds_of_tasks_at_once() -> None:
    with ExitStack() as streams, Progress() as progress:
        before = threading.active_count()
        for number in range(200):
            stream = streams.enter_context(connected(progress))
            name = TaskName(1, number, 0)
            stream.sendall(message(run=b"%d" % number, name=name))
            stream.sendall(message(run=b"%d" % number, name=name, number=1))
        figures = wait(progress, lambda figures: figures.tasks_running == 200)
        after = threading.active_count()
        for number in range(200):
            name = TaskName(1, number, 0)
            end = message(run=b"%d" % number, name=name, number=2, state="ended")
            with connected(progress) as stream:
                stream.sendall(end)

    assert after == before
    assert figures.calls == 200
    assert progress.figures().tasks_done == 200
