"""Programs drawn from a seed: a few mails, a few takers, now and then the end."""

import random
from collections.abc import Iterator

from asyncwait.spec.mailbox.program import OWNER, SENDERS, Post, Program, Step

MOST_STEPS = 14

_PRIORITIES = (-1, 0, 0, 1, 2)
_TAKES = ("try_take", "try_take", "try_run_one", "try_run_one", "try_take_from_batch", "take")
_ASKS = ("has_mail", "count", "state", "should_interrupt", "is_idle", "metrics")
_ENDS = ("quiesce", "close", "drain", "prepare_close", "run_what_is_left", "close_processor")
_STEERS = ("suspend", "all_actions_completed", "report_error")


def random_programs(count: int, seed: int = 0) -> Iterator[Program]:
    """Yield so many programs; the same ones for the same seed.

    Args:
        count: how many.
        seed: of the first; each has one of its own.
    """
    for number in range(count):
        yield _Drawing(random.Random(f"{seed}-{number}")).program()  # noqa: S311 - no secret


class _Drawing:
    """Draws one program.

    Args:
        rng: where chance comes from.
    """

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._mails = 0
        self._loops = False
        self._submitted: list[str] = []

    def program(self) -> Program:
        """Return a program: half of them are about the loop."""
        rng = self._rng
        self._loops = rng.random() < 0.5  # noqa: PLR2004 - half of them
        steps = [self._step() for _ in range(rng.randint(3, MOST_STEPS))]
        if not self._loops:
            return Program(tuple(steps))
        if rng.random() < 0.3:  # noqa: PLR2004 - a few begin with a loop that is told to stop
            steps.insert(0, Step(self._one(_STEERS), by=self._sender()))
        action = tuple(self._acts() for _ in range(rng.randint(0, 3)))
        steps.insert(rng.randint(0, len(steps)), Step("run"))
        neighbour = rng.random() < 0.1  # noqa: PLR2004 - now and then
        return Program(tuple(steps), action, rng.random() < 0.2, neighbour)  # noqa: PLR2004 - as above

    def _step(self) -> Step:
        draw = self._rng.random()
        if draw < 0.45:  # noqa: PLR2004 - shares of a hundred
            return self._sends(depth=1)
        if draw < 0.55:  # noqa: PLR2004
            return Step("create_batch") if not self._loops else Step("run")
        if draw < 0.8:  # noqa: PLR2004
            return self._loop_step() if self._loops else self._takes()
        if draw < 0.92:  # noqa: PLR2004
            return Step(self._one(_ASKS), priority=self._one(_PRIORITIES))
        if draw < 0.94 and self._submitted:  # noqa: PLR2004
            return Step("cancel_future", self._sender(), Post(self._one(self._submitted)))
        if draw < 0.96:  # noqa: PLR2004
            return self._section()
        return self._ends()

    def _takes(self) -> Step:
        does = self._one(_TAKES)
        with_deferred = does == "try_run_one" and self._rng.random() < 0.3  # noqa: PLR2004
        return Step(does, priority=self._one(_PRIORITIES), with_deferred=with_deferred)

    def _loop_step(self) -> Step:
        if self._rng.random() < 0.6:  # noqa: PLR2004
            return Step("resume", self._sender(), number=self._rng.randint(0, 2))
        return Step(self._one(_STEERS), self._sender()) if self._rng.random() < 0.4 else Step("run")  # noqa: PLR2004

    def _ends(self) -> Step:
        does = self._one(_ENDS)
        return Step(does)

    def _section(self) -> Step:
        sender = self._sender()
        inner = tuple(self._sends(depth=0, by=sender) for _ in range(self._rng.randint(1, 3)))
        return Step("exclusively", sender, within=inner)

    def _acts(self) -> tuple[Step, ...]:
        steps = [self._sends(depth=1, by=OWNER) for _ in range(self._rng.randint(0, 2))]
        if self._rng.random() < 0.6:  # noqa: PLR2004
            steps.extend([Step("suspend_action")] * self._one((1, 1, 1, 1, 2)))
        return tuple(steps)

    def _sends(self, *, depth: int, by: str = "") -> Step:
        rng = self._rng
        if rng.random() < 0.03 and not by:  # noqa: PLR2004
            return Step("storm", mail=Post(self._name()), number=rng.randint(1, 4))
        submits = rng.random() < 0.25  # noqa: PLR2004
        post = Post(
            self._name(),
            self._one(_PRIORITIES),
            urgent=rng.random() < 0.25,  # noqa: PLR2004
            deferrable=rng.random() < 0.2,  # noqa: PLR2004
            does=self._does(depth),
            raises=rng.random() < 0.06,  # noqa: PLR2004
            is_lazy=rng.random() < 0.1,  # noqa: PLR2004
        )
        if submits:
            self._submitted.append(post.name)
        at_once = not by and rng.random() < 0.15  # noqa: PLR2004
        return Step(
            "submit" if submits else "execute", by or self._sender(), post, at_once=at_once
        )

    def _does(self, depth: int) -> tuple[Step, ...]:
        """Return what a mail does: mostly nothing."""
        if not depth or self._rng.random() < 0.75:  # noqa: PLR2004
            return ()
        draw = self._rng.random()
        if draw < 0.6:  # noqa: PLR2004
            return (self._sends(depth=0, by=OWNER),)
        if draw < 0.7:  # noqa: PLR2004
            return (Step("resume", number=self._rng.randint(0, 1)),)
        if draw < 0.9:  # noqa: PLR2004
            return (Step("try_run_one", priority=self._one(_PRIORITIES)),)
        # A loop that is quiesced amid its run can't be told to end any more.
        return (Step(self._one(("has_mail", "count", "has_mail" if self._loops else "quiesce"))),)

    def _name(self) -> str:
        self._mails += 1
        return f"m{self._mails}"

    def _sender(self) -> str:
        return self._one((OWNER, *SENDERS))

    def _one(self, among: "tuple[str, ...] | list[str] | tuple[int, ...]") -> "object":
        return self._rng.choice(among)
