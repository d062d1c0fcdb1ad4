"""A trace in the form that checks need: executions of steps, and letters in the mailbox.

Events are in the order of their time, and a moment is the place of an event. Simultaneous steps of
two threads overlap, and have no order: a letter is *surely* inside from the end of its sending
until it is run or given back.
"""

import math
from collections.abc import Iterator
from functools import cached_property

from msgspec import Struct

from asyncwait.conformance.judging import BookChecks
from asyncwait.spec.mailbox import MAIN
from asyncwait.spec.mailbox.program import OWNER, MailboxTrace, Post, Seen, Step, Value

NEVER = math.inf

TAKES = frozenset({"take", "try_take", "run_one", "try_run_one"})
"""Steps that take with a priority of their own."""

FROM_BATCH = frozenset({"try_take_from_batch", "run"})
"""Steps that take with the lowest priority."""

RUNS_MAILS = frozenset({"run_one", "try_run_one", "run"})
"""Steps that themselves run the mail that they take."""

GIVES_BACK = frozenset({"close", "drain"})
STEERS = frozenset({"suspend", "all_actions_completed", "resume"})
"""Steps that may send a mail that the program does not know."""

_ENDS = {"quiesce": "quiesced", "close": "closed"}
_STATES = ("open", "quiesced", "closed")


class Execution(Struct, eq=False):
    """One execution of a step."""

    step: Step
    by: str
    begin: int
    end: float = NEVER
    seen: Seen = Seen("end")
    amid: "Execution | None" = None

    @property
    def does(self) -> str:
        """The verb of the step."""
        return self.step.does

    @property
    def is_well(self) -> bool:
        """Whether it is over, and raised no error."""
        return self.end < NEVER and not self.seen.error

    def is_before(self, moment: float) -> bool:
        """Whether it was over before a moment."""
        return self.end < moment

    def __str__(self) -> str:
        step = self.step
        by = "" if self.by == OWNER else f"{self.by}."
        mail = f" {step.mail.name}" if step.mail else ""
        with_priority = step.does in TAKES
        return f"{by}{step.does}{f'({step.priority})' if with_priority else ''}{mail}"


class Run(Struct, eq=False):
    """A mail that was run."""

    mail: str
    at: int
    by: str
    amid: Execution | None
    looked: int
    over: float = NEVER


class Letter(Struct, eq=False):
    """A mail of the program on its way."""

    post: Post
    sent: Execution
    runs: list[Run]
    given_back: list[Execution]

    @property
    def name(self) -> str:
        """The name of the mail."""
        return self.post.name

    @property
    def gone(self) -> float:
        """Moment from which it was inside no longer; a step that gives it back found it inside."""
        backs = (execution.begin + 0.5 for execution in self.given_back)
        return min([*(run.at for run in self.runs), *backs], default=NEVER)

    @property
    def is_accepted(self) -> bool:
        """Whether it was sent without an error."""
        return self.sent.is_well

    def is_inside(self, moment: float) -> bool:
        """Whether it surely waited then."""
        return self.sent.is_well and self.sent.end < moment < self.gone


