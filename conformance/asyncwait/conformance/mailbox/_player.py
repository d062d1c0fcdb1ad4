"""Player of programs, which records what a mailbox does.

A director does one step after the other. The task that owns the mailbox does the owner's steps, and
may wait; each sender's thread does its steps, or, on a stage without threads, the director's task.
After each step the director sleeps on a virtual clock: it wakes when no other task can run.
"""

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial
from queue import Empty, SimpleQueue

import anyio
from anyio.lowlevel import checkpoint
from msgspec.structs import replace

from asyncwait.conformance.harness import LoopName, SpinWatch, run_virtual
from asyncwait.conformance.mailbox._steps import Gave, Recorder, Runaway, Steps, said
from asyncwait.spec.mailbox import OpenProcessor
from asyncwait.spec.mailbox.program import (
    OWNER,
    SENDERS,
    WAITING,
    MailboxTrace,
    Post,
    Program,
    Stage,
    Step,
)
from asyncwait.toolkit import running_loop

ENDS_WITHIN = 20.0
"""Seconds that a sender may take: it never waits for the owner, but perhaps for a processor."""

PASSING = (10, 1_000, 100_000)
"""Seconds of the virtual clock that pass while the owner waits and has nothing to do."""

STIRS = 10
"""Turns of the loop that show that it does not rest: the director itself needs two or three."""

HELD = 0.05
"""Seconds of the real clock that a section gives to senders that must not come in meanwhile. A
sound mailbox keeps them out for as long; a faulty mailbox lets them in within microseconds."""

ASKED = 3.0
"""Seconds of the real clock that a section gives to questions that need no lock: a sound mailbox
answers within microseconds, unless the machine is busy."""


def play_program(program: Program, open_processor: OpenProcessor, stage: Stage) -> MailboxTrace:
    """Play `program` and return its trace; never raise because of the mailbox."""
    loop: LoopName = "trio" if stage == "trio" else "asyncio"
    player = _Player(program, open_processor, with_threads=stage == "threads")
    return run_virtual(player.play, loop)


