"""Settings of a verification: names and options, and the project's own file."""

import tomllib
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from msgspec import Struct

from asyncwait.conformance._bounded import file_bytes
from asyncwait.conformance._words import Key, is_text, slips_in_table
from asyncwait.conformance.expected_failures.file import Entry, Terms, read_entries
from asyncwait.spec import InvalidConfig
from asyncwait.spec.checks import is_whole
from asyncwait.spec.rules import version_key

FILE = "pyproject.toml"
TABLE = "tool.asyncwait"


class Settings(Struct, frozen=True):
    """The table `[tool.asyncwait]`.

    Args:
        backends: their names; empty if the table is about any backend.
        spec: the version of the specification that they claim; empty for the newest.
        expected_failures: the file of expected failures; None for none.
    """

    file: Path
    backends: tuple[str, ...] = ()
    spec: str = ""
    expected_failures: Path | None = None
    seed: int | None = None
    count: int | None = None

    def speaks_of(self, backend: str) -> bool:
        """Whether the table is about the backend of that name."""
        return not self.backends or backend in self.backends

    @property
    def folder(self) -> Path:
        """The folder in which the modules of its backends may be."""
        return self.file.parent

    @property
    def where(self) -> str:
        """The name of the table in messages."""
        return f"{self.file} [{TABLE}]"


def find_settings(folder: Path) -> Settings | None:
    """Return the settings in `folder` or nearest above it, if there are any.

    Raises:
        InvalidConfig: a project file on the way can't be read, or the table is wrong; the message
            names the file and the key.
    """
    for place in (folder, *folder.parents):
        file = place / FILE
        if file.is_file() and (table := _table(file)) is not None:
            return _settings(file, table)
    return None


def _table(file: Path) -> Any:
    try:
        project = tomllib.loads(file_bytes(file).decode())
    except OSError as error:
        raise InvalidConfig(f"{file} can't be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:  # of TOML and of UTF-8
        raise InvalidConfig(f"{file}: this is no TOML: {error}") from error
    tool = project.get("tool")
    return tool.get("asyncwait") if isinstance(tool, dict) else None


def _settings(file: Path, table: Any) -> Settings:
    where = f"{file}: [{TABLE}]"
    if not isinstance(table, dict):
        raise InvalidConfig(f"{where} must be a table, got {table!r}")
    for slip in slips_in_table(table, _KEYS):
        raise InvalidConfig(f"{where}: {slip}")
    backends = table.get("backend", ())
    listed = table.get("expected-failures")
    return Settings(
        file,
        (backends,) if isinstance(backends, str) else tuple(dict.fromkeys(backends)),
        table.get("spec", ""),
        None if listed is None else file.parent / listed,
        table.get("seed"),
        table.get("count"),
    )


def _is_name(value: Any) -> bool:
    return is_text(value) and "\0" not in value


def _are_names(value: object) -> bool:
    return all(map(_is_name, value)) and bool(value) if isinstance(value, list) else _is_name(value)


def _is_version(value: object) -> bool:
    try:
        return isinstance(value, str) and bool(version_key(value))
    except InvalidConfig:
        return False


_KEYS: Mapping[str, Key] = {
    "backend": Key(_are_names, "the name of a backend, or a list of names"),
    "spec": Key(_is_version, "a version of the rules in quotes, like '0.1'"),
    "expected-failures": Key(_is_name, "the path of a file, seen from this one"),
    "seed": Key(is_whole, "a whole number"),
    "count": Key(lambda value: is_whole(value) and value >= 1, "a whole number of 1 or more"),
}


def today() -> date:
    """Return the day in UTC, which is the same at every place."""
    return datetime.now(tz=UTC).date()


class Gate(Struct, frozen=True):
    """The terms of a verification of some backends.

    Args:
        settings: of the project; None if they are about none of these backends.
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
        """Return the folder in which the module of a backend may be."""
        settings = self.settings
        return str(settings.folder if settings and name in settings.backends else self.present)

    def terms(self, name: str) -> Terms:
        """Return the terms of a backend."""
        is_ours = self.settings is not None and self.settings.speaks_of(name)
        spec = self.settings.spec if self.settings and is_ours else ""
        if self.file is None or not (self.is_given or is_ours):
            return Terms(spec=spec)
        return Terms(self.entries, self.file.name, self.day, spec)

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

    def taken(self, *others: str) -> str:
        """Return a line on the options taken from the project's file; empty for none."""
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
    """Return the backends to verify, and their terms.

    Args:
        named: the given names; if it is empty, the project names them.
        folder: the present one.
        expected_failures: the given file.
        creates: a missing file counts as an empty file.

    Raises:
        InvalidConfig: the project's file, or the file of expected failures, is wrong.
    """
    settings = find_settings(folder)
    names = tuple(dict.fromkeys(named)) or (settings.backends if settings else ())
    if settings is not None and not any(map(settings.speaks_of, names)):
        settings = None
    file = expected_failures or (settings.expected_failures if settings else None)
    is_there = file is not None and (not creates or file.exists())
    return Gate(
        names,
        folder,
        today(),
        settings,
        file,
        read_entries(file) if file is not None and is_there else (),
        expected_failures is not None,
        bool(named),
    )
