"""That the context of an operator is entered and left once."""


class SingleEntry:
    """Has a context entered once: a second entry would find a source that was read, unnoticed.

    An entry that is refused leaves the first one as it is.
    """

    def __init__(self) -> None:
        self._was_entered = self._was_left = False

    def enter(self) -> None:
        """Note that the context is being entered.

        Raises:
            RuntimeError: it was before.
        """
        if self._was_entered:
            raise RuntimeError("an operator is entered once: open another one for another stream")
        self._was_entered = True

    def leave(self) -> None:
        """Note that the context is being left.

        Raises:
            RuntimeError: it was before, or was never entered.
        """
        if self._was_left or not self._was_entered:
            how = "before" if self._was_left else "and not entered"
            raise RuntimeError(f"the operator was left {how}: use `async with`")
        self._was_left = True