class MailboxHistory:
    """The executions, letters and runs of one trace."""

    def __init__(self, trace: MailboxTrace) -> None:
        self.trace = trace
        self.executions: list[Execution] = []
        self.letters: dict[str, Letter] = {}
        self.runs: list[Run] = []
        self.actions: list[int] = []  # beginnings of the default action
        self.acted: list[int] = []
        self.failed: list[int] = []  # moments at which it raised
        self.waits: list[tuple[int, Execution]] = []
        self.stirs: list[tuple[int, Execution, Value]] = []  # with the number of turns
        self._read()

    def _read(self) -> None:
        numbered: dict[int, Execution] = {}
        open_of: dict[str, list[Execution]] = {}
        busy: dict[str, int] = {}
        running: list[Run] = []
        for at, event in enumerate(self.trace.events):
            stack = open_of.setdefault(event.by, [])
            match event.kind:
                case "begin":
                    assert event.step is not None
                    amid = stack[-1] if stack else None
                    execution = Execution(event.step, event.by, at, amid=amid)
                    numbered[event.of] = execution
                    self.executions.append(execution)
                    stack.append(execution)
                    if event.step.mail is not None and execution.does in {"execute", "submit"}:
                        post = event.step.mail
                        self.letters[post.name] = Letter(post, execution, [], [])
                case "end":
                    execution = numbered[event.of]
                    execution.end, execution.seen = at, event
                    stack.remove(execution)
                    for name in event.mails if execution.does in GIVES_BACK else ():
                        if name in self.letters:
                            self.letters[name].given_back.append(execution)
                case "run":
                    run = Run(
                        event.mail,
                        at,
                        event.by,
                        stack[-1] if stack else None,
                        busy.get(event.by, 0),
                    )
                    self.runs.append(run)
                    running.append(run)
                    if event.mail in self.letters:
                        self.letters[event.mail].runs.append(run)
                case "ran":
                    next(r for r in reversed(running) if r.mail == event.mail).over = at
                case "action":
                    self.actions.append(at)
                case "acted":
                    self.acted.append(at)
                    self.failed.extend([at] if event.error else [])
                case "waits":
                    self.waits.append((at, numbered[event.of]))
                case "stirs":
                    self.stirs.append((at, numbered[event.of], event.value))
            busy[event.by] = at

    def of(self, *verbs: str) -> Iterator[Execution]:
        """Yield the executions of these steps that are over."""
        return (each for each in self.executions if each.does in verbs and each.end < NEVER)

    @cached_property
    def accepted(self) -> tuple[Letter, ...]:
        """The letters that were sent without an error."""
        return tuple(letter for letter in self.letters.values() if letter.is_accepted)

    def inside(self, moment: float) -> list[Letter]:
        """Return the letters that surely waited then, in the order of their sending."""
        return [letter for letter in self.accepted if letter.is_inside(moment)]

    def maybe_inside(self, execution: Execution) -> list[Letter]:
        """Return the letters that may have waited during a step, or surely did."""
        return [
            letter
            for letter in self.letters.values()
            if letter.sent.begin < execution.end
            and not letter.sent.seen.error
            and letter.gone > execution.begin
        ]

    def runs_amid(self, execution: Execution) -> list[Run]:
        """Return the mails that a step itself has run."""
        return [run for run in self.runs if run.amid is execution]

    def letter_of(self, run: Run) -> Letter | None:
        """Return the letter of a run; None if the program has not sent it."""
        return self.letters.get(run.mail)

    def states(self, execution: Execution) -> set[str]:
        """Return the states that the mailbox may have had during a step."""
        return self.states_at(execution.begin, execution.end, but=execution)

    def states_at(self, begin: float, end: float, but: Execution | None = None) -> set[str]:
        """Return the states that the mailbox may have had between two moments."""
        sure, maybe = 0, set[int]()
        for each in self.executions:
            if each is but or each.does not in _ENDS or each.seen.error:
                continue
            state = _STATES.index(_ENDS[each.does])
            if each.end < begin:
                sure = max(sure, state)
            elif each.begin < end:
                maybe.add(state)
        return {_STATES[sure], *(_STATES[state] for state in maybe if state > sure)}

    def steered(self, moment: float) -> int:
        """Return how many mails unknown to the program may have been inside by then."""
        return sum(each.does in STEERS and each.begin < moment for each in self.executions)

    def batched(self, letter: Letter, moment: float) -> bool:
        """Whether a letter was surely in the batch then: a batch was made after its sending."""
        return any(
            each.is_well and letter.sent.end < each.begin and each.end < moment
            for each in self.of("create_batch")
        )

    def unbatched(self, letter: Letter, moment: float) -> bool:
        """Whether a letter was surely in no batch then: none was made since its sending."""
        return not any(
            each.begin < moment and each.end > letter.sent.begin
            for each in self.executions
            if each.does in {"create_batch", "run"}
        )


def sees(execution: Execution, letter: Letter) -> bool:
    """Whether a taking step sees a letter; a step without a priority of its own sees all."""
    step, post = execution.step, letter.post
    if execution.does not in TAKES:
        return True
    return (MAIN if post.deferrable and not step.with_deferred else post.priority) >= step.priority


check = BookChecks[MailboxHistory]()
"""The check of each rule, by its id; `_mails`, `_ends` and `_loop` add theirs."""
