"""Steps of a program on a mailbox, and the recorder of events of all threads."""

import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeAlias

from asyncwait.conformance.harness import line_of, shown
from asyncwait.spec.mailbox import (
    Controller,
    Executor,
    Mail,
    Mailbox,
    MailboxClosedError,
    Processor,
    Suspension,
)
from asyncwait.spec.mailbox.program import OWNER, FutureSeen, Post, Seen, Step, Value

MOST_EVENTS = 20_000
"""Longest trace, in events: a mailbox that makes more of any program goes round in circles."""


class Runaway(BaseException):
    """The program makes too many events. A mailbox must not catch this as the error of a mail."""


class PlannedError(Exception):
    """Planned error of a mail."""

    def __init__(self, mail: str) -> None:
        super().__init__(f"raised by {mail}, as planned")
        self.mail = mail


class Recorder:
    """The events of one program in one order, and the sender that acts in each thread."""

    def __init__(self) -> None:
        self.events: list[Seen] = []
        self.acting = OWNER  # in the owner's thread
        self._lock = threading.Lock()
        self._threads: dict[int, str] = {}
        self._steps = 0

    def enlist(self, name: str) -> None:
        """Attribute the steps of the present thread to a sender."""
        self._threads[threading.get_ident()] = name

    def who(self) -> str:
        """Return the name of the owner or sender that the present thread acts for."""
        return self._threads.get(threading.get_ident(), self.acting)

    def begin(self, **what: Any) -> int:
        """Note that a step begins; return the number of its execution."""
        with self._lock:
            self._steps += 1
            number = self._steps
        self.note("begin", of=number, **what)
        return number

    def note(self, kind: Any, **what: Any) -> None:
        """Note an event.

        Raises:
            Runaway: the trace has too many events.
        """
        event = Seen(kind, by=self.who(), **what)
        with self._lock:
            if len(self.events) >= MOST_EVENTS:
                raise Runaway
            self.events.append(event)


def said(error: BaseException | None) -> str:
    """Return the text for an error in a trace."""
    match error:
        case None:
            return ""
        case PlannedError():
            return f"raised {error.mail}"
        case MailboxClosedError():
            return "closed"
        case RuntimeError():
            return "refused"
        case _:
            return line_of(error)


Gave: TypeAlias = tuple[Value, tuple[str, ...]]
"""The value of a step, and the mails that it took or gave back."""

ACTION = "action"
"""The name of the error that the default action raises."""

_COMPLETE = Step("all_actions_completed")


