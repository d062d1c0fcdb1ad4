"""STAT: runs whose figures are wrong, and their legal neighbours."""

from asyncwait.conformance.evidence import near_misses, witnesses

WITNESSES = witnesses("""
STAT-1: in_flight is 3, expected 2
    # a and b are called at once, b answers first, and the figures are read in between.
    plan: 0: a ~1 b; a: 80 gives a1; b: 40 gives b1; figures_at 60
    breaks: 0: waits, takes 0 1 2, calls a b; 40: #1 gives b1;
        60: figures in_flight=3 held=1 calls=2 max_in_flight=2 max_held=1 oldest=60;
        80: #0 gives a1, out a1 ~1 b1
    keeps: 0: waits, takes 0 1 2, calls a b; 40: #1 gives b1;
        60: figures in_flight=2 held=1 calls=2 max_in_flight=2 max_held=1 oldest=60;
        80: #0 gives a1, out a1 ~1 b1
STAT-2: waiting is 0, expected 1
    plan: capacity 1; 0: a b; a: 80 gives a1; b: 40 gives b1; figures_at 60
    breaks: 0: waits, takes 0 1, calls a; 60: figures in_flight=1 calls=1 max_in_flight=1 oldest=60;
        80: #0 gives a1, out a1, calls b; 120: #1 gives b1, out b1
    keeps: 0: waits, takes 0 1, calls a;
        60: figures in_flight=1 waiting=1 calls=1 max_in_flight=1 oldest=60;
        80: #0 gives a1, out a1, calls b; 120: #1 gives b1, out b1
STAT-3: held is 0, expected 1
    plan: 0: a b; a: 80 gives a1; b: 40 gives b1; figures_at 60
    breaks: 0: waits, takes 0 1, calls a b; 40: #1 gives b1;
        60: figures in_flight=2 calls=2 max_in_flight=2 max_held=1 oldest=60;
        80: #0 gives a1, out a1 b1
    keeps: 0: waits, takes 0 1, calls a b; 40: #1 gives b1;
        60: figures in_flight=2 held=1 calls=2 max_in_flight=2 max_held=1 oldest=60;
        80: #0 gives a1, out a1 b1
STAT-4: calls is 1, expected 2
    plan: 0: a b; a: 80 gives a1; b: 40 gives b1; figures_at 60
    breaks: 0: waits, takes 0 1, calls a b; 40: #1 gives b1;
        60: figures in_flight=2 held=1 calls=1 max_in_flight=2 max_held=1 oldest=60;
        80: #0 gives a1, out a1 b1
    keeps: 0: waits, takes 0 1, calls a b; 40: #1 gives b1;
        60: figures in_flight=2 held=1 calls=2 max_in_flight=2 max_held=1 oldest=60;
        80: #0 gives a1, out a1 b1
STAT-5: retries is 1, expected 0
    plan: retry; 0: a; a: 40 raises, gives a1; source_ends_at 100; figures_at 60 100
    breaks: 0: waits, takes 0, calls a; 40: #0 raises;
        60: figures in_flight=1 calls=1 retries=1 max_in_flight=1 oldest=60;
        80: calls a, #1 gives a1, out a1; 100: figures calls=2 retries=1 max_in_flight=1
    keeps: 0: waits, takes 0, calls a; 40: #0 raises;
        60: figures in_flight=1 calls=1 max_in_flight=1 oldest=60; 80: calls a, #1 gives a1, out a1;
        100: figures calls=2 retries=1 max_in_flight=1
STAT-6: timeouts is 0, expected 1
    plan: timeout 40; handled; 0: a; a: never, late gives late; source_ends_at 60; figures_at 60
    breaks: 0: waits, takes 0, calls a; 40: asks a, #0 cancelled, out late;
        60: figures calls=1 max_in_flight=1
    keeps: 0: waits, takes 0, calls a; 40: asks a, #0 cancelled, out late;
        60: figures calls=1 timeouts=1 max_in_flight=1
STAT-7: failures_handled is 0, expected 1
    plan: failures_handled; 0: a; a: 40 raises, failed gives; source_ends_at 60; figures_at 60
    breaks: 0: waits, takes 0, calls a; 40: #0 raises, asks a about CallFailed cause=ValueError;
        60: figures calls=1 max_in_flight=1
    keeps: 0: waits, takes 0, calls a; 40: #0 raises, asks a about CallFailed cause=ValueError;
        60: figures calls=1 failures_handled=1 max_in_flight=1
STAT-8: abandoned is 0, expected 1
    plan: timeout 40; handled; 0: a; a: outlives 200 a1, late gives late; source_ends_at 300;
        figures_at 120
    breaks: 0: waits, takes 0, calls a; 40: asks a, #0 told, out late;
        120: figures calls=1 timeouts=1 max_in_flight=1; 240: #0 gives a1;
        300: end, ends finished abandoned=1
    keeps: 0: waits, takes 0, calls a; 40: asks a, #0 told, out late;
        120: figures calls=1 timeouts=1 abandoned=1 max_in_flight=1; 240: #0 gives a1;
        300: end, ends finished abandoned=1
STAT-9: max_in_flight is 2, expected 1
    # The records come one after the other; at the last reading both are out.
    plan: 0: a; 100: b; a: 80 gives a1; b: 40 gives b1; source_ends_at 160; figures_at 20 160
    breaks: 0: waits, takes 0, calls a; 20: figures in_flight=1 calls=1 max_in_flight=1 oldest=20;
        80: #0 gives a1, out a1; 100: takes 1, calls b; 140: #1 gives b1, out b1;
        160: figures calls=2 max_in_flight=2 max_held=1
    keeps: 0: waits, takes 0, calls a; 20: figures in_flight=1 calls=1 max_in_flight=1 oldest=20;
        80: #0 gives a1, out a1; 100: takes 1, calls b; 140: #1 gives b1, out b1;
        160: figures calls=2 max_in_flight=1 max_held=1
STAT-10: oldest is 20 ms, expected 60
    plan: 0: a b; a: 80 gives a1; b: 40 gives b1; figures_at 60
    breaks: 0: waits, takes 0 1, calls a b; 40: #1 gives b1;
        60: figures in_flight=2 held=1 calls=2 max_in_flight=2 max_held=1 oldest=20;
        80: #0 gives a1, out a1 b1
    keeps: 0: waits, takes 0 1, calls a b; 40: #1 gives b1;
        60: figures in_flight=2 held=1 calls=2 max_in_flight=2 max_held=1 oldest=60;
        80: #0 gives a1, out a1 b1
STAT-11: in_flight is 1 after the end
    plan: 0: a; a: 40 raises; figures_at 20 60
    breaks: 0: takes 0, calls a, end; 20: figures in_flight=1 calls=1 max_in_flight=1 oldest=20;
        40: #0 raises; 60: figures in_flight=1 calls=1 max_in_flight=1;
        80: waits, closes, closed, figures calls=1 max_in_flight=1,
        ends failed CallFailed record=a cause=ValueError
    keeps: 0: takes 0, calls a, end; 20: figures in_flight=1 calls=1 max_in_flight=1 oldest=20;
        40: #0 raises; 60: figures calls=1 max_in_flight=1; 80: waits, closes, closed,
        figures calls=1 max_in_flight=1, ends failed CallFailed record=a cause=ValueError
""")

