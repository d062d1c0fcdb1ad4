"""A mailbox with an inbox without a lock of its own: the owner sorts what came when it looks."""

from queue import Empty, SimpleQueue

import anyio
from anyio.abc import ObjectReceiveStream, ObjectSendStream

from asyncwait.reference import Mail
from asyncwait.spec.mailbox import Loop
from odd.mailbox._shell import Shell


class SortsItsInbox(Shell):
    """Senders fill a `SimpleQueue`, as one would use `asyncio.Queue`; a stream wakes the owner."""

    def __init__(self, loop: Loop) -> None:
        super().__init__(loop)
        self._inbox: SimpleQueue[Mail] = SimpleQueue()
        self._sorted: dict[str, list[Mail]] = {"urgent": [], "batch": [], "plain": []}
        self._waker: tuple[ObjectSendStream[None], ObjectReceiveStream[None]] | None = None

    def __len__(self) -> int:
        return self._inbox.qsize() + sum(map(len, self._sorted.values()))

    def _keep(self, mail: Mail) -> None:
        self._inbox.put(mail)

    def create_batch(self) -> bool:
        self._sort()
        self._sorted["batch"] += self._sorted["plain"]
        self._sorted["plain"] = []
        return bool(self._sorted["urgent"] or self._sorted["batch"])

    def try_take_from_batch(self) -> Mail | None:
        self._sort(taking=True)
        for kind in ("urgent", "batch"):
            if self._sorted[kind]:
                return self._sorted[kind].pop(0)
        return None

    def try_take(self, priority: int, *, with_deferred: bool = False) -> Mail | None:
        self._sort(taking=True)
        for mails in self._sorted.values():
            for mail in mails:
                if mail.is_visible_to(priority, with_deferred=with_deferred):
                    mails.remove(mail)
                    return mail
        return None

    async def take(self, priority: int) -> Mail:
        self._waker = sending, waking = anyio.create_memory_object_stream[None](1)
        with sending, waking:
            while (mail := self.try_take(priority)) is None:
                await waking.receive()
        return mail

    def drain(self) -> list[Mail]:
        self._sort()
        mails = [mail for kind in self._sorted.values() for mail in kind]
        self._sorted = {kind: [] for kind in self._sorted}
        return mails

    def _sort(self, *, taking: bool = False) -> None:
        self._require(taking=taking)
        try:
            while True:
                mail = self._inbox.get_nowait()
                self._sorted["urgent" if mail.urgent else "plain"].append(mail)
        except Empty:
            return

    def _ring(self) -> None:
        if self._waker is not None:
            try:
                self._waker[0].send_nowait(None)  # type: ignore[attr-defined]
            except (anyio.WouldBlock, anyio.ClosedResourceError, anyio.BrokenResourceError):
                return
