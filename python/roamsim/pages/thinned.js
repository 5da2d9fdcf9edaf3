// Figures over time hold all of their marks; drawn are as many of the part that is shown as its width can tell apart.

/** Pixels of a side in which points and short spans are one (chosen: smaller ones lie on each other anyway). */
const CELL = 3;

/** Marks from which on a figure is drawn on a canvas (chosen: as many elements of SVG are slow). */
const MANY = 4000;

/** Samples of all lines of a figure together (chosen: more are slow), and parts of the time that a line has at least. */
const SAMPLES = 40_000, PARTS = 100;

/** Series that the pointer reads at once (chosen: more fill the screen). */
const READ = 12;

/** The marks of a figure, decoded once: `held` as roamsim/pictures/timed.py wrote it. */
function unpacked(held) {
  return held.map(({data, panel, kind, s, ...columns}) => {
    const found = {data, panel, kind, s};
    for (const [name, text] of Object.entries(columns)) found[name] = Float64Array.from(JSON.parse(`[${text}]`), (value) => value ?? NaN);
    let at = 0;
    found.t = found.t.map((step) => (at += step) / 1e9);
    if (found.until) found.until = found.until.map((ns) => ns / 1e9);
    return found;
  });
}

/** The places of a line's samples that draw it over a span in so many parts: of each the first, last, lowest and highest. */
function placesOfLine(t, v, from, until, parts) {
  const begin = Math.max(0, firstFrom(t, from) - 1), end = Math.min(t.length, firstFrom(t, until) + 1), places = [];
  if (end - begin <= 4 * parts) {
    for (let i = begin; i < end; i++) places.push(i);
    return places;
  }
  const part = (i) => Math.floor((t[i] - from) / (until - from) * parts);
  for (let i = begin; i < end;) {
    const own = part(i);
    let low = i, high = i, last = i;
    for (; last < end && part(last) === own; last++) {
      if (v[last] < v[low]) low = last;
      if (v[last] > v[high]) high = last;
    }
    places.push(...new Set([i, low, high, last - 1].sort((a, b) => a - b)));
    i = last;
  }
  return places;
}

/** The places of marks that draw a span: of those that fall on each other the first. */
function placesOfMarks(marks, from, until, pixels, height) {
  const {t} = marks, ends = marks.until ?? t, low = marks.low ?? marks.v, high = marks.high ?? marks.v;
  const shown = [];
  for (let i = 0; i < t.length && t[i] <= until; i++) if (ends[i] >= from) shown.push(i);
  if (shown.length <= 2 * pixels) return shown;
  let bottom = Infinity, top = -Infinity;
  for (const i of shown) { bottom = Math.min(bottom, low[i]); top = Math.max(top, high[i]); }
  const across = pixels / CELL / (until - from), up = (height / CELL) / (top - bottom || 1), seen = new Set();
  return shown.filter((i) => {
    if ((ends[i] - t[i]) * across > 1) return true;
    const cell = `${Math.floor((t[i] - from) * across)} ${Math.floor((low[i] - bottom) * up)} ${Math.floor((high[i] - bottom) * up)}`;
    return !seen.has(cell) && seen.add(cell);
  });
}

/** Rows for each of the figure's data sets, of a span of time. */
function thinned(marks, [from, until], pixels, heights) {
  const rows = {}, lines = marks.filter(({kind}) => kind === "step").length;
  const parts = Math.min(pixels, Math.max(PARTS, Math.floor(SAMPLES / 4 / Math.max(1, lines))));
  for (const one of marks) {
    const places = one.kind === "step" ? placesOfLine(one.t, one.v, from, until, parts) : placesOfMarks(one, from, until, pixels, heights[one.panel]);
    const own = rows[one.data] ??= [];
    for (const i of places) {
      const row = {t: one.t[i], s: one.s};
      for (const name of ["until", "v", "low", "high"]) if (one[name]) row[name] = one[name][i];
      own.push(row);
    }
  }
  // A scale has no ends where there is no mark: one outside of what is shown, as high as another of the panel. A
  // logarithmic one has no zero.
  for (const {data, panel, s} of marks) {
    if (rows[data].length) continue;
    const other = marks.find((one) => one.panel === panel && rows[one.data].length), [any = {}] = other ? rows[other.data] : [];
    const value = any.v ?? any.low ?? 1, before = from - (until - from);
    rows[data].push({t: before, until: before, v: value, low: value, high: value, s});
  }
  return rows;
}

/** A part of the time as long as it was, or as there is, moved to between the ends of all of it. */
function within([from, until], [first, last]) {
  const length = Math.min(until - from, last - first), begin = Math.min(Math.max(from, first), last - length);
  return [begin, begin + length];
}

/** Before a name, so that it is the key of nothing else: not of an array's place, which comes first, nor of a title. */
const NAME = "\u2060";

/** A number with so many significant digits; none before the point is rounded away, as in `tables/significant.py`. */
function significant(value, figures) {
  return Number(value.toPrecision(Math.max(figures, String(Math.trunc(Math.abs(value))).length)));
}

/** What the lines of a panel have at an instant, those nearest to a value first. */
function readAt(marks, panel, at, near) {
  const found = [];
  for (const {panel: own, kind, s, t, v} of marks) {
    const place = firstFrom(t, at + 1e-12) - 1;
    if (own === panel && kind === "step" && place >= 0 && Number.isFinite(v[place])) found.push([s, v[place]]);
  }
  found.sort((a, b) => Math.abs(a[1] - near) - Math.abs(b[1] - near));
  const more = found.length - READ;
  return {"at, s": String(Number(at.toPrecision(7))), ...Object.fromEntries(found.slice(0, READ).map(([s, value]) => [NAME + s, String(significant(value, 5))])), ...(more > 0 ? {more: `${more} lines`} : {})};
}
