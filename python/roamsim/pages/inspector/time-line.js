// Lanes over one axis of time: drawn anew at each zoom, with as many elements as the screen has columns, however many
// marks there are; and what a click, a key, the wheel or a finger does to them.

const SHORTEST = 1e-6;    // the narrowest span, in seconds (chosen: a thousand times the engine's clock)
const MANY = 400;         // marks of a row from which they are counted in columns
const COLUMN = 4;         // width of such a column
const TALLER = 4;         // how many times the first line of a lane others may be for its scale to hold them
const QUIET = 0.25;       // the share of a run, quiet at one of its ends, from which on the time line opens on the rest
const ROW = 22, LINES = 84, TITLE = 20, AXIS = 34;
const SERIES = ["first", "late", "good", "third", "second", "plain"];

class TimeLine {
  constructor(place, model) {
    this.place = place;
    this.id = place.dataset.timeLine;
    this.end = model.end;
    this.lanes = model.lanes.map((lane) => ({...lane, rows: lane.rows.map(prepared)}));
    this.packets = model.packets ? prepared(model.packets) : null;
    this.order = this.packets ? nodesOf(this.packets, [...this.packets.t.keys()]) : [];
    this.steps = model.steps ? decoded(model.steps) : null;
    this.build();
    this.listen();
    this.show(...this.busy());
    this.follow();
  }

  build() {
    const button = (act, text, title) => `<button type="button" data-act="${act}" title="${title}">${text}</button>`;
    const kinds = [...new Set(this.lanes.filter((lane) => lane.shape === "marks").flatMap((lane) => lane.rows.flatMap((row) => [...row.kind, ...Object.keys(row.bins ?? {})])))];
    this.place.innerHTML = `<div class="tools">${button("in", "+", "zoom in (+)")}${button("out", "−", "zoom out (−)")}`
      + `${button("left", "←", "earlier (←)")}${button("right", "→", "later (→)")}${button("all", "whole run", "the whole run (0)")}`
      + `<output class="span"></output><a class="here" title="a link to this span">link</a><output class="pointer"></output></div>`
      + `<div class="${this.packets ? "split" : ""}"><div class="lanes" tabindex="0" role="application" aria-label="Time line: plus and minus zoom, arrows move, 0 shows the whole run, n and p go from mark to mark"></div>`
      + `${this.packets ? '<div class="chart"><p class="note"></p><div class="drawn" tabindex="0"></div></div>' : ""}</div>`
      + `<div class="legend">${legend(kinds)}</div><div class="detail" aria-live="polite"><p class="note">Click on a mark to see what it stands for.</p></div>`;
    const find = (name) => this.place.querySelector(name);
    [this.tools, this.board, this.chart, this.detail] = [find(".tools"), find(".lanes"), find(".chart"), find(".detail")];
  }

  // What is shown

  /** The part of the run in which something happens: where a long quiet time at either end is left out. */
  busy() {
    const rows = this.lanes.flatMap((lane) => lane.rows), times = rows.flatMap((row) => row.t.length ? [row.t[0], row.t.at(-1)] : []);
    for (const {until} of rows) for (const t of until ?? []) if (t !== null) times.push(t);
    for (const row of rows) for (const counts of Object.values(row.bins ?? {})) {
      const first = counts.findIndex((count) => count > 0), last = counts.findLastIndex((count) => count > 0);
      if (first >= 0) times.push(first / counts.length * this.end, (last + 1) / counts.length * this.end);
    }
    for (const t of this.packets?.t ?? []) times.push(t);
    if (!times.length) return [0, this.end];
    const [first, last] = times.reduce(([low, high], t) => [Math.min(low, t), Math.max(high, t)], [Infinity, -Infinity]);
    const from = first > QUIET * this.end ? first - 0.02 * (last - first) : 0, until = last + 0.05 * (last - from);
    return [from, this.end - until > QUIET * this.end ? until : this.end];
  }

