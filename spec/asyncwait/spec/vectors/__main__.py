"""Prints the JSON Schema of files of vectors."""

import sys

from asyncwait.spec.vectors._vector import schema_text

sys.stdout.write(schema_text())
