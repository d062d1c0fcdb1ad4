"""Programs that try a mailbox, and what was seen of them, as data."""

import hashlib
from typing import Literal, TypeAlias, get_args

import msgspec
from msgspec import Struct

from asyncwait.spec._errors import InvalidConfig
from asyncwait.spec.exports import claim_exports

OWNER = "owner"
"""The task that owns the mailbox. Everybody else is one of `SENDERS`."""

SENDERS = ("a", "b", "c")
"""Other threads; on a stage without threads, another task of the owner's loop."""

Sending: TypeAlias = Literal["execute", "submit", "cancel_future", "storm"]
"""What sends. A storm is many mails from all senders, as they come."""

Taking: TypeAlias = Literal[
    "create_batch", "try_take_from_batch", "try_take", "take", "run_one", "try_run_one"
]
"""What takes, or runs what it takes."""

Asking: TypeAlias = Literal["has_mail", "count", "state", "should_interrupt", "is_idle", "metrics"]
"""What changes nothing."""

Ending: TypeAlias = Literal["quiesce", "close", "drain", "exclusively"]
"""What ends a mailbox, and the section that nobody interrupts."""

Looping: TypeAlias = Literal[
    "run",
    "suspend_action",
    "resume",
    "suspend",
    "all_actions_completed",
    "report_error",
    "prepare_close",
    "run_what_is_left",
    "close_processor",
    "fail",
]
"""What is done to the loop, or by it. `fail`, for the default action alone, raises an error."""

Does: TypeAlias = Sending | Taking | Asking | Ending | Looping | Literal["cancel_wait"]
"""What a step does: names of the contract, or nearly. `cancel_wait` cancels the owner's wait."""

ASKING: frozenset[str] = frozenset(get_args(Asking))
"""What changes nothing, as a set."""

ANYBODYS: frozenset[str] = frozenset(
    {
        "all_actions_completed",
        "cancel_future",
        "cancel_wait",
        "exclusively",
        "execute",
        "report_error",
        "resume",
        "state",
        "storm",
        "submit",
        "suspend",
    }
)
"""What any thread may do; all else is the owner's."""

WAITING: frozenset[str] = frozenset({"take", "run_one", "run"})
"""What may wait."""


