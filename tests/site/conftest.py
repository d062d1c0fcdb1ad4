"""The site, built with warnings as errors: by tox, or here."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if "SITE" in os.environ:
        return Path(os.environ["SITE"])
    folder = tmp_path_factory.mktemp("site")
    config = ("--config-file", str(ROOT / "mkdocs.yml"), "--site-dir", str(folder))
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", *config]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder
