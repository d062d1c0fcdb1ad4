"""Journals for tests, and what goes into them."""

from typing import Any

from asyncwait.backends.journal import Attempt, Journal


def prepared(path: str, **options: Any) -> Journal:
    """Make a journal, and prepare it."""
    made = Journal(path, "job", "1", **options)
    made.prepare()
    return made


def add_all(attempt: Attempt, entries: dict[bytes, bytes]) -> None:
    """Add payloads by their keys."""
    for key, payload in entries.items():
        attempt.add(key, payload)


def find_all(attempt: Attempt, keys: Any) -> dict[bytes, bytes]:
    """Return what an attempt finds, payloads by their keys."""
    found = {key: attempt.find(key) for key in keys}
    return {key: payload for key, payload in found.items() if payload is not None}