NEAR_MISSES = near_misses("""
STAT-3
    # An event in the instant of a reading may count or not.
    # The record is called at 0 and answered at 40, while the consumer pauses until 80.
    plan: 0: a; a: 40 gives a1; b: 40 gives; figures_at 40; sink pause 80
    keeps: 0: takes 0, calls a;
        40: figures in_flight=1 calls=1 max_in_flight=1 oldest=40, #0 gives a1; 80: waits, out a1
STAT-3
    keeps: 0: takes 0, calls a;
        40: figures in_flight=1 held=1 calls=1 max_in_flight=1 max_held=1 oldest=40, #0 gives a1;
        80: waits, out a1
STAT-3: held is 1, expected 0
    # An event before the instant of the reading counts, and a later event does not.
    also: STAT-9
    plan: 0: a; a: 40 gives a1; b: 40 gives; figures_at 20; sink pause 80
    breaks: 0: takes 0, calls a;
        20: figures in_flight=1 held=1 calls=1 max_in_flight=1 max_held=1 oldest=20;
        40: #0 gives a1; 80: waits, out a1
STAT-3: held is 0, expected 1
    plan: 0: a; a: 40 gives a1; b: 40 gives; figures_at 60; sink pause 80
    breaks: 0: takes 0, calls a; 40: #0 gives a1;
        60: figures in_flight=1 calls=1 max_in_flight=1 oldest=60; 80: waits, out a1
STAT-1
    # A record without results may leave from its decision on, until the consumer has waited.
    # The record without results is decided at 40; the consumer waits from 80 on.
    plan: 0: b; a: 40 gives a1; b: 40 gives; source_ends_at 160; figures_at 60; sink pause 80
    keeps: 0: takes 0, calls b; 40: #0 gives;
        60: figures in_flight=1 held=1 calls=1 max_in_flight=1 max_held=1 oldest=60; 80: waits;
        160: end, ends finished
STAT-1
    keeps: 0: takes 0, calls b; 40: #0 gives; 60: figures calls=1 max_in_flight=1; 80: waits;
        160: end, ends finished
STAT-1
    plan: 0: b; a: 40 gives a1; b: 40 gives; source_ends_at 160; figures_at 120; sink pause 80
    escapes: 0: takes 0, calls b; 40: #0 gives; 80: waits; 120: figures calls=1 max_in_flight=1;
        160: end, ends finished
STAT-1: in_flight is 1, expected 0
    also: STAT-10 STAT-3
    breaks: 0: takes 0, calls b; 40: #0 gives; 80: waits;
        120: figures in_flight=1 held=1 calls=1 max_in_flight=1 max_held=1 oldest=120;
        160: end, ends finished
STAT-10: oldest is 120 ms, expected 0: nothing is in flight
    also: STAT-1 STAT-3
    breaks: 0: takes 0, calls b; 40: #0 gives; 80: waits;
        120: figures in_flight=1 held=1 calls=1 max_in_flight=1 max_held=1 oldest=120;
        160: end, ends finished
STAT-2
    # A watermark may take a slot or not.
    # A watermark is read behind a record that takes all room.
    plan: capacity 1; 0: a ~1; a: 40 gives a1; b: 40 gives; figures_at 20
    keeps: 0: waits, takes 0 1, calls a; 20: figures in_flight=1 calls=1 max_in_flight=1 oldest=20;
        40: #0 gives a1, out a1 ~1
STAT-2
    keeps: 0: waits, takes 0 1, calls a;
        20: figures in_flight=1 waiting=1 calls=1 max_in_flight=1 oldest=20;
        40: #0 gives a1, out a1 ~1
""")
