"""Operators defined outside the repository, sound and broken in every way, meet the command."""

import re

import pytest
from outside import SOUND, Folder

ONE = ("--count", "1", "--rule", "END-12")
"""A single scenario can show that rule."""


def registered(outside: Folder, name: str, points: str) -> None:
    about = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n"
    outside.write(f"{name}-1.dist-info/METADATA", about)
    outside.write(f"{name}-1.dist-info/entry_points.txt", points)


def test_a_sound_operator_is_conformant_by_its_registered_name(outside: Folder) -> None:
    outside.write("gate.py", SOUND)
    registered(outside, "mine", "[asyncwait.backends]\nmine = gate:backend\n")
    code = "from asyncwait.conformance.running import shipped_backends; print(shipped_backends())"

    done = outside.asyncwait("verify", "mine", *ONE)
    shipped = outside.python("-c", code).out

    assert (done.code, done.out.splitlines()[-1].split()[:2]) == (0, ["mine:", "conformant"])
    assert "mine" in outside.asyncwait("backends").out.splitlines()
    assert ("'pool-asyncio'" in shipped, "mine" in shipped) == (True, False)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("family", "why"),
    [
        ("nowhere:members", "ModuleNotFoundError: .*"),
        ("families:raises", r"OSError: disk \({families}:4\)"),
        ("families:leaves", r"SystemExit: 0 \({families}:6\)"),
        ("families:number", "TypeError: .*"),
    ],
)
def test_a_broken_family_hurts_nobody_else(outside: Folder, family: str, why: str) -> None:
    outside.write(
        "families.py",
        """
        import sys

        def raises(): raise OSError("disk")

        def leaves(): sys.exit(0)

        def number(): return 7
        """,
    )
    registered(outside, "theirs", f"[asyncwait.backend_families]\nwild = {family}\n")

    why = why.replace("{families}", re.escape(str(outside.path / "families.py")))
    said = f"wild: can't be loaded: {why}\n"
    listed = outside.asyncwait("backends")
    unknown = outside.asyncwait("verify", "wild-one")

    assert listed.code == 0
    assert re.fullmatch(said, listed.err)
    assert {"pool-asyncio", "reference-trio"} <= set(listed.out.split())
    assert unknown.code == 2
    assert "lists, or module:callable; " in unknown.err
    assert re.search(f"; {said}$", unknown.err)
