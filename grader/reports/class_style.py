"""CSS of the class report, in addition to that of the page for one submission."""

from __future__ import annotations

CSS = """
main { max-width: 64rem; }
.staff { border-inline-start: 3px solid var(--held); padding-inline-start: .9rem; margin-top: 1rem; }
section > .soft { margin-bottom: .6rem; }
.tiles { display: flex; flex-wrap: wrap; gap: .75rem; margin-top: 1.25rem; }
.tiles > div { flex: 1 1 6.2rem; background: var(--sheet); border: 1px solid var(--line); border-radius: 10px;
  padding: .6rem .8rem; display: flex; flex-direction: column-reverse; justify-content: flex-end; }
.tiles dd { font-size: 1.45rem; font-weight: 650; line-height: 1.3; white-space: nowrap;
  font-variant-numeric: tabular-nums; }
.sheet { background: var(--sheet); border: 1px solid var(--line); border-radius: 10px; padding: 1rem; }
.sheet + .sheet { margin-top: .75rem; }
.sheet h3 { font-size: 1rem; font-weight: 600; margin-bottom: .6rem; }
svg .settled { fill: var(--open); fill-opacity: .6; } svg .hatch { fill: var(--open); }
.spread text { font-size: .75rem; }
.ranked .noise { fill: var(--partial); fill-opacity: .2; }
.ranked .whisker { stroke: var(--soft); stroke-opacity: .55; stroke-width: 1.2; }
.ranked circle { fill: var(--mark, var(--skipped)); fill-opacity: .9; }

.items { margin-top: 0; table-layout: fixed; }
.items .no { width: 2.6rem; text-align: end; color: var(--soft); font-variant-numeric: tabular-nums; }
.items .share { width: 4.6rem; text-align: end; font-variant-numeric: tabular-nums; }
.items .what { width: 38%; }
.items .bar { margin: .45rem 0 0; gap: 2px; height: .65rem; }
.items .points { width: 4.2rem; padding-inline-end: .5rem; }
.items .id { font-size: .8rem; color: var(--soft); }
.bar .partial { background: var(--partial); } .bar .held { background: var(--held); }
.items .bar .lost { background: var(--lost); }
.bar .skipped { background: var(--line); }
.key { display: flex; flex-wrap: wrap; gap: .2rem 1rem; font-size: .85rem; color: var(--soft);
  margin: 0 0 .6rem; padding: 0; list-style: none; }

.groups { list-style: none; margin: 0; padding: 0; display: grid; gap: .75rem; }
.groups li { border-inline-start: 3px solid var(--lost); padding-inline-start: .9rem; min-width: 0;
  overflow-wrap: anywhere; }
.groups.open li { border-color: var(--open); } .groups.held li { border-color: var(--held); }
.groups.notes li { border-color: var(--partial); } .groups.absent li { border-color: var(--line); }
.groups details { font-size: .9rem; } .groups summary { color: var(--soft); }

.maps { display: flex; flex-wrap: wrap; gap: 1rem 1.4rem; }
.map { width: auto; margin: 0; border: 0; background: none; font-size: .8rem; line-height: 1.25; }
.map th, .map td { padding: 0; border: 0 !important; white-space: nowrap; }
.map td { width: 1.2rem; min-width: 1.2rem; height: 1.15rem; text-align: center; vertical-align: middle;
  box-shadow: inset 0 0 0 1px var(--sheet); font-size: .7rem; }
.map .who { min-width: 8.8rem; max-width: 8.8rem; overflow: hidden; text-overflow: ellipsis;
  padding-inline-end: .6rem; }
.map .sum { text-align: end; padding-inline: 0 .6rem; font-variant-numeric: tabular-nums; }
.map .nos th { text-align: center; color: var(--soft); font-size: .65rem; }
.map .nos .sum { text-align: end; }
.map .full { background: color-mix(in srgb, var(--full) 30%, transparent); }
.map .partial { background: color-mix(in srgb, var(--partial) 45%, transparent); }
.map .lost { background: color-mix(in srgb, var(--lost) 55%, transparent); }
.map .open { background: color-mix(in srgb, var(--open) 25%, transparent); }
.map .held { background: color-mix(in srgb, var(--held) 45%, transparent); }
.map .skipped { background: var(--sunk); color: var(--soft); }

@media (max-width: 34rem) {
  .sheet { padding: .75rem; } .items thead, .items .points { display: none; }
  .items tr { display: grid; grid-template-columns: 2.1rem minmax(0, 1fr) 4rem;
    padding: .6rem .6rem .6rem 0; }
  .items tr + tr { border-top: 1px solid var(--line); }
  .items tr > * { border: 0 !important; padding: 0 .35rem; width: auto !important; }
  .items .what { grid-column: 2 / -1; } .items .share { grid-area: 1 / 3; }
  .map td { width: .85rem; min-width: .85rem; } .map .who { min-width: 6.6rem; max-width: 6.6rem; }
}
@media print { .map { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
"""
