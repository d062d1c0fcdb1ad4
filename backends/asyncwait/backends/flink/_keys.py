"""Keys on their way through Java: a token for each, which the tokens of its records tell."""

from typing import Any

from asyncwait.backends.flink._surroundings import proxy
from asyncwait.backends.flink._turns import Turns
from asyncwait.backends.flink._values import Tokens
from asyncwait.spec import Record
from asyncwait.toolkit import ByKey, invalid_key

_MARK = "@"


class _Key:
    """A key that is there."""

    __slots__ = ("is_stored", "records", "token")

    def __init__(self, token: str) -> None:
        self.token = token
        self.records = 0
        self.is_stored = False


class KeyedTokens(Tokens):
    """Tokens of records with keys: keys that are the same in Python (KEY-8) have the same one.

    A record or key that was in a snapshot, or is restored from one, is never forgotten: what the
    state of Flink holds of a key is overwritten only when the key is there again, and all later
    snapshots hold it until then (KO-12).
    """

    def __init__(self, turns: Turns) -> None:
        super().__init__()
        self._turns = turns
        self._keys: ByKey[_Key] = ByKey()
        self._known: dict[str, _Key] = {}
        self._stored: set[str] = set()
        self._count = 0

    def of_record(self, record: Record) -> str:
        """Return a new token for a record; it is asked for its key no more.

        Raises:
            InvalidKey: the key can't be compared with others.
        """
        key = self._turns.ask(lambda: self._key_of(record))
        key.records += 1
        return self.of(record, mark=_MARK + key.token)

    def _key_of(self, record: Record) -> _Key:
        try:
            key = self._keys.get(record.key)
            if key is None:
                self._count += 1
                key = _Key(f"k{self._count}")
                self._keys.put(record.key, key)
        except Exception as error:
            raise invalid_key(record, error) from error
        self._known[key.token] = key
        return key

    def of_stored(self, record: Record) -> str:
        """Return a new token for a record that is to be restored."""
        token = self.of_record(record)
        self.stored(token)
        return token

    def stored(self, token: Any) -> Record:
        """Return the record behind a token that is in a snapshot."""
        self._stored.add(str(token))
        self._known[key_of(token)].is_stored = True
        return super().stored(token)

    def taken(self, token: Any) -> Any:
        """Return what stands behind a token, and forget it, with its key if that has no other."""
        thing = self.meaning(token)
        key = self._known.get(key_of(token))
        if str(token) not in self._stored:
            super().taken(token)
        if key is not None:
            key.records -= 1
            if not key.records and not key.is_stored:
                self._forget(thing.key, key)
        return thing

    def _forget(self, given: Any, key: _Key) -> None:
        del self._known[key.token]
        self._turns.ask(lambda: self._keys.remove(given, key))


def key_of(token: Any) -> str:
    """Return the token of the key of the record with `token`."""
    return str(token).partition(_MARK)[2]


def key_selector() -> Any:
    """Return what tells Flink the key of a record."""
    return proxy("api.java.functions.KeySelector", {"getKey": key_of})
