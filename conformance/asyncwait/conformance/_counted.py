"""How many there are of something, in words."""

from collections.abc import Sequence

from asyncwait.spec.texts import one_line


def counted(count: int, one: str, more: str = "") -> str:
    """Return a number and the words for so many: "1 rule", "1,260 rules".

    Args:
        count: how many there are.
        one: the words for one.
        more: those for any other number; empty where an "s" behind the first makes them.
    """
    return f"{count:,} {one if count == 1 else more or f'{one}s'}"


def runs_in_error(errors: Sequence[str]) -> list[str]:
    """Return the part of a verdict line that tells of runs in error, and what the first was."""
    if not errors:
        return []
    first = one_line(errors[0].strip().partition("\n")[0])
    return [f"{counted(len(errors), 'run in error', 'runs in error')}: {first}"]
