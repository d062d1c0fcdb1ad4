"""Prints the page that tells which rules hold an operator to the contract; see CONTRIBUTING.md."""

import sys

from asyncwait.spec.rules._contract import contract_page

sys.stdout.write(contract_page())
