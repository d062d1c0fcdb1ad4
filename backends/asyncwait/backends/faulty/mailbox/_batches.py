"""MBX-15 to MBX-27: batches, urgent mails and deferrable mails handled wrongly."""

from msgspec.structs import replace

from asyncwait.backends.faulty.mailbox._gallery import breaks
from asyncwait.reference import MAIN, Mail, MailboxExecutor, TaskMailbox
from asyncwait.spec.mailbox import HIGHEST


@breaks("MBX-15")
class MakesShortBatches(TaskMailbox):
    """Moves only one mail into each batch."""

    def create_batch(self) -> bool:
        with self._lock:
            if self._queue:
                self._batch.append(self._queue.popleft())
        return bool(self._urgent or self._batch)


@breaks("MBX-16")
class TakesTheNewWithTheBatch(TaskMailbox):
    """Takes mails from the queue when the batch is empty: FLINK-14304."""

    def try_take_from_batch(self) -> Mail | None:
        return self.try_take(MAIN)


@breaks("MBX-17")
class LooksIntoTheQueueFirst(TaskMailbox):
    """Takes mails from the queue before those of the batch."""

    def try_take(self, priority: int, *, with_deferred: bool = False) -> Mail | None:
        batch, self._batch = self._batch, type(self._batch)()
        try:
            mail = super().try_take(priority, with_deferred=with_deferred)
        finally:
            self._batch = batch
        return mail or super().try_take(priority, with_deferred=with_deferred)


@breaks("MBX-18")
class TellsWhetherItAddedAnything(TaskMailbox):
    """Reports no batch if it added no mail, although an earlier batch has mails left."""

    def create_batch(self) -> bool:
        added = bool(self._queue or self._urgent)
        super().create_batch()
        return added


@breaks("MBX-19")
class KnowsNoUrgency(TaskMailbox):
    """Treats urgent mails like other mails."""

    def put(self, mail: Mail) -> None:
        super().put(replace(mail, urgent=False))


@breaks("MBX-20")
class LetsTheUrgentWaitForTheBatch(TaskMailbox):
    """Takes urgent mails only when the batch is empty: FLINK-35051."""

    def try_take_from_batch(self) -> Mail | None:
        return self._batch.popleft() if self._batch else super().try_take_from_batch()


@breaks("MBX-21")
class TakesTheLastUrgentFirst(TaskMailbox):
    """Puts each urgent mail before all others, as Flink did until 2.1."""

    def put(self, mail: Mail) -> None:
        with self._lock:
            super().put(mail)
            self._urgent.rotate(mail.urgent)


@breaks("MBX-22")
class ShowsTheUrgentToAll(TaskMailbox):
    """Gives urgent mails the highest priority."""

    def put(self, mail: Mail) -> None:
        super().put(replace(mail, priority=HIGHEST) if mail.urgent else mail)


@breaks("MBX-23")
class LetsTheUrgentKeepOthersOut(TaskMailbox):
    """Makes no batch while an urgent mail waits: FLINK-39898."""

    def create_batch(self) -> bool:
        return True if self._urgent else super().create_batch()


@breaks("MBX-24")
class KnowsNoDeferring(TaskMailbox):
    """Treats deferrable mails like other mails."""

    def put(self, mail: Mail) -> None:
        super().put(replace(mail, deferrable=False))


@breaks("MBX-25")
class PutsTheDeferrableLast(TaskMailbox):
    """Gives the main loop deferrable mails only if no other mail waits."""

    def try_take(self, priority: int, *, with_deferred: bool = False) -> Mail | None:
        for mails in (self._urgent, self._batch, self._queue):
            for mail in mails if priority == MAIN else ():
                if not mail.deferrable:
                    mails.remove(mail)
                    return mail
        return super().try_take(priority, with_deferred=with_deferred)


@breaks("MBX-26")
class FinishesWithoutTheDeferred(MailboxExecutor):
    """Does not run the deferred mails at the end: FLINK-39481."""

    def try_run_one(self, *, with_deferred: bool = False) -> bool:  # noqa: ARG002 - that is the fault
        return super().try_run_one()


@breaks("MBX-27")
class FinishesWhatIsNotItsOwn(MailboxExecutor):
    """Runs all remaining mails at the end, even mails of other operators."""

    def try_run_one(self, *, with_deferred: bool = False) -> bool:
        if not with_deferred:
            return super().try_run_one()
        mail = self._mailbox.try_take(MAIN)
        if mail is not None:
            mail.run()
        return mail is not None
