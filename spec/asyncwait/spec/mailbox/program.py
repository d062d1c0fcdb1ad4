"""Programs for a mailbox, and their traces, as data."""

from typing import ClassVar, Literal, TypeAlias, get_args

from msgspec import Struct

from asyncwait.spec._errors import InvalidConfig
from asyncwait.spec.exports import claim_exports

OWNER = "owner"
"""The task that owns the mailbox. All other actors are `SENDERS`."""

SENDERS = ("a", "b", "c")
"""Other threads; on a stage without threads, another task of the owner's loop."""

Does: TypeAlias = Literal[
    # Send mails; a storm sends many mails from all senders at once.
    "execute",
    "submit",
    "storm",
    # Take mails, run the mails that they take, or ask for mail.
    "create_batch",
    "try_take_from_batch",
    "try_take",
    "take",
    "run_one",
    "try_run_one",
    "has_mail",
    # End a mailbox; a section that no other thread interrupts.
    "quiesce",
    "close",
    "drain",
    "exclusively",
    # Steer the loop; `fail`, for the default action alone, raises an error.
    "run",
    "suspend_action",
    "resume",
    "suspend",
    "all_actions_completed",
    "fail",
    # Cancel the owner's wait.
    "cancel_wait",
]
"""Kinds of steps, named after the contract."""

SENDS: frozenset[str] = frozenset({"execute", "submit", "storm"})
"""Steps that send a mail."""

ANYBODYS: frozenset[str] = SENDS | {
    "all_actions_completed",
    "cancel_wait",
    "exclusively",
    "resume",
    "suspend",
}
"""Steps that any thread may do; all others are the owner's."""

WAITING: frozenset[str] = frozenset({"take", "run_one", "run"})
"""Steps that may wait."""


class Post(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A mail to send.

    Args:
        name: unique name in its program; also its description, and its result.
        priority: priority of the executor that sends it.
        urgent: see `Executor.execute`.
        deferrable: see `Executor.execute`.
        does: steps of the mail, which the owner does and which never wait.
        raises: whether it raises an error of its own after these steps.
    """

    name: str
    priority: int = 0
    urgent: bool = False
    deferrable: bool = False
    does: tuple["Step", ...] = ()
    raises: bool = False


class Step(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One action on the mailbox.

    Args:
        does: kind of the action.
        by: the actor.
        mail: the mail to send.
        priority: priority of the taker, or of the executor.
        with_deferred: argument of `try_run_one`.
        number: number of the suspension to resume, from 0 on; number of mails from each sender of
            a storm; number of turns of the loop before a wait is cancelled.
        within: steps in the exclusive section.
        at_once: whether the next step follows before another task runs.
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
    """Steps one after the other, and the steps of the loop's default action.

    A step begins when the step before is over, or its actor waits. A step of the owner begins when
    the owner no longer waits.

    Args:
        steps: the steps.
        action: steps of each run of the default action, which then completes the loop.

    Raises:
        InvalidConfig: a sender is unknown, two mails have one name, a step waits where no step may,
            fails where only the default action may, or sends no mail.
    """

    steps: tuple[Step, ...] = ()
    action: tuple[tuple[Step, ...], ...] = ()

    def __post_init__(self) -> None:
        steps, of_actions = self.all_steps, [step for run in self.action for step in run]
        names = [step.mail.name for step in steps if step.mail]
        for step in steps:
            if step.by not in (OWNER, *SENDERS):
                raise InvalidConfig.of("by", step.by, f"one of {', '.join((OWNER, *SENDERS))}")
            if step.does in SENDS and step.mail is None:
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


EventKind: TypeAlias = Literal["begin", "end", "run", "ran", "action", "acted", "waits", "stirs"]
"""Kinds of events: a step, a mail or the default action began or ended.

"waits": the step waits, and no other task can run. "stirs": the loop took turns although the step
only waited.
"""

Value: TypeAlias = bool | int | str | None


class Seen(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One event. A trace holds its events in the order of their time.

    Args:
        kind: see `EventKind`.
        of: number of the step's execution, for "begin", "end", "waits" and "stirs"; number of the
            default action's run, for "action" and "acted".
        by: the actor in whose thread and task it happened.
        step: the step that begins.
        mail: name of the mail that is run.
        value: result of the step; number of turns, for "stirs".
        mails: descriptions of the mails that were taken or returned.
        error: error of the step, mail or action: "closed" for a mailbox that is not open,
            "refused" for any other RuntimeError, "raised NAME" for the error of a mail, "raised
            action" for the error of the default action, else class and text.
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
    """A future at the end.

    Args:
        mail: name of its mail.
        state: "pending", "cancelled", "returned VALUE", or the error as in `Seen`.
    """

    mail: str
    state: str


class MailboxTrace(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Events of one run of a program.

    Args:
        events: events in the order of their time.
        futures: futures at the end, when the mailbox was closed.
        ending: "whole"; "spins" if the program never ended; "blocks" or "died" and how, if its
            process was lost; else "broken: " and the reason why it did not run to its end.
        output: end of the printed output.
    """

    self_reported: ClassVar[bool] = False
    """The harness wrote it, not the mailbox."""

    events: tuple[Seen, ...] = ()
    futures: tuple[FutureSeen, ...] = ()
    ending: str = "whole"
    output: str = ""


__all__ = [
    "ANYBODYS",
    "OWNER",
    "SENDERS",
    "SENDS",
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
