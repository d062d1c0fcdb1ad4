"""Keeps scenarios that failed, in a folder beside the work, where their ids find them again."""

from collections.abc import Collection
from pathlib import Path

from asyncwait.spec.scenario import Scenario, id_of, scenarios_from_json, scenarios_to_json

FOLDER = Path(".asyncwait", "scenarios")
"""In the present folder; a file for each scenario."""

MOST_KEPT = 500
"""Files; the oldest go. Each has some hundred bytes."""


def keep(scenarios: Collection[Scenario], folder: Path = FOLDER) -> frozenset[str]:
    """Write scenarios into `folder`, and return the ids of those that are kept.

    Where nothing can be written nothing is kept, which is no reason to fail.
    """
    ids = set[str]()
    if not scenarios:
        return frozenset()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # Git is told by the folder itself, in whosever repository it is.
        folder.parent.joinpath(".gitignore").write_text("*\n", encoding="utf-8")
        for scenario in scenarios:
            _file(id_of(scenario), folder).write_bytes(scenarios_to_json((scenario,)) + b"\n")
            ids.add(id_of(scenario))
        _drop_oldest(folder)
    except OSError:
        pass
    return frozenset(ids)


def kept(scenario_id: str, folder: Path = FOLDER) -> tuple[Scenario, ...]:
    """Return the scenario that is kept under that id, or none.

    Raises:
        InvalidConfig: somebody has broken the file.
    """
    file = _file(scenario_id, folder)
    return scenarios_from_json(file.read_bytes()) if file.is_file() else ()


def _file(scenario_id: str, folder: Path) -> Path:
    return folder / f"{scenario_id}.json"


def _drop_oldest(folder: Path) -> None:
    files = sorted(folder.glob("*.json"), key=lambda file: file.stat().st_mtime_ns, reverse=True)
    for file in files[MOST_KEPT:]:
        file.unlink(missing_ok=True)
