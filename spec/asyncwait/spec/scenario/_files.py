"""Scenarios as JSON, in a file or anywhere else."""

import msgspec

from asyncwait.spec.scenario._json import decoded
from asyncwait.spec.scenario._scenario import Scenario


def scenarios_to_json(scenarios: tuple[Scenario, ...]) -> bytes:
    """Return `scenarios` as JSON."""
    return msgspec.json.encode(scenarios)


def scenarios_from_json(data: bytes) -> tuple[Scenario, ...]:
    """Read scenarios from JSON.

    Raises:
        InvalidConfig: not JSON, or it breaks the schema or a limit; the message says where.
    """
    scenarios: tuple[Scenario, ...] = decoded(
        data,
        tuple[Scenario, ...],
        "the scenarios break their schema",
        "the scenarios are not JSON",
    )
    return scenarios
