"""For each check of the mailbox one run that breaks its rule, and one next to it that does not.

See `_notation` for how to read them.
"""

from msgspec import Struct

from asyncwait.conformance.mailbox._notation import mailbox_trace
from asyncwait.spec.mailbox.program import MailboxTrace, Post, Seen, Step


class MailboxWitness(Struct, frozen=True):
    """Evidence for one check.

    Args:
        rule: id of the rule.
        violating: a minimal trace that breaks it.
        legal: one as close to it as possible that keeps it, and in which the rule applies.
        text: what the check says of the violating one, whole.
    """

    rule: str
    violating: MailboxTrace
    legal: MailboxTrace
    text: str


def _witness(rule: str, violating: str, legal: str, text: str) -> MailboxWitness:
    return MailboxWitness(rule, mailbox_trace(violating), mailbox_trace(legal), text)


MAILBOX_WITNESSES: tuple[MailboxWitness, ...] = (
    _witness(
        "MBX-1",
        "execute:m try_take=m close=m",
        "execute:m execute:n try_take=m close=n",
        "m came out 2 times",
    ),
    _witness(
        "MBX-2",
        "execute:m try_take close",
        "execute:m try_take close=m",
        "m was sent, and never came out",
    ),
    _witness(
        "MBX-3",
        "a.execute:m?closed quiesce",
        "a.execute:m quiesce a.execute:n?closed",
        "a.execute m raised 'closed'; the mailbox was open",
    ),
    _witness(
        "MBX-4",
        "execute:m execute:n try_take=n try_take=m",
        "execute:m execute:n^ try_take=n try_take=m execute:o execute:p try_take=o try_take=p",
        "n was run before m, which was sent before",
    ),
    _witness(
        "MBX-5",
        "execute:low@-1 execute:high@1 try_take=high try_take=low",
        "execute:low@-1 execute:high@1 execute:own@1 try_take@1=high try_take=low try_take=own "
        "execute:low2@-1 execute:high2@1 try_take=low2 try_take=high2",
        "high was run before low, which was sent before, with a lower priority",
    ),
    _witness(
        "MBX-6",
        "execute:m try_take@1=m",
        "execute:m try_take@1 try_take@0=m",
        "try_take(1) ran m (priority 0)",
    ),
    _witness(
        "MBX-7",
        "execute:m@-1 execute:n@1 try_take@1",
        "execute:m@-1 try_take@1 execute:n@1 try_take@1=n",
        "try_take(1) took nothing; n waited",
    ),
    _witness(
        "MBX-8",
        "execute:m@-1 execute:n@1 try_take@1=n execute:o@-1 try_take=o",
        "execute:m@-1 execute:n@1 try_take@1=n execute:o@-1 try_take=m try_take=o",
        "o was run before m, which an earlier taker had not seen",
    ),
    _witness(
        "MBX-9",
        "quiesce execute:m?closed try_take=m",
        "execute:m quiesce execute:n?closed try_take=m",
        "m was refused, and came out",
    ),
    _witness(
        "MBX-10",
        "execute:m ( <m> )",
        "execute:m try_take=m",
        "m was run amid execute m",
    ),
    _witness(
        "MBX-11",
        "take@0 ( a.execute:m waits )",
        "take@0 ( a.execute:n@-1 waits a.execute:m <m> )",
        "take(0) waits; m is there",
    ),
    _witness(
        "MBX-12",
        "a.create_batch=False",
        "a.create_batch?refused",
        "a.create_batch was let do what is the owner's",
    ),
    _witness(
        "MBX-13",
        "take ( waits a.execute:m )?cancelled close",
        "take ( waits a.execute:m )?cancelled close=m",
        "m was lost with take(-1), which was cancelled",
    ),
    _witness(
        "MBX-14",
        "execute:m% described:m",
        "execute:m% drain=m",
        "m was described, and nobody had asked",
    ),
    _witness(
        "MBX-15",
        "execute:m execute:n create_batch=True try_take_from_batch=m try_take_from_batch",
        "execute:m create_batch=True execute:n try_take_from_batch=m try_take_from_batch",
        "try_take_from_batch took nothing; n is in the batch",
    ),
    _witness(
        "MBX-16",
        "execute:m create_batch=True execute:n try_take_from_batch=m try_take_from_batch=n",
        "execute:m create_batch=True execute:n try_take_from_batch=m try_take_from_batch",
        "n was taken from a batch made before it was sent",
    ),
    _witness(
        "MBX-17",
        "execute:m create_batch=True execute:n try_take=n",
        "execute:m create_batch=True execute:n try_take=m try_take=n",
        "n was run before m, which was in the batch",
    ),
    _witness(
        "MBX-18",
        "execute:m create_batch=True create_batch=False",
        "execute:m create_batch=True create_batch=True try_take=m create_batch=False",
        "create_batch gave False; m is inside",
    ),
    _witness(
        "MBX-19",
        "execute:m execute:now^ try_take=m try_take=now",
        "execute:m execute:now^ try_take=now try_take=m",
        "m was run; now waited, which is urgent",
    ),
    _witness(
        "MBX-20",
        "execute:m create_batch=True execute:now^ try_take_from_batch=m try_take=now",
        "execute:m create_batch=True execute:now^ try_take_from_batch=now try_take=m",
        "m was taken from the batch; now waited, which is urgent",
    ),
    _witness(
        "MBX-21",
        "execute:now^ execute:then^ try_take=then try_take=now",
        "execute:now^@-1 execute:then^@1 try_take@1=then try_take=now execute:one^ "
        "execute:two^ try_take=one try_take=two",
        "then was run before now, which is urgent as well and was sent before",
    ),
    _witness(
        "MBX-22",
        "execute:now^@-1 try_take@0=now",
        "execute:now^@-1 try_take@0 try_take=now",
        "try_take(0) ran now (priority -1)",
    ),
    _witness(
        "MBX-23",
        "execute:m execute:now^ create_batch=True try_take_from_batch=now try_take_from_batch",
        "execute:m execute:now^ create_batch=True try_take_from_batch=now try_take_from_batch=m",
        "try_take_from_batch took nothing; m waited behind an urgent mail",
    ),
    _witness(
        "MBX-24",
        "execute:m~@1 try_take@1=m",
        "execute:m~@1 try_take@1 try_take=m",
        "try_take(1) ran m (priority 1)",
    ),
    _witness(
        "MBX-25",
        "execute:m~@1 execute:n@1 try_take=n",
        "execute:m~@1 execute:n@1 try_take@0=n execute:o@1 try_take=m try_take=o",
        "n was run before m, which can be deferred, but only by others",
    ),
    _witness(
        "MBX-26",
        "execute:m~@1 try_run_one*@1=False",
        "execute:m~@1 try_run_one@1=False try_run_one*@1 ( <m> )=True",
        "try_run_one(1) left m behind",
    ),
    _witness(
        "MBX-27",
        "execute:m~@0 try_run_one*@1 ( <m> )=True",
        "execute:m~@0 try_run_one*@1=False try_run_one*@0 ( <m> )=True",
        "try_run_one(1) ran m (priority 0)",
    ),
    _witness(
        "MBX-28",
        "execute:m create_batch=True execute:n count=1",
        "execute:m create_batch=True execute:n count=2",
        "1 were counted; 2 are inside",
    ),
    _witness(
        "MBX-29",
        "execute:m create_batch=True has_mail=False",
        "execute:m create_batch=True has_mail=True try_take=m has_mail=False",
        "that there is mail was denied; m waits",
    ),
    _witness(
        "MBX-30",
        "execute:m should_interrupt@1=False",
        "execute:m should_interrupt@1=True",
        "that there is mail was denied; m waits",
    ),
    MailboxWitness(
        "MBX-31",
        MailboxTrace(
            (
                Seen("begin", of=1, by="a", step=Step("exclusively", "a")),
                Seen("begin", of=2, step=Step("has_mail")),
                Seen("end", of=1, by="a", value="done"),
                Seen("end", of=2, value=False),
            )
        ),
        mailbox_trace("a.exclusively ( has_mail=False )=done"),
        "has_mail waited for a.exclusively",
    ),
    _witness(
        "MBX-32",
        "suspend_action quiesce is_idle=True",
        "suspend_action is_idle=True quiesce is_idle=False",
        "said to be idle, but the mailbox is quiesced",
    ),
    _witness(
        "MBX-33",
        "quiesce execute:m",
        "execute:m quiesce execute:n?closed",
        "execute m: was accepted; the mailbox is quiesced",
    ),
    _witness(
        "MBX-34",
        "execute:m quiesce try_take?closed",
        "execute:m quiesce try_take=m close try_take?closed",
        "try_take(-1) raised 'closed'; it is only quiesced",
    ),
    _witness(
        "MBX-35",
        "close try_take",
        "quiesce try_take close try_take?closed",
        "try_take(-1) raised nothing; it is closed",
    ),
    _witness(
        "MBX-36",
        "close quiesce state=quiesced",
        "quiesce state=quiesced close state=closed quiesce state=closed",
        "it says that it is quiesced; it is closed",
    ),
    _witness(
        "MBX-37",
        "execute:m create_batch=True execute:n close=n",
        "execute:m create_batch=True execute:n execute:now^ close=now,m,n",
        "close gave n, not m",
    ),
    _witness(
        "MBX-38",
        "execute:m close=m close?closed",
        "execute:m close=m close",
        "closing again: closed",
    ),
    MailboxWitness(
        "MBX-39",
        mailbox_trace("submit:m close=m", m="pending"),
        mailbox_trace(
            "submit:m submit:n try_run_one ( <n> )=True close=m", m="cancelled", n="pending"
        ),
        "the future of m is pending; the mailbox is closed",
    ),
    _witness(
        "MBX-40",
        "execute:m execute:now^ drain=m,now",
        "execute:m execute:now^ drain=now,m",
        "drain gave m before now",
    ),
    MailboxWitness(
        "MBX-41",
        mailbox_trace("exclusively ( a.execute:m execute:n )=done"),
        MailboxTrace(
            (
                Seen("begin", of=1, step=Step("exclusively")),
                Seen("begin", of=2, by="a", step=Step("execute", "a", Post("m"))),
                Seen("begin", of=3, step=Step("execute", mail=Post("n"))),
                Seen("end", of=3),
                Seen("end", of=2, by="a"),
                Seen("end", of=1, value="done"),
            )
        ),
        "a.execute m came into exclusively",
    ),
    _witness(
        "MBX-42",
        "exclusively ( execute:m )",
        "exclusively ( execute:m )=done",
        "exclusively gave None",
    ),
    MailboxWitness(
        "MBX-43",
        mailbox_trace("submit:m! try_run_one ( <m> )?raised-m", m="raised m"),
        mailbox_trace("submit:m! try_run_one ( <m> )=True", m="raised m"),
        "try_run_one(-1) raised what is in the future of m",
    ),
    _witness(
        "MBX-44",
        "execute:m@-1 try_run_one@0=True",
        "execute:m@-1 try_run_one@0=False try_run_one ( <m> )=True",
        "try_run_one(0) gave True, and ran nothing",
    ),
    _witness(
        "MBX-45",
        "submit:m cancel_future:m=True try_take=m",
        "submit:m submit:n cancel_future:m=True try_run_one=True try_take=n cancel_future:n=False",
        "m was run, whose future was cancelled",
    ),
    _witness(
        "MBX-46",
        "execute:m! run_one ( <m> )",
        "execute:m! run_one ( <m> )?raised-m",
        "run_one(-1) raised nothing, m an error",
    ),
    _witness(
        "MBX-47",
        "execute:m run ( <m execute:n > <n> act )",
        "execute:m run ( <m execute:n > act <n> )",
        "n was run in the round in which m sent it",
    ),
    _witness(
        "MBX-48",
        "execute:m execute:n run ( <m> act <n> )",
        "execute:m run ( <m execute:n > act <n> act )",
        "the action was run, n waited",
    ),
    _witness(
        "MBX-49",
        "suspend_action run ( act ) resume",
        "suspend_action run ( a.resume act )",
        "the action was run; it is suspended",
    ),
    _witness(
        "MBX-50",
        "suspend_action run ( a.resume waits )",
        "suspend_action run ( waits a.resume act )",
        "the loop waits; its action was resumed",
    ),
    _witness(
        "MBX-51",
        "suspend_action run ( a.execute:m waits )",
        "suspend_action run ( a.execute:m <m> waits )",
        "the loop waits; m is there",
    ),
    _witness(
        "MBX-52",
        "suspend_action resume suspend_action run ( a.resume#0 act )",
        "suspend_action resume suspend_action run ( a.resume#0 a.resume#1 act )",
        "the action was run; only an earlier suspension was resumed",
    ),
    _witness(
        "MBX-53",
        "suspend_action suspend_action",
        "suspend_action suspend_action?refused resume suspend_action",
        "the action was suspended twice",
    ),
    _witness(
        "MBX-54",
        "execute:m suspend run ( <m> )",
        "execute:m suspend run run ( <m> act all_actions_completed )",
        "m was run; the loop was to stop",
    ),
    _witness(
        "MBX-55",
        "all_actions_completed run execute:m run ( <m> )",
        "all_actions_completed run execute:m run",
        "m was run; the loop was to stop",
    ),
    _witness(
        "MBX-56",
        "close suspend?closed",
        "close suspend report_error?closed",
        "suspend raised 'closed'; the mailbox is over",
    ),
    _witness(
        "MBX-57",
        "execute:m report_error run ( <m> )?raised-reported",
        "execute:m report_error run?raised-reported run ( <m> )",
        "m was run; the loop was to stop",
    ),
    _witness(
        "MBX-58",
        "execute:m execute:n prepare_close run_what_is_left ( <m> )",
        "execute:m! execute:n prepare_close run_what_is_left ( <m> )?raised-m close=n",
        "n was left; nothing was raised",
    ),
    _witness(
        "MBX-59",
        "quiesce run",
        "quiesce run?closed",
        "the loop raised nothing; the mailbox is quiesced",
    ),
    _witness(
        "MBX-60",
        "run ( act act act act turn )",
        "run ( act turn act act act )",
        "4 rounds, and no other task had a turn",
    ),
    _witness(
        "MBX-61",
        "execute:m run_what_is_left ( <m> ) execute:n metrics=0-1",
        "execute:m run_what_is_left ( <m> ) execute:n metrics=1-1",
        "run and waiting: 0 and 1, not 1 and 1",
    ),
    MailboxWitness(
        "MBX-62",
        mailbox_trace("take ( waits stirs=1000 execute:m )"),
        mailbox_trace("take ( waits execute:m )"),
        "take(-1) waits, and took 1000 turns with nothing to do",
    ),
    _witness(
        "MBX-63",
        "execute:m create_batch?KeyError:-'m'",
        "execute:m! execute:n run_one ( <m> )?raised-m suspend_action suspend_action?refused "
        "a.try_take?refused take?cancelled close create_batch?closed run?closed has_mail=False",
        "create_batch raised \"KeyError: 'm'\"",
    ),
    _witness(
        "MBX-64",
        "run ( act! )",
        "run ( act! )?raised-action run ( act )",
        "the action raised an error, the loop nothing",
    ),
)