  /** Shows a span, kept inside of the run and not too narrow. */
  show(from, until) {
    const width = Math.min(this.end, Math.max(SHORTEST, until - from));
    const start = Math.min(Math.max(0, until - from < SHORTEST ? (from + until - width) / 2 : from), this.end - width);
    this.view = [start, start + width];
    this.place.dataset.span = this.view.join(",");
    if (!this.waiting) {
      this.waiting = true;
      requestAnimationFrame(() => { this.waiting = false; this.draw(); });
    }
  }

  /** Zooms by a factor around an instant, the middle unless given. */
  zoom(factor, around = (this.view[0] + this.view[1]) / 2) {
    const [from, until] = this.view;
    const width = Math.min(this.end, Math.max(SHORTEST, (until - from) / factor));
    const start = around - (around - from) * (width / (until - from));
    this.show(start, start + width);
  }

  move(share) {
    const width = this.view[1] - this.view[0];
    this.show(this.view[0] + share * width, this.view[1] + share * width);
  }

  /** The span that the page's address names: "#time-line@28.1,28.2". */
  follow() {
    const [id, span] = decodeURIComponent(location.hash.slice(1)).split("@");
    const [from, until] = (span ?? "").split(",").map(Number);
    if (id === this.id && from < until) {
      this.show(from, until);
      this.place.scrollIntoView();
    }
    this.draw();
  }

  x(t) { return this.left + (t - this.view[0]) / (this.view[1] - this.view[0]) * this.wide; }
  t(x) { return this.view[0] + (x - this.left) / this.wide * (this.view[1] - this.view[0]); }

  draw() {
    const all = this.board.clientWidth || 600;
    this.left = all < 520 ? 96 : 160;
    this.wide = Math.max(80, all - this.left - 18);
    this.spots = [];
    const parts = [];
    let y = AXIS;
    for (const lane of this.lanes) {
      parts.push(`<text class="title" x="2" y="${y + 14}">${escaped(fitting(lane.left_out ? `${lane.title} (${lane.left_out} more rows are left out)` : lane.title, all - 6, 6.8))}</text>`);
      y += TITLE;
      if (lane.shape === "lines") {
        parts.push(this.lines(lane, y));
        this.spots.push({lane, row: null, top: y, bottom: y + LINES});
        y += LINES + 6;
        continue;
      }
      const names = fittings(lane.rows.map((row) => row.name), this.left - 6, 6.1);
      for (const [n, row] of lane.rows.entries()) {
        parts.push(`<path class="base" d="M${this.left} ${y + ROW - 1.5}h${this.wide}"/>`);
        parts.push(`<text class="name" x="2" y="${y + 15}"><title>${escaped(row.name)}</title>${escaped(names[n])}</text>`);
        const drawn = this.marks(row, y + ROW / 2);
        parts.push(`<g data-row="${escaped(row.name)}" data-drawn="${drawn.how}" data-count="${drawn.count}">${drawn.parts}</g>`);
        this.spots.push({lane, row, top: y, bottom: y + ROW});
        y += ROW;
      }
      y += 4;
    }
    const axis = this.axis(y);
    const clip = ["marks", "lines"].map((what, n) => `<clipPath id="${this.id}-${what}"><rect x="${this.left - 1}" y="0" width="${this.wide + (n ? 1 : 8)}" height="${y}"/></clipPath>`).join("");
    this.board.innerHTML = `<svg width="${all}" height="${y + 6}" viewBox="0 0 ${all} ${y + 6}">${clip}${axis}${parts.join("")}${this.selection(y)}<path class="cursor" d=""/></svg>`;
    const [from, until] = this.view;
    this.tools.querySelector(".span").textContent = `${instant(Number(from.toPrecision(12)))} + ${duration(until - from)}`;
    this.tools.querySelector(".here").href = `#${this.id}@${from.toFixed(9)},${until.toFixed(9)}`;
    this.sequence();
  }

