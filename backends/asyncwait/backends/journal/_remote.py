"""A folder behind fsspec, which is imported here and nowhere else."""

import tempfile
from collections import OrderedDict
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from importlib import import_module
from typing import Any, BinaryIO, cast
from uuid import uuid4

from asyncwait.backends.journal._errors import JournalCorrupt, JournalError
from asyncwait.backends.journal._store import IDENTITY_NAME, LOOSE, MERGED, Write
from asyncwait.spec import InvalidConfig, MissingExtra

_BLOCK = 256 * 1024
"""Bytes that are read at a time: a request takes so long that a few more are nothing, and whoever
starts again mostly asks for entries in the order in which they were added."""

_BLOCKS = 64
"""So many are kept."""

_OFTEN = 100
"""Times that a folder is listed whose files go meanwhile."""

_OBJECTS = frozenset({"abfs", "abfss", "az", "gcs", "gs", "memory", "oci", "oss", "s3", "s3a"})
"""Kinds of stores in which nobody sees half of what is being written."""


class RemoteStore:
    """See `Store`.

    An object is there as a whole or not at all. Elsewhere a file is written under another name, and
    renamed; what a killed process leaves there is never read.

    Raises:
        InvalidConfig: fsspec knows nothing of that kind.
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
        for name, each in named.items():
            if name.endswith((LOOSE, MERGED)):
                self._require_file(name, each["type"])
        return {name: each["size"] or 0 for name, each in named.items() if each["type"] == "file"}

    def _listed(self) -> list[dict[str, Any]]:
        for _ in range(_OFTEN):
            self._fs.invalidate_cache(self._root)
            try:
                return cast("list[dict[str, Any]]", self._fs.ls(self._root, detail=True))
            except FileNotFoundError:
                return []  # Where there are no folders an empty one is none.
            except KeyError:
                continue  # A file has gone while fsspec's memory looked at it.
        raise JournalError(f"{self.path} loses files faster than they can be listed")

    def read(self, name: str, begin: int, length: int) -> bytes:
        if length > _BLOCK:
            return self._fetch(name, begin, length)
        found = b""
        skipped = begin % _BLOCK
        for number in range(begin // _BLOCK, (begin + length - 1) // _BLOCK + 1):
            found += (block := self._block(name, number))
            if len(block) < _BLOCK:
                break  # The file ends here, and not every store answers who asks for more.
        return found[skipped : skipped + length]

    def _block(self, name: str, number: int) -> bytes:
        """Return a block that was read before, or read it: no file is ever changed."""
        block = self._blocks.pop((name, number), None)
        if block is None:
            block = self._fetch(name, number * _BLOCK, _BLOCK)
        if len(self._blocks) >= _BLOCKS:
            self._blocks.popitem(last=False)
        self._blocks[name, number] = block
        return block

    def _fetch(self, name: str, begin: int, length: int) -> bytes:
        if name == IDENTITY_NAME and not self._has_objects:
            self._require_file(name, self._fs.info(self._file(name))["type"])
        return bytes(self._fs.cat_file(self._file(name), start=begin, end=begin + length))

    def _require_file(self, name: str, kind: str) -> None:
        """Refuse what only has the name of a file; a FIFO would be waited for for ever."""
        if kind != "file":
            kind = "folder" if kind == "directory" else "FIFO or device"
            raise JournalCorrupt.not_a_file(f"{self.path}/{name}", kind)

    def open(self, name: str) -> BinaryIO:
        try:
            return cast("BinaryIO", self._fs.open(self._file(name), "rb"))
        except KeyError as gone:  # while fsspec's memory looked at it
            raise FileNotFoundError(name) from gone

    def put(self, name: str, data: bytes) -> None:
        with self._renamed(name) as path:
            self._fs.pipe_file(path, data)
        self._blocks.pop((name, 0), None)  # Of an identity that was another one.

    @contextmanager
    def create(self, name: str) -> Generator[Write]:
        """See `Store`: it is written here, and sent when it is whole."""
        with tempfile.NamedTemporaryFile(prefix="asyncwait-journal-") as file:

            def write(data: bytes | bytearray) -> None:
                file.write(data)

            yield write
            file.flush()
            with self._renamed(name) as path:
                self._fs.put_file(file.name, path)

    @contextmanager
    def _renamed(self, name: str) -> Generator[str]:
        """Give the path under which a file is to be written; then it gets its name."""
        path = self._file(name)
        if self._has_objects:
            yield path
        else:
            temporary = f"{path}-{uuid4().hex}.tmp"
            yield temporary
            self._fs.mv(temporary, path)

    def is_final(self, name: str) -> bool:  # noqa: ARG002 - all are written whole
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
