"""The examples of the mailbox, rule by rule; `_notation` describes their form."""

from asyncwait.conformance.mailbox._notation import examples

MAILBOX_EXAMPLES = examples("""
# Sending and taking
a-mail-that-is-taken-is-gone: MBX-1, MBX-2
    A mail that was taken is not there for the next taker, nor in the end.
    steps: a.execute:m try_take try_take execute:n drain try_take execute:o
ten-senders-at-once: MBX-1, MBX-2, MBX-3, MBX-4
    Mails of three senders that are sent at the same time come out once, each sender's in the order
    in which it sent them.
    steps: take take take storm:s#8 run
a-storm-over-a-waiting-loop: MBX-1, MBX-2, MBX-51
    A loop whose action is suspended runs all that three senders send at the same time.
    steps: run storm:s#8 a.resume#0
    action: suspend_action
a-hundred-mails: MBX-1, MBX-2, MBX-3
    However many wait, one more is taken in.
    steps: storm:s#34 has_mail drain
in-the-order-of-sending: MBX-4, MBX-10
    Three mails of several senders come out as they were sent.
    steps: a.execute:one b.execute:two execute:three try_take try_take try_take
in-the-order-of-sending-for-the-loop: MBX-4, MBX-10
    The loop runs three mails as they were sent.
    steps: a.execute:one b.execute:two execute:three run
a-higher-priority-waits-its-turn: MBX-5
    A taker that sees everything gets the mail of a lower priority first, which came first.
    steps: a.execute:low@-1 b.execute:high@2 execute:mid@1 try_take try_take try_take
an-operator-sees-its-own: MBX-2, MBX-6, MBX-7
    A taker with a higher priority gets what it sees from behind what it does not, and leaves the
    rest as it was.
    steps: execute:main@-1 execute:own@1 execute:next execute:later@1 try_take@1 try_run_one@1
        try_take@1 try_take@0 try_take execute:last@-1 try_take
the-unseen-stay-in-front: MBX-8
    Mails that a taker did not see are run before those of their kind that came later.
    steps: execute:one@-1 execute:own execute:two@-1 try_take@0 execute:three@-1 try_take try_take
        try_take
a-batch-is-looked-through: MBX-6, MBX-7, MBX-8, MBX-17
    A mail that is not in the batch is taken past one in it that is not seen.
    steps: execute:low@-1 execute:high@1 create_batch execute:later@1 execute:last@-1 try_take@1
        try_take@1 try_take@1 try_take_from_batch try_take
refused-for-good: MBX-9, MBX-33, MBX-37
    A mail that is refused is not among those that are given back.
    steps: a.execute:m quiesce a.execute:n execute:o@-1 submit:p close execute:q
run-by-the-owner-only: MBX-10
    A mail that the owner sends to itself is not run before it is taken, either.
    steps: execute:m submit:n try_take execute:o { execute:p } try_take try_take try_take
woken-by-what-it-sees: MBX-11, MBX-6
    A mail that a waiting taker sees wakes it; a mail that it does not see lets it wait.
    steps: take@1 a.execute:low b.execute:high@1 try_take
an-operator-waits-for-its-mail: MBX-10, MBX-11, MBX-46
    Who waits to run one mail runs the first that comes, and is given its error.
    steps: run_one@0 a.execute:m run_one@0 a.execute:n!
other-threads-are-refused: MBX-12
    What is the owner's is refused to another thread, and changes nothing.
    steps: execute:m create_batch execute:n a.try_take a.try_take_from_batch b.create_batch
        c.try_run_one a.drain b.quiesce c.close a.suspend_action
cancelled-as-the-mail-comes: MBX-13, MBX-2
    A mail that comes in the instant in which the wait is cancelled is there for the next.
    steps: take a.execute:m& cancel_wait take cancel_wait& a.execute:n drain
cancelled-as-an-operator-waits: MBX-13
    The same for a task that waits to run a mail.
    steps: run_one@0 a.execute:m@1& cancel_wait run_one@0 cancel_wait& a.execute:n drain
cancelled-some-turns-after-the-mail-came: MBX-13, MBX-2
    The task that waited may have the mail already; else the mail is still there.
    steps: take a.execute:l& cancel_wait drain take a.execute:m& cancel_wait#1 drain take
        a.execute:n& cancel_wait#2 drain take a.execute:o& cancel_wait#3 drain take a.execute:p&
        cancel_wait#5 drain
cancelled-some-turns-after-the-mail-of-an-operator-came: MBX-13
    The same for who waits to run a mail.
    steps: run_one@0 a.execute:l@1& cancel_wait drain run_one@0 a.execute:m@1& cancel_wait#1 drain
        run_one@0 a.execute:n@1& cancel_wait#2 drain run_one@0 a.execute:o@1& cancel_wait#4 drain
# Batches
a-batch-of-what-was-there: MBX-15, MBX-16
    What came before the batch is taken from it, and what came later from the next one.
    steps: create_batch a.execute:one execute:two create_batch b.execute:late try_take_from_batch
        try_take_from_batch try_take_from_batch create_batch try_take_from_batch create_batch
a-batch-and-the-queue-behind-it: MBX-17, MBX-29
    A taker gets the rest of the batch first.
    steps: execute:one execute:two create_batch execute:three has_mail try_take try_take
        try_take has_mail
a-batch-that-was-left: MBX-15
    A second batch adds nothing, and the first still gives its rest.
    steps: execute:one execute:two create_batch try_take_from_batch create_batch try_take_from_batch
        create_batch
a-batch-is-all-there-is: MBX-29
    What is in the batch is mail that waits.
    steps: has_mail execute:low@-1 create_batch has_mail try_take_from_batch has_mail
# Urgent mails
urgent-ahead-of-all: MBX-19
    An urgent mail is taken before those that were sent earlier.
    steps: execute:one execute:two a.execute:now^ try_take try_take try_take
urgent-amid-a-batch: MBX-20, MBX-21, MBX-19
    Urgent mails that are sent while a batch is taken come next, in their order.
    steps: execute:one execute:two execute:three create_batch try_take_from_batch execute:now^
        a.execute:then^ try_take_from_batch try_take_from_batch try_take_from_batch
        try_take_from_batch
urgent-amid-a-round: MBX-20, MBX-19
    A mail sends an urgent one; the loop runs it before the next of its batch.
    steps: execute:one { execute:now^@-1 } execute:two run
several-urgent-ones: MBX-21
    Urgent mails come out in the order in which they were sent, before and after a batch.
    steps: a.execute:one^ b.execute:two^ execute:plain create_batch c.execute:three^ try_take
        try_take_from_batch try_take try_take
urgent-and-still-not-seen: MBX-19, MBX-22
    An urgent mail of the main loop is hidden from an operator that waits for room.
    steps: execute:now^@-1 execute:own@1 try_take@1 try_run_one@0 execute:main@-1 try_take try_take
a-timer-behind-a-checkpoint: MBX-23, MBX-15
    A batch that is made while an urgent mail waits holds the others, too.
    steps: execute:timer execute:checkpoint^ create_batch try_take_from_batch try_take_from_batch
        execute:last
a-timer-behind-a-checkpoint-in-the-loop: MBX-51, MBX-19
    A loop whose action is suspended runs the mail that came with an urgent one.
    steps: run execute:unused a.execute:timer& b.execute:checkpoint^ a.execute:later a.resume#0
    action: suspend_action
# Mails that can be deferred
deferred-by-operators: MBX-24
    Only the main loop runs a mail that can be deferred, in its place.
    steps: execute:later~@2 try_take@2 try_run_one@1 try_take@0 execute:plain@2 execute:more~
        execute:last@-1 try_take try_take try_take try_take
deferred-by-a-waiting-operator: MBX-24, MBX-11
    A mail that can be deferred does not wake a waiting operator.
    steps: run_one@0 a.execute:later~@1 b.execute:own try_take
nothing-of-ones-own-is-left: MBX-26
    Who finishes runs what was deferred, as far as it is its own.
    steps: execute:watermark~@1 execute:other~ execute:main@-1 try_run_one@1 try_run_one*@1
        try_run_one*@1 try_run_one*@0 try_run_one*@0 try_take
# Asking
asked-amid-a-section: MBX-31
    The owner asks for mail while another thread has the mailbox for itself.
    steps: execute:m a.exclusively { has_mail a.execute:n } drain
# The end
quiesced-and-emptied: MBX-33, MBX-34
    After quiescing nothing comes in, and what is inside is taken in every way.
    steps: execute:a1 execute:b1 execute:c1 execute:d1 execute:e1 quiesce a.execute:late
        b.submit:later^ try_take try_run_one create_batch try_take_from_batch take run_one try_take
        quiesce
quiesced-amid-a-mail: MBX-33, MBX-9
    What a mail sends after quiescing is refused.
    steps: execute:m { quiesce execute:n submit:o } try_take
closed: MBX-33, MBX-35
    A closed mailbox refuses who sends and who takes, and stays closed.
    steps: execute:m close a.execute:n submit:o try_take take run_one try_run_one
        try_take_from_batch quiesce
given-back-in-order: MBX-37
    Closing returns what is urgent, what is left of the batch, and the queue; again nothing.
    steps: execute:one execute:two create_batch execute:three@-1 execute:now^ execute:four~ close
        close has_mail
futures-of-the-dropped: MBX-39
    Closing cancels the futures of mails that never ran, in batch and queue.
    steps: submit:one create_batch submit:two a.submit:now^ try_take close
futures-of-the-dropped-by-the-loop: MBX-33, MBX-39
    Quiescing leaves a queued future untouched, and closing cancels it.
    steps: submit:one quiesce a.execute:late close
drained: MBX-40
    Draining gives what is urgent, the batch, and the queue, and leaves nothing.
    steps: execute:one execute:two create_batch execute:three execute:now^ drain execute:four
        try_take
not-interrupted: MBX-41
    What another thread sends while the owner is in a section comes in afterwards.
    steps: exclusively { execute:one a.execute:other execute:two } drain
not-closed-amid-a-section: MBX-41, MBX-37
    The owner closes while another thread is in a section: all of its mails are given back.
    steps: a.exclusively { a.execute:one close a.execute:two a.execute:three }
# Executors
an-outcome-for-the-sender: MBX-43, MBX-44
    What a submitted mail returns or raises is in its future; who runs it goes on.
    steps: a.submit:good submit:bad! submit:worse! try_run_one try_run_one run_one try_run_one
an-outcome-for-the-sender-by-the-loop: MBX-43
    The loop goes on after a submitted mail has raised.
    steps: submit:bad! execute:next run
tried-until-there-is-none: MBX-10, MBX-44
    True once for each mail that is seen, then false, although an unseen mail waits.
    steps: try_run_one@0 execute:main@-1 execute:m try_run_one@0 try_run_one@0
errors-pass: MBX-46
    What a mail raises is raised by what runs it, and the next one can be run.
    steps: execute:m! execute:n! execute:o! execute:p try_run_one run_one run run try_run_one
# The loop
a-mail-that-sends-itself-again: MBX-47, MBX-55
    Three rounds: three actions, three mails.
    steps: execute:one { execute:two { execute:three { execute:four } } } run
    action:
    action:
    action:
all-mails-before-each-action: MBX-47, MBX-48
    What is there at the beginning of a round runs before its action.
    steps: execute:one { execute:again } execute:two execute:three run
    action: execute:four execute:five execute:six
    action: execute:seven execute:eight
suspended-until-resumed: MBX-49, MBX-50, MBX-51
    While it is suspended the action does not run and mails do; then it runs.
    steps: run a.execute:one b.execute:two a.resume#0
    action: suspend_action
suspended-and-resumed-time-and-again: MBX-49, MBX-50
    The action runs once for each time that a thread resumes it.
    steps: run a.resume#0 execute:unused b.resume#1 c.resume#2
    action: suspend_action
    action: suspend_action
    action: suspend_action
resumed-by-a-mail: MBX-49, MBX-50
    A mail resumes the action, in the owner's own thread.
    steps: run a.execute:m { resume#0 }
    action: suspend_action
resumed-before-it-ends: MBX-49, MBX-50
    An action that is resumed in the step that suspended it just runs again.
    steps: run
    action: suspend_action resume#0 suspend_action resume#1
resumed-too-late: MBX-52, MBX-49
    A resume of the first suspension does nothing to the second.
    steps: run a.resume#0 a.resume#0 b.execute:m { resume#0 } c.resume#1
    action: suspend_action
    action: suspend_action
stopped-and-run-again: MBX-54
    The loop is suspended before mails that waited; its next run goes on with them.
    steps: execute:one a.suspend run execute:two run
stopped-by-a-mail: MBX-54
    A mail suspends the loop; what is behind it in the batch stays for the next run.
    steps: execute:one { suspend } execute:two run run
stopped-by-its-action: MBX-54
    The action suspends the loop, and does not run again before the next run.
    steps: run execute:m run
    action: execute:one suspend execute:two
stopped-while-it-waits: MBX-54, MBX-49
    A loop that waits for mails is suspended by another thread; its action stays suspended.
    steps: run a.suspend run b.resume#0
    action: suspend_action
completed-for-good: MBX-55
    A completed loop does nothing when it is run again.
    steps: a.all_actions_completed execute:one run execute:two run
completed-while-it-waits: MBX-55
    A loop that waits for mails is completed by another thread.
    steps: run a.all_actions_completed execute:m run
    action: suspend_action
too-late-to-steer: MBX-56
    Once the mailbox is closed steering is harmless, and the loop can't be run.
    steps: suspend_action close a.suspend b.all_actions_completed c.resume#0 suspend run
too-late-to-steer-what-is-quiesced: MBX-56
    The same while it is quiesced.
    steps: suspend_action quiesce a.suspend b.all_actions_completed c.resume#0
nothing-happens: MBX-62
    Who waits for a mail, and a loop without input, take no time of the processor.
    steps: run a.execute:m a.suspend take
    action: suspend_action
an-operator-that-nobody-answers: MBX-62
    Nor does a task that waits to run a mail, although one is there that it does not see.
    steps: execute:m@-1 run_one@1 a.execute:n@1 run_one@1
nothing-but-what-is-said: MBX-63
    No operation and no question raises, with mail or without, before the end and after it.
    steps: create_batch try_take try_take_from_batch try_run_one has_mail
        drain execute:m execute:n create_batch has_mail try_take drain
        exclusively { execute:o } suspend run suspend_action a.resume#0 quiesce quiesce has_mail
        close has_mail suspend resume#0 close
an-action-that-raises: MBX-64, MBX-2
    The loop raises what its action raises, and can be run again; a mail that came stays.
    steps: execute:m run run
    action: execute:n fail
    action: execute:o
""")
