import pytest
from judged import broken_rules, judge, texts

from asyncwait.conformance.areas import all_near_misses, all_witnesses
from asyncwait.conformance.evidence import NearMiss, Witness

each_witness = pytest.mark.parametrize("witness", all_witnesses(), ids=lambda each: each.rule)
each_near_miss = pytest.mark.parametrize(
    "miss", all_near_misses(), ids=[f"{miss.rule}-{n}" for n, miss in enumerate(all_near_misses())]
)


@each_witness
def test_the_check_convicts_the_violating_run(witness: Witness) -> None:
    assert texts(witness.rule, witness.violating) == [witness.text]


@each_witness
def test_no_check_convicts_the_legal_run(witness: Witness) -> None:
    assert judge(witness.rule, witness.legal).applied
    assert broken_rules(witness.legal) == {}


@each_near_miss
def test_further_runs_break_what_they_are_said_to_break(miss: NearMiss) -> None:
    broken = broken_rules(miss.run)

    assert broken.pop(miss.rule, []) == ([miss.text] if miss.text else [])
    assert " ".join(sorted(broken)) == miss.also
    assert miss.text or bool(judge(miss.rule, miss.run).applied) is miss.applies
