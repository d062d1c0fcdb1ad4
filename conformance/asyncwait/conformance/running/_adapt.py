"""Takes out of a scenario what a backend can't do, so that the rest of it can be played."""

from asyncwait.spec.scenario import Capability, Scenario


def adapted(scenario: Scenario, capabilities: frozenset[Capability]) -> Scenario:
    """Return `scenario` as a backend with `capabilities` can play it; see `Capability`."""
    lacking = [capability for capability in Capability if capability not in capabilities]
    # In two rounds: the mode that takes the place of one may be lacking, too.
    for capability in lacking * 2:
        scenario = capability.without(scenario)
    return scenario
