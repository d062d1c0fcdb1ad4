"""Prints the JSON Schema of scenarios, traces and wire; see docs/developing.md."""

import sys

from asyncwait.spec.scenario._schema import schema_text

sys.stdout.write(schema_text())
