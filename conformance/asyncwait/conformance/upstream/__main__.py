"""Prints the page on upstream's tests; see docs/developing.md."""

import sys

from asyncwait.conformance.upstream import upstream_page

sys.stdout.write(upstream_page())
