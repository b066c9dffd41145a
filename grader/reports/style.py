"""CSS of `report.html`: light, dark, on a phone and on paper."""

from __future__ import annotations

CSS = """
:root {
  color-scheme: light dark;
  --page: #f6f7f9; --sheet: #ffffff; --sunk: #f2f4f7; --line: #dfe3e8; --ink: #1b2129; --soft: #59636e;
  --full: #1a7f37; --partial: #8f5f00; --lost: #b42318; --open: #0b62c4; --held: #7a3fc4; --skipped: #59636e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #0f1318; --sheet: #171c23; --sunk: #0f141a; --line: #2c343e; --ink: #e6eaef; --soft: #9aa5b1;
    --full: #4ac26b; --partial: #e0a93b; --lost: #ff8178; --open: #6cb2ff; --held: #c59bff;
    --skipped: #9aa5b1;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; scroll-padding-top: 1rem; }
body { margin: 0; background: var(--page); color: var(--ink); line-height: 1.5;
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
main { max-width: 54rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
p, h1, h2, h3, dl, dd, pre { margin: 0; }
p, th, dd, pre, summary, h1, h3 { unicode-bidi: plaintext; overflow-wrap: anywhere; }
code, span, strong, a { unicode-bidi: isolate; }
h2 { font-size: 1.1rem; margin: 2.5rem 0 .75rem; }
a { color: inherit; text-decoration-color: var(--line); text-underline-offset: .2em; }
a:hover { text-decoration-color: currentColor; }
:focus-visible { outline: 2px solid var(--open); outline-offset: 3px; border-radius: 4px; }
pre, code { font: .85rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
pre { white-space: pre-wrap; max-height: 22rem; overflow: auto; background: var(--sunk);
  border: 1px solid var(--line); border-radius: 6px; padding: .55rem .75rem; }
.sr { position: absolute; width: 1px; height: 1px; overflow: hidden;
  clip-path: inset(50%); white-space: nowrap; }
.soft, .hint { color: var(--soft); }

.head { display: flex; flex-wrap: wrap; justify-content: space-between;
  align-items: flex-end; gap: .5rem 2rem; }
.head > div { min-width: 0; }
.missing { color: var(--lost); font-weight: 600; }
.kicker { color: var(--soft); font-size: .9rem; letter-spacing: .02em; }
h1 { font-size: 1.9rem; line-height: 1.2; font-weight: 650; }
.total { font-size: 1.9rem; line-height: 1.2; font-variant-numeric: tabular-nums; color: var(--soft); }
.total strong { color: var(--ink); font-size: 2.6rem; font-weight: 700; }
.bar { display: flex; gap: 3px; height: .5rem; margin: 1rem 0 .9rem; }
.bar i { border-radius: 3px; min-width: 3px; flex-basis: 0; }
.bar .full { background: var(--full); }
.bar .open { background: repeating-linear-gradient(135deg, var(--open) 0 4px, transparent 4px 8px); }
.bar .lost { background: var(--line); }

.ledger { margin-top: 1rem; max-width: 26rem; font-variant-numeric: tabular-nums; }
.ledger > div { display: flex; justify-content: space-between; gap: 1rem; padding: .2rem 0;
  border-top: 1px solid var(--line); }
.ledger dt { font-size: inherit; } .ledger dd { white-space: nowrap; }
.pending ul { list-style: none; margin: 0; padding: 0; display: grid; gap: .6rem; }
.pending li { border-inline-start: 3px solid var(--open); padding-inline-start: .9rem;
  overflow-wrap: anywhere; }
.pending li p { font-size: .9rem; }

table { width: 100%; border-collapse: separate; border-spacing: 0; margin-top: 2rem; background: var(--sheet);
  border: 1px solid var(--line); border-radius: 10px; }
th, td { padding: .7rem .5rem; text-align: start; vertical-align: top; font-weight: inherit; }
tbody tr + tr > * { border-top: 1px solid var(--line); }
thead th { font-size: .8rem; color: var(--soft); padding-block: .45rem;
  border-bottom: 1px solid var(--line); }
.mark { width: 2.4rem; text-align: center; font-weight: 700; padding-inline: .9rem 0; }
.points { width: 1%; white-space: nowrap; text-align: end; font-variant-numeric: tabular-nums;
  padding-inline-end: 1rem; }
th .chips { margin-top: .35rem; }
th p { font-size: .92rem; margin-top: .15rem; }
.title { font-weight: 550; }
.hint::before { content: "Hint: "; font-weight: 600; }
.advice { border-inline-start: 3px solid var(--open); padding-inline-start: .9rem; }
.advice::before { content: "Look at: "; font-weight: 600; }
.full { --mark: var(--full); } .partial { --mark: var(--partial); } .lost { --mark: var(--lost); }
.open { --mark: var(--open); } .held { --mark: var(--held); }
.sign { color: var(--mark, var(--skipped)); }
tr.full th p { color: var(--soft); }

.item { background: var(--sheet); border: 1px solid var(--line); border-radius: 10px; margin-top: .75rem; }
.item > details > summary { display: flex; gap: .75rem; padding: .8rem 1rem; align-items: baseline; }
summary { cursor: pointer; list-style-position: inside; }
.item > details > summary::-webkit-details-marker { display: none; }
.item > details > summary::after { content: "▸"; color: var(--soft); order: 9; }
.item > details[open] > summary::after { content: "▾"; }
.item summary h3 { flex: 1; min-width: 0; font-size: 1rem; font-weight: 600; }
.body { padding: 0 1rem 1rem; display: grid; gap: 1rem; }
.body > * { min-width: 0; }
.case { border-inline-start: 3px solid var(--line); padding-inline-start: .9rem; display: grid; gap: .5rem; }
.case.wrong { border-color: var(--lost); }
.case > * { min-width: 0; }
.case h4 { margin: 0; font-size: .9rem; font-weight: 600; }
.told { display: grid; gap: .5rem .75rem;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 17rem), 1fr)); }
.told > div { min-width: 0; }
.told .wide { grid-column: 1 / -1; }
dt, .label { font-size: .8rem; color: var(--soft); }
.charts { display: grid; gap: .6rem; }
.pair { grid-template-columns: repeat(auto-fit, minmax(min(100%, 17rem), 1fr)); gap: .9rem 2rem; }
.pair .label { margin-bottom: .25rem; }
figure { margin: 0; min-width: 0; }
figcaption { font-size: .9rem; color: var(--soft); margin-top: .3rem; overflow-wrap: anywhere; }
svg { display: block; overflow: visible; font-size: .8rem; fill: var(--soft); }
svg .track { fill: var(--sunk); stroke: var(--line); }
svg .ratio { fill: var(--mark, var(--skipped)); fill-opacity: .75; }
svg .time { fill: var(--open); fill-opacity: .45; }
svg .whisker { stroke: var(--ink); stroke-width: 2; }
svg .needed { stroke: var(--ink); stroke-width: 2; stroke-dasharray: 4 3; }
svg .kernels { fill: var(--full); fill-opacity: .8; } svg .copies { fill: var(--partial); fill-opacity: .8; }
svg .rest { fill: var(--soft); fill-opacity: .3; } svg .memory { fill: var(--open); fill-opacity: .7; }
svg .told { fill: var(--ink); font-variant-numeric: tabular-nums; }
svg .own { stroke: var(--open); stroke-width: 2.5; } svg .axis { stroke: var(--line); }
svg .ideal { stroke: var(--soft); stroke-dasharray: 2 4; stroke-width: 1.5; }
svg .reference { stroke: var(--soft); stroke-opacity: .6; stroke-width: 1.5; }
.legend { display: flex; flex-wrap: wrap; gap: .1rem 1rem; margin-bottom: .3rem; }
.legend span { display: inline-flex; align-items: center; gap: .4rem; }
svg circle { fill: var(--ink); fill-opacity: .55; }
.device { display: grid; gap: .6rem; }
.device > * { min-width: 0; } .scroll { overflow-x: auto; }
.seen { margin: 0; border-radius: 6px; font-size: .85rem; font-variant-numeric: tabular-nums; }
.seen th, .seen td { padding: .3rem .45rem; white-space: nowrap; text-align: end; }
.seen tr > :first-child { width: 100%; text-align: start; white-space: normal; overflow-wrap: anywhere; }
.seen tr > :first-child { min-width: 3.7rem; } .wide tr > :first-child { min-width: 8rem; }
.chips { display: flex; flex-wrap: wrap; gap: .35rem; font-size: .85rem;
  padding: 0; margin: 0; list-style: none; }
.chips li { border: 1px solid var(--line); border-radius: .8rem; padding: .05rem .65rem;
  overflow-wrap: anywhere; }
.plain { margin: .5rem 0 0; padding-inline-start: 1.1rem; font-size: .9rem; overflow-wrap: anywhere; }
.fine { font-size: .8rem; color: var(--soft); }

footer { margin-top: 2.5rem; font-size: .85rem; color: var(--soft); }
footer dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .2rem 1.25rem;
  margin-top: .75rem; }
footer dt { font-size: inherit; }

@media (max-width: 34rem) {
  main { padding: 1.5rem .9rem 3rem; }
  h1, .total { font-size: 1.5rem; } .total strong { font-size: 2.1rem; }
  .points { padding-inline-end: .8rem; } .mark { width: 2rem; padding-inline-start: .7rem; }
  footer dl { grid-template-columns: 1fr; gap: 0; } footer dd { margin-bottom: .4rem; }
}
@media print {
  :root { --page: #fff; --sheet: #fff; --sunk: #fff; --line: #bbb; --ink: #000; --soft: #444; }
  main { max-width: none; padding: 0; } pre { max-height: none; }
  svg { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  footer details::details-content { content-visibility: visible; block-size: auto; }
  tr, .case, .charts { break-inside: avoid; } summary, h2 { break-after: avoid; } a { text-decoration: none; }
  .item > details > summary::after, .item > details[open] > summary::after { content: none; }
}
"""
