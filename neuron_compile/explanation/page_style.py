"""How the page of an explanation looks, by day and by night."""

from __future__ import annotations

from typing import Final

STYLE: Final = """
:root{--paper:#f6f7f9;--card:#fff;--ink:#1c2430;--soft:#5d6878;--line:#dfe3e9;--ok:#17825a;
--bad:#b93a32;--warn:#a06a08;--blue:#2f62b5;--violet:#7444ad}
@media(prefers-color-scheme:dark){:root{--paper:#12161c;--card:#1a2029;--ink:#e5e9ef;--soft:#98a3b3;
--line:#2c3541;--ok:#3fb489;--bad:#ee7a70;--warn:#d9a441;--blue:#7ba6ee;--violet:#b491e6}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);
font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
main{max-width:1120px;margin:0 auto;padding:32px 20px 48px}
header{border-left:6px solid var(--ok);background:var(--card);border-radius:10px;padding:18px 24px;
box-shadow:0 1px 3px #0002}
header.bad{border-color:var(--bad)}
header p{margin:0;color:var(--soft);font-size:13px}
h1{margin:2px 0 0;font-size:26px;line-height:1.25;overflow-wrap:anywhere}
h2{font-size:18px;margin:34px 0 8px;overflow-wrap:anywhere}
h3{font-size:15px;margin:0 0 6px;overflow-wrap:anywhere}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:12px;margin-top:16px}
.cards div{background:var(--card);border-radius:10px;padding:12px 16px;box-shadow:0 1px 3px #0002}
.cards span,.cards i{display:block;color:var(--soft);font-size:12.5px;font-style:normal}
.cards b{display:block;font-size:22px;font-weight:650;font-variant-numeric:tabular-nums}
article{background:var(--card);border-left:4px solid var(--bad);border-radius:8px;padding:12px 16px;
margin:10px 0;box-shadow:0 1px 3px #0002}
article.break{border-color:var(--warn)}
article p{margin:6px 0 0}
.try::before{content:"Try: ";font-weight:650}
pre,code{font:12.5px/1.5 ui-monospace,SFMono-Regular,Menlo,"DejaVu Sans Mono",monospace}
pre{margin:0;white-space:pre-wrap;overflow-wrap:anywhere;color:var(--soft)}
details{margin-top:6px}
summary{cursor:pointer;color:var(--soft);font-size:13px}
.facts{margin:2px 0;color:var(--soft);font-size:13.5px}
.facts:empty{display:none}
.dot{display:inline-block;width:10px;height:10px;border-radius:50%;background:var(--ok);
margin-right:9px}
.dot.bad{background:var(--bad)}
.bar{height:6px;border-radius:3px;background:var(--line);margin:6px 0 8px;overflow:hidden}
.bar i{display:block;height:100%;min-width:2px;background:var(--blue)}
.scroll{overflow-x:auto;background:var(--card);border-radius:10px;box-shadow:0 1px 3px #0002;
margin-top:8px}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;vertical-align:top;padding:8px 14px;border-top:1px solid var(--line)}
thead th{border:0;color:var(--soft);font-weight:600;font-size:12.5px}
td b{font-weight:600;font-size:13.5px}
td small{display:block;color:var(--soft);font-size:12px;max-width:420px}
.lines code{color:var(--soft);white-space:nowrap;cursor:help}
.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.badge{display:inline-block;border:1px solid;border-radius:99px;padding:0 9px;margin:0 4px 4px 0;
font-size:12px;white-space:nowrap;color:var(--soft)}
.direct{color:var(--ok)}.library{color:var(--blue)}.decomposed{color:var(--violet)}
.none{color:var(--bad);font-weight:650}
footer{margin-top:36px;color:var(--soft);font-size:12.5px}
"""
