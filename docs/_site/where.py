"""Where a file of the repository stands on the site, and the other way round."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""Of the repository."""

RULES = "spec/asyncwait/spec/rules"
SCENARIO = "spec/asyncwait/spec/scenario"
SUITE = "conformance/asyncwait/conformance"

ELSEWHERE = {
    **{f"{RULES}/{path.name}": f"spec/{path.name}" for path in sorted((ROOT / RULES).glob("*.md"))},
    **{
        f"{RULES}/{book}/{path.name}": f"spec/{book}/{path.name}"
        for book in ("mailbox", "carry", "hedge")
        for path in sorted((ROOT / RULES / book).glob("*.md"))
    },
    f"{SCENARIO}/json-lines.md": "protocol/json-lines.md",
    f"{SCENARIO}/schema.json": "protocol/schema.json",
    f"{SUITE}/judging/README.md": "judging-steps.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
}
"""Files from outside of `docs`: path in the repository, and path on the site."""

BUILT = ("docs/peers.md", "docs/peers/", "docs/spec/contract.md", "docs/upstream.md")
"""Beginnings of the paths of linked pages that are in no folder."""

_BACK = {there: here for here, there in ELSEWHERE.items()}


def on_site(path: str) -> str | None:
    """Return where a file of the repository stands on the site; None if it is not part of it.

    Args:
        path: from the root of the repository.
    """
    if path.startswith("docs/") and not path.startswith("docs/_"):
        return path.removeprefix("docs/")
    return ELSEWHERE.get(path)


def in_repository(uri: str) -> str:
    """Return the path of what stands at `uri` of the site: by hand, or brought in."""
    return _BACK.get(uri, f"docs/{uri}")


def source_uri(path: str) -> str:
    """Return where the site shows a file or a folder of code."""
    return f"source/{re.sub('^$', 'index', path)}.md"
