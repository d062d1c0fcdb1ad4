"""Takes out of a scenario what a backend can't do, so that the rest of it can be played."""

import msgspec

from asyncwait.spec.scenario import Capability, Scenario, Timed


def adapted(scenario: Scenario, capabilities: frozenset[Capability]) -> Scenario:
    """Return `scenario` as a backend with `capabilities` can play it.

    Without timed input everything is available at once; without snapshots on demand none is
    requested. A backend that can't watch its cancellation is left and cancelled all the same: only
    the rule about what is seen of it does not apply.
    """
    changes: dict[str, object] = {}
    if Capability.ON_DEMAND_SNAPSHOT not in capabilities and scenario.requests:
        changes["requests"] = ()
    if Capability.TIMED_INPUT not in capabilities and Capability.TIMED_INPUT in scenario.needs:
        changes["inputs"] = tuple(Timed(0, timed.element) for timed in scenario.inputs)
        changes["source_ends_at"] = 0
    if not changes:
        return scenario
    return msgspec.structs.replace(scenario, **changes)
