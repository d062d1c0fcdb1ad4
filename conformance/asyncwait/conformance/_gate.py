"""What a verification goes by: names and options, and beside them the project's own file."""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path

from msgspec import Struct

from asyncwait.conformance._nearest import nearest
from asyncwait.conformance._settings import Settings, find_settings
from asyncwait.conformance.expected_failures.file import Entry, Terms, read_entries
from asyncwait.spec import InvalidConfig


def today() -> date:
    """Return the day, the same at every place: that of UTC."""
    return datetime.now(tz=UTC).date()


class Gate(Struct, frozen=True):
    """What backends are held to.

    Args:
        settings: of the project; None where they are about none of these backends.
        file: of expected failures; None for none.
    """

    names: tuple[str, ...]
    present: Path
    day: date
    settings: Settings | None = None
    file: Path | None = None
    entries: tuple[Entry, ...] = ()
    is_given: bool = False
    is_named: bool = True

    def folder(self, name: str) -> str:
        """Return where the module of a backend may stand."""
        settings = self.settings
        return str(settings.folder if settings and name in settings.backends else self.present)

    def terms(self, name: str) -> Terms:
        """Return what is said of a backend."""
        is_ours = self.settings is not None and self.settings.speaks_of(name)
        spec = self.settings.spec if self.settings and is_ours else ""
        if self.file is None or not (self.is_given or is_ours):
            return Terms(spec=spec)
        return Terms(self.entries, self.file.name, self.day, spec)

    @property
    def is_whole(self) -> bool:
        """Whether these are all the backends that the project names, and it names some."""
        ours = self.settings.backends if self.settings else ()
        return bool(ours) and set(self.names) == set(ours)

    @property
    def seed(self) -> int | None:
        """The seed of the project, if it is about all of these backends."""
        return self.settings.seed if self.settings and self._are_ours else None

    @property
    def count(self) -> int | None:
        """The count of the project, if it is about all of these backends."""
        return self.settings.count if self.settings and self._are_ours else None

    @property
    def _are_ours(self) -> bool:
        return self.settings is not None and all(map(self.settings.speaks_of, self.names))

    @property
    def strays(self) -> tuple[str, ...]:
        """A line on each entry that is about a backend that is not among these."""
        file = self.file.name if self.file else ""
        whose = "is none of the project's" if self.is_whole else "is not verified here"
        return tuple(
            f"{file}: entry {place} ({each.rule}): the backend {each.backend!r} {whose}"
            f"{nearest(each.backend, self.names)}"
            for place, each in enumerate(self.entries, 1)
            if each.backend not in {"", *self.names}
        )

    @property
    def unsaid(self) -> str:
        """A line on the entries here that expect a rule to fail in any way; empty if none does."""
        here = [entry for entry in self.entries if any(map(entry.speaks_of, self.names))]
        rules = ", ".join(entry.rule for entry in here if not entry.how)
        if self.file is None or not rules:
            return ""
        return (
            f"{self.file.name}: {rules}: the entry does not say how it fails, and hides any other "
            "failure of its rule; --update-expected-failures writes it"
        )

    def taken(self, *others: str) -> str:
        """Return a line on what comes from the project's file; empty if nothing does."""
        if self.settings is None:
            return ""
        found = {
            "backend": "" if self.is_named else ", ".join(self.names),
            "spec": self.settings.spec,
            "expected-failures": "" if self.is_given or self.file is None else self.file.name,
            "seed": self.seed,
            "count": self.count,
        }
        told = [f"{k} {v}" for k, v in found.items() if v not in {"", None} and k not in others]
        return f"{self.settings.where}: {', '.join(told)}" if told else ""


def gate_of(
    named: Sequence[str],
    folder: Path,
    expected_failures: Path | None = None,
    *,
    creates: bool = False,
) -> Gate:
    """Return what is to be verified, and what it is held to.

    Args:
        named: names that were given; if there are none, the project has them.
        folder: the present one.
        expected_failures: the file that was given.
        creates: a file that is not there is as good as an empty one.

    Raises:
        InvalidConfig: the project's file or that of the expected failures is wrong, or they don't
            fit: an entry is about a backend that is not among the project's, which are all here.
    """
    settings = find_settings(folder)
    names = tuple(dict.fromkeys(named)) or (settings.backends if settings else ())
    if settings is not None and not any(map(settings.speaks_of, names)):
        settings = None
    file = expected_failures or (settings.expected_failures if settings else None)
    is_there = file is not None and (not creates or file.exists())
    gate = Gate(
        names,
        folder,
        today(),
        settings,
        file,
        read_entries(file) if file is not None and is_there else (),
        expected_failures is not None,
        bool(named),
    )
    if gate.is_whole and gate.strays:  # nothing will ever show it
        raise InvalidConfig(gate.strays[0])
    return gate
