"""MBX-15 to MBX-27: batches, urgent mails and mails that can be deferred, misunderstood."""

from msgspec.structs import replace

from asyncwait.backends.faulty.mailbox._gallery import FaultyMailbox
from asyncwait.reference import MAIN, Mail, MailboxExecutor, TaskMailbox
from asyncwait.spec.mailbox import HIGHEST


class MakesShortBatches(TaskMailbox):
    """Moves a single mail when it makes a batch."""

    def create_batch(self) -> bool:
        with self._lock:
            if self._queue:
                self._batch.append(self._queue.popleft())
        return bool(self._urgent or self._batch)


class TakesTheNewWithTheBatch(TaskMailbox):
    """Goes on with the queue when the batch is empty: FLINK-14304."""

    def try_take_from_batch(self) -> Mail | None:
        return self.try_take(MAIN)


class LooksIntoTheQueueFirst(TaskMailbox):
    """Takes from the queue as long as there is something, and from the batch then."""

    def try_take(self, priority: int, *, with_deferred: bool = False) -> Mail | None:
        batch, self._batch = self._batch, type(self._batch)()
        try:
            mail = super().try_take(priority, with_deferred=with_deferred)
        finally:
            self._batch = batch
        return mail or super().try_take(priority, with_deferred=with_deferred)


class TellsWhetherItAddedAnything(TaskMailbox):
    """Takes a batch that was left for none."""

    def create_batch(self) -> bool:
        added = bool(self._queue or self._urgent)
        super().create_batch()
        return added


class KnowsNoUrgency(TaskMailbox):
    """Puts each mail behind the others."""

    def put(self, mail: Mail) -> None:
        super().put(replace(mail, urgent=False))


class LetsTheUrgentWaitForTheBatch(TaskMailbox):
    """Looks at urgent mails when the batch is empty: FLINK-35051."""

    def try_take_from_batch(self) -> Mail | None:
        return self._batch.popleft() if self._batch else super().try_take_from_batch()


class TakesTheLastUrgentFirst(TaskMailbox):
    """Puts each urgent mail in front of all, as Flink did until 2.1."""

    def put(self, mail: Mail) -> None:
        with self._lock:
            super().put(mail)
            self._urgent.rotate(mail.urgent)


class ShowsTheUrgentToAll(TaskMailbox):
    """Takes urgency for the highest priority."""

    def put(self, mail: Mail) -> None:
        super().put(replace(mail, priority=HIGHEST) if mail.urgent else mail)


class LetsTheUrgentKeepOthersOut(TaskMailbox):
    """Makes no batch while an urgent mail waits: FLINK-39898."""

    def create_batch(self) -> bool:
        return True if self._urgent else super().create_batch()


class KnowsNoDeferring(TaskMailbox):
    """Shows a mail that can be deferred to whoever has the priority for it."""

    def put(self, mail: Mail) -> None:
        super().put(replace(mail, deferrable=False))


class PutsTheDeferrableLast(TaskMailbox):
    """Gives the main loop what can be deferred when there is nothing else."""

    def try_take(self, priority: int, *, with_deferred: bool = False) -> Mail | None:
        for mails in (self._urgent, self._batch, self._queue):
            for mail in mails if priority == MAIN else ():
                if not mail.deferrable:
                    mails.remove(mail)
                    return mail
        return super().try_take(priority, with_deferred=with_deferred)


class FinishesWithoutTheDeferred(MailboxExecutor):
    """Leaves what was deferred behind at the end: FLINK-39481."""

    def try_run_one(self, *, with_deferred: bool = False) -> bool:  # noqa: ARG002 - that is the fault
        return super().try_run_one()


class FinishesWhatIsNotItsOwn(MailboxExecutor):
    """Runs everything that is left, whoever has sent it."""

    def try_run_one(self, *, with_deferred: bool = False) -> bool:
        if not with_deferred:
            return super().try_run_one()
        mail = self._mailbox.try_take(MAIN)
        if mail is not None:
            mail.run()
        return mail is not None


FAULTS = (
    FaultyMailbox("MBX-15", MakesShortBatches),
    FaultyMailbox("MBX-16", TakesTheNewWithTheBatch),
    FaultyMailbox("MBX-17", LooksIntoTheQueueFirst),
    FaultyMailbox("MBX-18", TellsWhetherItAddedAnything),
    FaultyMailbox("MBX-19", KnowsNoUrgency),
    FaultyMailbox("MBX-20", LetsTheUrgentWaitForTheBatch),
    FaultyMailbox("MBX-21", TakesTheLastUrgentFirst),
    FaultyMailbox("MBX-22", ShowsTheUrgentToAll),
    FaultyMailbox("MBX-23", LetsTheUrgentKeepOthersOut),
    FaultyMailbox("MBX-24", KnowsNoDeferring),
    FaultyMailbox("MBX-25", PutsTheDeferrableLast),
    FaultyMailbox("MBX-26", FinishesWithoutTheDeferred),
    FaultyMailbox("MBX-27", FinishesWhatIsNotItsOwn),
)