class Post(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A mail to send.

    Args:
        name: unique in its program; also its description, and what it returns.
        priority: of the executor that sends it.
        urgent: see `Executor.execute`.
        deferrable: see `Executor.execute`.
        does: what it does when it is run, by then in the owner's name; nothing that waits.
        raises: it raises an error of its own at the end of that.
        is_lazy: its description is a function.
    """

    name: str
    priority: int = 0
    urgent: bool = False
    deferrable: bool = False
    does: tuple["Step", ...] = ()
    raises: bool = False
    is_lazy: bool = False


class Step(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One thing that is done to the mailbox.

    Args:
        does: what.
        by: whom.
        mail: what is sent; of `cancel_future`, whose future.
        priority: of the taker, or of the executor that is asked.
        with_deferred: of `try_run_one`.
        number: which suspension to resume, from 0 on; how many mails each sender of a storm sends;
            how many turns the others get before a wait is cancelled.
        within: what happens in the section that runs exclusively.
        at_once: the next step follows before anybody else gets a turn.
    """

    does: Does
    by: str = OWNER
    mail: Post | None = None
    priority: int = -1
    with_deferred: bool = False
    number: int = 0
    within: tuple["Step", ...] = ()
    at_once: bool = False


class Program(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Steps one after the other, and what the default action of the loop does.

    A step begins when the one before is over, or its owner waits. What is the owner's begins when
    the owner waits no longer.

    Args:
        steps: what is done.
        action: what the default action does in each of its runs; then it completes the loop.
        is_awaited: the default action is a coroutine function.
        has_neighbour: another task asks for its turn while the loop of the mailbox runs.
    """

    steps: tuple[Step, ...] = ()
    action: tuple[tuple[Step, ...], ...] = ()
    is_awaited: bool = False
    has_neighbour: bool = False

    @property
    def all_steps(self) -> tuple[Step, ...]:
        """Every step, also those of mails, sections and the default action."""
        return _with_inner((*self.steps, *(step for run in self.action for step in run)))

    @property
    def needs_threads(self) -> bool:
        """Whether it means nothing where nobody is in another thread.

        That is where somebody does what is the owner's, or somebody else does something within a
        section.
        """
        return any(
            (step.by != OWNER and step.does not in ANYBODYS)
            or any(inner.by != step.by for inner in step.within)
            for step in self.all_steps
        )


def require_program(program: Program) -> None:
    """Refuse a program that can't be played.

    Raises:
        InvalidConfig: somebody is unknown, two mails have one name, something waits where nothing
            may, fails where only the default action may, or sends no mail.
    """
    steps = program.all_steps
    names = [step.mail.name for step in steps if step.mail and step.does != "cancel_future"]
    for step in steps:
        if step.by not in (OWNER, *SENDERS):
            raise InvalidConfig.of("by", step.by, f"one of {', '.join((OWNER, *SENDERS))}")
        if step.does in {"execute", "submit", "cancel_future"} and step.mail is None:
            raise InvalidConfig(f"{step.does} needs a mail, this one has none")
    if doubled := sorted({name for name in names if names.count(name) > 1}):
        raise InvalidConfig(f"names of mails must be unique, these are not: {', '.join(doubled)}")
    inner = [step for step in steps if step not in program.steps]
    of_actions = [step for run in program.action for step in run]
    if any(step.does == "fail" and step not in of_actions for step in steps):
        raise InvalidConfig("only a step of the default action may fail")
    if waits := sorted({step.does for step in inner if step.does in WAITING}):
        raise InvalidConfig(f"only a step of the program itself may wait, not {', '.join(waits)}")


def _with_inner(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    found: list[Step] = []
    for step in steps:
        of_mail = step.mail.does if step.mail is not None else ()
        found.extend((step, *_with_inner(step.within), *_with_inner(of_mail)))
    return tuple(found)


EventKind: TypeAlias = Literal[
    "begin", "end", "run", "ran", "action", "acted", "described", "waits", "stirs", "turn"
]
"""What happened: a step began or ended; a mail was run, and over; so was the default action.

"described": a mail's description was worked out though nobody had asked. "waits": the step waits,
and nobody else has anything to do. "stirs": time passed while it waited, and all the same turns of
the loop were taken. "turn": another task of the loop had its turn.
"""

Value: TypeAlias = bool | int | str | None


class Seen(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One event. Its place in the trace says when: events are in one order, that of their time.

    Args:
        kind: see `EventKind`.
        of: number of the step's execution, for "begin", "end", "waits" and "stirs"; of the run of
            the default action, for "action" and "acted".
        by: in whose thread and task.
        step: what begins.
        mail: which is run, or was described.
        value: what the step gave; how many turns, for "stirs".
        mails: what was taken or given back, by description.
        error: what the step, mail or action raised: "closed" for a mailbox that is not open,
            "refused" for any other RuntimeError, "raised NAME" for the error of a mail, "raised
            action" for that of the default action, else class and text.
    """

    kind: EventKind
    of: int = 0
    by: str = OWNER
    step: Step | None = None
    mail: str = ""
    value: Value = None
    mails: tuple[str, ...] = ()
    error: str = ""


class FutureSeen(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A future in the end.

    Args:
        mail: whose.
        state: "pending", "cancelled", "returned VALUE", or what was raised, as in `Seen`.
    """

    mail: str
    state: str


class MailboxTrace(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What was seen.

    Args:
        events: in the order of their time.
        futures: in the end, when the mailbox was closed.
        ending: "whole"; "spins" if it went on and on; else "broken: " and why it could not be
            played to its end.
    """

    events: tuple[Seen, ...] = ()
    futures: tuple[FutureSeen, ...] = ()
    ending: str = "whole"


def program_id(program: Program) -> str:
    """Return the id under which people speak of a program: eight hexadecimal digits."""
    return hashlib.sha256(msgspec.json.encode(program)).hexdigest()[:8]


__all__ = [
    "ANYBODYS",
    "ASKING",
    "OWNER",
    "SENDERS",
    "WAITING",
    "Does",
    "FutureSeen",
    "MailboxTrace",
    "Post",
    "Program",
    "Seen",
    "Step",
    "Value",
    "program_id",
    "require_program",
]

claim_exports(__name__)
