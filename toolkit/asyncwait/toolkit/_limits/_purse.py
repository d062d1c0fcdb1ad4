"""What has been spent of a budget, in this run, or as a file remembers it for several."""

from math import inf

from asyncwait.spec import InvalidConfig
from asyncwait.spec.checks import require_posix
from asyncwait.toolkit._limits._meters import ROUNDING, Turn
from asyncwait.toolkit._limits._vocabulary import Budget, BudgetSpent


class Purse:
    """A budget as a meter: see `Budget`.

    Args:
        budget: what may be spent.
        place: of its costs among those of a turn.

    Raises:
        InvalidConfig: the file of the budget is of another unit, or no such file.
        LedgerLost: the budget must exist, and its file does not.
    """

    def __init__(self, budget: Budget, place: int) -> None:
        self._budget = budget
        self._place = place
        self._is_told = budget.cost is None and budget.unit != "calls"
        """Whether only a `Cost` tells what a call has cost."""
        self._dearest: float | None = None
        """What the dearest call has cost, of those that have told it."""
        self._spent = 0.0
        self._open = 0
        self.file = None
        """What remembers it for several runs; None if nothing does."""
        if budget.path is not None:
            require_posix("a Budget with a file")
            from asyncwait.toolkit._limits._spending import SpendingFile

            self.file = SpendingFile(budget.path, budget.unit, exists=budget.exists)
        elif budget.exists:
            expected = "False for a budget without a path or a Redis, which ends with its run"
            raise InvalidConfig.of("Budget.exists", True, expected)

    def delay(self, turn: Turn) -> float:
        """Return 0; or infinity while calls run that may cost less than was thought.

        Raises:
            BudgetSpent: nothing more is left for such a call.
        """
        budget = self._budget
        spent = self._spent if self.file is None else self.file.spent()
        amount = self._thought(turn)
        is_blind = self._is_told and not amount and self._dearest is None and self._open > 0
        if spent < budget.amount and spent + amount <= budget.amount * ROUNDING and not is_blind:
            return 0
        if self._open:
            return inf
        place = "" if budget.path is None else f", as {budget.path} has it"
        cost = f", of {amount:.10g}," if amount else ""
        raise BudgetSpent(
            f"{spent:.10g} of a budget of {budget.amount:.10g} {budget.unit} are spent{place}: "
            f"the next call{cost} is not made; go on with a larger Budget: what no journal has is "
            "called and paid for again"
        )

    def _thought(self, turn: Turn) -> float:
        """Return what a call will cost, as far as one knows: the file may know of dearer ones."""
        if not self._is_told:
            return turn.amounts[self._place]
        return max(self._dearest or 0.0, 0.0 if self.file is None else self.file.largest)

    def take(self, turn: Turn) -> None:
        """Count a call."""
        self._open += 1
        turn.amounts[self._place] = amount = self._thought(turn)
        self._spend(amount)

    def begin(self, _: Turn) -> None:
        """Nothing changes."""

    def end(self, turn: Turn) -> None:
        """Note what a call has cost; one that has not begun has cost nothing."""
        self._open -= 1
        thought = turn.amounts[self._place]
        told = turn.told[self._place] if turn.told else None
        if turn.began == inf:
            told = 0.0
        elif told is not None:
            self._dearest = max(told, self._dearest or 0.0)
        if told is not None:
            self._spend(told - thought)

    def _spend(self, amount: float) -> None:
        if self.file is None:
            self._spent += amount
        elif amount:
            self.file.add(amount)

    def close(self) -> None:
        """Let go of the file."""
        if self.file is not None:
            self.file.close()