class Steps:
    """Does the steps that never wait, and makes the mails and the default action."""

    processor: Processor

    def __init__(self, recorder: Recorder, action: tuple[tuple[Step, ...], ...]) -> None:
        self._recorder = recorder
        self._action = action
        self._controller: Controller | None = None  # given to the default action
        self._runs = 0
        self._executors: dict[int, Executor] = {}
        self._suspensions: list[Suspension] = []
        self._futures: dict[str, Future[Any]] = {}
        self._verbs: Mapping[str, Callable[[Step], Any]] = {
            "execute": lambda step: self._send(step, "execute"),
            "submit": self._submit,
            "create_batch": lambda _: self._mailbox.create_batch(),
            "has_mail": lambda _: self._mailbox.has_mail,
            "quiesce": lambda _: self._mailbox.quiesce(),
            "try_run_one": self._try_run_one,
            "suspend_action": lambda _: self._suspend(),
            "resume": self._resume,
            "suspend": lambda _: self.processor.suspend(),
            "all_actions_completed": lambda _: self._steered().all_actions_completed(),
        }
        self._takes: Mapping[str, Callable[[Step], Iterable[Mail | None]]] = {
            "try_take_from_batch": lambda _: [self._mailbox.try_take_from_batch()],
            "try_take": lambda step: [self._mailbox.try_take(step.priority)],
            "drain": lambda _: self._mailbox.drain(),
            "close": lambda _: self._mailbox.close(),
        }

    @property
    def _mailbox(self) -> Mailbox:
        return self.processor.mailbox

    def executor(self, priority: int) -> Executor:
        """Return the executor of a priority, always the same one."""
        if priority not in self._executors:
            self._executors[priority] = self.processor.executor(priority)
        return self._executors[priority]

    def perform(self, step: Step, do: Callable[[], Any] | None = None) -> None:
        """Do a step that can't wait, and record its outcome, errors too.

        Args:
            step: the step.
            do: does the step in place of the method `do`, and returns its value.
        """
        number = self._recorder.begin(step=step)
        try:
            gave: Gave = self.do(step) if do is None else (_plain(do()), ())
        except Runaway:
            raise
        except BaseException as error:
            self._recorder.note("end", of=number, error=said(error))
        else:
            self._recorder.note("end", of=number, value=gave[0], mails=gave[1])

    def do(self, step: Step) -> Gave:
        """Do a step that can't wait; return its outcome."""
        if step.does in self._takes:
            mails = [mail for mail in self._takes[step.does](step) if mail is not None]
            names = tuple(str(mail.description) for mail in mails)
            if step.does.startswith("try"):
                for mail in mails:
                    self.run_taken(mail)
            return None, names
        return _plain(self._verbs[step.does](step)), ()

    def take_over(self, mail: Mail) -> Gave:
        """Run the `mail` that a step took; return the outcome of the step."""
        name = str(mail.description)
        self.run_taken(mail)
        return None, (name,)

    def run_taken(self, mail: Mail) -> None:
        """Run a mail that was taken; the recorder has its error already."""
        with suppress(PlannedError):
            mail.run()

    def futures_seen(self) -> tuple[FutureSeen, ...]:
        """Return the states of the futures."""
        return tuple(FutureSeen(mail, _state(future)) for mail, future in self._futures.items())

    def act(self, controller: Controller) -> None:
        """Run as the default action; from now on steps steer the loop by `controller`.

        The controller may be another object than the processor.
        """
        self._controller = controller
        number, self._runs = self._runs, self._runs + 1
        self._recorder.note("action", of=number)
        steps = self._action[number] if number < len(self._action) else (_COMPLETE,)
        for step in steps:
            if step.does == "fail":
                error = PlannedError(ACTION)
                self._recorder.note("acted", of=number, error=said(error))
                raise error
            self.perform(step)
        self._recorder.note("acted", of=number)

    # The verbs that are more than a call

    def _send(self, step: Step, verb: str) -> Any:
        post = step.mail
        assert post is not None
        return getattr(self.executor(post.priority), verb)(
            lambda: self._run(post),
            urgent=post.urgent,
            deferrable=post.deferrable,
            description=post.name,
        )

    def _submit(self, step: Step) -> None:
        assert step.mail is not None
        self._futures[step.mail.name] = self._send(step, "submit")

    def _run(self, post: Post) -> str:
        self._recorder.note("run", mail=post.name)
        for step in post.does:
            self.perform(step)
        error = PlannedError(post.name) if post.raises else None
        self._recorder.note("ran", mail=post.name, error=said(error))
        if error is not None:
            raise error
        return post.name

    def _try_run_one(self, step: Step) -> bool:
        executor = self.executor(step.priority)
        if step.with_deferred:
            return executor.try_run_one(with_deferred=True)
        return executor.try_run_one()

    def _steered(self) -> Controller:
        return self._controller or self.processor

    def _suspend(self) -> None:
        self._suspensions.append(self._steered().suspend_default_action())

    def _resume(self, step: Step) -> None:
        if step.number < len(self._suspensions):
            self._suspensions[step.number].resume()


def _plain(value: object) -> Value:
    return value if value is None or isinstance(value, bool | int | str) else shown(value)


def _state(future: Future[Any]) -> str:
    if not future.done():
        return "pending"
    if future.cancelled():
        return "cancelled"
    error = future.exception()
    return f"returned {shown(future.result())}" if error is None else said(error)
