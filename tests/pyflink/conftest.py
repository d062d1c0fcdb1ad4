"""PyFlink runs in this process; its threads take turns with the loop."""

from pathlib import Path

import pytest
from outside import Folder


@pytest.fixture
def outside(tmp_path: Path) -> Folder:
    """An empty folder outside the repository."""
    return Folder(tmp_path)
