"""How the pictures look: light and dark, each kind with a pattern or a letter beside its colour."""

STYLE = """
.aw{--bg:#ffffff;--ink:#1c2128;--soft:#57606a;--line:#d0d7de;--band:#f3f5f8;--wait:#57606a;\
--run:#1f6feb;--hold:#7c5a00;--held:#f2cc60;--out:#116329;--bad:#b91c1c;--badband:#fde8e8;\
--sig:#7d3cab;font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
@media (prefers-color-scheme:dark){.aw{--bg:#11151b;--ink:#e6edf3;--soft:#9aa5b1;--line:#30363d;\
--band:#191f27;--wait:#9aa5b1;--run:#58a6ff;--hold:#e3b341;--held:#6b5215;--out:#56d364;\
--bad:#ff8b82;--badband:#3a1a1d;--sig:#d2a8ff}}
@media print{.aw{--bg:#fff;--ink:#000;--soft:#333;--line:#bbb;--band:#f3f5f8;--wait:#333;\
--run:#1f6feb;--hold:#7c5a00;--held:#f2cc60;--out:#116329;--bad:#b91c1c;--badband:#fde8e8;\
--sig:#7d3cab}}
.aw text{fill:var(--ink)}
.aw text.b{font-weight:bold}
.aw .bg{fill:var(--bg)}
.aw .ms{fill:var(--soft);font-size:11px}
.aw .band{fill:var(--band)}
.aw .bad{fill:var(--badband);stroke:var(--bad);stroke-width:1.5}
.aw text.wrong{fill:var(--bad);font-weight:bold}
.aw .grid{stroke:var(--line);fill:none}
.aw .gap{stroke:var(--soft);stroke-dasharray:1 3;fill:none}
.aw .waiting{stroke:var(--wait);stroke-dasharray:2 3;stroke-width:1.5;fill:none}
.aw .running{fill:var(--run)}
.aw .back-off{stroke:var(--run);stroke-dasharray:1 4;stroke-width:4;stroke-linecap:round;fill:none}
.aw .held{fill:url(#aw-held);stroke:var(--hold)}
.aw .late{fill:url(#aw-late);stroke:var(--run);stroke-dasharray:3 2}
.aw .passing{stroke:var(--sig);stroke-width:1.5;fill:none}
.aw .unread,.aw .away,.aw .blocked{fill:url(#aw-stop);stroke:var(--soft)}
.aw .sig{stroke:var(--sig);fill:none;stroke-width:1.5}
.aw .sig.in{stroke-dasharray:5 3}
.aw .end{stroke:var(--soft);fill:none;stroke-width:1.5}
.aw .end.in{stroke-dasharray:5 3}
.aw .dot{fill:var(--bg);stroke:var(--soft)}
.aw .out{fill:var(--out)}
.aw .no{fill:var(--bg);stroke:var(--bad);stroke-width:1.5}
.aw text.m{text-anchor:middle;font-size:10px;font-weight:bold}
.aw text.on{fill:var(--bg)}
.aw text.no{fill:var(--bad);stroke:none}
.aw .room{fill:var(--run);opacity:.35}
.aw .full{fill:url(#aw-full);stroke:var(--soft)}
.aw .over{fill:var(--badband);stroke:var(--bad);stroke-width:1.5}
.aw .ph{fill:var(--held)}
.aw .pk{stroke:var(--hold);fill:none}
.aw .pr{stroke:var(--run);fill:none}
.aw .ps{stroke:var(--soft);stroke-width:.7;fill:none}
.aw .pf{stroke:var(--run);opacity:.5;fill:none}
.aw text.n{text-anchor:middle;font-size:10px}
""".strip()
"""Of all pictures of a page."""

PATTERNS = """
<defs>
<pattern id="aw-held" width="6" height="6" patternUnits="userSpaceOnUse">\
<path class="ph" d="M0 0h6v6h-6z"/><path class="pk" d="M0 6 6 0M-1 1 1-1M5 7 7 5"/></pattern>
<pattern id="aw-late" width="4" height="4" patternUnits="userSpaceOnUse">\
<path class="pr" d="M0 0 4 4"/></pattern>
<pattern id="aw-stop" width="5" height="5" patternUnits="userSpaceOnUse">\
<path class="ps" d="M0 0 5 5M5 0 0 5"/></pattern>
<pattern id="aw-full" width="4" height="4" patternUnits="userSpaceOnUse">\
<path class="pf" d="M0 2h4"/></pattern>
</defs>
""".strip()
"""What the style refers to; stands once in a page, within an element of the class `aw`."""
