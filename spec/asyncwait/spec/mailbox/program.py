"""Programs for a mailbox, and their traces, as data."""

from typing import ClassVar, Literal, TypeAlias, get_args

from msgspec import Struct

from asyncwait.spec._errors import InvalidConfig
from asyncwait.spec.exports import claim_exports

OWNER = "owner"
"""The task that owns the mailbox. All other actors are `SENDERS`."""

SENDERS = ("a", "b", "c")
"""Other threads; on a stage without threads, another task of the owner's loop."""

Sending: TypeAlias = Literal["execute", "submit", "cancel_future", "storm"]
"""Steps that send. A storm is many mails from all senders at once."""

Taking: TypeAlias = Literal[
    "create_batch", "try_take_from_batch", "try_take", "take", "run_one", "try_run_one"
]
"""Steps that take mails, or run the mails that they take."""

Asking: TypeAlias = Literal["has_mail", "count", "state", "should_interrupt", "is_idle", "metrics"]
"""Steps that ask, and change nothing."""

Ending: TypeAlias = Literal["quiesce", "close", "drain", "exclusively"]
"""Steps that end a mailbox, and the section that no other thread interrupts."""

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
"""Steps of the loop. `fail`, for the default action alone, raises an error."""

Does: TypeAlias = Sending | Taking | Asking | Ending | Looping | Literal["cancel_wait"]
"""Kinds of steps, named after the contract. `cancel_wait` cancels the owner's wait."""

ASKING: frozenset[str] = frozenset(get_args(Asking))
"""Steps that ask, as a set."""

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
"""Steps that any thread may do; all others are the owner's."""

WAITING: frozenset[str] = frozenset({"take", "run_one", "run"})
"""Steps that may wait."""


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
        at_once: the next step follows before another task gets a turn.
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

    Raises:
        InvalidConfig: a sender is unknown, two mails have one name, a step waits where no step may,
            fails where only the default action may, or sends no mail.
    """

    steps: tuple[Step, ...] = ()
    action: tuple[tuple[Step, ...], ...] = ()
    is_awaited: bool = False
    has_neighbour: bool = False

    def __post_init__(self) -> None:
        steps, of_actions = self.all_steps, [step for run in self.action for step in run]
        names = [step.mail.name for step in steps if step.mail and step.does != "cancel_future"]
        for step in steps:
            if step.by not in (OWNER, *SENDERS):
                raise InvalidConfig.of("by", step.by, f"one of {', '.join((OWNER, *SENDERS))}")
            if step.does in get_args(Sending) and step.mail is None:
                raise InvalidConfig(f"{step.does} needs a mail, this one has none")
            if step.does == "fail" and step not in of_actions:
                raise InvalidConfig("only a step of the default action may fail")
            if step.does in WAITING and step not in self.steps:
                raise InvalidConfig(f"only a step of the program itself may wait: {step.does}")
        if doubled := sorted({name for name in names if names.count(name) > 1}):
            raise InvalidConfig(f"each mail needs a name of its own: {', '.join(doubled)}")

    @property
    def all_steps(self) -> tuple[Step, ...]:
        """Every step, also those of mails, sections and the default action."""
        return _with_inner((*self.steps, *(step for run in self.action for step in run)))

    @property
    def needs_threads(self) -> bool:
        """Whether it can be played only where senders have threads of their own.

        In such a program a sender does an owner's step, or another sender acts within a section.
        """
        return any(
            (step.by != OWNER and step.does not in ANYBODYS)
            or any(inner.by != step.by for inner in step.within)
            for step in self.all_steps
        )


def _with_inner(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    found: list[Step] = []
    for step in steps:
        of_mail = step.mail.does if step.mail is not None else ()
        found.extend((step, *_with_inner(step.within), *_with_inner(of_mail)))
    return tuple(found)


Stage: TypeAlias = Literal["asyncio", "trio", "threads"]
"""Event loop on which a program is played; with threads, senders run in threads beside asyncio."""

STAGES: tuple[Stage, ...] = get_args(Stage)


class MailboxPlan(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A program, and where it is played.

    Raises:
        InvalidConfig: the program needs threads, and the stage has none.
    """

    stage: Stage
    program: Program
    name: str = ""

    def __post_init__(self) -> None:
        if self.stage != "threads" and self.program.needs_threads:
            raise InvalidConfig(f"the program needs threads, and {self.stage} has none")


EventKind: TypeAlias = Literal[
    "begin", "end", "run", "ran", "action", "acted", "described", "waits", "stirs", "turn"
]
"""What happened: a step began or ended; a mail was run, and over; so was the default action.

"described": the mailbox computed a description without a request. "waits": the step waits, and no
other task can run. "stirs": time passed while it waited, and all the same turns of
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
        ending: "whole"; "spins" if it went on and on; "blocks" or "died" and how, if its process
            was lost; else "broken: " and why it could not be played to its end.
        output: what was printed meanwhile, the last of it.
    """

    self_reported: ClassVar[bool] = False
    """The harness wrote it, not the mailbox."""

    events: tuple[Seen, ...] = ()
    futures: tuple[FutureSeen, ...] = ()
    ending: str = "whole"
    output: str = ""


__all__ = [
    "ANYBODYS",
    "ASKING",
    "OWNER",
    "SENDERS",
    "STAGES",
    "WAITING",
    "Does",
    "FutureSeen",
    "MailboxPlan",
    "MailboxTrace",
    "Post",
    "Program",
    "Seen",
    "Stage",
    "Step",
    "Value",
]

claim_exports(__name__)
