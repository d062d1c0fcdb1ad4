import pytest
from judged import (
    assert_acquits,
    assert_convicts,
    assert_passes,
    each_example,
    each_loop,
    each_operator,
    each_witness,
)

from asyncwait.conformance.areas import EXAMPLES, WITNESSES
from asyncwait.conformance.evidence import Example, Witness
from asyncwait.conformance.harness import LoopName


@each_witness(WITNESSES)
def test_the_check_convicts_the_violating_run(witness: Witness) -> None:
    """The check says what is wrong, and says it once."""
    assert_convicts(witness)


@each_witness(WITNESSES)
def test_no_check_convicts_the_legal_run(witness: Witness) -> None:
    """The run next to the violating one is legal by every rule, and the witness's own applies."""
    assert_acquits(witness)


@pytest.mark.sampled(10)
@each_loop
@each_operator
@each_example(EXAMPLES)
def test_sound_operators_pass(example: Example, operator: str, loop: LoopName) -> None:
    """A sound operator breaks no rule in an example, and the rules that it is about apply.

    `asyncwait verify` plays them all.
    """
    assert_passes(example, operator, loop)
