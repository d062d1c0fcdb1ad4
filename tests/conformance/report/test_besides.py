"""What a run left besides its events."""

from asyncwait.conformance.report import besides, printed
from asyncwait.spec.scenario import Ending, Leg, Trace

TRACEBACK = """AttributeError: 'Gate' object has no attribute 'colour'
  gate.py:7, in helper: return gate.colour
  gate.py:13, in open_operator: helper(gate)"""
FAILED = Leg(Ending("failed", traceback=TRACEBACK))


def test_a_run_that_left_nothing_has_nothing_to_be_told() -> None:
    """The usual case."""
    assert list(besides(Trace((Leg(Ending("finished")),)))) == []


def test_the_innermost_places_of_a_deep_error_are_shown() -> None:
    """The outermost ones are the suite's own."""
    deep = "\n".join(f"line {n}" for n in range(100))

    _, *lines = besides(Trace((Leg(Ending("failed", traceback=deep)),)))

    assert lines == [f"  | line {n}" for n in range(20)]


def test_the_last_of_much_output_is_shown() -> None:
    """A line may be long, too."""
    lines = list(printed("\n".join(["x" * 500, *(str(n) for n in range(30)), "y" * 500])))

    assert lines[0] == "printed, the last 20 lines:"
    assert lines[1:3] == ["  | 11", "  | 12"]
    assert (len(lines[-1]), "(318 more)" in lines[-1]) == (204, True)