  axis(bottom) {
    const {places, base} = ticks(...this.view, this.wide / 90);
    const lines = places.map(({t}) => `M${round(this.x(t))} ${AXIS - 4}V${bottom}`).join("");
    const words = places.map(({t, text}) => `<text x="${round(this.x(t))}" y="${AXIS - 10}" text-anchor="middle">${text}</text>`).join("");
    return `<path class="grid" d="${lines}"/><g class="axis"><text x="2" y="${base ? 12 : AXIS - 10}">${base ? `from ${base} on` : "time"}</text>${words}</g>`;
  }

  lines(lane, top) {
    const [from, until] = this.view;
    const least = (values) => values.reduce((a, b) => Math.min(a, b), Infinity), most = (values) => values.reduce((a, b) => Math.max(a, b), -Infinity);
    let low = least(lane.rows.map((row) => least(row.value)));
    // A line far above the first one, as a threshold that was not cut yet, is drawn at the top and does not flatten it.
    const first = most(lane.rows[0].value);
    let high = most(lane.rows.map((row) => most(row.value)).filter((top) => first <= 0 || top <= TALLER * first));
    if (low === high) [low, high] = [low - 1, high + 1];
    // A level that is far from all values would leave them no room.
    const levels = lane.levels.filter(([, value]) => value > low - (high - low) && value < high + (high - low));
    for (const [, value] of levels) [low, high] = [Math.min(low, value), Math.max(high, value)];
    const y = (value) => round(top + 6 + (high - Math.min(high, value)) / (high - low) * (LINES - 12));
    const short = (value) => Math.abs(value) >= 1e4 ? `${significant(value / 1e3, 3)}k` : `${significant(value, 3)}`;
    const parts = [`<path class="frame" d="M${this.left} ${top}h${this.wide}v${LINES}h${-this.wide}z"/>`];
    for (const value of [low, high]) parts.push(`<text class="scale" x="${this.left - 4}" y="${y(value) + 4}" text-anchor="end">${short(value)}</text>`);
    // Levels whose names would lie on each other have one text.
    const told = [];
    for (const [name, value] of levels.toSorted(([, a], [, b]) => b - a)) {
      if (told.length && y(value) - y(told.at(-1)[1]) < 12) told.at(-1)[0] += `, ${name}`; else told.push([name, value]);
    }
    for (const [, value] of levels) parts.push(`<path class="level" d="M${this.left} ${y(value)}h${this.wide}"/>`);
    for (const [name, value] of told) {
      parts.push(`<text class="scale" x="${this.left + this.wide - 4}" y="${y(value) + (y(value) < top + 20 ? 11 : -3)}" text-anchor="end">${escaped(name)}</text>`);
    }
    // Beside the lane is room for six names; a click tells them all.
    const named = lane.rows.length > 6 ? 5 : 6;
    if (named === 5) parts.push(`<text class="name" x="2" y="${top + 14 + 13 * named}">${lane.rows.length - named} more: click</text>`);
    const names = fittings(lane.rows.map((row) => row.name), this.left - 30, 6.1);
    lane.rows.forEach((row, n) => {
      const first = Math.max(0, firstFrom(row.t, from) - 1), behind = Math.min(row.t.length, firstFrom(row.t, until) + 1);
      // A value holds until the next one; where samples fail to come, as of a cell that is out of reach, the line ends.
      const gap = row.gap ?? Infinity;
      let path = "", pixel = null, low = 0, high = 0;
      const flush = () => { if (pixel !== null && high > low + 0.5) path += `M${pixel} ${low}V${high}`; };
      for (let i = first; i < behind; i++) {
        const x = Math.round(this.x(row.t[i])), at = y(row.value[i]);
        const starts = i === first || row.t[i] - row.t[i - 1] > gap;
        if (!starts && x === pixel) { low = Math.min(low, at); high = Math.max(high, at); path += i + 1 === behind || Math.round(this.x(row.t[i + 1])) !== x ? `V${at}` : ""; continue; }
        path += starts ? `M${x} ${at}h1` : `H${x}V${at}`;
        [pixel, low, high] = [x, at, at];
      }
      const last = behind - 1;
      if (last >= 0 && last + 1 === row.t.length && gap === Infinity) path += `H${Math.round(this.x(Math.min(this.end, until)))}`;
      parts.push(`<g clip-path="url(#${this.id}-lines)"><path class="line ${SERIES[n % SERIES.length]}" data-line="${escaped(row.name)}" d="${path}"/></g>`);
      parts.push(`<text class="name ${SERIES[n % SERIES.length]}" x="2" y="${top + 14 + 13 * n}"><title>${escaped(row.name)}</title>${n < named ? escaped(names[n]) : ""}</text>`);
    });
    return parts.join("");
  }

