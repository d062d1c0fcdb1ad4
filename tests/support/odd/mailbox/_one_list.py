"""A mailbox that is one list under one lock: where a mail stands in it says everything."""

import anyio

from asyncwait.reference import MAIN, Mail
from asyncwait.spec.mailbox import Loop
from odd.mailbox._shell import Shell


class KeepsOneList(Shell):
    """Urgent mails stand first, then the batch, then the others; two numbers tell the borders."""

    def __init__(self, loop: Loop) -> None:
        super().__init__(loop)
        self._mails: list[Mail] = []
        self._urgent = 0
        self._batch = 0
        self._bells: list[anyio.Event] = []

    def __len__(self) -> int:
        return len(self._mails)

    def _keep(self, mail: Mail) -> None:
        self._mails.insert(self._urgent if mail.urgent else len(self._mails), mail)
        self._urgent += mail.urgent

    def create_batch(self) -> bool:
        """Move the border to the end."""
        self._require()
        with self._lock:
            self._batch = len(self._mails) - self._urgent
            return bool(self._mails)

    def try_take_from_batch(self) -> Mail | None:
        """Take the first, if that is not beyond the border."""
        self._require(taking=True)
        with self._lock:
            return self._pop(0) if self._urgent + self._batch > 0 else None

    def try_take(self, priority: int, *, with_deferred: bool = False) -> Mail | None:
        """Take the first that is seen."""
        self._require(taking=True)
        with self._lock:
            for place, mail in enumerate(self._mails):
                own = MAIN if mail.deferrable and not with_deferred else mail.priority
                if own >= priority:
                    return self._pop(place)
        return None

    async def take(self, priority: int) -> Mail:
        """Look each time that it rings."""
        while True:
            bell = anyio.Event()
            self._bells.append(bell)
            if (mail := self.try_take(priority)) is not None:
                return mail
            await bell.wait()

    def drain(self) -> list[Mail]:
        """Take the whole list."""
        self._require()
        with self._lock:
            mails, self._mails = self._mails, []
            self._urgent = self._batch = 0
        return mails

    def _pop(self, place: int) -> Mail:
        if place < self._urgent:
            self._urgent -= 1
        elif place < self._urgent + self._batch:
            self._batch -= 1
        return self._mails.pop(place)

    def _ring(self) -> None:
        bells, self._bells = self._bells, []
        for bell in bells:
            bell.set()
