"""CACHE: examples of results that are kept and shared by key."""

from asyncwait.conformance.evidence import examples

EXAMPLES = examples("""
null-keys: CACHE-1
    Each of three records with the key null has a load of its own.
    cache ttl=500; 0: null null; 80: null; plan null: 80 gives n1, 40 gives n2, 40 gives n3
a-null-among-the-parts: CACHE-1
    A key of several parts is null if any part is null.
    cache ttl=500; 0: ["x",null] ["x",null]; 80: ["x",1]; 160: ["x",1];
    plan ["x",null]: 40 gives n1, 40 gives n2; plan ["x",1]: 40 gives x1
one-load-for-three: CACHE-2
    The third record comes while the load runs.
    cache ttl=100; 0: a@1 a@2; 40: a@3; a: 80 gives a1
keys-of-other-types: CACHE-2, CACHE-5
    The values 1, 1.0, true and a text are four keys.
    cache ttl=500; capacity 8; 0: 1 1.0 true "1"; 80: true 1 "1" 1.0; plan 1: 40 gives int;
    plan 1.0: 40 gives float; plan true: 40 gives true; plan "1": 40 gives text
a-load-that-nobody-has-to-wait-for: CACHE-5
    The function answers at once, and all three records get its results.
    cache ttl=500; 0: a a; 80: a; a: gives a1
loads-of-several-keys: CACHE-2
    Each key has a load of its own.
    unordered; cache ttl=100; 0: a b a b; a: 80 gives a1; b: 40 gives b1
a-record-leaves-its-load: CACHE-3
    At 120 the first record, which began the load, is late; the load runs on for the second.
    cache ttl=500; timeout 120; handled; 0: a; 80: a; a: 160 gives a1, late gives a?
all-leave-their-load: CACHE-3, TIME-5
    At 120 no record waits any more, and the third record begins another load.
    cache ttl=500; timeout 80; handled; 0: a; 40: a; 160: a; a: never, 40 gives a2, late gives a?
a-load-that-cleans-up-is-shared-no-more: CACHE-3
    The first load ends at 160, and was cancelled at 80.
    unordered; cache ttl=500; timeout 80; handled; 0: a; 120: a;
    a: never with clean_up=80, 40 gives a2, late gives a?
all-leave-their-load-at-their-limits: CACHE-3, RETRY-12
    The attempts of the two records have their own limits, at 80 and at 120.
    cache ttl=500; retry attempt_timeout=80 initial=80; 0: a; 40: a; a: never, 40 gives a1
a-record-comes-back-to-its-load: CACHE-3, CACHE-2
    The first record leaves at 120, at its attempt's limit, and joins the same load again at 160.
    cache ttl=500; retry attempt_timeout=120 initial=40 multiplier=1; 0: a; 40: a; 80: a;
    a: 240 gives a1
a-load-ahead-of-time-hangs: CACHE-3, CACHE-8
    The load began at 160; the third record leaves it at 680, so that the fourth begins another.
    cache ttl=500 refresh_ahead=20; timeout 120; handled; 0: a; 160: a; 560: a; 720: a;
    a: 40 gives a1, never, 40 gives a3, late gives a?; source_ends_at 800
a-failure-is-of-all-that-wait: CACHE-4
    The operator asks the failure handler about each of the two records.
    failures_handled; cache ttl=100; 0: a a; a: 40 raises, failed gives a!
a-failure-is-not-kept: CACHE-4
    The third record begins another load.
    failures_handled; cache ttl=500; 0: a a; 80: a; a: 40 raises, 40 gives a2, failed gives a!
a-failure-is-repeated-together: CACHE-4, CACHE-2
    The second attempts share a load again.
    retry; cache ttl=100; 0: a a; a: 40 raises, 40 gives a1
what-is-no-collection-is-so-for-all: CACHE-4
    Each waiting record has an InvalidResult of its own.
    failures_handled; cache ttl=100; 0: a a; 80: a; a: 40 misreturns none, 40 gives a2,
    failed gives a!
what-breaks-while-it-is-read-is-so-for-all: CACHE-4, RES-6
    The operator reads the results once, for both records.
    failures_handled; cache ttl=100; 0: a a; 80: a; a: 40 misreturns broken, 40 gives a2,
    failed gives a!
a-failed-load-fails-the-operator: CACHE-4, FAIL-1
    The error names the first record that waited.
    cache ttl=100; 0: a a; a: 40 raises
given-until-they-are-no-longer-good: CACHE-5
    The results are good until 100.
    cache ttl=100; 0: a; 80: a; 120: a; a: 40 gives a1, 40 gives a2
a-slow-answer-lives-no-longer: CACHE-5
    The answer comes at 80, and is good until 100 all the same.
    cache ttl=100; 0: a; 120: a; a: 80 gives a1, 40 gives a2
an-answer-that-is-old-when-it-comes: CACHE-5
    The load takes longer than its results are good: only the records that wait for it get them.
    cache ttl=100; 0: a; 40: a; 160: a; 320: a; a: 120 gives a1, 40 gives a2, 40 gives a3
an-attempt-may-be-a-hit: CACHE-5
    The predicate refuses the results, and the next attempt finds them still good in the cache.
    cache ttl=100; retry initial=40 on_result=pair multiplier=1; 0: a;
    a: 40 gives a1 a2, 40 gives a3
several-results-for-each: CACHE-5
    A hit gets all results of the load.
    cache ttl=500; 0: a@1; 80: a@2; a: 40 gives a1 a2
one-after-the-other: CACHE-5
    The operator has room for one record at a time.
    capacity 1; cache ttl=500; 0: a b a; a b: 40 gives *1
the-next-of-a-key-is-a-hit: CACHE-5, KEY-1
    In key-ordered mode no load is shared, as the second record waits for the first.
    key-ordered; cache ttl=500; 0: a/x a/x a/y; 80: a/x; a: 40 gives a1
room-for-two: CACHE-6
    a is used at 160, so that the cache drops b for c.
    cache max_keys=2 ttl=5000; 0: a; 80: b; 160: a; 240: c; 320: a; 400: b;
    a b c: 40 gives *1, 40 gives *2
room-for-one: CACHE-6
    The cache drops each key for the next.
    cache max_keys=1 ttl=5000; 0: a; 80: b; 160: b; 240: a; a b: 40 gives *1, 40 gives *2
room-for-one-at-a-time: CACHE-6
    The cache drops a for b, and a is loaded again behind c.
    capacity 1; cache max_keys=1 ttl=5000; 0: a b c a; a b c: 40 gives *1, 40 gives *2
what-is-old-takes-room: CACHE-6
    The cached results of b are no longer good at 240, but b was used later than a.
    cache max_keys=2 ttl=220; 0: b; 80: a; 160: b; 240: c; 320: a; a b c: 40 gives *1, 40 gives *2
an-empty-result-is-not-kept: CACHE-7
    The first load has no results, and the second record begins another load.
    cache ttl=500; 0: a; 80: a; 160: a; a: 40 gives, 40 gives a2
an-empty-result-one-after-the-other: CACHE-7
    a is loaded again behind b.
    capacity 1; cache ttl=500; 0: a b a; a: 40 gives, 40 gives a2; b: 40 gives b1
an-empty-result-is-kept: CACHE-7
    The empty result is good until 100.
    cache ttl=500 missing_ttl=100; 0: a; 80: a; 120: a; 240: a; a: 40 gives, 40 gives a2
nothing-any-more: CACHE-7, CACHE-8
    The load ahead of time has no results: the cache holds nothing from 160 on.
    cache ttl=500 refresh_ahead=20; 0: a; 120: a; 200: a; a: 40 gives a1, 40 gives, 40 gives a3
loaded-ahead-of-time: CACHE-8
    The hits at 120 and 160 get the old results, and the hit at 240 gets the new results.
    cache ttl=500 refresh_ahead=20; 0: a; 80: a; 120: a; 160: a; 240: a; a: 40 gives a1, 80 gives a2
ahead-of-time-one-after-the-other: CACHE-8
    a is a hit at 120, and is loaded again while c runs.
    capacity 1; cache ttl=500 refresh_ahead=20; 0: a b a c; a: 40 gives a1, 40 gives a2;
    b c: 80 gives *1
ahead-of-time-in-vain: CACHE-8
    The load ahead of time fails at 160, and no other load begins for the same results.
    cache ttl=500 refresh_ahead=20; 0: a; 120: a; 200: a; a: 40 gives a1, 40 raises, 40 gives a3
not-soon-enough: CACHE-8, CACHE-2
    The old results are good until 100, and the record at 120 joins the load that began at 80.
    cache ttl=100 refresh_ahead=50; 0: a; 80: a; 120: a; 160: a; a: 40 gives a1, 120 gives a2
ahead-of-time-and-too-late: CACHE-8, CACHE-4
    The load that began in the background fails for the records that wait for it by then.
    failures_handled; cache ttl=100 refresh_ahead=50; 0: a; 80: a; 120: a;
    a: 40 gives a1, 120 raises, failed gives a!
the-end-waits-for-nothing-in-the-background: CACHE-8, END-1
    The stream ends at 160, and the background load is cancelled.
    cache ttl=500 refresh_ahead=20; 0: a; 120: a; a: 40 gives a1, never with clean_up=40;
    source_ends_at 160
leaving-while-something-is-loaded-ahead: CACHE-8, END-3
    The background load is cancelled, and cleans up.
    cache ttl=500 refresh_ahead=20; 0: a; 120: a; a: 40 gives a1, never with clean_up=40;
    source_ends_at 400; cancel_at 160
old-results-for-a-failure: CACHE-9
    Both calls that wait for the load at 160 get the old results.
    cache ttl=100 stale_if_error=480; 0: a; 120: a a; 200: a; a: 40 gives a1, 40 raises, 40 gives a3
old-results-come-before-a-repetition: CACHE-9
    The record gets the old results, and no call is repeated.
    cache ttl=100 stale_if_error=480; retry; 0: a; 120: a; a: 40 gives a1, 40 raises, 40 gives a3
old-results-come-before-a-handler: CACHE-9
    The record gets the old results, and the operator does not ask the failure handler.
    failures_handled; cache ttl=100 stale_if_error=480; 0: a; 120: a;
    a: 40 gives a1, 40 raises, failed gives a!
results-that-are-too-old: CACHE-9
    The old results could be given until 150, and the load fails at 160.
    failures_handled; cache ttl=100 stale_if_error=50; 0: a; 120: a;
    a: 40 gives a1, 40 raises, failed gives a!
no-more-loads-ahead-than-room: CACHE-8
    At 240 two of three keys are loaded ahead of time, the most allowed; the third is at 400.
    capacity 2; cache ttl=2000 refresh_ahead=5; 0: a b; 80: c; 240: a b c; 400: c;
    a b c: 40 gives *1, 80 gives *2; source_ends_at 600
no-old-results: CACHE-9
    The first load fails, and the cache holds no old results.
    failures_handled; cache ttl=100 stale_if_error=480; 0: a; a: 40 raises, failed gives a!
a-deadline-asks-for-no-old-results: CACHE-3, TIME-2
    The load has not failed when the record is late, so the timeout handler decides.
    handled; timeout 80; cache ttl=100 stale_if_error=480; 0: a; 120: a;
    a: 40 gives a1, never, late gives a?; source_ends_at 400
cold-after-a-crash: CACHE-10
    At 200 the second leg loads the key again, as its cache began empty.
    cache ttl=5000; 0: a b; 80: ^1; 200: a; a: 40 gives a1; b: 160 gives b1; crashes 120
restored-records-share: CACHE-10, CACHE-2
    The two restored records share a load, which is the first load of the leg.
    cache ttl=100; restore |1(a+a); 80: a; a: 40 gives a1
a-hit-that-a-predicate-breaks: CACHE-2, RETRY-7
    At 160 the third a gets the results of the last load; the predicate raises, and a fails.
    retry max_attempts=2 on_result=breaks attempt_timeout=120; cache ttl=420 max_keys=2; 0: b;
    80: a; 120: a; 160: a; b: 120 raises; a: 80 raises RetryAfter, gives a1
what-became-of-each: CACHE-11
    Two records begin loads, one shares the first load, one is a hit, and one has no key.
    cache ttl=500; capacity 8; 0: a a b null; 80: a; a b: 40 gives *1; plan null: 40 gives n1;
    figures_at 20 60 100; source_ends_at 200
what-was-spared: CACHE-11, CACHE-9
    At 160 two calls get old results.
    cache ttl=100 stale_if_error=480; 0: a; 120: a a; a: 40 gives a1, 40 raises;
    figures_at 60 140 180; source_ends_at 240
what-had-to-go: CACHE-11, CACHE-6
    The cache has dropped b by 240, and a by 320.
    cache max_keys=1 ttl=5000; 0: b; 160: a; 240: b; a b: 40 gives *1; figures_at 60 220 300;
    source_ends_at 400
what-was-ahead-of-time: CACHE-11, CACHE-8
    The background load belongs to no call.
    cache ttl=500 refresh_ahead=20; 0: a; 120: a; a: 40 gives a1; figures_at 60 140 220;
    source_ends_at 240
""")