  /** The marks of a row: one by one where there are few, else counted in columns. */
  marks(row, y) {
    const [from, until] = this.view;
    const [first, behind] = touching(row, from, until);
    const bin = row.bins ? this.end / Object.values(row.bins)[0].length : 0;
    const wideBins = row.bins && bin / (until - from) * this.wide > COLUMN;
    // Marks that the page does not hold are counted in its bins; narrower than those it knows nothing of them.
    if ((row.bins && !wideBins) || behind - first > MANY) return this.columns(row, y, first, behind, bin);
    const ways = {}, bars = [], labels = [], seen = [];
    let count = 0;
    for (let i = first; i < behind; i++) {
      const end = row.until[i] ?? row.t[i];
      if (end < from) continue;
      const kind = row.kind[i], x1 = this.x(row.t[i]), x2 = this.x(end);
      count++;
      if (sign(kind) === "bar") {
        const start = Math.max(x1, this.left), width = Math.max(2, Math.min(x2, this.left + this.wide) - start);
        bars.push(`<rect class="bar ${colour(kind)}" data-kind="${escaped(kind)}" x="${round(start)}" y="${y - 6}" width="${round(width)}" height="12"/>`);
        if (width > 40) labels.push([start + 4, width - 6, kind === "up" || kind === "heard" ? "" : `${kind} ${duration(end - row.t[i])}`]);
        continue;
      }
      const lost = kind.startsWith("lost") && x2 - x1 > 3 && row.table !== "link_events";
      if (x2 - x1 > 3) ways[kind] = (ways[kind] ?? "") + `M${round(x1)} ${y - 7}L${round(x2)} ${y + 7}`;
      ways[kind] = (ways[kind] ?? "") + (lost ? signed(kind, x2, y + 5) : signed(kind, x1, x2 - x1 > 3 ? y - 4 : y));
      seen.push([i, x1, x2]);
    }
    if (seen.length <= 40) {
      seen.forEach(([i, x1, x2], n) => {
        // Of a packet that is on its way for long, the words stand on its line.
        const long = x2 - x1 > 80, start = long ? Math.max(x1, this.left) + 6 : x2 + 7, room = long ? Math.min(x2, this.left + this.wide) - start : (seen[n + 1]?.[1] ?? this.left + this.wide) - start - 6;
        if (room > 30 && start >= this.left) labels.push([start, room, this.label(row, i)]);
      });
    }
    // No label begins before the one at its left ends.
    let free = -Infinity;
    const words = labels.sort(([a], [b]) => a - b).map(([x, room, text]) => {
      const shown = fitting(text, room, 6.2);
      if (!shown || x < free) return "";
      free = x + 6.2 * shown.length + 6;
      return `<text class="word" x="${round(x)}" y="${y + 4}">${escaped(shown)}</text>`;
    }).join("");
    const others = wideBins ? this.columns(row, y, first, behind, bin, true) : {count: 0, parts: ""};
    const under = others.count ? `<g class="under">${others.parts}</g>` : "";
    return {how: others.count ? "some" : "marks", count: count + others.count, parts: `${under}<g clip-path="url(#${this.id}-marks)">${bars.join("")}${paths(ways)}</g>${words}`};
  }

  label(row, i) {
    if (row.description?.[i]) return row.description[i].replace(/^Flags /, "");
    if (row.event) return row.kind[i].replaceAll("_", " ");
    if (row.sequence) return `${row.kind[i]} ${row.sequence[i]}`;
    return row.kind[i];
  }

