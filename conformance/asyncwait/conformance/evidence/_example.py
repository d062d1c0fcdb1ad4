"""What an example is: a scenario worth a name."""

from msgspec import Struct

from asyncwait.spec.scenario import Scenario


class Example(Struct, frozen=True):
    """A hand-written scenario.

    Args:
        name: short, in words joined by hyphens; unique.
        rules: ids of the rules that it is about; each of them applies in it.
        sentence: what it shows.
        scenario: what is played. Every rule judges it, not only those named.
    """

    name: str
    rules: tuple[str, ...]
    sentence: str
    scenario: Scenario
