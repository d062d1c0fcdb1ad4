"""Prints the page on upstream's tests of the mailbox; see CONTRIBUTING.md."""

import sys

from asyncwait.conformance.mailbox._upstream import upstream_page

sys.stdout.write(upstream_page())
