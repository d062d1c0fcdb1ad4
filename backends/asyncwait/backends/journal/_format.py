r"""How a file of a journal is written: once, from its beginning to its end.

    header   8 bytes    what it is, and the version of this format
             u32        length of the meta
             meta       msgpack: {"job": str, "version": str, "id": 16 bytes of chance}, and if
                        there are settings: {"digest": 16 bytes}, or all in the identity file
             16 bytes   blake2b of all of the above: the salt of the file
    entry    u32        length of the payload, at most 64 MiB
             16 bytes   key
             payload
             8 bytes    blake2b, keyed with the salt, of length, key and payload
    ...
    end      u32        0xFFFFFFFF, which is no length
    index    16 bytes   key
             u64        where its entry begins in the file
    ...                 sorted by key, each key once
    footer   u64        how many of them
             u64        where the index begins
             16 bytes   blake2b, keyed with the salt, of the index and the two numbers
             8 bytes    what it is

All numbers are little-endian. A file is *sealed* if it has a footer that is right: then its index
is believed, and no payload is read before it is asked for. A file of an attempt is sealed when the
attempt is closed; a merged one and a part on fsspec have been from the beginning. A file without
is what an attempt has left that was killed: its entries are read from the first one on, up to the
first that is torn or whose checksum is wrong. What is behind that is dropped and counted; those
calls are made again. So a merged file whose index is damaged loses nothing but speed.

Each entry is checked once more when it is found, together with its key. The salt is in every
checksum, and no two files have the same one, so that an entry that got into another file, of this
journal or of a foreign one, is none there.

A header that is whole and of another job, version or settings is refused (`JournalMismatch`), one
that is long enough and wrong is, too (`JournalCorrupt`), naming the file: whoever deletes it calls
again for what is in there, and nobody else decides that. So is one of a later version of this
format (`JournalTooNew`): the first eight bytes are all that versions have in common. A file that
ends within its header holds no entry and is passed over. Killed processes leave no such thing on a
local disk, where a file gets its name when its header is written; fsspec can't promise that of
every file system.

The identity file of a journal is a header alone. Its version is 2. In version 1 there were no
settings: what was begun then by DataFrame operators is refused by them, because the types of values
were no part of keys, so that no key proves what was called.
"""

import os
import struct
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct

IDENTITY = b"AWJRNi\x00\x02"
"""What the identity file begins with; the last byte is the latest version that is read."""

ENTRIES = b"AWJRNe\x00\x01"
"""What a file of entries begins with."""

FOOTER = b"AWJRNf\x00\x01"
"""What a sealed file ends with."""

MOST = 64 * 1024 * 1024
"""Bytes of a payload at most."""

KEY_BYTES = 16
"""Bytes of a key."""

HEADER_MOST = 4096
"""No header of entries is longer, in bytes: job and version have a bound."""

IDENTITY_MOST = 256 * 1024
"""Nor is that of an identity, which has all settings."""

END = struct.pack("<I", 0xFFFFFFFF)
"""Stands behind the last entry of a sealed file, where the length of the next one would be."""

BEFORE = struct.Struct("<I16s")
"""What stands before a payload: its length, and the key."""

CHECK_BYTES = 8
"""What stands behind a payload."""

AROUND = BEFORE.size + CHECK_BYTES
"""Bytes of an entry beside its payload."""

RECORD = struct.Struct("<16sQ")
"""One record of an index: key, and where the entry begins."""

TAIL = struct.Struct("<QQ16s8s")
"""The footer: records, where the index begins, checksum, what it is."""

PER_ENTRY = AROUND + RECORD.size
"""Bytes that an entry takes beside its payload, in the index too."""

PER_SEAL = len(END) + TAIL.size
"""Bytes that seal a file, beside the index."""

_HEAD = struct.Struct("<8sI")
_SALT_BYTES = 16


Settings: TypeAlias = tuple[tuple[str, str], ...]
"""What else results depend on: names, and what is set."""


class Owner(Struct, frozen=True):
    """Whose results they are.

    Args:
        job: that they are of.
        version: of the function.
        settings: a digest of them, see `digest_of`.
    """

    job: str
    version: str
    settings: bytes = b""


def digest_of(settings: Settings) -> bytes:
    """Return 16 bytes that stand for settings, in whatever order; none if there are none."""
    if not settings:
        return b""
    return blake2b(msgspec.msgpack.encode(sorted(settings)), digest_size=16).digest()


