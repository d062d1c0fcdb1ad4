"""What the author of a backend writes into `pyproject.toml`, so that a gate needs no arguments."""

import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from asyncwait.conformance._nearest import nearest
from asyncwait.spec import InvalidConfig
from asyncwait.spec.rules import version_key

FILE = "pyproject.toml"
TABLE = "tool.asyncwait"


class Settings(Struct, frozen=True):
    """The table `[tool.asyncwait]`.

    Args:
        backends: names; empty where it is about whatever is verified.
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
        """Whether it is about the backend of that name."""
        return not self.backends or backend in self.backends

    @property
    def folder(self) -> Path:
        """Where the modules of its backends may stand."""
        return self.file.parent

    @property
    def where(self) -> str:
        """What it is called where something is taken from it."""
        return f"{self.file} [{TABLE}]"


def find_settings(folder: Path) -> Settings | None:
    """Return the settings that stand in `folder` or nearest above it, if there are any.

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
        project = tomllib.loads(file.read_bytes().decode())
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
    for key, value in table.items():
        if key not in _KEYS:
            known = ", ".join(_KEYS)
            near = nearest(key, _KEYS)
            raise InvalidConfig(f"{where}: there is no key {key!r}; there are {known}{near}")
        fits, expected = _KEYS[key]
        if not fits(value):
            raise InvalidConfig(f"{where}: {InvalidConfig.of(key, value, expected)}")
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


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip()) and "\0" not in value


def _are_texts(value: object) -> bool:
    return _is_text(value) or (
        isinstance(value, list) and bool(value) and all(_is_text(each) for each in value)
    )


def _is_version(value: object) -> bool:
    try:
        return isinstance(value, str) and bool(version_key(value))
    except InvalidConfig:
        return False


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


_KEYS: Mapping[str, tuple[Callable[[object], bool], str]] = {
    "backend": (_are_texts, "the name of a backend, or a list of names"),
    "spec": (_is_version, "a version of the rules in quotes, like '0.1'"),
    "expected-failures": (_is_text, "the path of a file, seen from this one"),
    "seed": (_is_number, "a whole number"),
    "count": (lambda value: _is_number(value) and value >= 1, "a whole number of 1 or more"),  # type: ignore[operator]
}
"""What each key may hold, and how that is said."""
