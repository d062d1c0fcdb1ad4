"""Keys of calls."""

from collections.abc import Callable
from hashlib import blake2b
from typing import Any

from asyncwait.backends.journal._format import KEY_BYTES
from asyncwait.spec import InvalidConfig

_PERSON = b"asyncwait key 1"


def key_of(*parts: bytes | str | int) -> bytes:
    """Return the key of a call, 16 bytes, from all that its result depends on.

    It is the same on every machine and in every version of Python. Parts are told apart by kind
    and length, so `("ab", "c")`, `("a", "bc")` and `(b"ab", "c")` have three different keys.

    Args:
        parts: of the value; for example the name of a model, and a prompt.

    Raises:
        InvalidConfig: there is none, or one is something else; True is no number.
    """
    if not parts:
        raise InvalidConfig.of("parts", parts, "at least one: all calls would have the same key")
    return keys_after(*parts[:-1])(parts[-1])


def keys_after(*first: bytes | str | int) -> Callable[..., bytes]:
    """Return `key_of` for calls that share their first parts, which are read once.

    Args:
        first: the parts that they share; see `key_of`.
    """
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
