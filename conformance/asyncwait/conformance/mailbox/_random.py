"""Programs drawn from a seed: a few mails, a few takers, now and then the end."""

import random
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from asyncwait.spec.mailbox.program import OWNER, SENDERS, Does, Post, Program, Step

T = TypeVar("T")

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
"""Of a hundred steps."""

_PRIORITIES = (-1, 0, 0, 1, 2)
_TAKES: tuple[Does, ...] = (
    "try_take",
    "try_take",
    "try_run_one",
    "try_run_one",
    "try_take_from_batch",
    "take",
)
_ASKS: tuple[Does, ...] = ("has_mail", "count", "state", "should_interrupt", "is_idle", "metrics")
_ENDS: tuple[Does, ...] = (
    "quiesce",
    "close",
    "drain",
    "prepare_close",
    "run_what_is_left",
    "close_processor",
)
_QUIET_ENDS: tuple[Does, ...] = ("has_mail", "quiesce")
_STEERS: tuple[Does, ...] = ("suspend", "all_actions_completed", "report_error")


def random_programs(count: int, seed: int = 0) -> Iterator[Program]:
    """Yield so many programs; the same ones for the same seed."""
    for number in range(count):
        yield _Drawing(random.Random(f"{seed}-{number}")).program()


class _Drawing:
    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._mails = 0
        self._loops = False
        self._submitted: list[str] = []

    def program(self) -> Program:
        """Return a program: half of them are about the loop."""
        rng = self._rng
        self._loops = self._chance(0.5)
        steps = [self._step() for _ in range(rng.randint(3, MOST_STEPS))]
        if not self._loops:
            return Program(tuple(steps))
        if self._chance(0.3):
            steps.insert(0, Step(self._one(_STEERS), by=self._sender()))
        action = tuple(self._acts() for _ in range(rng.randint(0, 3)))
        steps.insert(rng.randint(0, len(steps)), Step("run"))
        neighbour = self._chance(0.1)
        return Program(tuple(steps), action, self._chance(0.2), neighbour)

    def _step(self) -> Step:
        draw: dict[str, Callable[[], Step]] = {
            "sends": lambda: self._sends(depth=1),
            "gathers": lambda: Step("run" if self._loops else "create_batch"),
            "takes": self._loop_step if self._loops else self._takes,
            "asks": lambda: Step(self._one(_ASKS), priority=self._one(_PRIORITIES)),
            "cancels": self._cancels,
            "sections": self._section,
            "ends": lambda: Step(self._one(_ENDS)),
        }
        return draw[self._rng.choices(list(_SHARES), list(_SHARES.values()))[0]]()

    def _cancels(self) -> Step:
        """Cancel a wait if there may be one, now or some turns after the step before; or a mail."""
        if self._chance(0.5):
            turns = self._rng.randint(0, MOST_TURNS)
            return Step("cancel_wait", number=turns, at_once=self._chance(0.3))
        if not self._submitted:
            return self._sends(depth=1)
        return Step("cancel_future", self._sender(), Post(self._one(self._submitted)))

    def _takes(self) -> Step:
        does = self._one(_TAKES)
        with_deferred = does == "try_run_one" and self._chance(0.3)
        return Step(does, priority=self._one(_PRIORITIES), with_deferred=with_deferred)

    def _loop_step(self) -> Step:
        if self._chance(0.6):
            return Step("resume", self._sender(), number=self._rng.randint(0, 2))
        return Step(self._one(_STEERS), self._sender()) if self._chance(0.4) else Step("run")

    def _section(self) -> Step:
        sender = self._sender()
        inner = tuple(self._sends(depth=0, by=sender) for _ in range(self._rng.randint(1, 3)))
        return Step("exclusively", sender, within=inner)

    def _acts(self) -> tuple[Step, ...]:
        steps = [self._sends(depth=1, by=OWNER) for _ in range(self._rng.randint(0, 2))]
        if self._chance(0.6):
            steps.extend([Step("suspend_action")] * self._one((1, 1, 1, 1, 2)))
        if self._chance(0.05):
            steps.append(Step("fail"))
        return tuple(steps)

    def _sends(self, *, depth: int, by: str = "") -> Step:
        rng = self._rng
        if self._chance(0.03) and not by:
            return Step("storm", mail=Post(self._name()), number=rng.randint(1, 4))
        submits = self._chance(0.25)
        post = Post(
            self._name(),
            self._one(_PRIORITIES),
            urgent=self._chance(0.25),
            deferrable=self._chance(0.2),
            does=self._does(depth),
            raises=self._chance(0.06),
            is_lazy=self._chance(0.1),
        )
        if submits:
            self._submitted.append(post.name)
        at_once = not by and self._chance(0.15)
        return Step("submit" if submits else "execute", by or self._sender(), post, at_once=at_once)

    def _does(self, depth: int) -> tuple[Step, ...]:
        """Return what a mail does: mostly nothing."""
        if not depth or self._chance(0.75):
            return ()
        # A loop that is quiesced amid its run can't be told to end any more.
        ends = () if self._loops else (Step(self._one(_QUIET_ENDS)),)
        others = (
            Step("resume", number=self._rng.randint(0, 1)),
            Step("try_run_one", priority=self._one(_PRIORITIES)),
            *ends,
        )
        return (self._sends(depth=0, by=OWNER) if self._chance(0.6) else self._one(others),)

    def _name(self) -> str:
        self._mails += 1
        return f"m{self._mails}"

    def _sender(self) -> str:
        return self._one((OWNER, *SENDERS))

    def _chance(self, share: float) -> bool:
        return self._rng.random() < share

    def _one(self, among: Sequence[T]) -> T:
        return self._rng.choice(among)
