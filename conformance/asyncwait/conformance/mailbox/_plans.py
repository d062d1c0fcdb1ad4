"""Programs to play on a mailbox: examples, and generated programs."""

from collections.abc import Iterator, Sequence

from asyncwait.conformance.mailbox._examples import MAILBOX_EXAMPLES
from asyncwait.conformance.mailbox._random import random_programs
from asyncwait.spec.mailbox.program import STAGES, MailboxPlan, Stage

GENERATED = 1_000
"""Programs drawn for each stage."""


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
    for number, program in enumerate(random_programs(count, seed)):
        for stage in stages:
            yield f"generated {number} of seed {seed}", MailboxPlan(stage, program), ()
