"""The pictures in docs are what the suite draws of their runs now, and show what the page says."""

import re

import pytest
from pictures import FOLDER, PICTURES, picture
from where import ROOT

PAGE = (ROOT / "docs" / "pictures.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_what_is_drawn_now(name: str) -> None:
    assert (FOLDER / f"{name}.svg").read_text(encoding="utf-8") == picture(name)


def test_every_picture_stands_in_the_page() -> None:
    assert re.findall(r"\(pictures/(.*?)\.svg\)", PAGE) == list(PICTURES)
    assert sorted(file.stem for file in FOLDER.iterdir()) == sorted(PICTURES)
