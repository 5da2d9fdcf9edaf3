// What the page holds of a run, as roamsim/reports/inspector wrote it: columns of numbers, and of words with places.

/** The columns of a table as arrays: `words` and `at` become texts. */
function decoded(columns) {
  const found = {};
  for (const [name, column] of Object.entries(columns)) {
    found[name] = Array.isArray(column) ? column : column.at.map((at) => (at === null ? null : column.words[at]));
  }
  return found;
}

/** A row ready to be drawn: `from(t)` to `to(t)` are the places of marks that touch a span. */
function prepared(row) {
  const columns = decoded(row.columns);
  const until = columns.until ?? [];
  let longest = 0;
  for (let i = 0; i < until.length; i++) if (until[i] !== null) longest = Math.max(longest, until[i] - columns.t[i]);
  return {...columns, ...row, columns, until, longest};
}

/** The places of marks that touch a span, first and one behind the last; some between may end before it. */
function touching(row, from, until) {
  return [firstFrom(row.t, from - row.longest), firstFrom(row.t, until + 1e-15)];
}

const UNITS = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]];

/** A number with so many significant digits; none before the point is rounded away, as in `tables/significant.py`. */
function significant(value, figures) {
  return Number(value.toPrecision(Math.max(figures, String(Math.trunc(Math.abs(value))).length)));
}

/** A length of time with its unit, to so many digits. */
function duration(seconds, digits = 4) {
  const [size, unit] = UNITS.find(([size]) => Math.abs(seconds) >= size) ?? UNITS[3];
  return `${significant(seconds / size, digits)} ${unit}`;
}

/** An instant in seconds, to the nanosecond, without zeros at its end. */
function instant(seconds) {
  return `${seconds.toFixed(9).replace(/0+$/, "").replace(/\.$/, "")} s`;
}

/**
 * Where ticks of a time axis stand, and what they say. A narrow span tells them from a `base` on, so that they stay short:
 * "28.1234 s" once, and "+2 µs", "+4 µs" along the axis.
 */
function ticks(from, until, most) {
  const raw = (until - from) / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find((times) => times * power >= raw * (1 - 1e-9));
  const relative = step < 1e-3 * Math.max(1, Math.abs(from));
  // The base is a whole number of some power of ten, so that its own digits are few.
  const coarse = 10 ** Math.ceil(Math.log10(step * 10) - 1e-9);
  const base = relative ? Math.floor(from / coarse + 1e-9) * coarse : 0;
  const [size, unit] = relative ? UNITS.find(([size]) => step >= size * (1 - 1e-9)) ?? UNITS[3] : UNITS[0];
  const decimals = Math.max(0, -Math.floor(Math.log10(step / size) + 1e-9));
  const places = [];
  for (let n = Math.ceil((from - base) / step - 1e-9); base + n * step <= until + step * 1e-9; n++) {
    const said = ((n * step) / size).toFixed(decimals);
    places.push({t: base + n * step, text: relative ? `+${said} ${unit}` : `${said} s`});
  }
  return {places, base: relative ? instant(Number(base.toFixed(9))) : ""};
}

/** Text that is safe inside of markup. */
function escaped(text) {
  return String(text).replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

/** Names that stand under each other, each in so much room: those that would look alike without their common begin. */
function fittings(names, width, letter) {
  const cut = names.map((name) => fitting(name, width, letter));
  return names.map((name, place) => {
    const alike = names.filter((other, n) => cut[n] === cut[place] && other !== name);
    if (!alike.length) return cut[place];
    const common = Math.min(...alike.map((other) => { let n = 0; while (n < name.length && name[n] === other[n]) n++; return n; }));
    // From the word on in which they differ, where it shows that they do.
    const word = name.lastIndexOf(" ", common) + 1, room = Math.floor(width / letter) - 1;
    return `…${fitting(name.slice(common - word < room / 2 ? word : common), width - letter, letter)}`;
  });
}

/** As much of a text as fits into a width, by the mean width of a letter. */
function fitting(text, width, letter) {
  const room = Math.floor(width / letter);
  return text.length <= room ? text : room < 2 ? "" : `${text.slice(0, room - 1)}…`;
}
