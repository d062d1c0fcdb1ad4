r"""Format of a file of a journal, which is written once, from its beginning to its end.

    header   8 bytes    kind of file, and version of this format
             u32        length of the meta
             meta       msgpack: {"job": str, "version": str, "id": 16 random bytes}, and with
                        settings: {"digest": 16 bytes}, or all of them in the identity file
             16 bytes   blake2b of all of the above: the salt of the file
    entry    u32        length of the payload, at most 64 MiB
             16 bytes   key
             payload
             8 bytes    blake2b, keyed with the salt, of length, key and payload
    ...
    end      u32        0xFFFFFFFF, which is no length
    index    16 bytes   key
             u64        place of its entry in the file
    ...                 sorted by key, each key once
    footer   u64        number of records
             u64        place of the index
             16 bytes   blake2b, keyed with the salt, of the index and the two numbers
             8 bytes    kind of file

All numbers are little-endian. A file with a valid footer is *sealed*: readers trust its index, and
read a payload only when it is looked up. An attempt seals its file when it closes; a merged file
and a part on fsspec are sealed from the beginning. A killed attempt leaves a file without footer:
readers take its entries up to the first that is torn or whose checksum is wrong, drop and count the
rest, and make those calls again. So a merged file with a damaged index loses only speed.

A lookup checks the entry once more, with its key. The salt is part of every checksum, and no two
files share one, so that an entry in a wrong file, of this or another journal, is invalid there.

An attempt refuses a whole header of another job, version or settings (`JournalMismatch`), and a
damaged header (`JournalCorrupt`), by the file's name: only the user may delete it, and so repeat
its calls. The attempt also refuses a later version of this format (`JournalTooNew`): versions have
only the first eight bytes in common. A file that ends within its header has no entry and is
ignored. On a local disk a file gets its name after its header is written, so killed processes leave
no such file; some file systems of fsspec may.

The identity file of a journal is only a header, of version 2. No released version has written
version 1.
"""

import os
import struct
from collections.abc import Callable
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct

from asyncwait.spec import InvalidConfig

IDENTITY = b"AWJRNi\x00\x02"
"""Begin of the identity file; the last byte is the readable version."""

ENTRIES = b"AWJRNe\x00\x01"
"""Begin of a file of entries."""

FOOTER = b"AWJRNf\x00\x01"
"""End of a sealed file."""

MOST = 64 * 1024 * 1024
"""Bytes of a payload at most."""

KEY_BYTES = 16
"""Bytes of a key."""

HEADER_MOST = {ENTRIES: 4096, IDENTITY: 256 * 1024}
"""No header is longer, in bytes: job, version and settings have bounds; identities have all."""

END = struct.pack("<I", 0xFFFFFFFF)
"""Mark behind the last entry of a sealed file, in place of the next length."""

BEFORE = struct.Struct("<I16s")
"""Length and key, before a payload."""

CHECK_BYTES = 8
"""Bytes of the checksum behind a payload."""

AROUND = BEFORE.size + CHECK_BYTES
"""Bytes of an entry beside its payload."""

RECORD = struct.Struct("<16sQ")
"""One record of an index: key, and place of the entry."""

TAIL = struct.Struct("<QQ16s8s")
"""The footer: number of records, place of the index, checksum, kind of file."""

PER_ENTRY = AROUND + RECORD.size
"""Bytes that an entry takes beside its payload, in the index too."""

PER_SEAL = len(END) + TAIL.size
"""Bytes that seal a file, beside the index."""

_HEAD = struct.Struct("<8sI")
_SALT_BYTES = 16


Settings: TypeAlias = tuple[tuple[str, str], ...]
"""Other dependencies of results: names and values."""


class Owner(Struct, frozen=True):
    """Owner of results.

    Args:
        job: its name.
        version: of the function.
        settings: their digest, see `digest_of`.
    """

    job: str
    version: str
    settings: bytes = b""


def digest_of(settings: Settings) -> bytes:
    """Return a digest of 16 bytes of settings in any order; no bytes without settings."""
    if not settings:
        return b""
    return blake2b(msgspec.msgpack.encode(sorted(settings)), digest_size=16).digest()


class Meta(Struct, frozen=True, omit_defaults=True):
    """Content of a header.

    Args:
        job: name of the job.
        version: of the function.
        id: random bytes, unique to the file.
        digest: of the settings, in a file of entries.
        settings: in an identity.
    """

    job: str
    version: str
    id: bytes = b""
    digest: bytes = b""
    settings: Settings = ()

    @property
    def owner(self) -> Owner:
        """Owner of the file."""
        return Owner(self.job, self.version, self.digest or digest_of(self.settings))


