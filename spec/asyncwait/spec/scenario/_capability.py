"""Capabilities that a backend may lack, and the change of a scenario for such a backend.

Only this module defines capabilities: the name, the description, the change of a scenario for a
backend without the capability, and the declaration by a backend. Large capabilities are *profiles*:
`core` with one mode is an operator already, and each profile is a further, optional part of the
specification.
"""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from enum import StrEnum
from typing import Any, Self

from msgspec import Struct

from asyncwait.spec._errors import InvalidConfig
from asyncwait.spec.scenario._scenario import Scenario
from asyncwait.spec.scenario._without import (
    Without,
    as_it_is,
    without_attempt_timeout,
    without_batches,
    without_cache,
    without_callbacks,
    without_cancelled_calls,
    without_copies,
    without_event_time,
    without_failure_handler,
    without_field,
    without_jitter,
    without_limits,
    without_mode,
    without_one_loop,
    without_planned_ends,
    without_requests,
    without_restore,
    without_retry,
    without_retry_after,
    without_snapshots,
    without_timed_input,
    without_timeouts,
    without_virtual_time,
)

CORE = "core"
"""The profile of every backend: results in the order of one mode, capacity, failures, end."""


class _Definition(Struct, frozen=True):
    name: str
    brings: str
    without: Without = as_it_is
    part_of: str = ""
    is_profile: bool = False


def _profile(name: str, brings: str, without: Without) -> _Definition:
    return _Definition(name, brings, without, is_profile=True)


class Capability(StrEnum):
    """A capability of a backend; a backend has each capability that it does not exclude by name.

    Attributes:
        brings: description in a few words.
        without: function that changes a scenario for a backend without the capability.
        is_profile: whether it is an optional part of the specification; else it is a detail of
            such a part, or of the way in which the backend is run.
        part_of: name of the profile to which the detail belongs; empty for none.
    """

    _value_: str
    brings: str
    without: Without
    is_profile: bool
    part_of: str

    def __new__(cls, definition: Any) -> Self:
        """Make a member; to type checkers, also look a member up by its name."""
        assert isinstance(definition, _Definition)
        member = str.__new__(cls, definition.name)
        member._value_ = definition.name
        member.brings = definition.brings
        member.without = definition.without
        member.is_profile = definition.is_profile
        member.part_of = definition.part_of
        return member

    ORDERED = _profile("ordered", "results in input order", without_mode("ordered"))
    UNORDERED = _profile("unordered", "results as they are ready", without_mode("unordered"))
    KEY_ORDERED = _profile(
        "key-ordered", "calls and results of each key in input order", without_mode("key-ordered")
    )
    TIMEOUTS = _profile("timeouts", "deadlines, and handlers for late records", without_timeouts)
    RETRY = _profile("retry", "calls that are repeated, after back-offs", without_retry)
    FAILURE_HANDLER = _profile(
        "failure-handler", "results in place of a failure", without_failure_handler
    )
    MAX_HELD = _profile("max-held", "room for finished results", without_field("max_held", None))
    COPIES = _profile("copies", "a copy of its value for each call", without_copies)
    STATISTICS = _profile(
        "statistics", "figures that are right at any moment", without_field("figures_at", ())
    )
    CONTEXTS = _profile(
        "contexts", "a context of its own for each call", without_field("contexts", False)
    )
    BATCHES = _profile("batches", "calls that several records share", without_batches)
    CACHE = _profile("cache", "results that are kept, and shared, by key", without_cache)
    LIMITS = _profile("limits", "calls that wait for limits and budgets", without_limits)
    CALLBACKS = _profile("callbacks", "functions in callback form", without_callbacks)
    EVENT_TIME = _profile(
        "event-time", "watermarks, statuses and latency markers", without_event_time
    )
    SNAPSHOTS = _profile("snapshots", "barriers, and the snapshots they ask for", without_snapshots)
    RESTORE = _profile("restore", "going on from a snapshot", without_restore)

    VIRTUAL_TIME = _Definition(
        "virtual-time",
        "runs on a clock that jumps; without it, on a grid of real time",
        without_virtual_time,
    )
    TIMED_INPUT = _Definition(
        "timed-input",
        "input is there at chosen times; without it, all is there at once",
        without_timed_input,
    )
    ONE_LOOP = _Definition(
        "one-loop",
        "source, function and consumer share a loop, and their objects, with the operator",
        without_one_loop,
    )
    PLANNED_ENDS = _Definition(
        "planned-ends",
        "input ends or fails, and the consumer pauses or leaves, while calls run; without it, "
        "everything comes out first",
        without_planned_ends,
    )
    CANCEL_CALLS = _Definition(
        "cancel-calls",
        "calls run on the loop and can be cancelled; without it, in threads, to their end",
        without_cancelled_calls,
    )
    CANCELLATION_SEEN = _Definition(
        "cancellation-seen",
        "cancelling the operator is watched from inside; without it, it is simply gone",
    )
    ON_DEMAND_SNAPSHOT = _Definition(
        "on-demand-snapshot", "`request_snapshot` is there", without_requests, "snapshots"
    )
    ATTEMPT_TIMEOUT = _Definition(
        "attempt-timeout", "a limit for each attempt at a record", without_attempt_timeout, "retry"
    )
    RETRY_AFTER = _Definition(
        "retry-after",
        "a call that fails says when the next attempt may begin",
        without_retry_after,
        "retry",
    )
    JITTER = _Definition("jitter", "back-offs that chance shortens", without_jitter, "retry")
    IN_FLIGHT_SNAPSHOT = _Definition(
        "in-flight-snapshot",
        "a snapshot is taken while calls run; without it, after them",
        part_of="snapshots",
    )


