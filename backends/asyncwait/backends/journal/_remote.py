"""A folder behind fsspec: its files, and the parts of an attempt. Only this module imports it."""

import tempfile
from collections import OrderedDict
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from importlib import import_module
from typing import Any, BinaryIO, cast
from uuid import uuid4

from asyncwait.backends.journal._errors import JournalError
from asyncwait.backends.journal._files import EntryFile, payload_of, read_entry
from asyncwait.backends.journal._format import (
    PER_ENTRY,
    PER_SEAL,
    RECORD,
    Owner,
    encode_end,
    encode_entry,
    encode_header,
)
from asyncwait.backends.journal._store import IDENTITY_NAME, LOOSE, Store, Write
from asyncwait.spec import InvalidConfig, MissingExtra

_BLOCK = 256 * 1024
"""Bytes of one read: the time of a request hardly depends on them, and a job that starts again
looks entries up mostly in the order in which they were added."""

_BLOCKS = 64
"""Number of cached blocks."""

_OFTEN = 100
"""Number of tries to list a folder whose files disappear meanwhile."""

_OBJECTS = frozenset({"abfs", "abfss", "az", "gcs", "gs", "memory", "oci", "oss", "s3", "s3a"})
"""Kinds of stores in which a half-written file is invisible."""

PART_BYTES = 32 * 1024 * 1024
"""Bytes of a part at which it is written, however few entries it has."""


