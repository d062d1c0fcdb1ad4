"""A context variable that each piece of user code sets, and the value that each piece sees."""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from msgspec.structs import replace

from asyncwait.spec import OperatorConfig
from asyncwait.spec.scenario import MisuseKind

_WHOSE: ContextVar[str] = ContextVar("asyncwait.conformance.whose", default="an unset variable")
"""The code that set it last, in words."""

_ENTERING = "what was set before entering"
_OPEN = "what open() has set"


class Contexts:
    """Checks, for each piece of user code, which other piece's value it sees.

    Each piece sets the variable. A piece that shares a context with another piece, or begins in a
    copy of its context, sees the value of that piece.
    """

    def __init__(self, misused: Callable[[MisuseKind, str], object]) -> None:
        self._misused = misused
        self._opened = _ENTERING
        """The value that calls, handlers and predicates have to see."""
        self._calls: set[str] = set()
        """Values set by calls, by their suppliers and while their results are read."""

    # The consumer, and what runs in its task

    def is_made(self) -> None:
        """Note that the operator is about to be made; only entering it counts."""
        _WHOSE.set("what was set before the operator was made")

    def is_entered(self) -> None:
        """Note that the operator is about to be entered."""
        _WHOSE.set(_ENTERING)

    def is_opened(self) -> None:
        """Note that the function's `open` runs."""
        self._opened = _OPEN
        _WHOSE.set(_OPEN)

    def consumer_begins(self) -> None:
        """Set a value for the consumer."""
        _WHOSE.set("what the consumer has set")

    def source_reads(self) -> None:
        """Set a value for the source."""
        _WHOSE.set("what the source has set")

    # The function

    def call_begins(self, call: int) -> None:
        """Check the value that a beginning call sees, and set another value."""
        seen = _WHOSE.get()
        if seen in self._calls:
            self._found("context-of-a-call", f"call {call}")
        elif seen != self._opened:
            self._found("context-lost", f"call {call}")
        self.belongs_to(call)

    def call_goes_on(self, call: int) -> None:
        """Check that a call that has waited still sees its own value."""
        if _WHOSE.get() != f"what call {call} has set":
            self._found("context-of-a-call", f"call {call}, going on,")

    def belongs_to(self, call: int, part: str = "") -> None:
        """Set a value for a call, for its supplier, or for the reading of its results."""
        mark = f"what {part}call {call} has set"
        self._calls.add(mark)
        _WHOSE.set(mark)

    def is_asked(self, name: str) -> None:
        """Check the value that a handler or a predicate sees, and set another value."""
        if _WHOSE.get() != self._opened:
            self._found("context-of-a-handler", f"the {name}")
        _WHOSE.set(f"what the {name} has set")

    def _found(self, what: MisuseKind, who: str) -> None:
        self._misused(what, f"{who} saw {_WHOSE.get()}")


def with_predicates(config: OperatorConfig, note: Callable[[str], object]) -> OperatorConfig:
    """Return a configuration whose predicates pass their names to `note` first."""
    retry = config.retry
    if retry is None:
        return config

    def noted(name: str, predicate: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def ask(outcome: Any) -> Any:
            note(f"predicate {name}")
            return predicate(outcome)

        return ask

    changed = {
        name: noted(name, predicate)
        for name in ("on_error", "on_result")
        if callable(predicate := getattr(retry, name)) and not isinstance(predicate, type)
    }
    return replace(config, retry=replace(retry, **changed)) if changed else config
