"""Operators defined outside the repository, sound and broken in every way, meet the command."""

import re

import pytest
from outside import SOUND, TROUBLED, Folder

from asyncwait.spec.rules import rules

RULES = ("--rule", "END-8", "--rule", "ORD-1")


def troubled(trouble: str) -> str:
    """The text of a module whose operator does as `trouble` says at one capacity."""
    return TROUBLED.replace("{trouble}", trouble)


def test_a_sound_operator_is_conformant_by_module_and_callable(outside: Folder) -> None:
    """All that a backend needs is a module in the present folder, and one command."""
    outside.write("gate.py", SOUND)

    done = outside.asyncwait("verify", "gate:backend", "--count", "1")

    assert done.code == 0
    assert done.out.endswith(f"gate:backend: conformant ({len(rules())} rules pass)\n")


def test_a_sound_operator_is_conformant_by_its_registered_name(outside: Folder) -> None:
    """An installed distribution registers its backend under a name."""
    outside.write("gate.py", SOUND)
    outside.write("mine-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: mine\nVersion: 1\n")
    outside.write(
        "mine-1.dist-info/entry_points.txt", "[asyncwait.backends]\nmine = gate:backend\n"
    )

    done = outside.asyncwait("verify", "mine", "--count", "1", *RULES)

    assert (done.code, done.out.splitlines()[-1].split()[:2]) == (0, ["mine:", "conformant"])
    assert "mine" in outside.asyncwait("backends").out.splitlines()


def registered(outside: Folder, name: str, points: str) -> None:
    """Install a distribution that has these entry points."""
    about = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n"
    outside.write(f"{name}-1.dist-info/METADATA", about)
    outside.write(f"{name}-1.dist-info/entry_points.txt", points)


BLOCKED = "the loop is blocked by something that is not asynchronous, or all is silent:"


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
    assert outside.asyncwait("verify", "pool-asyncio", "--count", "1", *RULES).code == 0


def test_a_registered_name_loads_no_family(outside: Folder) -> None:
    """Nobody pays for what is not asked for."""
    outside.write("families.py", "print('loaded', flush=True)\ndef members(): return {}\n")
    registered(outside, "theirs", "[asyncwait.backend_families]\nwild = families:members\n")
    code = "from asyncwait.conformance.running import load_backend; load_backend('pool-asyncio')"

    assert outside.python("-c", code).out == ""


def test_only_what_this_distribution_registers_is_shipped(outside: Folder) -> None:
    """`--all` is about our own backends."""
    registered(outside, "theirs", "[asyncwait.backends]\ntheirs = gate:backend\n")
    code = "from asyncwait.conformance.running import shipped_backends; print(shipped_backends())"

    done = outside.python("-c", code)

    assert "'pool-asyncio'" in done.out
    assert "theirs" not in done.out
    assert "theirs" in outside.asyncwait("backends").out.split()


def test_a_module_of_the_present_folder_stands_in_for_no_other(outside: Folder) -> None:
    """Neither for the command nor for the child that plays; the backend is found all the same."""
    outside.write("work/gate.py", SOUND)
    for name in ("anyio", "click", "json", "msgspec", "rich"):
        outside.write(f"work/{name}.py", "raise SystemExit('shadowed')\n")
    folder = Folder(outside.path / "work", search=outside.path)

    done = folder.asyncwait("verify", "gate:backend", "--count", "1", *RULES)

    assert (done.code, done.err.count("shadowed")) == (0, 0), done


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("trouble", "violation"),
    [
        ("await anyio.sleep_forever()", "nothing happens any more"),
        (
            "while True: await anyio.sleep(0)",
            "the loop turns for ever without time moving",
        ),
        (
            "time.sleep(3600)",
            f"{BLOCKED} no answer for 0.5 s",
        ),
        ("os._exit(7)", "the process died: exit code 7"),
    ],
    ids=["hangs", "spins", "blocks", "dies"],
)
def test_an_operator_that_does_not_come_to_its_end_is_told_so(
    outside: Folder, trouble: str, violation: str
) -> None:
    """Each way of not ending has words of its own, and ends soon."""
    outside.write("gate.py", troubled(trouble))

    done = outside.asyncwait("verify", "gate:backend", "--count", "1", "--patience", "0.5", *RULES)

    assert done.code == 1
    assert "gate:backend: END-8 " in done.out
    assert violation in done.out
    assert "Traceback" not in done.out + done.err


