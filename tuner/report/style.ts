/** Cells of a heat map, by step of the colour scale. */
const HEATS = Array.from(
  { length: 8 },
  (_, i) => `.heat-${i} { background: var(--heat-${i}); color: var(--heat-ink-${i}); }`,
).join("\n");

/** The page's style: both themes through variables, one column on phones. Colours have a contrast of 4.5 at least. */
export const STYLE = `
:root {
  --paper: #fbfaf8; --panel: #ffffff; --ink: #1c2024; --muted: #5a626b; --line: #dcd8d0;
  --accent: #b3261e; --link: #0b57a4;
  --series-0: #1f5fa8; --series-1: #b8560b; --series-2: #23794e; --series-3: #7b3fa0; --series-4: #96700a; --series-5: #0d7a86; --series-6: #a23367;
  --heat-0: #edf2f7; --heat-1: #d6e4f0; --heat-2: #b8d2e8; --heat-3: #93bbdc; --heat-4: #659dcb; --heat-5: #3a76ad; --heat-6: #255f98; --heat-7: #123f70;
  --heat-ink-0: #1c2024; --heat-ink-1: #1c2024; --heat-ink-2: #1c2024; --heat-ink-3: #10161c; --heat-ink-4: #000000; --heat-ink-5: #ffffff; --heat-ink-6: #ffffff; --heat-ink-7: #ffffff;
  color-scheme: light;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14171a; --panel: #1b1f24; --ink: #e8e6e1; --muted: #a4abb3; --line: #343a41;
    --accent: #ff8a75; --link: #8ec1ff;
    --series-0: #6cb0f5; --series-1: #f2a65a; --series-2: #6fcf97; --series-3: #c99bee; --series-4: #e3c567; --series-5: #63cfd9; --series-6: #f08bb4;
    --heat-0: #27313b; --heat-1: #253b50; --heat-2: #234a6b; --heat-3: #28608f; --heat-4: #35729f; --heat-5: #5c9acd; --heat-6: #8fbde3; --heat-7: #cfe4f7;
    --heat-ink-0: #e8e6e1; --heat-ink-1: #e8e6e1; --heat-ink-2: #f4f3f0; --heat-ink-3: #ffffff; --heat-ink-4: #ffffff; --heat-ink-5: #000000; --heat-ink-6: #000000; --heat-ink-7: #000000;
    color-scheme: dark;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; scroll-behavior: smooth; }
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
header, main, footer { max-width: 940px; margin: 0 auto; padding: 0 20px; }
header { padding-top: 40px; }
.kind { margin: 0; color: var(--muted); font-size: 14px; letter-spacing: .04em; text-transform: uppercase; }
h1 { margin: .1em 0 .2em; font-size: clamp(26px, 5vw, 38px); line-height: 1.15; }
h2 { margin: 0 0 .5em; font-size: clamp(20px, 3.4vw, 26px); line-height: 1.25; }
h3 { margin: 2.2em 0 .6em; font-size: 18px; }
section, nav { margin: 32px 0; padding-top: 24px; border-top: 1px solid var(--line); }
a { color: var(--link); }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; border-radius: 3px; }
.skip { position: absolute; left: -999px; background: var(--panel); padding: 8px 14px; }
.skip:focus { left: 12px; top: 12px; z-index: 1; }
.warning { border-left: 4px solid var(--accent); padding: 6px 12px; background: var(--panel); overflow-wrap: anywhere; }
code { font: .92em/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
.lead { margin: .6em 0; font-size: clamp(18px, 2.6vw, 22px); line-height: 1.4; max-width: 44em; }
.tiles { display: flex; flex-wrap: wrap; gap: 12px; margin: 0 0 16px; padding: 0; list-style: none; }
.tiles li { flex: 1 1 170px; background: var(--panel); border: 1px solid var(--line); border-radius: 10px; padding: 14px 16px; }
.big { font-size: 32px; font-weight: 650; line-height: 1.1; font-variant-numeric: tabular-nums; }
.unit { font-size: 17px; color: var(--muted); }
.small { display: block; margin-top: 4px; font-size: 14px; color: var(--muted); }
.reasons { margin: 0 0 18px; padding-left: 1.2em; max-width: 68ch; }
.reasons li { margin: .55em 0; overflow-wrap: anywhere; }
figure { margin: 0 0 16px; background: var(--panel); border: 1px solid var(--line); border-radius: 10px; padding: 16px 16px 12px; }
figcaption { margin-bottom: 10px; font-size: 15px; color: var(--muted); max-width: 72ch; }
figcaption strong { color: var(--ink); }
figure svg:not(.key) { display: block; width: 100%; height: auto; overflow: visible; }
figure text { white-space: pre; }
.narrow { display: none; }
.drawings p { min-height: 3em; margin: 4px 0 0; font: 13px/1.5 ui-monospace, Menlo, Consolas, monospace; color: var(--muted); overflow-wrap: anywhere; }
.at { stroke: var(--ink); stroke-width: 3px; fill-opacity: 1; }
.badge { padding: 1px 8px; border: 1px solid currentColor; border-radius: 99px; font-size: 13px; color: var(--accent); white-space: nowrap; }
.bars { margin: 0; }
.bars dt { margin-top: 14px; font-weight: 650; color: var(--ink); }
.bars dd { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 12px; margin-top: 6px; font-size: 14px; font-variant-numeric: tabular-nums; }
.bars span { flex: 0 0 100%; height: 10px; background: linear-gradient(to right, var(--bar) var(--part), transparent 0); }
.legend { display: flex; flex-wrap: wrap; gap: 4px 18px; margin: 0 0 8px; padding: 0; list-style: none; font-size: 14px; }
.key { width: 12px; height: 12px; margin-right: 6px; vertical-align: -1px; }
.key.line { width: 24px; }
details { margin: 10px 0; }
figure details { margin: 6px 0 0; }
summary { cursor: pointer; color: var(--link); font-size: 15px; padding: 4px 0; }
.problem > summary { display: flex; align-items: baseline; gap: 10px; color: inherit; }
.problem > summary::before { content: "▸"; color: var(--link); font-size: 20px; }
.problem[open] > summary::before { content: "▾"; }
.problem > summary h2 { margin: 0; }
.more > summary, .all > summary { background: var(--panel); border: 1px solid var(--line); border-radius: 10px; padding: 10px 16px; }
.more[open] > summary, .all[open] > summary { margin-bottom: 12px; }
.scroll { overflow: auto; max-height: 520px; margin: 8px 0; border: 1px solid var(--line); border-radius: 8px; background: var(--panel); }
nav .scroll { max-height: none; }
figure .scroll { border: 0; margin: 0; }
.who { white-space: nowrap; }
table { border-collapse: collapse; width: 100%; font-size: 14px; font-variant-numeric: tabular-nums; }
caption { text-align: left; padding: 8px 12px; color: var(--muted); position: sticky; left: 0; max-width: min(900px, calc(100vw - 40px)); }
th, td { padding: 6px 12px; border-top: 1px solid var(--line); text-align: left; vertical-align: top; font-weight: 400; }
thead th { font-weight: 600; border-top: 0; background: var(--panel); position: sticky; top: 0; }
td.text { min-width: 9.5em; }
.maps { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 400px), 1fr)); gap: 0 16px; }
.map { width: auto; margin: 4px 0; border-spacing: 2px; border-collapse: separate; }
.map th, .map td { padding: 5px 9px; border: 0; text-align: center; }
.map td.none { outline: 1px dashed var(--line); outline-offset: -2px; }
.map td.chosen { outline: 3px solid var(--accent); outline-offset: -2px; font-weight: 650; }
${HEATS}
.number { text-align: right; white-space: nowrap; }
.card { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 0 28px; margin: 0; background: var(--panel); border: 1px solid var(--line); border-radius: 10px; padding: 8px 18px; }
.card div { padding: 8px 0; border-bottom: 1px solid var(--line); }
.card div:is(:last-child, :nth-last-child(2):nth-child(odd)) { border-bottom: 0; }
dt { color: var(--muted); font-size: 14px; }
dt::first-letter { text-transform: uppercase; }
dd { margin: 0; overflow-wrap: anywhere; }
button { font: inherit; padding: 5px 14px; border: 1px solid var(--line); border-radius: 8px; background: var(--panel); color: var(--ink); cursor: pointer; }
.use { margin: 14px 0 0; }
.use button { margin-right: 10px; }
pre { overflow: auto; margin: 8px 0; padding: 12px; background: var(--panel); border: 1px solid var(--line); border-radius: 8px; font-size: 13px; }
footer { padding-bottom: 48px; color: var(--muted); font-size: 14px; }
@media (max-width: 720px) {
  header, main, footer { padding-left: 14px; padding-right: 14px; }
  .wide { display: none; }
  .narrow { display: block; max-width: 480px; }
  .scroll { max-height: none; }
  .rows, .rows :is(caption, tbody, tr, th, td) { display: block; }
  .rows thead { position: absolute; clip-path: inset(50%); }
  .rows tr { padding: 10px 12px; border-top: 1px solid var(--line); }
  .rows :is(th, td) { padding: 1px 0; border: 0; text-align: left; white-space: normal; overflow-wrap: anywhere; }
  .rows tbody th { font-weight: 650; }
  .rows tbody th.number::before { content: attr(data-label) " "; }
  .rows tbody td { display: grid; grid-template-columns: minmax(7em, 38%) 1fr; gap: 10px; }
  .rows td::before { content: attr(data-label); color: var(--muted); }
  .rows td:empty { display: none; }
  .card { grid-template-columns: minmax(0, 1fr); }
  figure { padding: 12px; }
  .big { font-size: 27px; }
}
@media print { .scroll { max-height: none; overflow: visible; } }
`;