  /** Counts of a row in columns of some pixels, not narrower than its bins, stacked by kind; of those that the page does not hold `only`. */
  columns(row, y, first, behind, bin, only = false) {
    const [from, until] = this.view;
    const share = until - from, step = Math.max(COLUMN * share / this.wide, bin);
    const start = bin ? Math.floor(from / bin) * bin : from, number = Math.ceil((until - start) / step + 1e-9);
    const sums = {};
    const add = (kind, t, count) => {
      const at = Math.min(number - 1, Math.max(0, Math.floor((t - start) / step)));
      (sums[kind] ??= new Float64Array(number))[at] += count;
    };
    let total = 0;
    for (let i = first; i < behind && !only; i++) if (row.t[i] >= from) { add(row.kind[i], row.t[i], 1); total++; }
    for (const [kind, counts] of Object.entries(row.bins ?? {})) {
      const behindBin = Math.min(counts.length, Math.ceil(until / bin - 1e-9));
      for (let n = Math.floor(from / bin); n < behindBin; n++) if (counts[n]) { add(kind, (n + 0.5) * bin, counts[n]); total += counts[n]; }
    }
    const whole = new Float64Array(number);
    for (const counts of Object.values(sums)) counts.forEach((count, at) => { whole[at] += count; });
    const most = whole.reduce((a, b) => Math.max(a, b), 1), height = ROW - 4, bottom = y + ROW / 2 - 2;
    const kinds = Object.keys(sums).sort((a, b) => RARE.has(b) - RARE.has(a));
    const tops = new Float64Array(number).fill(bottom), ways = {};
    for (const kind of kinds) {
      for (let at = 0; at < number; at++) {
        const count = sums[kind][at];
        if (!count) continue;
        const x1 = Math.max(this.left, this.x(start + at * step)), x2 = Math.min(this.left + this.wide, this.x(start + (at + 1) * step));
        const high = Math.min(Math.max(count / most * height, RARE.has(kind) ? 3 : 1), tops[at] - (bottom - height) + 3);
        tops[at] -= high;
        ways[kind] = (ways[kind] ?? "") + `M${round(x1)} ${round(tops[at])}H${round(x2 - 0.5)}V${round(tops[at] + high)}H${round(x1)}z`;
      }
    }
    const drawn = Object.entries(ways).map(([kind, d]) => `<path class="bar ${colour(kind)}" data-kind="${escaped(kind)}" d="${d}"/>`).join("");
    return {how: "columns", count: total, parts: drawn, start, step, sums};
  }

  selection(bottom) {
    if (!this.selected) return "";
    const x = round(this.x(this.selected.t));
    return x < this.left || x > this.left + this.wide ? "" : `<path class="selection" d="M${x} ${AXIS}V${bottom}"/>`;
  }

  sequence() {
    if (!this.packets) return;
    const {places, note} = inSpan(this.packets, ...this.view, this.end);
    const width = this.chart.clientWidth || 380;
    this.chart.querySelector(".note").textContent = `Sequence chart: ${note}`;
    const drawn = this.chart.querySelector(".drawn");
    drawn.style.maxHeight = `${Math.max(420, this.board.clientHeight - 40)}px`;
    drawn.innerHTML = sequenceChart(this.packets, this.order, places, width - 14, this.selected?.packet);
  }

  // What a click shows

  click(x, y) {
    const spot = this.spots.find((spot) => y >= spot.top && y < spot.bottom);
    if (!spot || x < this.left) return;
    if (!spot.row) return this.tellLines(spot.lane, this.t(x));
    const {row} = spot;
    const [first, behind] = touching(row, this.t(x - 8), this.t(x + 8));
    let best = -1, nearest = 9;
    for (let i = first; i < behind; i++) {
      const x1 = this.x(row.t[i]), x2 = this.x(row.until[i] ?? row.t[i]);
      const bar = sign(row.kind[i]) === "bar";
      // A mark goes before the bar that it stands on, and what is looked for before what lies beside it.
      const far = (x < x1 ? x1 - x : x > x2 ? x - x2 : 0) + (bar ? 8 : 0) - (RARE.has(row.kind[i]) ? 2 : 0);
      if (far < nearest) [best, nearest] = [i, far];
    }
    const drawn = this.marks(row, 0);
    if (drawn.how === "columns" || best < 0) return this.tellCount(row, x);
    this.tell(row, best);
  }

