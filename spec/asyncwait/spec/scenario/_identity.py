"""What tells one scenario from another: its JSON, its size, and a short id for people."""

import hashlib

import msgspec

from asyncwait.spec.scenario._scenario import Scenario

ID_DIGITS = 8
"""Of an id: of ten thousand scenarios two have the same one in one case out of a hundred."""


def key_of(scenario: Scenario) -> bytes:
    """Return what identifies a scenario: its JSON, in which what stands at its default is left out.

    Its name says nothing of what is played, and stays out too.
    """
    return msgspec.json.encode(msgspec.structs.replace(scenario, name=""))


def size_of(scenario: Scenario) -> tuple[int, bytes]:
    """Return by what scenarios are compared: the length of their key, then the key.

    So a scenario is smaller where more of it stands at its default, or where its numbers are.
    """
    key = key_of(scenario)
    return len(key), key


def id_of(scenario: Scenario) -> str:
    """Return the id under which people speak of a scenario: eight hexadecimal digits of its key."""
    return hashlib.sha256(key_of(scenario)).hexdigest()[:ID_DIGITS]
