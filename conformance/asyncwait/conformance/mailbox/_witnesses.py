"""For each check of the mailbox one run that breaks its rule, and one next to it that does not.

See `_notation` for how to read them.
"""

from msgspec import Struct

from asyncwait.conformance.evidence import entries
from asyncwait.conformance.mailbox._notation import mailbox_trace
from asyncwait.spec.mailbox.program import MailboxTrace


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


def _witness(about: str, below: list[str]) -> MailboxWitness:
    rule, _, said = about.partition(": ")
    told = dict(line.split(": ", 1) for line in below)
    return MailboxWitness(rule, mailbox_trace(told["breaks"]), mailbox_trace(told["keeps"]), said)


def _witnesses(text: str) -> tuple[MailboxWitness, ...]:
    return tuple(_witness(about, below) for about, below in entries(text))


MAILBOX_WITNESSES = _witnesses("""
MBX-1: m came out 2 times
    breaks: execute:m try_take=m close=m
    keeps: execute:m execute:n try_take=m close=n
MBX-2: m was sent, and never came out
    breaks: execute:m try_take close
    keeps: execute:m try_take close=m
MBX-3: a.execute m raised 'closed'; the mailbox was open
    breaks: a.execute:m?closed quiesce
    keeps: a.execute:m quiesce a.execute:n?closed
MBX-4: n was run before m, which was sent before
    breaks: execute:m execute:n try_take=n try_take=m
    keeps: execute:m execute:n^ try_take=n try_take=m execute:o execute:p try_take=o try_take=p
MBX-5: high was run before low, which was sent before, with a lower priority
    breaks: execute:low@-1 execute:high@1 try_take=high try_take=low
    keeps: execute:low@-1 execute:high@1 execute:own@1 try_take@1=high try_take=low try_take=own
        execute:low2@-1 execute:high2@1 try_take=low2 try_take=high2
MBX-6: try_take(1) ran m (priority 0)
    breaks: execute:m try_take@1=m
    keeps: execute:m try_take@1 try_take@0=m
MBX-7: try_take(1) took nothing; n waited
    breaks: execute:m@-1 execute:n@1 try_take@1
    keeps: execute:m@-1 try_take@1 execute:n@1 try_take@1=n
MBX-8: o was run before m, which an earlier taker had not seen
    breaks: execute:m@-1 execute:n@1 try_take@1=n execute:o@-1 try_take=o
    keeps: execute:m@-1 execute:n@1 try_take@1=n execute:o@-1 try_take=m try_take=o
MBX-9: m was refused, and came out
    breaks: quiesce execute:m?closed try_take=m
    keeps: execute:m quiesce execute:n?closed try_take=m
MBX-10: m was run amid execute m
    breaks: execute:m ( <m> )
    keeps: execute:m try_take=m
MBX-11: take(0) waits; m is there
    breaks: take@0 ( a.execute:m waits )
    keeps: take@0 ( a.execute:n@-1 waits a.execute:m <m> )
MBX-12: a.create_batch was let do what is the owner's
    breaks: a.create_batch=False
    keeps: a.create_batch?refused
MBX-13: m was lost with take(-1), which was cancelled
    breaks: take ( waits a.execute:m )?cancelled close
    keeps: take ( waits a.execute:m )?cancelled close=m
MBX-14: m was described, and nobody had asked
    breaks: execute:m% described:m
    keeps: execute:m% drain=m
MBX-15: try_take_from_batch took nothing; n is in the batch
    breaks: execute:m execute:n create_batch=True try_take_from_batch=m try_take_from_batch
    keeps: execute:m create_batch=True execute:n try_take_from_batch=m try_take_from_batch
MBX-16: n was taken from a batch made before it was sent
    breaks: execute:m create_batch=True execute:n try_take_from_batch=m try_take_from_batch=n
    keeps: execute:m create_batch=True execute:n try_take_from_batch=m try_take_from_batch
MBX-17: n was run before m, which was in the batch
    breaks: execute:m create_batch=True execute:n try_take=n
    keeps: execute:m create_batch=True execute:n try_take=m try_take=n
MBX-18: create_batch gave False; m is inside
    breaks: execute:m create_batch=True create_batch=False
    keeps: execute:m create_batch=True create_batch=True try_take=m create_batch=False
MBX-19: m was run; now waited, which is urgent
    breaks: execute:m execute:now^ try_take=m try_take=now
    keeps: execute:m execute:now^ try_take=now try_take=m
MBX-20: m was taken from the batch; now waited, which is urgent
    breaks: execute:m create_batch=True execute:now^ try_take_from_batch=m try_take=now
    keeps: execute:m create_batch=True execute:now^ try_take_from_batch=now try_take=m
MBX-21: then was run before now, which is urgent as well and was sent before
    breaks: execute:now^ execute:then^ try_take=then try_take=now
    keeps: execute:now^@-1 execute:then^@1 try_take@1=then try_take=now execute:one^ execute:two^
        try_take=one try_take=two
MBX-22: try_take(0) ran now (priority -1)
    breaks: execute:now^@-1 try_take@0=now
    keeps: execute:now^@-1 try_take@0 try_take=now
MBX-23: try_take_from_batch took nothing; m waited behind an urgent mail
    breaks: execute:m execute:now^ create_batch=True try_take_from_batch=now try_take_from_batch
    keeps: execute:m execute:now^ create_batch=True try_take_from_batch=now try_take_from_batch=m
MBX-24: try_take(1) ran m (priority 1)
    breaks: execute:m~@1 try_take@1=m
    keeps: execute:m~@1 try_take@1 try_take=m
MBX-25: n was run before m, which can be deferred, but only by others
    breaks: execute:m~@1 execute:n@1 try_take=n
    keeps: execute:m~@1 execute:n@1 try_take@0=n execute:o@1 try_take=m try_take=o
MBX-26: try_run_one(1) left m behind
    breaks: execute:m~@1 try_run_one*@1=False
    keeps: execute:m~@1 try_run_one@1=False try_run_one*@1 ( <m> )=True
MBX-27: try_run_one(1) ran m (priority 0)
    breaks: execute:m~@0 try_run_one*@1 ( <m> )=True
    keeps: execute:m~@0 try_run_one*@1=False try_run_one*@0 ( <m> )=True
MBX-28: 1 were counted; 2 are inside
    breaks: execute:m create_batch=True execute:n count=1
    keeps: execute:m create_batch=True execute:n count=2
MBX-29: that there is mail was denied; m waits
    breaks: execute:m create_batch=True has_mail=False
    keeps: execute:m create_batch=True has_mail=True try_take=m has_mail=False
MBX-30: that there is mail was denied; m waits
    breaks: execute:m should_interrupt@1=False
    keeps: execute:m should_interrupt@1=True
MBX-31: has_mail waited for a.exclusively
    breaks: a.exclusively ( has_mail ( )1=done )2=False
    keeps: a.exclusively ( has_mail=False )=done
MBX-32: said to be idle, but the mailbox is quiesced
    breaks: suspend_action quiesce is_idle=True
    keeps: suspend_action is_idle=True quiesce is_idle=False
MBX-33: execute m: was accepted; the mailbox is quiesced
    breaks: quiesce execute:m
    keeps: execute:m quiesce execute:n?closed
MBX-34: try_take(-1) raised 'closed'; it is only quiesced
    breaks: execute:m quiesce try_take?closed
    keeps: execute:m quiesce try_take=m close try_take?closed
MBX-35: try_take(-1) raised nothing; it is closed
    breaks: close try_take
    keeps: quiesce try_take close try_take?closed
MBX-36: it says that it is quiesced; it is closed
    breaks: close quiesce state=quiesced
    keeps: quiesce state=quiesced close state=closed quiesce state=closed
MBX-37: close gave n, not m
    breaks: execute:m create_batch=True execute:n close=n
    keeps: execute:m create_batch=True execute:n execute:now^ close=now,m,n
MBX-38: closing again: closed
    breaks: execute:m close=m close?closed
    keeps: execute:m close=m close
MBX-39: the future of m is pending; the mailbox is closed
    breaks: submit:m close=m future:m=pending
    keeps: submit:m submit:n try_run_one ( <n> )=True close=m future:m=cancelled future:n=pending
MBX-40: drain gave m before now
    breaks: execute:m execute:now^ drain=m,now
    keeps: execute:m execute:now^ drain=now,m
MBX-41: a.execute m came into exclusively
    breaks: exclusively ( a.execute:m execute:n )=done
    keeps: exclusively ( a.execute:m ( execute:n ) )=done
MBX-42: exclusively gave None
    breaks: exclusively ( execute:m )
    keeps: exclusively ( execute:m )=done
MBX-43: try_run_one(-1) raised what is in the future of m
    breaks: submit:m! try_run_one ( <m> )?raised-m future:m=raised-m
    keeps: submit:m! try_run_one ( <m> )=True future:m=raised-m
MBX-44: try_run_one(0) gave True, and ran nothing
    breaks: execute:m@-1 try_run_one@0=True
    keeps: execute:m@-1 try_run_one@0=False try_run_one ( <m> )=True
MBX-45: m was run, whose future was cancelled
    breaks: submit:m cancel_future:m=True try_take=m
    keeps: submit:m submit:n cancel_future:m=True try_run_one=True try_take=n cancel_future:n=False
MBX-46: run_one(-1) raised nothing, m an error
    breaks: execute:m! run_one ( <m> )
    keeps: execute:m! run_one ( <m> )?raised-m
MBX-47: n was run in the round in which m sent it
    breaks: execute:m run ( <m execute:n > <n> act )
    keeps: execute:m run ( <m execute:n > act <n> )
MBX-48: the action was run, n waited
    breaks: execute:m execute:n run ( <m> act <n> )
    keeps: execute:m run ( <m execute:n > act <n> act )
MBX-49: the action was run; it is suspended
    breaks: suspend_action run ( act ) resume
    keeps: suspend_action run ( a.resume act )
MBX-50: the loop waits; its action was resumed
    breaks: suspend_action run ( a.resume waits )
    keeps: suspend_action run ( waits a.resume act )
MBX-51: the loop waits; m is there
    breaks: suspend_action run ( a.execute:m waits )
    keeps: suspend_action run ( a.execute:m <m> waits )
MBX-52: the action was run; only an earlier suspension was resumed
    breaks: suspend_action resume suspend_action run ( a.resume#0 act )
    keeps: suspend_action resume suspend_action run ( a.resume#0 a.resume#1 act )
MBX-53: the action was suspended twice
    breaks: suspend_action suspend_action
    keeps: suspend_action suspend_action?refused resume suspend_action
MBX-54: m was run; the loop was to stop
    breaks: execute:m suspend run ( <m> )
    keeps: execute:m suspend run run ( <m> act all_actions_completed )
MBX-55: m was run; the loop was to stop
    breaks: all_actions_completed run execute:m run ( <m> )
    keeps: all_actions_completed run execute:m run
MBX-56: suspend raised 'closed'; the mailbox is over
    breaks: close suspend?closed
    keeps: close suspend report_error?closed
MBX-57: m was run; the loop was to stop
    breaks: execute:m report_error run ( <m> )?raised-reported
    keeps: execute:m report_error run?raised-reported run ( <m> )
MBX-58: n was left; nothing was raised
    breaks: execute:m execute:n prepare_close run_what_is_left ( <m> )
    keeps: execute:m! execute:n prepare_close run_what_is_left ( <m> )?raised-m close=n
MBX-59: the loop raised nothing; the mailbox is quiesced
    breaks: quiesce run
    keeps: quiesce run?closed
MBX-60: 4 rounds, and no other task had a turn
    breaks: run ( act act act act turn )
    keeps: run ( act turn act act act )
MBX-61: run and waiting: 0 and 1, not 1 and 1
    breaks: execute:m run_what_is_left ( <m> ) execute:n metrics=0-1
    keeps: execute:m run_what_is_left ( <m> ) execute:n metrics=1-1
MBX-62: take(-1) waits, and took 1000 turns with nothing to do
    breaks: take ( waits stirs=1000 execute:m )
    keeps: take ( waits execute:m )
MBX-63: create_batch raised "KeyError: 'm'"
    breaks: execute:m create_batch?KeyError:-'m'
    keeps: execute:m! execute:n run_one ( <m> )?raised-m suspend_action suspend_action?refused
        a.try_take?refused take?cancelled close create_batch?closed run?closed has_mail=False
MBX-64: the action raised an error, the loop nothing
    breaks: run ( act! )
    keeps: run ( act! )?raised-action run ( act )
""")