  /** Of marks that are counted: how many there are around a place. */
  tellCount(row, x) {
    const [first, behind] = touching(row, ...this.view);
    const bin = row.bins ? this.end / Object.values(row.bins)[0].length : 0;
    if (!row.bins && behind - first <= MANY) return;
    const {sums, start, step} = this.columns(row, 0, first, behind, bin);
    const at = Math.floor((this.t(x) - start) / step), from = start + at * step;
    const facts = Object.entries(sums).filter(([, counts]) => counts[at]).map(([kind, counts]) => [kind, counts[at]]);
    this.selected = null;
    this.write(row.name, [["from", instant(from)], ["to", instant(from + step)], ...facts], "", [from, from + step]);
  }

  tellLines(lane, t) {
    const facts = lane.rows.map((row) => [row.name, row.value[firstFrom(row.t, t + 1e-12) - 1]]).filter(([, value]) => value !== undefined);
    this.selected = {t};
    this.write(lane.title, [["at", instant(t)], ...facts], "", [t - this.end / 200, t + this.end / 200]);
    this.draw();
  }

  /** Shows a mark: every value that its table has of it, and of a packet its way. */
  tell(row, i) {
    const t = row.t[i], until = row.until[i];
    this.selected = {t, row, i};
    const facts = [["at", instant(t)]];
    if (until !== null && until !== undefined) facts.push([sign(row.kind[i]) === "bar" ? "to" : "ended at", instant(until)], ["took", duration(until - t, 7)]);
    facts.push(["kind", row.kind[i].replaceAll("_", " ")]);
    for (const [name, values] of Object.entries(row.columns)) {
      if (["t", "until", "kind", "value", "event"].includes(name) || values[i] === null || values[i] === "") continue;
      facts.push([name, values[i]]);
    }
    const packet = row.packet_id?.[i] ?? null;
    this.selected.packet = packet === null || !this.packets ? -1 : this.packets.packet_id.indexOf(packet);
    const width = until > t ? until - t : (this.view[1] - this.view[0]) / 20;
    this.write(`${row.name}: a row of the table ${row.table}`, facts, packet === null ? "" : this.way(packet), [t - width, t + 2 * width]);
    this.draw();
  }

  /** The steps of a packet's way as a table. */
  way(packet) {
    const {steps} = this;
    const first = steps ? firstFrom(steps.packet_id, packet) : 0;
    const lines = [];
    for (let i = first; steps && steps.packet_id[i] === packet; i++) {
      const link = steps.link?.[i] ? `on ${steps.link[i]}${steps.to?.[i] ? ` to ${steps.to[i]}` : ""}` : "";
      lines.push(`<tr><td class="number">${instant(steps.t[i])}</td><td>${escaped(steps.event[i])}</td><td>${escaped(steps.node[i])}</td><td>${escaped(link)}</td><td>${escaped(steps.reason?.[i] ?? "")}</td></tr>`);
    }
    const words = `<p class="note">Its octets, with every TLV, are in a capture: run with --pcap FILE.</p>`;
    return lines.length ? `<div class="scroll"><table><tbody>${lines.join("")}</tbody></table></div>${words}` : words;
  }

  write(title, facts, more, span) {
    const list = facts.map(([name, value]) => `<div><dt>${escaped(name)}</dt><dd>${escaped(value)}</dd></div>`).join("");
    this.detail.innerHTML = `<p><b>${escaped(title)}</b> <button type="button" data-act="there">zoom there</button></p><dl>${list}</dl>${more}`;
    this.there = span;
  }

