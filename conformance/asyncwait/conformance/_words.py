"""Names and numbers in words: plurals, suggestions for a wrong name, problems of a table."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

from asyncwait.spec import InvalidConfig
from asyncwait.spec.rules import carry_rules, mailbox_rules
from asyncwait.spec.texts import one_line


def counted(count: int, one: str, more: str = "") -> str:
    """Return a number and its noun: "1 rule", "1,260 rules".

    Args:
        count: the number.
        one: the noun for one.
        more: the noun for any other number; empty if it is `one` with an "s".
    """
    return f"{count:,} {one if count == 1 else more or f'{one}s'}"


def runs_in_error(errors: Sequence[str]) -> list[str]:
    """Return the part of a verdict line about runs in error, with the first error."""
    if not errors:
        return []
    first = one_line(errors[0].strip().partition("\n")[0])
    return [f"{counted(len(errors), 'run in error', 'runs in error')}: {first}"]


MOST = 3
"""Most names in a suggestion."""


def nearest(name: str, known: Iterable[str], shown: Callable[[str], str] = str) -> str:
    """Return a question to append to an error about `name`; empty if no name is like it."""
    by_lower = {each.lower(): each for each in known}
    close = get_close_matches(name.lower(), by_lower, MOST)
    suggested = dict.fromkeys(shown(by_lower[each]) for each in close)
    return f"; did you mean {' or '.join(suggested)}?" if suggested else ""


def slip_in(name: str, rule: str, known: Collection[str]) -> str:
    """Return the problem with the id of a rule; empty if the rule is known."""
    if rule in known:
        return ""
    if rule in mailbox_rules():
        return (
            f"{name}: {rule} is a rule of the task mailbox, to which no operator is held; "
            "see: asyncwait verify --mailbox"
        )
    if rule in carry_rules():
        return f"{name}: {rule} is a rule of lanes and hosts, to which no operator is held"
    wrong = InvalidConfig.of(name, rule, "the id of a rule; see: asyncwait rules")
    return f"{wrong}{nearest(rule, known)}"


class Key(NamedTuple):
    """The permitted values of a key of a table, their description, and names to suggest."""

    fits: Callable[[Any], bool]
    expected: str
    names: Collection[str] = ()


def is_text(value: object) -> bool:
    """Whether it is a text that is not empty."""
    return isinstance(value, str) and bool(value.strip())


def slips_in_table(table: Mapping[str, Any], keys: Mapping[str, Key]) -> Iterator[str]:
    """Yield the problems with the keys of a table, and with their values."""
    for name, value in table.items():
        if name not in keys:
            yield f"there is no key {name!r}; there are {', '.join(keys)}{nearest(name, keys)}"
        elif not keys[name].fits(value):
            near = nearest(value, keys[name].names) if isinstance(value, str) else ""
            yield f"{InvalidConfig.of(name, value, keys[name].expected)}{near}"


def figure_text(figure: float | tuple[int, ...]) -> str:
    """Return a figure as text; a program may report an integer that no float can hold."""
    if isinstance(figure, tuple):  # one for each limit
        return "+".join(map(str, figure))
    return str(figure) if isinstance(figure, int) else f"{figure:g}"
