"""The JSON Schema of files of vectors, made from the code.

`schema.json` beside this file holds it; `python -m asyncwait.spec.vectors` prints it anew.
"""

import json

from asyncwait.spec.scenario._schema import described_parts, schema_of
from asyncwait.spec.vectors._vector import VectorFile

_ABOUT = "A file of vectors: scenarios, the rules they prove, and what they come to."


def schema_text() -> str:
    """Return the schema as it is written to its file."""
    (whole,), parts = described_parts(VectorFile)
    return json.dumps(schema_of("asyncwait: vectors", _ABOUT, whole, parts), indent=2) + "\n"
