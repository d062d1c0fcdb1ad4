"""Operators defined outside the repository, sound and broken in every way, meet the command."""

import re

import pytest
from outside import SOUND, TROUBLED, Folder

from asyncwait.spec.rules import rules

ONE = ("--count", "1", "--rule", "END-14")
"""A single scenario can show that rule."""


def registered(outside: Folder, name: str, points: str) -> None:
    """Install a distribution that has these entry points."""
    about = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n"
    outside.write(f"{name}-1.dist-info/METADATA", about)
    outside.write(f"{name}-1.dist-info/entry_points.txt", points)


def test_a_sound_operator_is_conformant_by_module_and_callable(outside: Folder) -> None:
    """All that a backend needs is a module in the present folder, and one command."""
    outside.write("gate.py", SOUND)

    done = outside.asyncwait("verify", "gate:backend", "--count", "1")

    assert done.code == 0
    assert done.out.endswith(f"gate:backend: conformant ({len(rules())} rules pass)\n")


def test_a_sound_operator_is_conformant_by_its_registered_name(outside: Folder) -> None:
    """An installed distribution registers its backend under a name; only our own are shipped."""
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
        ("nowhere:members", "ModuleNotFoundError: No module named 'nowhere'"),
        ("families:raises", "OSError: disk ({families}:4)"),
        ("families:leaves", "SystemExit: 0 ({families}:6)"),
        ("families:number", "TypeError: 'int' object is not iterable"),
    ],
)
def test_a_broken_family_hurts_nobody_else(outside: Folder, family: str, why: str) -> None:
    """It is named with what is wrong; all other names are there."""
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

    why = why.replace("{families}", str(outside.path / "families.py"))
    listed = outside.asyncwait("backends")
    unknown = outside.asyncwait("verify", "wild-one")

    assert (listed.code, listed.err) == (0, f"wild: can't be loaded: {why}\n")
    assert {"pool-asyncio", "faulty-drops-the-cause"} <= set(listed.out.split())
    assert unknown.code == 2
    assert "lists, or module:callable; " in unknown.err
    assert unknown.err.endswith(f"; wild: can't be loaded: {why}\n")
    assert outside.asyncwait("verify", "pool-asyncio", *ONE).code == 0


def test_a_registered_name_loads_no_family(outside: Folder) -> None:
    """Nobody pays for what is not asked for."""
    outside.write("families.py", "print('loaded', flush=True)\ndef members(): return {}\n")
    registered(outside, "theirs", "[asyncwait.backend_families]\nwild = families:members\n")
    code = "from asyncwait.conformance.running import load_backend; load_backend('pool-asyncio')"

    assert outside.python("-c", code).out == ""


def test_a_module_of_the_present_folder_stands_in_for_no_other(outside: Folder) -> None:
    """Neither for the command nor for the child that plays; the backend is found all the same."""
    outside.write("work/gate.py", SOUND)
    for name in ("anyio", "click", "json", "msgspec", "rich"):
        outside.write(f"work/{name}.py", "raise SystemExit('shadowed')\n")
    folder = Folder(outside.path / "work", search=outside.path)

    done = folder.asyncwait("verify", "gate:backend", *ONE)

    assert (done.code, done.err.count("shadowed")) == (0, 0), done


BLOCKED = "the loop is blocked by something that is not asynchronous, or all is silent:"


@pytest.mark.parametrize(
    ("trouble", "violation"),
    [
        ("await anyio.sleep_forever()", "nothing happens any more"),
        ("while True: await anyio.sleep(0)", "the loop turns for ever without time moving"),
        ("time.sleep(3600)", f"{BLOCKED} no answer for 0.5 s"),
        ("os._exit(7)", "the process died: exit code 7"),
    ],
    ids=["hangs", "spins", "blocks", "dies"],
)
def test_an_operator_that_does_not_come_to_its_end_is_told_so(
    outside: Folder, trouble: str, violation: str
) -> None:
    """Each way of not ending has words of its own, and ends soon."""
    text = TROUBLED.replace("{trouble}", trouble).replace("capacity == 8", "capacity == 4")
    outside.write("gate.py", text)
    few = ("--rule", "END-8", "--fail-fast", "--count", "1", "--patience", "0.5")

    done = outside.here("verify", "gate:backend", *few)

    assert done.code == 1
    assert "gate:backend: END-8 " in done.out
    assert violation in done.out
    assert "Traceback" not in done.out + done.err


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
    return Liar(open_operator, batch={batch})
"""
FORGES = (
    "for t in sound.run(scenarios): yield Trace((replace(t.legs[0], events=tuple("
    "replace(e, element=Record('forged')) if isinstance(e, SinkTook) else e "
    "for e in t.legs[0].events)),))"
)
HOLDS_WHAT_NO_JSON_CAN = (
    "for t in sound.run(scenarios): yield replace(t, legs=(replace(t.legs[0], restored=object()),))"
)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("batch", [True, False])
@pytest.mark.parametrize(
    ("lie", "said"),
    [
        ("return []", r"scenarios given: \d+, traces given back: 0"),
        (
            "for s in scenarios: yield from [*sound.run([s])] * 2",
            "traces given back: more|the trace is impossible",
        ),
        (
            "for s in scenarios: yield Trace(sound.run([s]).__next__().legs * 9)",
            "the trace is impossible: it has 9 legs, the scenario crashes 0 times",
        ),
        ("yield {'legs': 'fine'}", "expected a Trace, got {'legs': 'fine'}"),
        ("raise RuntimeError('out of order')", "the backend raised RuntimeError: out of order"),
        # The child process goes on, and says what it could not tell.
        (HOLDS_WHAT_NO_JSON_CAN, "TypeError: Encoding objects of type object"),
        # Outputs that no input gave break a rule, whoever made them up.
        (FORGES, "gate:backend: ELEM-3 "),
    ],
    ids=["too-few", "too-many", "foreign", "no-trace", "raises", "no-json", "forges"],
)
def test_a_backend_that_lies_about_its_results_is_an_error(
    outside: Folder, lie: str, said: str, *, batch: bool
) -> None:
    """What only whoever writes the traces can get wrong is not the operator's fault."""
    outside.write("gate.py", LIAR.replace("{lie}", lie).replace("{batch}", str(batch)))
    wanted = ("--rule", "ELEM-3", "--fail-fast") if lie is FORGES else ()

    done = outside.here("verify", "gate:backend", *ONE, *wanted)

    assert re.search(said, done.out)
    assert "Traceback" not in done.out + done.err
    last = done.out.splitlines()[-1]
    if lie is FORGES:
        assert done.code == 1
    else:
        assert done.code == 3
        assert re.match(r"gate:backend: inconclusive .* runs? in error: .+\)$", last)