class Header(Struct, frozen=True):
    """A decoded header.

    Args:
        meta: its content.
        salt: of the file.
        size: in bytes.
    """

    meta: Meta
    salt: bytes
    size: int


def encode_identity(job: str, version: str, settings: Settings) -> bytes:
    """Return the content of an identity file."""
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


def decode_header(magic: bytes, data: bytes) -> Header | int | Literal["torn", "corrupt"]:
    """Decode the header at the begin of `data`; a later format gives its number.

    Args:
        magic: `IDENTITY` or `ENTRIES`.
        data: the first bytes of a file, as many as a header may have.
    """
    found, length = _HEAD.unpack(data[: _HEAD.size].ljust(_HEAD.size, b"\0"))
    if not magic[:-1].startswith(data[: len(magic) - 1]):
        return "corrupt"
    version: int = found[-1]
    end = _HEAD.size + length
    if version > magic[-1]:
        return version
    if version < magic[-1] and len(data) >= len(magic):
        return "corrupt"
    if len(data) >= _HEAD.size and end + _SALT_BYTES > HEADER_MOST[magic]:
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
    return Header(meta, salt, end + _SALT_BYTES)


def encode_entry(salt: bytes, key: bytes, payload: bytes) -> bytes:
    """Return an entry, for the file with that salt."""
    body = BEFORE.pack(len(payload), key) + payload
    digest = _keyed(salt).copy()
    digest.update(body)
    return body + digest.digest()  # type: ignore[no-any-return]


def is_entry(salt: bytes, entry: bytes) -> bool:
    """Return True if these bytes, of the right length, are an entry of the file with that salt."""
    digest = _keyed(salt).copy()
    digest.update(entry[:-CHECK_BYTES])
    return entry[-CHECK_BYTES:] == digest.digest()  # type: ignore[no-any-return]


@lru_cache(maxsize=256)
def _keyed(salt: bytes) -> Any:
    """Return the first state of a file's checksums, a third of their cost."""
    return blake2b(digest_size=CHECK_BYTES, key=salt)


def encode_end(salt: bytes, index: bytes | bytearray, where: int) -> bytes:
    """Return the end of a sealed file: mark, index and footer.

    Args:
        salt: of the file.
        index: its records, sorted.
        where: end of the last entry, in bytes.
    """
    count, begin = len(index) // RECORD.size, where + len(END)
    check = index_check(salt)
    check.update(index)
    return b"".join([END, index, encode_footer(check, count, begin)])


def index_check(salt: bytes) -> Any:
    """Return the checksum of an empty index; `update` adds pieces."""
    return blake2b(digest_size=16, key=salt)


def encode_footer(check: Any, count: int, begin: int) -> bytes:
    """Return the footer of an index, whose pieces are in `check`."""
    check.update(struct.pack("<QQ", count, begin))
    return TAIL.pack(count, begin, check.digest(), FOOTER)


_PERSON = b"asyncwait key 1"


def key_of(*parts: bytes | str | int) -> bytes:
    """Return the key of a call, 16 bytes, of all parts on which its result depends.

    The key is the same on every machine and in every version of Python. Kind and length of a part
    count, so `("ab", "c")`, `("a", "bc")` and `(b"ab", "c")` have three different keys.

    Args:
        parts: of the value; for example the name of a model, and a prompt.

    Raises:
        InvalidConfig: `parts` is empty, or a part has another type, such as bool.
    """
    if not parts:
        raise InvalidConfig.of("parts", parts, "at least one: all calls would have the same key")
    return keys_after(*parts[:-1])(parts[-1])


def keys_after(*first: bytes | str | int) -> Callable[..., bytes]:
    """Return `key_of` for calls that share their first parts, which are hashed once."""
    begin = blake2b(digest_size=KEY_BYTES, person=_PERSON)
    _add(begin, first)

    def key(*rest: bytes | str | int) -> bytes:
        digest = begin.copy()
        _add(digest, rest)
        return digest.digest()

    return key


def _add(digest: Any, parts: tuple[bytes | str | int, ...]) -> None:
    for part in parts:
        kind, data = _encoded(part)
        digest.update(kind + len(data).to_bytes(8, "little") + data)


def _encoded(part: bytes | str | int) -> tuple[bytes, bytes]:
    if isinstance(part, bytes):
        return b"b", part
    if isinstance(part, str):
        return b"s", part.encode("utf-8", "surrogatepass")
    if type(part) is not int:
        raise InvalidConfig.of("a part of a key", part, "bytes, str or int")
    return b"i", part.to_bytes(part.bit_length() // 8 + 1, "little", signed=True)
