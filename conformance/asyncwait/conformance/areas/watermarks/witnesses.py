"""WM: witnesses of watermarks and statuses."""

from asyncwait.conformance.evidence import near_misses, witnesses

WITNESSES = witnesses("""
WM-1: Watermark(timestamp=10) (input 1) came out while Record 'a' (input 0) was undecided
    plan: unordered; 0: a ~10; a: 40 gives
    breaks: 0: waits, takes 0 1, calls a, out ~10; 40: #0 gives
    keeps: 0: waits, takes 0 1, calls a; 40: #0 gives, out ~10
WM-2: Record 'a' @ 5 (input 2) came out before Watermark(timestamp=10) (input 1)
    plan: unordered; 0: a@5 ~10 a@5; a: 40 gives x
    breaks: 0: waits, takes 0 1 2, calls a a; 40: #0 gives x, #1 gives x, out x@5 x@5 ~10
    keeps: 0: waits, takes 0 1 2, calls a a; 40: #0 gives x, #1 gives x, out x@5 ~10 x@5
WM-3: Watermark(timestamp=5) (input 1) never came out
    plan: 0: ~5 ~5
    breaks: 0: waits, takes 0 1, out ~5
    keeps: 0: waits, takes 0 1, out ~5 ~5
WM-4: Watermark(timestamp=10) (input 1) is next, but the waiting consumer did not get it
    plan: 0: a ~10; a: 40 gives a1; sink read 1, pause 40
    breaks: 0: waits, takes 0 1, calls a; 40: #0 gives a1, out a1; 80: out ~10
    keeps: 0: waits, takes 0 1, calls a; 40: #0 gives a1, gets a1; 80: waits, out ~10
WM-5: WatermarkStatus(idle=True) (input 1) came out before Watermark(timestamp=10) (input 0) was out
    plan: 0: ~10 ~idle
    breaks: 0: waits, takes 0 1, out ~idle ~10
    keeps: 0: waits, takes 0 1, out ~10 ~idle
WM-6: WatermarkStatus(idle=True) (input 1) never came out
    plan: 0: ~idle ~idle
    breaks: 0: waits, takes 0 1, out ~idle
    keeps: 0: waits, takes 0 1, out ~idle ~idle
WM-7: WatermarkStatus(idle=True) (input 0) is next, but the waiting consumer did not get it
    plan: 0: ~idle; source_ends_at 40
    breaks: 0: waits, takes 0; 40: out ~idle
    plan: 0: a ~idle; a: 40 gives; source_ends_at 40
    keeps: 0: waits, takes 0 1, calls a; 40: #0 gives, out ~idle
""")

NEAR_MISSES = near_misses("""
WM-2: Record 'b' (input 2) came out before Watermark(timestamp=5) (input 1)
    # The record is out of order, although the watermark might have come later.
    also: WM-4
    plan: unordered; 0: a ~5 b
    breaks: 0: waits, takes 0 1 2, calls a b, #0 gives a, #1 gives b, out a b; 40: ends crashed
WM-1: Watermark(timestamp=5) (input 1) came out before Record 'a' (input 0) was out
    # A decided record is not enough: its results have to be out.
    breaks: 0: waits, takes 0 1 2, calls a b, #0 gives a, #1 gives b, out ~5 a b
WM-3: expected Watermark(timestamp=5) (input 1), got Watermark(timestamp=7)
    # The check needs no finished leg.
    also: WM-4
    plan: 0: ~5 ~5 ~7
    breaks: 0: waits, takes 0 1 2, out ~5 ~7; 40: ends crashed
WM-3: Watermark(timestamp=6) came out once more than it went in
    # The operator may not pass on a watermark that it did not read.
    breaks: 0: waits, takes 0, out ~5 ~6
WM-5: Watermark(timestamp=5) (input 1) came out before WatermarkStatus(idle=True) (input 0)
    # Statuses and watermarks are fences for each other, in both directions.
    plan: 0: ~idle ~5
    breaks: 0: waits, takes 0 1, out ~5 ~idle
WM-5: Watermark(timestamp=5) (input 2) came out before WatermarkStatus(idle=True) (input 0)
    # Behind the status, the record is not out, and the watermark is out.
    also: CAP-4 WM-1
    plan: unordered; 0: ~idle a ~5
    breaks: 0: waits, takes 0 1 2, out ~5 ~idle; 40: ends crashed
""")
