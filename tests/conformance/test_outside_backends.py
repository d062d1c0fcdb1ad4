"""Operators defined outside the repository, sound and broken in every way, meet the command."""

import re

import pytest
from outside import SOUND, Folder

ONE = ("--count", "1", "--rule", "END-14")
"""A single scenario can show that rule."""


def registered(outside: Folder, name: str, points: str) -> None:
    """Install a distribution that has these entry points."""
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


def test_a_registered_name_loads_no_family(outside: Folder) -> None:
    outside.write("families.py", "print('loaded', flush=True)\ndef members(): return {}\n")
    registered(outside, "theirs", "[asyncwait.backend_families]\nwild = families:members\n")
    code = "from asyncwait.conformance.running import load_backend; load_backend('pool-asyncio')"

    assert outside.python("-c", code).out == ""


def test_a_module_of_the_present_folder_stands_in_for_no_other(outside: Folder) -> None:
    outside.write("work/gate.py", SOUND)
    for name in ("anyio", "click", "json", "msgspec", "rich"):
        outside.write(f"work/{name}.py", "raise SystemExit('shadowed')\n")
    folder = Folder(outside.path / "work", search=outside.path)

    done = folder.asyncwait("verify", "gate:backend", *ONE)

    assert (done.code, done.err.count("shadowed")) == (0, 0), done


LIAR = """
from asyncwait.conformance import StreamBackend
from asyncwait.reference import open_operator
from asyncwait.spec import Record
from asyncwait.spec.scenario import SinkTook, Trace
from msgspec.structs import replace


class Liar(StreamBackend, frozen=True):
    def run(self, scenarios):
        sound = StreamBackend(open_operator)
        {lie}


def backend():
    return Liar(open_operator, batch=True)
"""
FORGES = (
    "for t in sound.run(scenarios): yield Trace((replace(t.legs[0], events=tuple("
    "replace(e, element=Record('forged')) if isinstance(e, SinkTook) else e "
    "for e in t.legs[0].events)),))"
)


@pytest.mark.parametrize(
    ("lie", "code", "said"),
    [
        ("return []", 3, r"scenarios given: \d+, traces given back: 0"),
        (
            "for s in scenarios: yield from [*sound.run([s])] * 2",
            3,
            "traces given back: more|the trace is impossible",
        ),
        ("raise RuntimeError('out of order')", 3, "the backend raised RuntimeError: out of order"),
        # Outputs that no input gave break a rule, whoever made them up.
        (FORGES, 1, "gate:backend: ELEM-3 "),
    ],
    ids=["too-few", "too-many", "raises", "forges"],
)
def test_a_backend_of_batches_that_lies_about_its_results_is_an_error(
    outside: Folder, lie: str, code: int, said: str
) -> None:
    """What only whoever writes the traces can get wrong is not the operator's fault.

    The lies of others are among those of hostile backends.
    """
    outside.write("gate.py", LIAR.replace("{lie}", lie))

    done = outside.here("verify", "gate:backend", *ONE, "--rule", "ELEM-3", "--fail-fast")

    assert re.search(said, done.out)
    assert done.code == code
    assert "Traceback" not in done.out + done.err
    word = "not conformant" if code == 1 else "inconclusive"
    assert done.out.splitlines()[-1].startswith(f"gate:backend: {word} ")
