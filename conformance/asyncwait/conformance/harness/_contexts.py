"""A context variable that everybody sets, and what each sees of it."""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from msgspec.structs import replace

from asyncwait.spec import OperatorConfig
from asyncwait.spec.scenario import MisuseKind

_WHOSE: ContextVar[str] = ContextVar("asyncwait.conformance.whose", default="what nobody has set")
"""Who has set it last, in words."""

_ENTERING = "what was set before entering"
_OPEN = "what open() has set"
_CONSUMER = "what the consumer has set"
_SOURCE = "what the source has set"


class Contexts:
    """Looks, for each piece of the user's code, at what it sees of the others.

    Each of them sets the variable, so that whoever shares a context with it, or begins in a copy of
    that, is found.
    """

    def __init__(self, misused: Callable[[MisuseKind, str], object]) -> None:
        self._misused = misused
        self._opened = _ENTERING
        """What whoever is called has to see."""
        self._calls: set[str] = set()
        """What a call, or what belongs to one, has set."""
        self._read = ""
        """What the source has to see, once it was asked."""

    # The consumer, and what runs in its task

    def is_made(self) -> None:
        """The operator is about to be made; it counts when it is entered."""
        _WHOSE.set("what was set before the operator was made")

    def is_entered(self) -> None:
        """It is about to be entered."""
        _WHOSE.set(_ENTERING)

    def is_opened(self) -> None:
        """The function's `open` runs."""
        self._opened = _OPEN
        _WHOSE.set(_OPEN)

    def consumer_begins(self) -> None:
        """The consumer is inside: it sees what it, or `open`, has set, and sets something else."""
        if _WHOSE.get() not in {_ENTERING, _OPEN}:
            self._found("context-of-the-consumer", "the consumer")
        _WHOSE.set(_CONSUMER)

    def consumer_looks(self) -> None:
        """The consumer goes on."""
        if _WHOSE.get() != _CONSUMER:
            self._found("context-of-the-consumer", "the consumer")

    # The source

    def source_looks(self) -> None:
        """The source is asked: it sees what it has set itself; at first, what a call sees."""
        if _WHOSE.get() != (self._read or self._opened):
            self._found("context-of-the-source", "the source")
        self._read = _SOURCE
        _WHOSE.set(_SOURCE)

    def source_closes(self) -> None:
        """The source is closed; if it was never asked, anybody may do so."""
        if self._read:
            self.source_looks()

    # The function

    def call_begins(self, call: int) -> None:
        """A call begins, and sets something."""
        seen = _WHOSE.get()
        if seen in self._calls:
            self._found("context-of-a-call", f"call {call}")
        elif seen != self._opened:
            self._found("context-lost", f"call {call}")
        self.belongs_to(call)

    def call_goes_on(self, call: int) -> None:
        """A call has waited."""
        if _WHOSE.get() != f"what call {call} has set":
            self._found("context-of-a-call", f"call {call}, going on,")

    def belongs_to(self, call: int, part: str = "") -> None:
        """A call, its supplier, or its results that are read, set something."""
        mark = f"what {part}call {call} has set"
        self._calls.add(mark)
        _WHOSE.set(mark)

    def is_asked(self, name: str) -> None:
        """A handler or a predicate is asked, and sets something."""
        if _WHOSE.get() != self._opened:
            self._found("context-of-a-handler", f"the {name}")
        _WHOSE.set(f"what the {name} has set")

    def _found(self, what: MisuseKind, who: str) -> None:
        self._misused(what, f"{who} saw {_WHOSE.get()}")


def with_predicates(config: OperatorConfig, note: Callable[[str, Any], object]) -> OperatorConfig:
    """Return a configuration whose predicates pass their names and outcomes to `note` first."""
    retry = config.retry
    if retry is None:
        return config

    def noted(name: str, predicate: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def ask(outcome: Any) -> Any:
            note(name, outcome)
            return predicate(outcome)

        return ask

    changed = {
        name: noted(name, predicate)
        for name in ("on_error", "on_result")
        if callable(predicate := getattr(retry, name)) and not isinstance(predicate, type)
    }
    return replace(config, retry=replace(retry, **changed)) if changed else config
