"""What commands and reports say is what was recorded."""

import pytest
from golden import GOLDEN, recorded


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", GOLDEN)
def test_it_is_said_as_it_is_recorded(name: str) -> None:
    assert GOLDEN[name]() == recorded(name)
