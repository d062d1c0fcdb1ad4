"""The operators that faulty ones are made of, the reference and the emitter, and how they vary."""

from collections.abc import Mapping
from typing import Any, TypeAlias

from msgspec.structs import fields, replace

from asyncwait.backends import emitter
from asyncwait.reference import QUEUES, REFERENCE, ElementQueue, Parts, open_with
from asyncwait.spec import Mode, OpenOperator

Roles: TypeAlias = Mapping[type, str]

REFERENCE_ROLES: Roles = {
    field.default: field.name for field in fields(Parts) if isinstance(field.default, type)
}
"""The collaborators of the reference, and what each is called among its parts; but the queues."""

EMITTER_ROLES: Roles = {
    emitter.CheckpointLock: "lock_class",
    emitter.Checkpoints: "checkpoints_class",
    emitter.Emitter: "emitter_class",
    emitter.Intake: "intake_class",
    emitter.KeyChains: "chains_class",
    emitter.Outlet: "outlet_class",
    emitter.Reader: "reader_class",
    emitter.Records: "records_class",
    emitter.Timers: "timers_class",
}
"""The same of the emitter's operator."""

EMITTER_QUEUES: Mapping[Mode, type] = {
    "ordered": emitter.OrderedQueue,
    "unordered": emitter.UnorderedQueue,
    "key-ordered": emitter.KeyOrderedQueue,
}


def varied(*changes: type) -> OpenOperator:
    """Return what opens an operator with each change in the place of what it is derived from.

    Args:
        changes: of one operator; the first may be an operator altogether.

    Raises:
        TypeError: one is no operator, and derived from no part of one.
    """
    whole: Any = changes[0]
    if all(_is_of(change, REFERENCE_ROLES, ElementQueue) for change in changes):
        return open_with(_varied_reference(changes))
    if all(_is_of(change, EMITTER_ROLES, *EMITTER_QUEUES.values()) for change in changes):
        return _varied_emitter(changes)
    if hasattr(whole, "__aenter__"):
        return whole  # type: ignore[no-any-return]
    raise TypeError(f"{changes[0]!r} is no operator, and derived from no part of one")


def _is_of(change: type, roles: Roles, *queues: type) -> bool:
    return any(issubclass(change, part) for part in (*roles, *queues))


def _varied_reference(changes: tuple[type, ...]) -> Parts:
    parts = REFERENCE
    for change in changes:
        if issubclass(change, ElementQueue):
            parts = replace(parts, queues=_queues_with(change, QUEUES))
        else:
            parts = replace(parts, **_place(change, REFERENCE_ROLES))
    return parts


def _varied_emitter(changes: tuple[type, ...]) -> OpenOperator:
    places: dict[str, Any] = {}
    for change in changes:
        if any(issubclass(change, queue) for queue in EMITTER_QUEUES.values()):
            places["queue_classes"] = _queues_with(change, EMITTER_QUEUES)
        else:
            places |= _place(change, EMITTER_ROLES)
    parts = type("Parts", (emitter.Parts,), places)
    operator: Any = type(changes[0].__name__, (emitter.EmitterOperator,), {"parts_class": parts})
    return operator  # type: ignore[no-any-return]


def _queues_with(change: type, queues: Mapping[Mode, type]) -> dict[Mode, type]:
    """Put a change in the place of its bases, but not of what these are derived from."""
    bases = [queue for queue in queues.values() if issubclass(change, queue)]
    own = [b for b in bases if not any(o is not b and issubclass(o, b) for o in bases)]
    return {mode: change if queue in own else queue for mode, queue in queues.items()}


def _place(change: type, roles: Roles) -> dict[str, type]:
    return {role: change for part, role in roles.items() if issubclass(change, part)}
