"""Versions of the specification: each rule says which one brought it."""

import re
from functools import cache

from asyncwait.spec._errors import InvalidConfig
from asyncwait.spec.rules._registry import rules

_VERSION = re.compile(r"(\d{1,9})\.(\d{1,9})", re.ASCII)


def version_key(version: object) -> tuple[int, int]:
    """Return what versions are ordered by.

    Args:
        version: two numbers, like "0.1".

    Raises:
        InvalidConfig: it is none.
    """
    numbers = _VERSION.fullmatch(version) if isinstance(version, str) else None
    if numbers is None:
        raise InvalidConfig.of("version", version, "two numbers, like '0.1'")
    return int(numbers[1]), int(numbers[2])


@cache
def spec_version() -> str:
    """Return the version of the specification: that of its newest rule.

    Raises:
        MalformedRules: a chapter breaks its form.
    """
    return max((rule.since for rule in rules().values()), key=version_key)