class _Player:
    def __init__(
        self, program: Program, open_processor: OpenProcessor, *, with_threads: bool
    ) -> None:
        self._program = program
        self._open_processor = open_processor
        self._recorder = Recorder()
        self._steps = Steps(self._recorder, program.action)
        enlist = self._recorder.enlist
        self._hands = {
            name: ThreadPoolExecutor(1, initializer=partial(enlist, name))
            for name in (SENDERS if with_threads else ())
        }
        """The thread of each sender."""
        self._asked: SimpleQueue[Callable[[], object] | None] = SimpleQueue()
        """Jobs for the owner's thread while it waits for a sender; None when the sender is done."""
        self._late: list[Future[None]] = []
        self._spin = SpinWatch()
        self._waiting = 0  # number of the owner's step
        self._todo: deque[Step] = deque()
        self._wanted: anyio.Event | None = None
        self._wait_scope: anyio.CancelScope | None = None
        self._ending = "whole"

    async def play(self, spin: SpinWatch) -> MailboxTrace:
        with anyio.CancelScope() as scope:
            self._spin = spin
            spin.restart(lambda: self._break("spins", scope))
            try:
                await self._direct()
            except Exception as error:
                self._ending = f"broken: {said(error)}"
            except Runaway:
                self._ending = "spins"
            except BaseExceptionGroup as group:
                self._ending = "spins" if group.subgroup(Runaway) else f"broken: {said(group)}"
        for hand in self._hands.values():
            hand.shutdown(wait=False, cancel_futures=True)
        futures = self._steps.futures_seen()
        return MailboxTrace(tuple(self._recorder.events), futures, self._ending)

    def _break(self, ending: str, scope: anyio.CancelScope) -> None:
        self._ending = ending
        scope.cancel()

    async def _direct(self) -> None:
        self._steps.processor = self._open_processor(running_loop(), self._steps.act)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._own)
            for step in self._program.steps:
                await self._do(step)
            self._todo.clear()
            if self._waiting:
                await self._do(Step("cancel_wait"))
            await self._do(Step("close"))
            tasks.cancel_scope.cancel()

    async def _do(self, step: Step) -> None:
        if step.does == "cancel_wait":
            for _ in range(step.number):
                await checkpoint()
            if self._wait_scope is not None:
                self._wait_scope.cancel()
        elif step.does == "storm":
            await self._storm(step)
        elif step.by == OWNER:
            self._todo.append(step)
            if self._wanted is not None:
                self._wanted.set()
        elif step.by in self._hands:
            self._have_done(step)
        else:
            self._do_as(step)
        if not step.at_once:
            await anyio.sleep(1)
            if self._waiting:
                self._recorder.note("waits", of=self._waiting)
                await self._let_time_pass(self._waiting)

    async def _let_time_pass(self, waiting: int) -> None:
        """Check that the loop rests while the owner waits: no event happens by itself."""
        for seconds in PASSING:
            before = self._spin.in_all
            await anyio.sleep(seconds)
            if (turns := self._spin.in_all - before) > STIRS:
                self._recorder.note("stirs", of=waiting, value=turns)
                return

    # The owner

    async def _own(self) -> None:
        while True:
            while self._todo:
                await self._do_own(self._todo.popleft())
            self._wanted = wanted = anyio.Event()
            await wanted.wait()

    async def _do_own(self, step: Step) -> None:
        if step.does not in WAITING:
            self._do_at_once(step)
        else:
            with anyio.CancelScope() as self._wait_scope:
                await self._do_waiting(step)

    async def _do_waiting(self, step: Step) -> None:
        self._waiting = number = self._recorder.begin(step=step)
        try:
            gave = await self._wait(step)
        except anyio.get_cancelled_exc_class():
            self._recorder.note("end", of=number, error="cancelled")
            raise
        except (Runaway, GeneratorExit):
            raise
        except BaseException as error:
            self._recorder.note("end", of=number, error=said(error))
        else:
            self._recorder.note("end", of=number, value=gave[0], mails=gave[1])
        finally:
            self._waiting = 0

    async def _wait(self, step: Step) -> Gave:
        processor = self._steps.processor
        if step.does == "take":
            return self._steps.take_over(await processor.mailbox.take(step.priority))
        if step.does == "run_one":
            await self._steps.executor(step.priority).run_one()
        else:
            await processor.run()
        return None, ()

    # The others

    def _do_at_once(self, step: Step) -> None:
        if step.does == "exclusively":
            self._section(step)
        else:
            self._steps.perform(step)

    def _do_as(self, step: Step) -> None:
        self._recorder.acting = step.by
        try:
            self._do_at_once(step)
        finally:
            self._recorder.acting = OWNER

    def _have_done(self, step: Step) -> None:
        """Let a sender's thread do a step, and run the step's jobs for the owner here meanwhile.

        A sender never waits for the owner's task.
        """
        done = self._hands[step.by].submit(self._do_at_once, step)
        done.add_done_callback(lambda _: self._asked.put(None))
        try:
            while (job := self._asked.get(timeout=ENDS_WITHIN)) is not None:
                job()
        except Empty:
            self._ending = f"broken: {step.does} of another thread was not over in {ENDS_WITHIN} s"
            raise Runaway from None
        self._outlast()

    def _section(self, step: Step) -> None:
        """Run a section; steps of other threads that come in meanwhile get a little time."""

        def within() -> str:
            for inner in step.within:
                self._do_within(inner, step.by)
            return "done"

        self._steps.perform(step, lambda: self._steps.processor.mailbox.run_exclusively(within))
        if step.by == OWNER:
            self._outlast()

    def _do_within(self, step: Step, by: str) -> None:
        if step.by == by or not self._hands:
            self._steps.perform(step)
            return
        task: Future[None] = Future()

        def own() -> None:
            self._steps.perform(step)
            task.set_result(None)

        if step.by == OWNER:
            self._asked.put(own)
        else:
            task = self._hands[step.by].submit(self._steps.perform, step)
        self._late.append(task)
        wait([task], ASKED if step.does == "has_mail" else HELD)

    def _outlast(self) -> None:
        wait(self._late, ENDS_WITHIN)
        self._late.clear()

    # Many at once

    async def _storm(self, step: Step) -> None:
        """Make all senders send their own mails at once."""
        assert step.mail is not None
        posts = {name: _storm_of(step.mail, name, step.number) for name in SENDERS}
        if not self._hands:
            async with anyio.create_task_group() as senders:
                for name, steps in posts.items():
                    senders.start_soon(self._send_all, name, steps)
            return
        jobs = [
            hand.submit(lambda steps: [*map(self._steps.perform, steps)], posts[name])
            for name, hand in self._hands.items()
        ]
        await anyio.to_thread.run_sync(partial(wait, jobs, ENDS_WITHIN))

    async def _send_all(self, name: str, steps: list[Step]) -> None:
        for step in steps:
            self._do_as(replace(step, by=name))
            await checkpoint()


def _storm_of(post: Post, name: str, count: int) -> list[Step]:
    return [
        Step("execute", name, replace(post, name=f"{post.name}-{name}{number}"))
        for number in range(count)
    ]
