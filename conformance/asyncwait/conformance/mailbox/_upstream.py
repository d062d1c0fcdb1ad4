"""Which rule and which example stand for each of upstream's tests of mailbox, processor, executor.

`python -m asyncwait.conformance.mailbox` prints the page of it, `upstream.md`.
"""

from itertools import groupby

from msgspec import Struct

MAILBOX, PROCESSOR, EXECUTOR = (
    "TaskMailboxImplTest",
    "TaskMailboxProcessorTest",
    "MailboxExecutorImplTest",
)

HEAD = """\
# Upstream's tests of the mailbox

Apache Flink tests its mailbox, its processor and its executor. For each of these tests this page
says which rules hold a mailbox to the same, and which examples show it. This page is generated:
`python -m asyncwait.conformance.mailbox` prints it. The answers stand in `_upstream.py`.
"""


class UpstreamTest(Struct, frozen=True):
    """A test method of upstream.

    Args:
        owner: the class of tests.
        name: the method.
        rules: what it asks for here.
        examples: the programs that show it.
        runs: how often it is run, with other parameters.
        note: where it is not followed, or only in other words.
    """

    owner: str
    name: str
    rules: tuple[str, ...]
    examples: tuple[str, ...]
    runs: int = 1
    note: str = ""


UPSTREAM: tuple[UpstreamTest, ...] = (
    UpstreamTest(
        MAILBOX,
        "testContracts",
        ("MBX-4", "MBX-29"),
        ("in-the-order-of-sending", "a-batch-is-all-there-is"),
    ),
    UpstreamTest(
        MAILBOX,
        "testConcurrentPutTakeBlocking",
        ("MBX-1", "MBX-2"),
        ("ten-senders-at-once", "a-storm-over-a-waiting-loop"),
    ),
    UpstreamTest(
        MAILBOX,
        "testConcurrentPutTakeNonBlockingAndWait",
        ("MBX-1", "MBX-2"),
        ("a-hundred-mails",),
    ),
    UpstreamTest(
        MAILBOX,
        "testCloseUnblocks",
        ("MBX-33", "MBX-35"),
        ("closed",),
        note="nobody blocks in sending here: each mail after closing is refused",
    ),
    UpstreamTest(
        MAILBOX,
        "testQuiesceUnblocks",
        ("MBX-33",),
        ("quiesced-and-emptied",),
        note="as above, after quiescing",
    ),
    UpstreamTest(MAILBOX, "testLifeCycleQuiesce", ("MBX-33", "MBX-34"), ("quiesced-and-emptied",)),
    UpstreamTest(MAILBOX, "testLifeCycleClose", ("MBX-33", "MBX-35"), ("closed",)),
    UpstreamTest(
        MAILBOX,
        "testPutAsHeadWithPriority",
        ("MBX-6", "MBX-19", "MBX-22"),
        ("an-operator-sees-its-own", "urgent-and-still-not-seen"),
    ),
    UpstreamTest(
        MAILBOX,
        "testPutWithPriorityAndReadingFromMainMailbox",
        ("MBX-5", "MBX-19"),
        ("a-higher-priority-waits-its-turn", "urgent-ahead-of-all"),
    ),
    UpstreamTest(
        MAILBOX,
        "testBatchAndNonBatchTake",
        ("MBX-15", "MBX-16", "MBX-17", "MBX-37"),
        ("a-batch-of-what-was-there", "a-batch-and-the-queue-behind-it", "given-back-in-order"),
    ),
    UpstreamTest(MAILBOX, "testBatchDrain", ("MBX-40",), ("drained",)),
    UpstreamTest(MAILBOX, "testBatchPriority", ("MBX-7", "MBX-17"), ("a-batch-is-looked-through",)),
    UpstreamTest(
        MAILBOX,
        "testRunExclusively",
        ("MBX-41", "MBX-37"),
        ("not-closed-amid-a-section", "not-interrupted"),
    ),
    UpstreamTest(
        MAILBOX,
        "testPutHighPriorityMailDuringTakingFromBatch",
        ("MBX-20",),
        ("urgent-amid-a-batch",),
        runs=2,
    ),
    UpstreamTest(
        MAILBOX,
        "testNonUrgentMailQueuedBehindUrgentMailIsTakenFromBatch",
        ("MBX-23", "MBX-51"),
        ("a-timer-behind-a-checkpoint", "a-timer-behind-a-checkpoint-in-the-loop"),
        note="of an open pull request; there without a batch, here the loop makes one in time",
    ),
    UpstreamTest(
        MAILBOX,
        "testMailOrderWithBatch",
        ("MBX-19", "MBX-20", "MBX-21"),
        ("urgent-amid-a-batch", "several-urgent-ones"),
        runs=2,
    ),
    UpstreamTest(
        MAILBOX,
        "testOnlyOneUrgentMailAtTheSameTime",
        ("MBX-19", "MBX-20"),
        ("urgent-ahead-of-all", "urgent-amid-a-round"),
        runs=2,
    ),
    UpstreamTest(
        MAILBOX,
        "testPutAsHead",
        ("MBX-21",),
        ("several-urgent-ones",),
        note="up to 2.0, and the reverse of what holds now: the last one put first came first",
    ),
    UpstreamTest(
        PROCESSOR, "testRejectIfNotOpen", ("MBX-33",), ("futures-of-the-dropped-by-the-loop",)
    ),
    UpstreamTest(PROCESSOR, "testSubmittingRunnableWithException", ("MBX-46",), ("errors-pass",)),
    UpstreamTest(PROCESSOR, "testShutdown", ("MBX-39",), ("futures-of-the-dropped-by-the-loop",)),
    UpstreamTest(
        PROCESSOR,
        "testRunDefaultActionAndMails",
        ("MBX-47", "MBX-48", "MBX-61"),
        ("all-mails-before-each-action", "figures"),
    ),
    UpstreamTest(
        PROCESSOR, "testRunDefaultAction", ("MBX-55",), ("a-mail-that-sends-itself-again",)
    ),
    UpstreamTest(
        PROCESSOR, "testSignalUnAvailable", ("MBX-49", "MBX-50"), ("suspended-until-resumed",)
    ),
    UpstreamTest(
        PROCESSOR,
        "testSignalUnAvailablePingPong",
        ("MBX-49", "MBX-50", "MBX-52"),
        ("suspended-and-resumed-time-and-again", "resumed-too-late"),
    ),
    UpstreamTest(PROCESSOR, "testCancelAfterClose", ("MBX-56",), ("too-late-to-steer",)),
    UpstreamTest(
        PROCESSOR, "testAvoidStarvation", ("MBX-47",), ("a-mail-that-sends-itself-again",)
    ),
    UpstreamTest(PROCESSOR, "testSuspendRunningMailboxLoop", ("MBX-54",), ("stopped-by-a-mail",)),
    UpstreamTest(
        PROCESSOR,
        "testResumeMailboxLoopAfterAllActionsCompleted",
        ("MBX-55",),
        ("completed-for-good",),
    ),
    UpstreamTest(PROCESSOR, "testResumeMailboxLoop", ("MBX-54",), ("stopped-and-run-again",)),
    UpstreamTest(EXECUTOR, "testIsIdle", ("MBX-32",), ("idle-or-not", "idle-between-two-runs")),
    UpstreamTest(EXECUTOR, "testOperations", ("MBX-10",), ("in-the-order-of-sending",)),
    UpstreamTest(
        EXECUTOR,
        "testDeferrable",
        ("MBX-24", "MBX-25"),
        ("deferred-by-operators", "deferred-in-a-batch"),
    ),
    UpstreamTest(
        EXECUTOR,
        "testTryYieldIgnoringDeferrable",
        ("MBX-26", "MBX-27"),
        ("nothing-of-ones-own-is-left",),
    ),
    UpstreamTest(EXECUTOR, "testClose", ("MBX-35", "MBX-39"), ("closed", "futures-of-the-dropped")),
    UpstreamTest(EXECUTOR, "testTryYield", ("MBX-44", "MBX-10"), ("tried-until-there-is-none",)),
    UpstreamTest(EXECUTOR, "testYield", ("MBX-11", "MBX-10"), ("an-operator-waits-for-its-mail",)),
)


def upstream_page() -> str:
    """Return the page: a table for each class of tests."""
    lines = [HEAD]
    for owner, tests in groupby(UPSTREAM, key=lambda test: test.owner):
        lines.append(f"\n## {owner}\n\n| test | rules | examples | |\n|---|---|---|---|\n")
        for test in tests:
            times = f" ({test.runs} times)" if test.runs > 1 else ""
            examples = ", ".join(f"`{example}`" for example in test.examples)
            lines.append(
                f"| {test.name}{times} | {', '.join(test.rules)} | {examples} | {test.note} |\n"
            )
    runs = sum(test.runs for test in UPSTREAM)
    lines.append(f"\n{len(UPSTREAM)} tests, which are run {runs} times with their parameters.\n")
    return "".join(lines)
