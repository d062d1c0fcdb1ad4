"""What tables and functions have given, for the next task of this process that asks the same one.

Spark has a worker run one task after the other. A task takes what is kept out of here, so that
nobody else has it meanwhile, and puts it back at its end.
"""

from collections import OrderedDict
from collections.abc import Callable, Generator
from contextlib import contextmanager
from threading import Lock
from typing import Any, TypeVar

MOST = 8
"""Tables and functions of which something is kept; that of the one used longest ago goes first."""

K = TypeVar("K")

_kept: OrderedDict[bytes, Any] = OrderedDict()
_lock = Lock()


@contextmanager
def kept(identity: bytes, make: Callable[[], K]) -> Generator[K]:
    """Lend what is kept of a table or function, or what `make` makes for the first time.

    Args:
        identity: of that, and of all on which it depends what is kept.
        make: makes it while nothing is kept.
    """
    with _lock:
        found = _kept.pop(identity, None)
    store: K = make() if found is None else found
    try:
        yield store
    finally:
        with _lock:
            _kept[identity] = store
            while len(_kept) > MOST:
                _kept.popitem(last=False)