LIAR = """
from asyncwait.conformance import StreamBackend
from asyncwait.reference import open_operator
from asyncwait.spec.scenario import Trace
from msgspec.structs import replace


class Liar(StreamBackend, frozen=True):
    def run(self, scenarios):
        {lie}


def backend():
    return Liar(open_operator, batch={batch})
"""


@pytest.mark.sampled(3)
@pytest.mark.parametrize("batch", [True, False])
@pytest.mark.parametrize(
    ("lie", "said"),
    [
        ("return []", r"scenarios given: \d+, traces given back: 0"),
        (
            "for s in scenarios: yield from [*super().run([s])] * 2",
            "traces given back: more|the trace is impossible",
        ),
        (
            "for s in scenarios: yield Trace(super().run([s]).__next__().legs * 9)",
            "the trace is impossible: it has 9 legs, the scenario crashes 0 times",
        ),
        ("yield {'legs': 'fine'}", "expected a Trace, got {'legs': 'fine'}"),
        ("raise RuntimeError('out of order')", "the backend raised RuntimeError: out of order"),
    ],
    ids=["too-few", "too-many", "foreign", "no-trace", "raises"],
)
def test_a_backend_that_lies_about_its_results_is_an_error(
    outside: Folder, lie: str, said: str, *, batch: bool
) -> None:
    """What only whoever writes the traces can get wrong is not the operator's fault."""
    text = LIAR.replace("{lie}", lie).replace("{batch}", str(batch))
    outside.write("gate.py", text.replace("super()", "StreamBackend(open_operator)"))

    done = outside.asyncwait("verify", "gate:backend", "--count", "1", *RULES)

    assert done.code == 3
    assert re.search(said, done.out)
    assert re.search(r"^gate:backend: inconclusive .* runs in error: .+\)$", done.out, re.MULTILINE)
    assert "Traceback" not in done.out + done.err


def test_a_backend_that_alters_results_is_convicted(outside: Folder) -> None:
    """Outputs that no input gave break a rule, whoever made them up."""
    lie = """
        for trace in StreamBackend(open_operator).run(scenarios):
            events = [e for leg in trace.legs[-1:] for e in leg.events]
            took = [e for e in events if type(e).__name__ == "SinkTook"]
            changed = tuple(
                replace(e, element=replace(e.element, value="forged"))
                if e in took and hasattr(e.element, "value") else e
                for e in events
            )
            yield Trace((*trace.legs[:-1], replace(trace.legs[-1], events=changed)))
"""
    outside.write("gate.py", LIAR.replace("        {lie}", lie).replace("{batch}", "False"))

    done = outside.asyncwait("verify", "gate:backend", "--count", "1", "--rule", "ELEM-3")

    assert done.code == 1
    assert "gate:backend: ELEM-3 " in done.out


def test_a_trace_that_no_json_can_hold_is_an_error(outside: Folder) -> None:
    """The child process goes on, and says what it could not tell."""
    outside.write(
        "gate.py",
        LIAR.replace("{batch}", "False").replace(
            "{lie}",
            """
        for trace in StreamBackend(open_operator).run(scenarios):
            yield replace(trace, legs=(replace(trace.legs[0], restored=object()),))
""",
        ),
    )

    done = outside.asyncwait("verify", "gate:backend", "--count", "1", *RULES)

    assert done.code == 3
    assert "TypeError: Encoding objects of type object" in done.out