class Meta(Struct, frozen=True, omit_defaults=True):
    """What a file says of itself.

    Args:
        job: whose it is.
        version: of the function.
        id: makes the file unlike any other.
        digest: of the settings, in a file of entries.
        settings: all, in an identity.
    """

    job: str
    version: str
    id: bytes = b""
    digest: bytes = b""
    settings: Settings = ()

    @property
    def owner(self) -> Owner:
        """Whose file it is."""
        return Owner(self.job, self.version, self.digest or digest_of(self.settings))


class Header(Struct, frozen=True):
    """A header that was read.

    Args:
        meta: what it says.
        salt: of the file.
        size: in bytes.
        format: version of the format.
    """

    meta: Meta
    salt: bytes
    size: int
    format: int


class Newer(Struct, frozen=True):
    """A header of a later version of the format.

    Args:
        format: which one.
        known: the latest that can be read.
    """

    format: int
    known: int


def encode_identity(job: str, version: str, settings: Settings) -> bytes:
    """Return the file that says whose journal it is."""
    return _encode_header(IDENTITY, Meta(job, version, os.urandom(16), settings=settings))[0]


def encode_header(owner: Owner) -> tuple[bytes, bytes]:
    """Return the header of a file of entries, and the salt of that file."""
    meta = Meta(owner.job, owner.version, os.urandom(16), owner.settings)
    return _encode_header(ENTRIES, meta)


def _encode_header(magic: bytes, said: Meta) -> tuple[bytes, bytes]:
    meta = msgspec.msgpack.encode(said)
    head = _HEAD.pack(magic, len(meta)) + meta
    salt = blake2b(head, digest_size=_SALT_BYTES).digest()
    return head + salt, salt


def decode_header(magic: bytes, data: bytes) -> Header | Newer | Literal["torn", "corrupt"]:
    """Return the header with which `data` begins; or that it ends too soon, or is none.

    Args:
        magic: `IDENTITY` or `ENTRIES`.
        data: the first bytes of a file, as many as the header may have, or all if it has less.
    """
    found, length = _HEAD.unpack(data[: _HEAD.size].ljust(_HEAD.size, b"\0"))
    if not magic[:-1].startswith(data[: len(magic) - 1]):
        return "corrupt"
    version, end = found[-1], _HEAD.size + length
    if version > magic[-1]:
        return Newer(version, magic[-1])
    if version == 0 and len(data) >= len(magic):
        return "corrupt"
    most = IDENTITY_MOST if magic == IDENTITY else HEADER_MOST
    if len(data) >= _HEAD.size and end + _SALT_BYTES > most:
        return "corrupt"
    if len(data) < _HEAD.size or len(data) < end + _SALT_BYTES:
        return "torn"
    salt = data[end : end + _SALT_BYTES]
    if salt != blake2b(data[:end], digest_size=_SALT_BYTES).digest():
        return "corrupt"
    try:
        meta = msgspec.msgpack.decode(data[_HEAD.size : end], type=Meta)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return "corrupt"
    return Header(meta, salt, end + _SALT_BYTES, version)


def encode_entry(salt: bytes, key: bytes, payload: bytes) -> bytes:
    """Return an entry, for the file with that salt."""
    body = BEFORE.pack(len(payload), key) + payload
    digest = _keyed(salt).copy()
    digest.update(body)
    return body + digest.digest()  # type: ignore[no-any-return]


def is_entry(salt: bytes, entry: bytes) -> bool:
    """Say whether these bytes, of the right length, are an entry of the file with that salt."""
    digest = _keyed(salt).copy()
    digest.update(entry[:-CHECK_BYTES])
    return entry[-CHECK_BYTES:] == digest.digest()  # type: ignore[no-any-return]


@lru_cache(maxsize=256)
def _keyed(salt: bytes) -> Any:
    """Return what checksums of a file begin with: a third of what they cost."""
    return blake2b(digest_size=CHECK_BYTES, key=salt)


def encode_end(salt: bytes, index: bytes | bytearray, where: int) -> bytes:
    """Return what seals a file, index and all.

    Args:
        salt: of the file.
        index: its records, sorted.
        where: the last entry ends, in bytes from the beginning.
    """
    count, begin = len(index) // RECORD.size, where + len(END)
    check = IndexCheck(salt)
    check.update(index)
    return b"".join([END, index, TAIL.pack(count, begin, check.digest(count, begin), FOOTER)])


class IndexCheck:
    """The checksum of an index, which may come piece by piece."""

    def __init__(self, salt: bytes) -> None:
        self._hash = blake2b(digest_size=16, key=salt)
        self.update = self._hash.update

    def digest(self, count: int, begin: int) -> bytes:
        """Return it."""
        self.update(struct.pack("<QQ", count, begin))
        return self._hash.digest()
