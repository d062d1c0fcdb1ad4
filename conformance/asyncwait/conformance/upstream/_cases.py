"""Reads `cases.toml`, and is strict about it: a field that nobody knows is an error."""

import tomllib
from collections.abc import Mapping
from importlib import resources
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct

Kind: TypeAlias = Literal["any", "capability", "inside"]
"""What a test can be played on: any operator, one that has a capability, or Flink's own alone."""


class UpstreamTest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A test method of upstream, and what stands for it.

    Args:
        asks: what an operator must have for it; empty for nothing besides, "inside" where only the
            inside of Flink's own shows it.
    """

    owner: str
    name: str
    asks: str = ""
    since: str = "2.3"
    runs: int = 1
    rules: str = ""
    examples: str = ""
    to_come: str = ""
    departs: str = ""
    note: str = ""

    @property
    def kind(self) -> Kind:
        """What it can be played on."""
        if self.asks == "inside":
            return "inside"
        return "capability" if self.asks else "any"


def upstream_tests() -> tuple[UpstreamTest, ...]:
    """Return all tests, in the order of the file.

    Raises:
        msgspec.ValidationError: a field is unknown, or of the wrong type.
    """
    file = resources.files("asyncwait.conformance.upstream").joinpath("cases.toml")
    owners: Mapping[str, Mapping[str, Mapping[str, Any]]] = tomllib.loads(
        file.read_text(encoding="utf-8")
    )
    return tuple(
        msgspec.convert({"owner": owner, "name": name, **fields}, UpstreamTest)
        for owner, tests in owners.items()
        for name, fields in tests.items()
    )
