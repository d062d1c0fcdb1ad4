"""Rules and areas as they are typed: their ids stand in capitals, and are taken in any letters."""

from asyncwait.spec.rules import areas, mailbox_rules, rules

MAILBOX = "MBX"
"""The area of the mailbox's rules."""


def any_case(typed: str) -> str:
    """Return the id of a rule or an area as it is written; that of an area for its folder, too.

    What is the id of nothing is given on as it was typed: whoever looks for it says so.
    """
    by_folder = {area.folder: area.id for area in areas().values()}
    known = {*rules(), *mailbox_rules(), *areas(), MAILBOX}
    upper = typed.upper()
    return upper if upper in known else by_folder.get(typed.lower(), typed)
