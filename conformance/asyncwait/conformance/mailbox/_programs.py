"""Programs to play on a mailbox: examples, and programs drawn from a seed."""

import random
from collections.abc import Iterator, Sequence
from typing import TypeVar

from asyncwait.conformance.mailbox._examples import MAILBOX_EXAMPLES
from asyncwait.conformance.mailbox._notation import program
from asyncwait.spec.mailbox.program import SENDERS, STAGES, MailboxPlan, Program, Stage

T = TypeVar("T")

GENERATED = 1_000
"""Programs drawn for each stage."""

MOST_STEPS = 14

MOST_TURNS = 4
"""Turns of the loop before a wait is cancelled."""

_SHARES = {
    "sends": 43,
    "gathers": 10,
    "takes": 25,
    "asks": 12,
    "cancels": 4,
    "sections": 2,
    "ends": 4,
}
"""Shares of the kinds of steps, of a hundred."""

_FLAGS = {"^": 0.25, "~": 0.2, "!": 0.06}
"""Shares of mails that are urgent, are deferrable, or raise."""

_PRIORITIES = (-1, 0, 0, 1, 2)
_TAKES = ["try_take", "try_take", "try_run_one", "try_run_one", "try_take_from_batch", "take"]
_ENDS = ["quiesce", "close", "drain"]
_STEERS = ["suspend", "all_actions_completed"]


def random_programs(count: int, seed: int = 0) -> Iterator[Program]:
    """Yield `count` programs, always the same for a seed."""
    for number in range(count):
        yield _Drawing(random.Random(f"{seed}-{number}")).program()


def mailbox_plans(
    count: int = GENERATED, seed: int = 0, stages: Sequence[Stage] = STAGES
) -> Iterator[tuple[str, MailboxPlan, tuple[str, ...]]]:
    """Yield names, plans and rules: of each example on each stage that can show it, then generated.

    Generated programs have no rules.
    """
    for example in MAILBOX_EXAMPLES:
        for stage in stages:
            if stage == "threads" or not example.program.needs_threads:
                yield example.name, MailboxPlan(stage, example.program), example.rules
    for number, drawn in enumerate(random_programs(count, seed)):
        for stage in stages:
            yield f"generated {number} of seed {seed}", MailboxPlan(stage, drawn), ()


class _Drawing:
    """Draws one program, in the notation of examples."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._mails = 0
        self._loops = self._chance(0.5)  # Half of the programs run the loop.

    def program(self) -> Program:
        rng = self._rng
        steps = [self._step() for _ in range(rng.randint(3, MOST_STEPS))]
        if not self._loops:
            return program(" ".join(steps))
        if self._chance(0.3):
            steps.insert(0, f"{self._sender()}{self._one(_STEERS)}")
        action = [self._acts() for _ in range(rng.randint(0, 3))]
        steps.insert(rng.randint(0, len(steps)), "run")
        return program(" ".join(steps), *action)

    def _step(self) -> str:
        match self._rng.choices(list(_SHARES), list(_SHARES.values()))[0]:
            case "sends":
                return self._sends(depth=1)
            case "gathers":
                return "run" if self._loops else "create_batch"
            case "takes":
                return self._steers() if self._loops else self._takes()
            case "asks":
                return "has_mail"
            case "cancels":
                turns, at_once = self._rng.randint(0, MOST_TURNS), self._chance(0.3)
                return f"cancel_wait#{turns}{'&' * at_once}"
            case "sections":
                by = self._sender()
                inner = (self._sends(depth=0, by=by) for _ in range(self._rng.randint(1, 3)))
                return f"{by}exclusively {{ {' '.join(inner)} }}"
            case _:
                return self._one(_ENDS)

    def _takes(self) -> str:
        does = self._one(_TAKES)
        deferred = "*" if does == "try_run_one" and self._chance(0.3) else ""
        return f"{does}{deferred}@{self._one(_PRIORITIES)}"

    def _steers(self) -> str:
        if self._chance(0.6):
            return f"{self._sender()}resume#{self._rng.randint(0, 2)}"
        return f"{self._sender()}{self._one(_STEERS)}" if self._chance(0.4) else "run"

    def _acts(self) -> str:
        steps = [self._sends(depth=1, by="") for _ in range(self._rng.randint(0, 2))]
        if self._chance(0.6):
            steps += ["suspend_action"] * self._one((1, 1, 1, 1, 2))
        return " ".join([*steps, *(["fail"] if self._chance(0.05) else [])])

    def _sends(self, *, depth: int, by: str | None = None) -> str:
        self._mails += 1
        name = f"m{self._mails}"
        if by is None and self._chance(0.03):
            return f"storm:{name}#{self._rng.randint(1, 4)}"
        verb = "submit" if self._chance(0.25) else "execute"
        flags = "".join(flag for flag, share in _FLAGS.items() if self._chance(share))
        does = self._does() if depth else ""
        at_once = "&" if by is None and self._chance(0.15) else ""
        word = f"{verb}:{name}{flags}@{self._one(_PRIORITIES)}{at_once}"
        return f"{self._sender() if by is None else by}{word}{does}"

    def _does(self) -> str:
        """Return the steps of a mail: mostly none."""
        if self._chance(0.75):
            return ""
        others = [f"resume#{self._rng.randint(0, 1)}", f"try_run_one@{self._one(_PRIORITIES)}"]
        if not self._loops:  # A loop that is quiesced amid its run could not be ended any more.
            others.append(self._one(("has_mail", "quiesce")))
        does = self._sends(depth=0, by="") if self._chance(0.6) else self._one(others)
        return f" {{ {does} }}"

    def _sender(self) -> str:
        """Return the prefix of a step: empty for the owner."""
        return self._one(("", *(f"{name}." for name in SENDERS)))

    def _chance(self, share: float) -> bool:
        return self._rng.random() < share

    def _one(self, among: Sequence[T]) -> T:
        return self._rng.choice(among)
