"""What becomes of the entries of a file: some show, some have to go, of some nothing is known."""

from collections.abc import Collection, Iterator, Mapping
from datetime import date

from msgspec import Struct

from asyncwait.conformance.expectations._entry import Entry
from asyncwait.conformance.verdict import Verdict


class Fate(Struct, frozen=True):
    """What a run says of one entry.

    Args:
        entry: the entry.
        asking: backends that it is about, of those that were to be verified.
        needing: those of them whose runs show it.
        unjudged: why nothing is known of it, by the others of which that is so.
    """

    entry: Entry
    asking: tuple[str, ...]
    needing: frozenset[str]
    unjudged: Mapping[str, str]

    @property
    def keeping(self) -> tuple[str, ...]:
        """The backends for which it stays."""
        return tuple(b for b in self.asking if b in self.needing or b in self.unjudged)

    def lines(self, today: date) -> Iterator[str]:
        """Yield what becomes of it, for people; nothing where all is as it was."""
        rule, of = self.entry.rule, of_backend(self.entry.backend)
        if self.asking and not self.keeping:
            yield f"{rule} dropped{of}: nothing shows it any more"
        elif self.keeping != self.asking:
            yield f"{rule} kept for {', '.join(self.keeping)} only"
        elif self.asking and self.entry.is_over(today):
            yield f"{rule} left as it is{of}: it expired on {self.entry.expires}"
        for backend, why in self.unjudged.items():
            whose = of_backend(backend) if len(self.asking) > 1 else of
            yield f"{rule} kept{whose}: it was not judged ({why})"


def fate_of(
    entry: Entry, wanted: Mapping[str, Collection[str]], unjudged: Mapping[str, Mapping[str, str]]
) -> Fate:
    """Return what becomes of an entry.

    Args:
        entry: it.
        wanted: the rules that have to have an entry, by the backends that were to be verified.
        unjudged: why a rule was not judged, by backend and rule.
    """
    asking = tuple(backend for backend in wanted if entry.speaks_of(backend))
    needing = frozenset(backend for backend in asking if entry.rule in wanted[backend])
    others = {
        backend: why
        for backend in asking
        if backend not in needing and (why := unjudged[backend].get(entry.rule, ""))
    }
    return Fate(entry, asking, needing, others)


def unjudged_in(verdict: Verdict) -> dict[str, str]:
    """Return why nothing is known of a rule, by its id."""
    return {r.rule.id: f"{r.status}: {r.note}" for r in verdict.results if r.is_open}


def of_backend(name: str) -> str:
    """Return whose an entry is, to be put behind its rule; nothing for everybody's."""
    return f" for {name}" if name else ""
