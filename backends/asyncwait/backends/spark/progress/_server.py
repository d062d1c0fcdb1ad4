"""Where reports arrive: one thread for all connections."""

import socket
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from itertools import count
from selectors import EVENT_READ, DefaultSelector
from threading import Thread
from time import monotonic

from asyncwait.backends.spark.progress._tally import Tally
from asyncwait.backends.spark.progress._wire import Messages, Refused

_TICK = 0.5
"""Seconds after which it is looked whether something is overdue."""

_SILENCE = 10.0
"""Seconds that whoever connects may take for a first report."""

_DRAIN = 0.5
"""Seconds at most for what has arrived and is not read when the server is closed."""


class _Connection:
    """What the server knows of one that has connected."""

    def __init__(self, link: int, stream: socket.socket, messages: Messages) -> None:
        self.link = link
        self.stream = stream
        self.messages = messages
        self.since = monotonic()
        self.is_known = False


class Server:
    """Listens from the moment at which it is made until it is closed.

    Whatever is no report, or without the secret, ends its connection, and nothing else. So does
    silence. Where there are more connections than this process should have files open, the later
    ones wait.

    Args:
        address: to listen at, on a port that is free.
        secret: that each report has to carry.
        hears: takes reports in, in the thread of the server.

    Raises:
        OSError: nobody can listen there.
    """

    def __init__(self, address: str, secret: bytes, hears: Tally) -> None:
        self._secret, self._hears = secret, hears
        self._links = count()
        self._connections: dict[int, _Connection] = {}
        self._most = _most_connections()
        self._is_closing = self._is_shut = False
        self._opens_at = 0.0
        with ExitStack() as undo:
            self._door = undo.enter_context(listening(address))
            self._bell, self._waiting = map(undo.enter_context, socket.socketpair())
            self._selector = undo.enter_context(DefaultSelector())
            self._selector.register(self._door, EVENT_READ, self._accept)
            self._selector.register(self._waiting, EVENT_READ, self._close)
            self.port: int = self._door.getsockname()[1]
            self._thread = Thread(target=self._serve, name="asyncwait-progress", daemon=True)
            self._thread.start()
            self._undo = undo.pop_all()

    def close(self) -> None:
        """Take in what has arrived, and end all connections and the thread."""
        self._bell.send(b"!")
        self._thread.join()
        self._undo.close()

    def _serve(self) -> None:
        while not self._is_closing:
            self._look(_TICK)
            self._put_in_order()
        give_up = monotonic() + _DRAIN
        while self._look(0) and monotonic() < give_up:
            self._put_in_order()
        for connection in self._connections.values():
            connection.stream.close()

    def _look(self, seconds: float) -> bool:
        """Do what there is to do; return whether there was something."""
        ready = self._selector.select(seconds)
        for key, _ in ready:
            act: Callable[[], None] = key.data
            act()
        return bool(ready)

    def _put_in_order(self) -> None:
        """End what has been silent for too long; open the door if there is room again."""
        now = monotonic()
        for connection in [*self._connections.values()]:
            if not connection.is_known and connection.since < now - _SILENCE:
                self._drop(connection)
        if self._is_shut and len(self._connections) < self._most and now >= self._opens_at:
            self._selector.register(self._door, EVENT_READ, self._accept)
            self._is_shut = False

    def _accept(self) -> None:
        try:
            stream, _ = self._door.accept()
        except (BlockingIOError, ConnectionAbortedError):  # gone again
            return
        except OSError:  # no more files, of which others have too many
            self._opens_at = monotonic() + _TICK
            self._shut_the_door()
            return
        stream.setblocking(False)
        connection = _Connection(next(self._links), stream, Messages(self._secret))
        self._connections[connection.link] = connection
        self._selector.register(stream, EVENT_READ, partial(self._read, connection))
        if len(self._connections) >= self._most:
            self._shut_the_door()

    def _shut_the_door(self) -> None:
        self._selector.unregister(self._door)
        self._is_shut = True

    def _read(self, connection: _Connection) -> None:
        try:
            data = connection.stream.recv(1 << 16)
            for report in connection.messages.reports(data):
                connection.is_known = True
                self._hears.heard(connection.link, report)
        except BlockingIOError:
            return
        except (OSError, Refused):
            data = b""
        if not data:
            self._drop(connection)

    def _drop(self, connection: _Connection) -> None:
        del self._connections[connection.link]
        self._selector.unregister(connection.stream)
        connection.stream.close()
        self._hears.broken(connection.link)

    def _close(self) -> None:
        self._is_closing = True
        self._selector.unregister(self._waiting)


def listening(address: str) -> socket.socket:
    """Return a socket that listens at an address, or name, of either family."""
    family, *_, where = socket.getaddrinfo(address, 0, type=socket.SOCK_STREAM)[0]
    door = socket.socket(family, socket.SOCK_STREAM)
    try:
        door.bind(where)
        door.listen(socket.SOMAXCONN)
        door.setblocking(False)
    except OSError:
        door.close()
        raise
    return door


def _most_connections() -> int:
    """Return half of what this process may have open: files are needed for other things, too."""
    try:
        from resource import RLIM_INFINITY, RLIMIT_NOFILE, getrlimit
    except ImportError:  # Windows
        return 500
    limit, _ = getrlimit(RLIMIT_NOFILE)
    return 10_000 if limit == RLIM_INFINITY else max(1, limit // 2)