  /** Selects the mark after or before the selected one, of all rows. */
  step(way) {
    const now = this.selected?.t ?? (this.view[0] + this.view[1]) / 2;
    let best = null;
    for (const lane of this.lanes) for (const row of lane.shape === "marks" ? lane.rows : []) {
      let i = way > 0 ? firstFrom(row.t, now + 1e-10) : firstFrom(row.t, now) - 1;
      if (row.t[i] !== undefined && (!best || way * (row.t[i] - best.row.t[best.i]) < 0)) best = {row, i};
    }
    if (!best) return;
    const t = best.row.t[best.i];
    if (t < this.view[0] || t > this.view[1]) this.move((t - (this.view[0] + this.view[1]) / 2) / (this.view[1] - this.view[0]));
    this.tell(best.row, best.i);
  }

  // What a hand does

  act(what) {
    const acts = {in: () => this.zoom(2), out: () => this.zoom(0.5), left: () => this.move(-0.25), right: () => this.move(0.25),
      all: () => this.show(0, this.end), there: () => this.show(...this.there), next: () => this.step(1), previous: () => this.step(-1)};
    acts[what]?.();
  }

  listen() {
    const at = (event) => { const box = this.board.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
    this.place.addEventListener("click", (event) => {
      const act = event.target.closest("[data-act]")?.dataset.act;
      if (act) this.act(act);
      const packet = event.target.closest("[data-packet]")?.dataset.packet;
      if (packet !== undefined) this.tell({...this.packets, name: `from ${this.packets.from[packet]}`, table: "packets"}, Number(packet));
    });
    this.board.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const act = {"+": "in", "=": "in", "-": "out", "ArrowLeft": "left", "ArrowRight": "right", "0": "all", "Home": "all", "n": "next", "p": "previous"}[event.key];
      if (act) { event.preventDefault(); this.act(act); }
    });
    this.board.addEventListener("wheel", (event) => {
      const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
      if (!sideways && !event.ctrlKey && !event.metaKey) return;    // the page scrolls, as over other figures
      event.preventDefault();
      if (sideways) this.move(event.deltaX / this.wide);
      else this.zoom(2 ** (-event.deltaY / 120), this.t(at(event)[0]));
    }, {passive: false});
    this.board.addEventListener("dblclick", () => this.act("all"));
    // One finger, or the mouse, moves; two fingers zoom.
    const fingers = new Map();
    let moved = 0;
    this.board.addEventListener("pointerdown", (event) => { fingers.set(event.pointerId, at(event)); moved = 0; });
    this.board.addEventListener("pointermove", (event) => {
      const [x, y] = at(event), before = fingers.get(event.pointerId);
      if (!before) {
        this.place.querySelector(".pointer").textContent = x >= this.left ? instant(Number(this.t(x).toFixed(9))) : "";
        this.board.querySelector(".cursor")?.setAttribute("d", x >= this.left ? `M${round(x)} ${AXIS}V4000` : "");
        return;
      }
      moved += Math.abs(x - before[0]) + Math.abs(y - before[1]);
      if (fingers.size === 2) {
        const [other] = [...fingers].filter(([id]) => id !== event.pointerId).map(([, point]) => point);
        const apart = (point) => Math.max(12, Math.abs(point[0] - other[0]));
        this.zoom(apart([x, y]) / apart(before), this.t((x + other[0]) / 2));
      } else if (moved > 4) this.move((before[0] - x) / this.wide);
      fingers.set(event.pointerId, [x, y]);
      if (moved > 4) this.board.setPointerCapture?.(event.pointerId);
    });
    const lift = (event) => fingers.delete(event.pointerId);
    this.board.addEventListener("pointerup", (event) => { if (fingers.has(event.pointerId) && moved <= 4) this.click(...at(event)); lift(event); });
    this.board.addEventListener("pointercancel", lift);
    addEventListener("hashchange", () => this.follow());
    let width = this.board.clientWidth;
    new ResizeObserver(() => { if (this.board.clientWidth !== width) { width = this.board.clientWidth; this.draw(); } }).observe(this.board);
  }
}

const models = JSON.parse(document.getElementById("time-lines").textContent);
for (const place of document.querySelectorAll("[data-time-line]")) new TimeLine(place, models[place.dataset.timeLine]);
