"""Prints the page with the rules behind each sentence of the contract; see CONTRIBUTING.md."""

import sys

from asyncwait.spec.rules._contract import contract_page

sys.stdout.write(contract_page())
