"""Journals for tests, and what goes into them."""

import os
from typing import Any

from asyncwait.backends.journal import Attempt, Journal, key_of


def prepared(path: str, **options: Any) -> Journal:
    made = Journal(path, "job", "1", **options)
    made.prepare()
    return made


def add_all(attempt: Attempt, entries: dict[bytes, bytes]) -> None:
    for key, payload in entries.items():
        attempt.add(key, payload)


def find_all(attempt: Attempt, keys: Any) -> dict[bytes, bytes]:
    found = {key: attempt.find(key) for key in keys}
    return {key: payload for key, payload in found.items() if payload is not None}


def entries(*numbers: int, size: int = 20) -> dict[bytes, bytes]:
    return {key_of(n): (b"%d/" % n).ljust(size + n % 7, b".") for n in numbers}


def fill(
    journal: Journal, added: dict[bytes, bytes], *, name: str = "part", is_closed: bool = True
) -> None:
    attempt = journal.attempt(name)
    add_all(attempt, added)
    if is_closed:
        attempt.close()
    else:
        writer: Any = attempt._writer
        os.close(writer._file)


def found(journal: Journal, keys: Any) -> dict[bytes, bytes]:
    with journal.attempt("reader") as attempt:
        return find_all(attempt, keys)
