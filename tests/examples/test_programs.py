"""The programs in `examples/http` and `examples/airports` say in a line what keeps them from it."""

import errno
import os
import socket
import sys

import pytest
from programs import program

EXTRAS = {"rich": "'asyncwait[progress]'", "pyspark": "'asyncwait[spark]'"}
NEEDED = {
    "http": ("httpx", "rich", "matplotlib"),
    "airports": ("airportsdata", "httpx", "rich", "pyspark", "matplotlib"),
}


@pytest.mark.parametrize(
    ("name", "package"), [(name, package) for name in NEEDED for package in NEEDED[name]]
)
def test_what_is_missing_is_named(
    name: str, package: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before anything is run."""
    for other in NEEDED[name]:
        monkeypatch.setitem(sys.modules, other, None if other == package else sys)

    with program(name) as example:
        assert example.main(["--plot", "picture.png"]) == 2
    told = f"{package} is not installed; try: pip install {EXTRAS.get(package, package)}"
    assert capsys.readouterr().err == f"error: {told}\n"


@pytest.mark.parametrize("name", NEEDED)
def test_a_port_that_is_taken_is_told(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """In a line, as it is nobody's bug."""
    with socket.create_server(("127.0.0.1", 0)) as taken, program(name) as example:
        port = taken.getsockname()[1]

        assert example.main(["--on", "pool", "--port", str(port)]) == 2
    assert capsys.readouterr().err == f"error: port {port}: {os.strerror(errno.EADDRINUSE)}\n"
