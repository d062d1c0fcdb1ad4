"""The page on stability names the versions of today, and what builds a release stays the same."""

import re
from importlib.metadata import version

from where import ROOT

from asyncwait.backends.journal._format import ENTRIES, IDENTITY
from asyncwait.conformance.report._model import FORMAT as REPORT
from asyncwait.spec import carry, snapshots, vectors
from asyncwait.spec.rules import spec_version
from asyncwait.spec.scenario import PROTOCOL
from asyncwait.spec.scenario._wire import OLDEST_PROTOCOL

PAGE = (ROOT / "docs/stability.md").read_text(encoding="utf-8")


def test_the_page_names_the_versions_of_today() -> None:
    lines = [
        line.split("|")[1:4] for line in PAGE.partition("\n## ")[0].splitlines() if "|" in line
    ]
    rows = [[cell.partition("(")[0].strip() for cell in line] for line in lines[2:]]

    assert {name: (written, read) for name, written, read in rows} == {
        "specification": (spec_version(), "every earlier one can be claimed"),
        "package": (version("asyncwait"), ""),
        "wire protocol": (str(PROTOCOL), f"{OLDEST_PROTOCOL} to {PROTOCOL}"),
        "snapshot": (str(snapshots._VERSION), "1"),
        "journal": (str(IDENTITY[-1]), f"1 to {IDENTITY[-1]}"),
        "report": (str(REPORT), "1"),
        "vectors": (str(vectors.FORMAT), "1"),
        "state of a stream on Spark": (str(carry._VERSION[0]), "1"),
    }
    assert f"a version of their own, {ENTRIES[-1]} |" in PAGE


def test_workflows_name_each_action_by_its_commit() -> None:
    lines = [
        line.strip()
        for file in (ROOT / ".github/workflows").glob("*.yml")
        for line in file.read_text(encoding="utf-8").splitlines()
        if "uses:" in line
    ]
    named = re.compile(r"(- )?uses: [\w-]+/[\w-]+@[0-9a-f]{40} # v[0-9.]+")

    assert lines
    assert not [line for line in lines if not named.fullmatch(line)]
