"""Variation: one class whose name and docstring say what it changes, and its construction."""

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, TypeVar, cast

from msgspec import Struct
from msgspec.structs import fields, replace

from asyncwait.backends import emitter
from asyncwait.backends.emitter.conformance import LACKS
from asyncwait.conformance import StreamBackend, stream_backend
from asyncwait.conformance.harness import LoopName
from asyncwait.reference import QUEUES, REFERENCE, ElementQueue, Parts, open_with
from asyncwait.spec import Mode, OpenOperator

T = TypeVar("T", bound=type)

Roles: TypeAlias = Mapping[type, str]

REFERENCE_ROLES: Roles = {
    field.default: field.name for field in fields(Parts) if isinstance(field.default, type)
}
"""The collaborators of the reference and their names among its parts, without the queues."""

EMITTER_ROLES: Roles = {
    part: name for name, part in vars(emitter.Parts).items() if name.endswith("_class")
}
"""The collaborators of the emitter's operator and their names among its parts."""

EMITTER_QUEUES = emitter.Parts.queue_classes


def varied(*changes: type) -> OpenOperator:
    """Return a function that opens an operator with each change in place of the change's base.

    Args:
        changes: parts of one operator; the first may be a complete operator.

    Raises:
        TypeError: a change is neither an operator nor a subclass of a part.
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
    """Put a change in place of its direct bases, but not of the bases of these."""
    bases = [queue for queue in queues.values() if issubclass(change, queue)]
    own = [b for b in bases if not any(o is not b and issubclass(o, b) for o in bases)]
    return {mode: change if queue in own else queue for mode, queue in queues.items()}


def _place(change: type, roles: Roles) -> dict[str, type]:
    return {role: change for part, role in roles.items() if issubclass(change, part)}


class Change(Struct, frozen=True):
    """One small change to a part.

    Args:
        change: a subclass of the part that it replaces. Its name becomes the variation's; its
            docstring is the sentence about it.
        also: other changes, where the fault is spread over two parts.
    """

    change: type
    also: tuple[type, ...] = ()

    @property
    def name(self) -> str:
        """Words of the class name, joined by hyphens."""
        words: list[str] = re.findall("[A-Z][a-z0-9]*", self.change.__name__)
        return "-".join(words).lower()

    @property
    def sentence(self) -> str:
        """The fault, or the bug that the change re-creates, in one sentence."""
        return " ".join((self.change.__doc__ or "").split())

    def _instead_of(self, part: T) -> T:
        """Return the change of a part, or the part itself if nothing changes it."""
        found = (each for each in (self.change, *self.also) if issubclass(each, part))
        return cast("T", next(found, part))


class Slip(Change, frozen=True, kw_only=True):
    """A change that breaks a rule.

    Args:
        rule: id of the rule that must convict it; other rules may convict it too.
    """

    rule: str


class Variation(Change, frozen=True):
    """A sound operator with one small change to its mechanism, or with a mechanism of its own.

    Args:
        change: of a part of the reference, or of the emitter's operator; or a complete other
            operator.
        also: other changes to the same operator.
        loop: "asyncio" or "trio".
        is_bound: it runs on that loop only, because it uses features of that loop.
    """

    loop: LoopName = "asyncio"
    is_bound: bool = False

    @property
    def loops(self) -> tuple[LoopName, ...]:
        """Loops on which it runs: both, unless it is bound to one."""
        return (self.loop,) if self.is_bound else ("asyncio", "trio")

    @property
    def open_operator(self) -> OpenOperator:
        """The function that opens the changed operator."""
        return varied(self.change, *self.also)

    def __call__(self) -> StreamBackend:
        """Return it as a backend: a member of a family is a factory that may say what it is."""
        return self.backend()

    def backend(self) -> StreamBackend:
        """Return it as a backend."""
        return stream_backend(self.open_operator, loop=self.loop, lacks=self.lacks)

    @property
    def lacks(self) -> tuple[str, ...]:
        """Profiles that this operator lacks; a changed emitter lacks those of the emitter."""
        own: tuple[str, ...] = getattr(self.change, "lacks", ())
        changes = (self.change, *self.also)
        if all(_is_of(change, REFERENCE_ROLES, ElementQueue) for change in changes):
            return own
        if all(_is_of(change, EMITTER_ROLES, *EMITTER_QUEUES.values()) for change in changes):
            return (*own, *LACKS)
        return (*own, "cache", "limits")


class Faulty(Variation, frozen=True, kw_only=True):
    """A variation that breaks a rule.

    Args:
        rule: id of the rule that must convict it; other rules may convict it too.
        blocks: it blocks its loop, so only its process can be ended, from outside.
        consequence_of: the rule that a verdict names first instead, and why that rule is correct
            as well; None if the verdict names `rule` first.
    """

    rule: str
    blocks: bool = False
    consequence_of: tuple[str, str] | None = None


F = TypeVar("F")


def into(found: list[F], kind: Callable[..., F]) -> Callable[..., Callable[[T], T]]:
    """Return a decorator factory that adds classes to a gallery.

    The decorator takes the id of the rule that must convict the class, further changes, and
    other fields of `kind`.
    """

    def breaks(rule: str, *also: type, **others: Any) -> Callable[[T], T]:
        def put(change: T) -> T:
            found.append(kind(change, also, rule=rule, **others))
            return change

        return put

    return breaks


FOUND: list[Faulty] = []
"""Every faulty operator registered so far."""

_put = into(FOUND, Faulty)


def breaks(
    rule: str, *also: type, behind: str = "", why: str = "", **others: Any
) -> Callable[[T], T]:
    """Register a class that breaks a rule; see `Faulty`.

    Args:
        rule: id of the rule that must convict it.
        also: further changes.
        behind: the rule that a verdict names first, if that is another rule.
        why: the reason why `behind` is correct as well.
        others: other fields of `Faulty`.
    """
    return _put(rule, *also, consequence_of=(behind, why) if behind else None, **others)
