"""Programs to play on a mailbox, and the backend that plays them in a child process."""

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any, cast

from msgspec import Struct

from asyncwait.conformance.expected_failures import GivenFailures
from asyncwait.conformance.harness import line_of
from asyncwait.conformance.mailbox._examples import MAILBOX_EXAMPLES
from asyncwait.conformance.mailbox._player import play_program
from asyncwait.conformance.mailbox._random import random_programs
from asyncwait.conformance.running import UnknownBackend, imported
from asyncwait.conformance.verdict import Case
from asyncwait.spec.mailbox import OpenProcessor
from asyncwait.spec.mailbox.program import STAGES, MailboxPlan, MailboxTrace, Stage
from asyncwait.spec.scenario import Capability
from asyncwait.toolkit import running_loop

GENERATED = 1_000
"""Programs drawn for each stage."""


def mailbox_cases(
    count: int = GENERATED, seed: int = 0, stages: Sequence[Stage] = STAGES
) -> Iterator[Case]:
    """Yield every example on every stage that can show it, then generated programs."""
    for example in MAILBOX_EXAMPLES:
        for stage in stages:
            if stage == "threads" or not example.program.needs_threads:
                plan = MailboxPlan(stage, example.program)
                yield Case(example.name, plan, plan, about=example.rules)
    for number, program in enumerate(random_programs(count, seed)):
        for stage in stages:
            plan = MailboxPlan(stage, program)
            yield Case(f"generated {number} of seed {seed}", plan, plan, generated=True)


class MailboxBackend(Struct, frozen=True):
    """A mailbox that plays programs in the present process."""

    open_processor: OpenProcessor
    capabilities: frozenset[Capability] = frozenset()
    expected_failures: GivenFailures = {}
    batch: bool = False

    def run(self, plans: Sequence[MailboxPlan]) -> Iterator[MailboxTrace]:
        """Play `plans` one after the other."""
        return (play_program(plan.program, self.open_processor, plan.stage) for plan in plans)


PARTS = ("mailbox", "executor", "run", "suspend", "report_error", "prepare_close", "drain", "close")
"""Names that a processor must have; see `asyncwait.spec.mailbox.Processor` for all."""


def mailbox_backend(name: str) -> MailboxBackend:
    """Return the mailbox that `name` opens, after a trial opening shows that it is a mailbox.

    Args:
        name: "module:callable".

    Raises:
        UnknownBackend: it can't be opened, or is no mailbox; the message says why.
        MissingExtra: its module needs a package that is not installed.
    """

    def refused(why: str) -> UnknownBackend:
        return UnknownBackend(f"mailbox {name!r}: {why}")

    async def opened() -> Any:
        return found(running_loop(), lambda _: None)

    try:
        found = imported(name)
    except ValueError as error:
        raise refused(str(error)) from error
    if not callable(found):
        raise refused(f"expected a callable, {name} is {type(found).__name__}")
    try:
        given = asyncio.run(opened())
    except BaseException as error:
        raise refused(f"opening it raised {line_of(error)}") from error
    if missing := [part for part in PARTS if not hasattr(given, part)]:
        raise refused(
            f"opening it gave a {type(given).__name__}, which has no {', no '.join(missing)}; "
            "see asyncwait.spec.mailbox.Processor"
        )
    return MailboxBackend(cast("OpenProcessor", found))