class RemoteStore:
    """See `Store`.

    An object exists as a whole or not at all. Elsewhere a file has a temporary name until it is
    whole; no reader opens the temporary file of a killed process.

    Raises:
        InvalidConfig: fsspec does not know the kind of URL.
        MissingExtra: fsspec is not installed.
    """

    def __init__(self, path: str) -> None:
        self.path = path.rstrip("/")
        try:
            core = import_module("fsspec.core")  # It has no types.
        except ImportError as error:
            raise MissingExtra("fsspec", "remote") from error
        try:
            found: tuple[Any, str] = core.url_to_fs(path)
        except ValueError as error:
            raise InvalidConfig.of("path", path, "a URL that fsspec knows") from error
        self._fs, root = found
        self._root = root.rstrip("/")
        self._blocks: OrderedDict[tuple[str, int], bytes] = OrderedDict()
        kinds = self._fs.protocol
        self._has_objects = not _OBJECTS.isdisjoint([kinds] if isinstance(kinds, str) else kinds)

    def make(self) -> None:
        self._fs.makedirs(self._root, exist_ok=True)

    def alone(self) -> AbstractContextManager[None]:
        return nullcontext()

    def sizes(self) -> dict[str, int]:
        named = {each["name"].rstrip("/").rpartition("/")[2]: each for each in self._listed()}
        return {name: each["size"] or 0 for name, each in named.items() if each["type"] == "file"}

    def _listed(self) -> list[dict[str, Any]]:
        for _ in range(_OFTEN):
            self._fs.invalidate_cache(self._root)
            try:
                return cast("list[dict[str, Any]]", self._fs.ls(self._root, detail=True))
            except FileNotFoundError:
                return []  # A store without folders has no empty one.
            except KeyError:
                continue  # A file disappeared while fsspec's memory looked at it.
        raise JournalError(f"{self.path} loses files faster than they can be listed")

    def read(self, name: str, begin: int, length: int) -> bytes:
        if length > _BLOCK:
            return self._fetch(name, begin, length)
        found = b""
        skipped = begin % _BLOCK
        for number in range(begin // _BLOCK, (begin + length - 1) // _BLOCK + 1):
            found += (block := self._block(name, number))
            if len(block) < _BLOCK:
                break  # The file ends here, and some stores refuse to read beyond an end.
        return found[skipped : skipped + length]

    def _block(self, name: str, number: int) -> bytes:
        """Return a cached block, or read it: no file ever changes."""
        block = self._blocks.pop((name, number), None)
        if block is None:
            block = self._fetch(name, number * _BLOCK, _BLOCK)
        if len(self._blocks) >= _BLOCKS:
            self._blocks.popitem(last=False)
        self._blocks[name, number] = block
        return block

    def _fetch(self, name: str, begin: int, length: int) -> bytes:
        return bytes(self._fs.cat_file(self._file(name), start=begin, end=begin + length))

    def open(self, name: str) -> BinaryIO:
        try:
            return cast("BinaryIO", self._fs.open(self._file(name), "rb"))
        except KeyError as gone:  # It disappeared while fsspec's memory looked at it.
            raise FileNotFoundError(name) from gone

    def put(self, name: str, data: bytes) -> None:
        with self._renamed(name) as path:
            self._fs.pipe_file(path, data)
        self._blocks.pop((name, 0), None)  # Another identity may have this name.

    @contextmanager
    def create(self, name: str) -> Generator[Write]:
        """Write a file on this machine, and send it when it is whole; see `Store`."""
        with tempfile.NamedTemporaryFile(prefix="asyncwait-journal-") as file:

            def write(data: bytes | bytearray) -> None:
                file.write(data)

            yield write
            file.flush()
            with self._renamed(name) as path:
                self._fs.put_file(file.name, path)

    @contextmanager
    def _renamed(self, name: str) -> Generator[str]:
        """Yield the temporary path of a file, and rename the file afterwards."""
        path = self._file(name)
        if self._has_objects:
            yield path
        else:
            temporary = f"{path}-{uuid4().hex}.tmp"
            yield temporary
            self._fs.mv(temporary, path)

    def is_final(self, name: str) -> bool:  # noqa: ARG002 - each is written whole
        return True

    def delete(self, name: str) -> None:
        with suppress(FileNotFoundError):
            self._fs.rm_file(self._file(name))

    def sweep(self) -> None:
        pass

    def close(self) -> None:
        self._blocks.clear()

    def _file(self, name: str) -> str:
        return f"{self._root}/{name}"


class RemoteWriter:
    """Writer of parts: each is written whole, when it has enough entries.

    Entries of a part whose write failed stay, and are written with the next ones.

    Attributes:
        own: None, because no part is written in pieces.
        written: bytes that are in files by now.
    """

    own: str | None = None

    def __init__(self, store: Store, name: str, owner: Owner, flush_rows: int) -> None:
        self.written = 0
        self._store = store
        self._name = name
        self._owner = owner
        self._flush_rows = flush_rows
        self._waiting: dict[bytes, bytes] = {}
        self._waiting_bytes = 0
        self._places: dict[bytes, tuple[EntryFile, int]] = {}

    @property
    def coming(self) -> int:
        return self._waiting_bytes

    def cost(self, payload: bytes) -> int:
        around = 0 if self._waiting else len(encode_header(self._owner)[0]) + PER_SEAL
        return PER_ENTRY + len(payload) + around

    def add(self, key: bytes, payload: bytes) -> None:
        cost = self.cost(payload)
        if key in self._waiting:
            cost -= PER_ENTRY + len(self._waiting[key])
        self._waiting[key] = payload
        self._waiting_bytes += cost
        if len(self._waiting) >= self._flush_rows or self._waiting_bytes >= PART_BYTES:
            self.flush()

    def find(self, key: bytes) -> bytes | None:
        if key in self._waiting:
            return self._waiting[key]
        if key not in self._places:
            return None
        file, at = self._places[key]
        try:
            entry = read_entry(self._store, file, at, key)
        except FileNotFoundError:
            self._places = {}  # The parts were merged, and the new file has the entries.
            raise
        return None if entry is None else payload_of(entry)

    def flush(self) -> None:
        if not self._waiting:
            return
        if self._places and IDENTITY_NAME not in self._store.sizes():
            raise JournalError.deleted(self._store.path)
        name = f"{self._name}-{uuid4().hex}{LOOSE}"
        header, salt = encode_header(self._owner)
        data, places = bytearray(header), dict[bytes, int]()
        for key, payload in self._waiting.items():
            places[key] = len(data)
            data += encode_entry(salt, key, payload)
        index = b"".join(RECORD.pack(key, at) for key, at in sorted(places.items()))
        data += encode_end(salt, index, len(data))
        self._store.put(name, bytes(data))
        file = EntryFile(name, salt, len(header))
        self._places.update((key, (file, at)) for key, at in places.items())
        self.written += len(data)
        self._waiting, self._waiting_bytes = {}, 0

    def close(self, room: float) -> None:  # noqa: ARG002 - checked when entries were added
        self.flush()