ALL_CAPABILITIES = frozenset(Capability)
PROFILES = tuple(capability for capability in Capability if capability.is_profile)
"""All profiles except core, in the order of a verdict."""


def needs(scenario: Scenario) -> frozenset[Capability]:
    """Return the capabilities that a backend needs to play `scenario` as planned."""
    return frozenset(each for each in Capability if each.without(scenario) is not scenario)


_MODES = {Capability.ORDERED, Capability.UNORDERED, Capability.KEY_ORDERED}


def declared(
    profiles: Iterable[str] | None = None, lacks: Iterable[str] = ()
) -> frozenset[Capability]:
    """Return the capabilities of a backend.

    Args:
        profiles: names of its profiles, with or without "core", which every backend has; at least
            one profile is a mode. None for every profile.
        lacks: names of further capabilities that it does not have.

    Raises:
        InvalidConfig: a name is unknown (the message names the nearest), or a mode is missing.
    """
    known = [CORE, *(profile.value for profile in PROFILES)]
    has = {CORE, *(known if profiles is None else _names("profiles", profiles, known))}
    missing = set(_names("lacks", lacks, [each.value for each in Capability]))
    if profiles is not None and (both := sorted(has & missing)):
        raise InvalidConfig.of("lacks", both[0], "no name that is among the profiles")
    has -= missing
    if not has & _MODES:
        got = [name for name in known if name in has]
        modes = "a list with 'ordered', 'unordered' or 'key-ordered'"
        raise InvalidConfig.of("profiles", got, modes)
    return frozenset(
        each
        for each in ALL_CAPABILITIES - missing
        if (each if each.is_profile else each.part_of or CORE) in has
    )


def _names(argument: str, given: Iterable[str], known: Sequence[str]) -> list[str]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InvalidConfig.of(argument, given, "a list of names")
    names = list(given)
    for name in names:
        if name not in known:
            near = get_close_matches(str(name), known, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            wrong = InvalidConfig.of(argument, name, f"among {', '.join(known)}")
            raise InvalidConfig(f"{wrong}{hint}")
    return names


def profiles_of(capabilities: Iterable[Capability]) -> tuple[str, ...]:
    """Return the names of the profiles among `capabilities`, core first."""
    return (CORE, *(profile.value for profile in PROFILES if profile in set(capabilities)))
