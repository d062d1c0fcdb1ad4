"""Mutations of bytes that other programs send or keep: small accidents, and bad intent."""

import json
import re
from collections.abc import Callable
from random import Random
from typing import Any

HUGE = (2**63, -(2**63) - 1, 10**30, 10**400, 1e308, -0.0, 2**31, -1)
ODD = (None, True, "", "x", 0, 1.5, [], {}, [[]], {"": 0}, "\ud800", "\0", "NaN")
WORDS = (b"NaN", b"Infinity", b"-Infinity", b"1e999", b"-", b"01", b"\xff", b"\xed\xa0\x80", b"\0")
LONG = 1_000_000
DEEP = (50, 99, 101, 1_000, 100_000)
TOKENS = re.compile(rb"-?\d+(?:\.\d+)?|true|false|null")
KEYS = re.compile(rb'"\w+":')

Mutation = Callable[[Random, bytes], bytes]


def _place(chance: Random, data: bytes) -> int:
    return chance.randrange(len(data) + 1)


def _cut(chance: Random, data: bytes) -> bytes:
    return data[: _place(chance, data)]


def _flip(chance: Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.randint(1, 8)):
        if changed:
            changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def _insert(chance: Random, data: bytes) -> bytes:
    at = _place(chance, data)
    return data[:at] + chance.choice((chance.randbytes(4), *WORDS)) + data[at:]


def _lose(chance: Random, data: bytes) -> bytes:
    at = _place(chance, data)
    return data[:at] + data[at + chance.randint(1, 40) :]


def _repeat(chance: Random, data: bytes) -> bytes:
    at, much = _place(chance, data), chance.randint(1, 80)
    return data[: at + much] + data[at : at + much] + data[at + much :]


def _replace(pattern: re.Pattern[bytes], data: bytes, chance: Random, instead: bytes) -> bytes:
    """Put a text in the place of a match; `%s` in it stands for the match."""
    found = list(pattern.finditer(data))
    if not found:
        return data
    match = chance.choice(found)
    new = instead.replace(b"%s", match.group())
    return data[: match.start()] + new + data[match.end() :]


def _change_token(chance: Random, data: bytes) -> bytes:
    word = chance.choice((*WORDS, *(str(huge).encode() for huge in HUGE), b"x" * LONG))
    return _replace(TOKENS, data, chance, word)


def _nest_token(chance: Random, data: bytes) -> bytes:
    before, after = chance.choice(((b"[", b"]"), (b'{"a":', b"}"), (b"[", b"")))
    levels = chance.choice(DEEP)
    return _replace(TOKENS, data, chance, before * levels + b"0" + after * levels)


def _double_key(chance: Random, data: bytes) -> bytes:
    odd = json.dumps(chance.choice(ODD)).encode()
    return _replace(KEYS, data, chance, b"%s" + odd + b",%s")


def _spots(document: Any) -> list[tuple[Any, Any]]:
    found, left = list[tuple[Any, Any]](), [document]
    while left:
        node = left.pop()
        for key in list(node) if isinstance(node, dict) else range(len(node)):
            found.append((node, key))
            if isinstance(node[key], dict | list):
                left.append(node[key])
    return found


def _restructure(chance: Random, data: bytes) -> bytes:
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return _flip(chance, data)
    spots = _spots(document) if isinstance(document, dict | list) else []
    if not spots:
        return json.dumps(chance.choice(ODD)).encode()
    node, key = chance.choice(spots)
    match chance.randrange(5):
        case 0:
            node[key] = chance.choice((*ODD, *HUGE, "x" * LONG))
        case 1:
            other, place = chance.choice(spots)
            node[key] = json.loads(json.dumps(other[place]))
        case 2:
            del node[key]
        case _ if isinstance(node, dict):
            node[chance.choice(("", "type", "further", "__class__", "x" * LONG))] = node[key]
        case _:
            node[:] = [node[key]] * chance.choice((2, 100, 6_000))
    return json.dumps(document).encode()


OF_BYTES: tuple[Mutation, ...] = (_cut, _flip, _insert, _lose, _repeat)
"""Small accidents, whatever the bytes mean: most of the bytes stay where they are."""

OF_JSON = (_change_token, _nest_token, _double_key, *(_restructure,) * 3)


def mutated(chance: Random, data: bytes) -> bytes:
    for _ in range(chance.choice((1,) * 30 + (2, 3) * 10 + (0,))):
        data = chance.choice((*OF_BYTES, *OF_JSON))(chance, data)
    return data
