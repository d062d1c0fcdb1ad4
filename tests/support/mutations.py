"""What may have become of bytes that somebody sends or keeps: small accidents, and bad intent."""

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


def _lengthen(chance: Random, data: bytes) -> bytes:
    at = _place(chance, data)
    return data[:at] + b"x" * LONG + data[at:]


def _lose(chance: Random, data: bytes) -> bytes:
    at = _place(chance, data)
    return data[:at] + data[at + chance.randint(1, 40) :]


def _repeat(chance: Random, data: bytes) -> bytes:
    at, much = _place(chance, data), chance.randint(1, 80)
    return data[: at + much] + data[at : at + much] + data[at + much :]


def _swap(chance: Random, data: bytes) -> bytes:
    first, second = sorted((_place(chance, data), _place(chance, data)))
    return data[second:] + data[first:second] + data[:first]


_TOKENS = re.compile(rb"-?\d+(?:\.\d+)?|true|false|null")


def _replace_token(chance: Random, data: bytes) -> bytes:
    tokens = list(_TOKENS.finditer(data))
    if not tokens:
        return data
    token = chance.choice(tokens)
    word = chance.choice((*WORDS, *(str(huge).encode() for huge in HUGE)))
    return data[: token.start()] + word + data[token.end() :]


_KEYS = re.compile(rb'"\w+":')


def _double_key(chance: Random, data: bytes) -> bytes:
    keys = list(_KEYS.finditer(data))
    if not keys:
        return data
    key = chance.choice(keys)
    again = key.group() + json.dumps(chance.choice(ODD)).encode() + b","
    return data[: key.start()] + again + data[key.start() :]


def _nest(chance: Random, data: bytes) -> bytes:
    tokens = list(_TOKENS.finditer(data))
    levels = chance.choice(DEEP)
    before, after = chance.choice(((b"[", b"]"), (b'{"a":', b"}"), (b"[", b"")))
    if not tokens:
        return before * levels + data + after * levels
    token = chance.choice(tokens)
    nest = before * levels + b"0" + after * levels
    return data[: token.start()] + nest + data[token.end() :]


def _spots(node: Any) -> list[tuple[Any, Any]]:
    found: list[tuple[Any, Any]] = []
    left = [node]
    while left:
        each = left.pop()
        keys = list(each) if isinstance(each, dict) else range(len(each))
        for key in keys:
            found.append((each, key))
            if isinstance(each[key], dict | list):
                left.append(each[key])
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
    match chance.randrange(6):
        case 0:
            node[key] = chance.choice(ODD)
        case 1:
            node[key] = chance.choice(HUGE)
        case 2:
            node[key] = "x" * LONG
        case 3:
            other, place = chance.choice(spots)
            node[key] = json.loads(json.dumps(other[place]))
        case 4:
            del node[key]
        case _ if isinstance(node, dict):
            node[chance.choice(("", "type", "further", "__class__", "x" * LONG))] = node[key]
        case _:
            node[:] = [node[key]] * chance.choice((2, 100, 6_000))
    return json.dumps(document).encode()


OF_BYTES: tuple[Mutation, ...] = (_cut, _flip, _insert, _lose, _repeat)
"""Small accidents, whatever the bytes say: most of them stay where they are."""

MUTATIONS: tuple[Mutation, ...] = (
    _cut,
    _flip,
    _insert,
    _lengthen,
    _lose,
    _repeat,
    _swap,
    _replace_token,
    _double_key,
    _nest,
    _restructure,
    _restructure,
    _restructure,
)


def mutated(chance: Random, data: bytes) -> bytes:
    for _ in range(chance.choice((1,) * 30 + (2, 3) * 10 + (0,))):
        data = chance.choice(MUTATIONS)(chance, data)
    return data
