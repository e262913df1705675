// The page that FlameGraphHtml fills in: @TITLE@, @HEADING@ and @DATA@. Private to it.
// Signal-safe: no.
#ifndef WALKHAMMER_REPORTS_FLAME_PAGE_H_
#define WALKHAMMER_REPORTS_FLAME_PAGE_H_

namespace walkhammer {

// Frames thinner than 0.3 pixels are not drawn, rows out of sight neither; so large graphs are
// fast.
inline constexpr char kFlamePage[] = R"html(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>@TITLE@</title>
<style>
:root { --page: #fff; --ink: #1d2126; --soft: #5d6670; --line: #d9dee3; --field: #fff; --tip: #fffffff5; }
@media (prefers-color-scheme: dark) {
  :root { --page: #15181c; --ink: #e4e8ec; --soft: #98a2ad; --line: #333a42; --field: #1e2328; --tip: #22272df5; }
}
* { box-sizing: border-box; }
body { margin: 0; height: 100vh; display: flex; flex-direction: column; background: var(--page);
  color: var(--ink); font: 13px/1.4 system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
header { display: flex; flex-wrap: wrap; gap: 8px 20px; align-items: center; padding: 12px 16px 8px; }
h1 { font-size: 16px; font-weight: 600; margin: 0; overflow-wrap: anywhere; }
#totals { color: var(--soft); }
#tools { margin-left: auto; display: flex; gap: 8px; align-items: center; }
input, button { font: inherit; color: inherit; background: var(--field); border: 1px solid var(--line);
  border-radius: 6px; padding: 4px 10px; }
input { width: 260px; }
input.bad { border-color: #d9232e; }
button { cursor: pointer; }
button:hover { border-color: var(--soft); }
button:disabled { opacity: .45; cursor: default; }
#legend { display: flex; flex-wrap: wrap; gap: 4px 18px; padding: 0 16px 8px; color: var(--soft); }
#legend i { display: inline-block; width: 12px; height: 12px; border-radius: 3px; margin-right: 5px;
  vertical-align: -1px; }
#graph { flex: 1; min-height: 0; overflow-y: auto; margin: 0 16px; border-top: 1px solid var(--line); }
canvas { position: sticky; top: 0; display: block; width: 100%; }
footer { display: flex; gap: 20px; padding: 7px 16px; border-top: 1px solid var(--line); min-height: 33px; }
#status { overflow: hidden; white-space: nowrap; text-overflow: ellipsis; }
#matched { margin-left: auto; white-space: nowrap; }
#tip { position: fixed; display: none; pointer-events: none; max-width: min(720px, 90vw); padding: 7px 10px;
  background: var(--tip); border: 1px solid var(--line); border-radius: 6px; box-shadow: 0 3px 14px #0004; }
#tip b { font-weight: 600; overflow-wrap: anywhere; }
#tip span { color: var(--soft); }
</style>
</head>
<body>
<header><h1>@HEADING@</h1><span id="totals"></span>
<div id="tools">
<input id="search" type="search" placeholder="Search (regular expression)" aria-label="Search" spellcheck="false">
<button id="reset">Reset zoom</button><button id="flip">Root on top</button>
</div></header>
<div id="legend"></div>
<div id="graph"><canvas id="canvas" role="img" aria-label="Flame graph"></canvas><div id="fill"></div></div>
<footer><div id="status" role="status"></div><div id="matched"></div></footer>
<div id="tip"></div>
<noscript>This graph needs JavaScript; report --collapsed writes the same as text.</noscript>
<script id="data" type="application/json">@DATA@</script>
<script>
'use strict';
const byId = id => document.getElementById(id);
const data = JSON.parse(byId('data').textContent);
const ROW = 19, THIN = 0.3, CELL = 0, FAILED = 1, OTHER = 2, JAVA = 3;
const FONT = '11.5px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace';

// --- the tree: frame 0 is the root, children follow their parent ---
const frames = data.tree.length / 3 + 1;
const level = new Int32Array(frames), name = new Int32Array(frames), parent = new Int32Array(frames);
const count = new Float64Array(frames), left = new Float64Array(frames), end = new Int32Array(frames);
const rows = [[0]];
{
  const last = [0], next = [0, 0];  // by level: the frame at hand; where the next one begins
  for (let i = 1; i < frames; i++) {
    const l = level[i] = data.tree[3 * i - 3];
    name[i] = data.tree[3 * i - 2];
    count[i] = data.tree[3 * i - 1];
    parent[i] = last[l - 1];
    left[i] = next[l + 1] = next[l];
    next[l] += count[i];
    last[l] = i;
    (rows[l] = rows[l] || []).push(i);
    if (l === 1) count[0] += count[i];
  }
  for (let i = frames - 1; i >= 0; i--) {
    end[i] = Math.max(end[i], i + 1);
    if (i > 0) end[parent[i]] = Math.max(end[parent[i]], end[i]);
  }
}
name[0] = -1;
const colourOf = i => i === 0 ? CELL : data.colours[name[i]];
const fullName = i => i === 0 ? 'all' : data.names[name[i]];
const shortName = i => {
  const full = fullName(i);
  return colourOf(i) >= JAVA ? full.slice(0, full.indexOf('(')) : full;
};

// --- words ---
const number = n => n.toLocaleString('en');
const walks = n => number(n) + (n === 1 ? ' walk' : ' walks');
const share = (part, whole) => {
  const percent = whole ? 100 * part / whole : 0;
  return (part && percent < 0.01 ? '<0.01' : percent.toFixed(2)) + ' %';
};

// --- colours ---
const dark = matchMedia('(prefers-color-scheme: dark)');
let palette;
function setPalette() {
  const d = dark.matches;
  palette = [d ? '#56616d' : '#c3ccd5', '#d9232e', d ? '#6f8fb3' : '#a9c3e0'];
  for (let i = 0; i < data.shades; i++) {
    const hue = 48 + 74 * i / (data.shades - 1);
    palette.push(d ? `hsl(${hue} 38% ${56 - 4 * (i % 3)}%)` : `hsl(${hue} 58% ${74 - 5 * (i % 3)}%)`);
  }
  palette.match = '#8e3fd1';
  palette.ink = ['#16191c', '#fff'];
  const item = (colour, words) => `<span><i style="background:${colour}"></i>${words}</span>`;
  const bar = palette.slice(JAVA).filter((c, i) => i % 3 === 0).join(', ');
  byId('legend').innerHTML = item(`linear-gradient(90deg, ${bar})`, 'Java, a shade for each package') +
      item(palette[FAILED], 'failed walk: the walker\'s answer') +
      (data.colours.includes(OTHER) ? item(palette[OTHER], 'other code') : '') +
      (data.colours.includes(CELL) ? item(palette[CELL], 'cell: workload, JDK, profile') : '') +
      item(palette.match, 'matches the search');
}

// --- state ---
let zoom = 0, hover = -1, rootOnTop = false, matches = null, pattern = '';
const graph = byId('graph'), canvas = byId('canvas'), ctx = canvas.getContext('2d');
let width = 0, shown = 0, letter = 7;  // CSS pixels; rows of the zoomed frame; of one character

const total = () => shown * ROW + 1;
const yOf = l => rootOnTop ? l * ROW + 1 : total() - (l + 1) * ROW;

// The first index into `row` whose frame ends right of `at`.
function firstRightOf(row, at) {
  let low = 0, high = row.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (left[row[middle]] + count[row[middle]] <= at) low = middle + 1; else high = middle;
  }
  return low;
}
function ancestorAt(l) {
  let i = zoom;
  while (level[i] > l) i = parent[i];
  return i;
}

// Calls visit(frame, x, width) for what is drawn of a level.
function eachOf(l, visit) {
  if (l <= level[zoom]) { visit(ancestorAt(l), 0, width); return; }
  const row = rows[l] || [], scale = width / count[zoom], from = left[zoom], to = from + count[zoom];
  for (let k = firstRightOf(row, from); k < row.length && left[row[k]] < to; k++) {
    const w = count[row[k]] * scale;
    if (w >= THIN) visit(row[k], (left[row[k]] - from) * scale, w);
  }
}

// As much of the name as fits: a method without its package, then without its class; of a failed walk
// without the walker, then without brackets the code alone.
function label(i, w) {
  const room = Math.floor((w - 8) / letter), text = shortName(i);
  if (room < 2) return '';
  let names = [text];
  if (colourOf(i) >= JAVA) {
    const parts = text.split('.');
    names.push(parts.slice(-2).join('.'), parts[parts.length - 1]);
  } else if (colourOf(i) === FAILED) {
    const words = text.slice(1, -1).split(' ');
    names.push(words.slice(1).join(' '), words[1] || text);
  }
  const fits = names.find(n => n.length <= room);
  if (fits) return fits;
  const last = names[names.length - 1];
  return room < 4 ? '' : last.slice(0, room - 1) + '\u2026';
}

function draw() {
  const high = Math.min(graph.clientHeight, total()), ratio = devicePixelRatio || 1;
  width = graph.clientWidth;
  canvas.style.height = high + 'px';
  byId('fill').style.height = Math.max(0, total() - high) + 'px';
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(high * ratio);
  ctx.scale(ratio, ratio);
  ctx.font = FONT;
  ctx.textBaseline = 'middle';
  letter = ctx.measureText('MMMMMMMMMM').width / 10;
  const top = Math.min(graph.scrollTop, total() - high);
  for (let l = 0; l < shown; l++) {
    const y = yOf(l) - top;
    if (y > high || y + ROW < 0) continue;
    eachOf(l, (i, x, w) => {
      const hit = matches && i > 0 && matches[name[i]], colour = colourOf(i);
      ctx.globalAlpha = l < level[zoom] ? 0.5 : 1;
      ctx.fillStyle = hit ? palette.match : palette[colour];
      ctx.fillRect(x, y, w > 2.5 ? w - 1 : w, ROW - 1);
      if (i === hover) {
        ctx.fillStyle = '#00000030';
        ctx.fillRect(x, y, w > 2.5 ? w - 1 : w, ROW - 1);
      }
      const text = label(i, w);
      if (text) {
        ctx.fillStyle = palette.ink[hit || colour === FAILED || (colour === CELL && dark.matches) ? 1 : 0];
        ctx.fillText(text, x + 4, y + ROW / 2);
      }
    });
  }
}

function say() {
  const i = hover >= 0 ? hover : zoom;
  byId('status').textContent = `${hover < 0 && zoom ? 'Zoom: ' : ''}${fullName(i)}: ` +
      `${walks(count[i])}, ${share(count[i], count[0])}`;
  let text = '';
  if (matches) {
    let sum = 0;  // of the outermost matches: none counts twice
    for (let i = zoom; i < end[zoom];) {
      if (i > 0 && matches[name[i]]) { sum += count[i]; i = end[i]; } else i++;
    }
    text = `matched: ${walks(sum)}, ${share(sum, count[zoom])}${zoom ? ' of the zoomed frame' : ''}`;
  }
  byId('matched').textContent = text;
  byId('reset').disabled = zoom === 0;
}

function keepAddress() {
  const parts = [];
  if (zoom) parts.push('z=' + zoom);
  if (pattern) parts.push('q=' + encodeURIComponent(pattern));
  try {
    history.replaceState(null, '', parts.length ? '#' + parts.join('&') : location.pathname + location.search);
  } catch (ignored) {}  // some viewers forbid it
}

function zoomTo(i) {
  zoom = i;
  shown = level[i];
  for (let k = i; k < end[i]; k++) shown = Math.max(shown, level[k] + 1);
  hover = -1;
  byId('tip').style.display = 'none';
  draw();  // sets the height that can be scrolled
  graph.scrollTop = rootOnTop ? yOf(level[i]) - graph.clientHeight * 0.2 : yOf(level[i]) - graph.clientHeight * 0.8;
  draw();
  say();
  keepAddress();
}

function search(text) {
  pattern = text;
  matches = null;
  let wanted = null;
  byId('search').classList.remove('bad');
  if (text) {
    try { wanted = new RegExp(text, 'i'); } catch (error) { byId('search').classList.add('bad'); }
    const low = text.toLowerCase();
    matches = data.names.map(n => wanted ? wanted.test(n) : n.toLowerCase().includes(low));
  }
  draw();
  say();
  keepAddress();
}

function frameAt(event) {
  const box = canvas.getBoundingClientRect(), x = event.clientX - box.left;
  const y = event.clientY - box.top + Math.min(graph.scrollTop, Math.max(0, total() - box.height));
  const l = Math.floor(rootOnTop ? (y - 1) / ROW : (total() - y) / ROW);
  let found = -1;
  if (l >= 0 && l < shown) eachOf(l, (i, from, w) => { if (x >= from && x < from + w) found = i; });
  return found;
}

function showTip(event) {
  const tip = byId('tip');
  tip.style.display = hover < 0 ? 'none' : 'block';
  if (hover < 0) return;
  const lines = [document.createElement('b'), document.createElement('br'), document.createElement('span')];
  lines[0].textContent = fullName(hover);
  lines[2].textContent = `${walks(count[hover])}, ${share(count[hover], count[0])} of all` +
      (zoom ? `, ${share(count[hover], count[zoom])} of the zoomed frame` : '') +
      (hover ? `, ${share(count[hover], count[parent[hover]])} of its caller` : '');
  tip.replaceChildren(...lines);
  const box = tip.getBoundingClientRect();
  tip.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - box.width - 8)) + 'px';
  tip.style.top = Math.max(4, event.clientY + 20 + box.height > innerHeight ?
      event.clientY - box.height - 12 : event.clientY + 18) + 'px';
}

canvas.addEventListener('mousemove', event => {
  const i = frameAt(event);
  canvas.style.cursor = i < 0 ? 'default' : 'pointer';
  if (i !== hover) { hover = i; draw(); say(); }
  showTip(event);
});
canvas.addEventListener('mouseleave', () => { hover = -1; byId('tip').style.display = 'none'; draw(); say(); });
canvas.addEventListener('click', event => { const i = frameAt(event); if (i >= 0) zoomTo(i); });
graph.addEventListener('scroll', draw);
addEventListener('resize', draw);
dark.addEventListener('change', () => { setPalette(); draw(); });
byId('search').addEventListener('input', event => search(event.target.value));
byId('reset').addEventListener('click', () => zoomTo(0));
byId('flip').addEventListener('click', () => {
  rootOnTop = !rootOnTop;
  byId('flip').textContent = rootOnTop ? 'Root at bottom' : 'Root on top';
  zoomTo(zoom);
});
addEventListener('keydown', event => {
  if (event.key === 'Escape') {
    if (pattern) { byId('search').value = ''; search(''); } else zoomTo(0);
  } else if (event.key === '/' && event.target !== byId('search')) {
    event.preventDefault();
    byId('search').focus();
  }
});

function readAddress() {
  const wanted = new URLSearchParams(location.hash.slice(1)), z = Number(wanted.get('z'));
  byId('search').value = pattern = wanted.get('q') || '';
  zoom = Number.isInteger(z) && z > 0 && z < frames ? z : 0;
  const text = pattern;
  zoomTo(zoom);
  search(text);
}

let failed = 0, stacks = 0;
for (let i = 1; i < frames; i++) {
  if (colourOf(i) === FAILED) failed += count[i];
  let inner = 0;
  for (let k = i + 1; k < end[i]; k = end[k]) inner += count[k];
  if (inner < count[i]) stacks++;
}
byId('totals').textContent = `${walks(count[0])}, ${number(stacks)} distinct stacks, ` +
    `${share(failed, count[0])} failed`;
setPalette();
readAddress();
addEventListener('hashchange', readAddress);
</script>
</body>
</html>
)html";

}  // namespace walkhammer

#endif  // WALKHAMMER_REPORTS_FLAME_PAGE_H_
