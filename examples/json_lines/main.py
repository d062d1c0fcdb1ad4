"""An operator in the standard library alone, held to the suite by JSON lines.

    asyncwait verify --exec 'python main.py'

`window.py` is the operator, `harness.py` and `consumer.py` what surrounds it. It has the profile
`ordered`; what only Python on one loop can be asked for, it declares as lacking.
"""

import json
import sys
from typing import Any

from consumer import Leg

DECLARATION = {"protocol": 2, "profiles": ["ordered"], "lacks": ["one-loop"]}

FOREIGN = {"form", "timeout", "retry", "batch", "restore", "crashes", "figures_at", "max_held"}
"""What no scenario asks of a program that declares no more than that: a trace would be a lie."""


def reply(scenario: dict[str, Any]) -> dict[str, Any]:
    """Return the trace of a scenario, or why there is none."""
    if foreign := sorted(FOREIGN & scenario.keys()):
        return {"error": f"this harness plays no {foreign[0]}"}
    return {"trace": Leg(scenario).play()}


def main() -> None:
    """Answer until there are no more requests."""
    print(json.dumps(DECLARATION), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        number = {"number": request["number"]} if "number" in request else {}
        print(json.dumps(reply(request["scenario"]) | number), flush=True)


if __name__ == "__main__":
    main()
