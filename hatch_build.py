"""What an index of packages shows: the README without links into the checkout.

They would lead nowhere there. Once the repository has a public address, they can lead to that.
"""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

RELATIVE_LINK = re.compile(r"\[([^\]]+)\]\((?![a-z]+:)[^)]*\)")


class Readme(MetadataHookInterface):
    """Gives the long description."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the README, with the text of each relative link in its place."""
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        shown = RELATIVE_LINK.sub(r"\1", text)
        metadata["readme"] = {"content-type": "text/markdown", "text": shown}
