// The message-sequence chart of a span: one lifeline a node, time running down, an arrow a packet, a cross where it was lost.
// As in roamsim/pictures/sequence.py time is to scale, but for spans in which nothing is on its way, which are cut, and for
// packets that would lie on each other, which are drawn a little apart.

const MESSAGES = 60;      // arrows of one chart (chosen: three screens of a telephone)
const TRANSIT = 44;       // height of a median transit
const APART = 17;         // between two sends: one line of label
const LONGEST_IDLE = 60;  // idle height from which time is cut
const CUT = 34;           // height of a cut

/** How many packets of a span the page does not hold, by the parts of the run in which they are counted. */
function notHeld(bins, from, until, end) {
  let count = 0;
  for (const counts of Object.values(bins ?? {})) {
    const width = end / counts.length;
    for (let n = Math.floor(from / width); n < Math.min(counts.length, Math.ceil(until / width - 1e-9)); n++) {
      count += counts[n] * Math.max(0, Math.min(until, (n + 1) * width) - Math.max(from, n * width)) / width;
    }
  }
  return Math.ceil(count - 1e-6);
}

/** The packets of a span: all when they are few, else signalling alone; and what is said of the others. */
function inSpan(packets, from, until, end) {
  const [first, behind] = touching(packets, from, until);
  const places = [];
  for (let i = first; i < behind; i++) if ((packets.until[i] ?? Infinity) >= from) places.push(i);
  const absent = notHeld(packets.bins, from, until, end);
  const left = absent ? `; some ${absent} others of this span are not in this page` : "";
  if (places.length <= MESSAGES) return {places, note: `${places.length} packets${left}`};
  const signalling = places.filter((i) => packets.about[i] !== "data" && packets.carries[i] !== "agent advertisement");
  const shown = signalling.length ? signalling : places;
  const what = signalling.length ? `signalling, ${signalling.length} packets` : `${places.length} packets`;
  const few = shown.length > MESSAGES ? `; the first ${MESSAGES} are drawn` : "";
  const others = signalling.length ? `; ${places.length - signalling.length + absent} others are not drawn` : left;
  return {places: shown.slice(0, MESSAGES), note: `${what}${few}${others}. Zoom in for more.`};
}

function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted.length ? sorted[sorted.length >> 1] : 0;
}

/** Heights of the starts and ends of arrows, and cuts. */
function laidOut(packets, places) {
  const arrived = places.filter((i) => packets.outcome[i] === "delivered" && packets.until[i] > packets.t[i]);
  const usual = median(arrived.map((i) => packets.until[i] - packets.t[i]));
  const events = [];
  for (const i of places) {
    const end = packets.until[i] ?? packets.t[i] + usual;
    events.push({t: packets.t[i], packet: i, begins: true}, {t: Math.max(end, packets.t[i]), packet: i, begins: false});
  }
  events.sort((a, b) => a.t - b.t || a.begins - b.begins || a.packet - b.packet);
  const scale = usual > 0 ? TRANSIT / usual : 1000;
  const cuts = [], begins = {}, ends = {};
  let y = 52, previous = events.length ? events[0].t : 0, underWay = 0, lastBegin = -Infinity;
  for (const event of events) {
    let step = (event.t - previous) * scale;
    if (underWay === 0 && step > LONGEST_IDLE) {
      cuts.push([y + CUT / 2, event.t - previous]);
      step = CUT + 10;
    } else if (step > 4 * TRANSIT) step = 4 * TRANSIT;
    y += step;
    if (event.begins) {
      y = Math.max(y, lastBegin + APART);
      lastBegin = y;
      begins[event.packet] = y;
    } else ends[event.packet] = y = Math.max(y, begins[event.packet] + 4);
    previous = event.t;
    underWay += event.begins ? 1 : -1;
  }
  return {begins, ends, cuts, height: y + 24};
}

/** The nodes that send or get packets, in the order in which they do so first. */
function nodesOf(packets, places) {
  const nodes = new Set(places.flatMap((i) => [packets.from[i], packets.to?.[i]]));
  return [...nodes].filter((node) => node);
}

/** The chart as markup, for a width; its lifelines keep their `order` at every zoom. */
function sequenceChart(packets, order, places, width, selected) {
  if (!places.length) return "";
  const there = nodesOf(packets, places);
  const nodes = order.filter((node) => there.includes(node));
  const left = 78, right = 16;
  const apart = nodes.length > 1 ? (width - left - right - 40) / (nodes.length - 1) : 0;
  const column = Object.fromEntries(nodes.map((node, n) => [node, left + 20 + n * apart]));
  const {begins, ends, cuts, height} = laidOut(packets, places);
  const origin = Math.min(...places.map((i) => packets.t[i]));
  const parts = [];
  for (const node of nodes) {
    const x = round(column[node]);
    parts.push(`<path class="lifeline" d="M${x} 30V${round(height - 8)}"/>`);
    const room = Math.max(36, apart - 4);
    const anchor = nodes.length > 1 && node === nodes[nodes.length - 1] && room > 80 ? "end" : "middle";
    parts.push(`<text class="node" x="${anchor === "end" ? width - 4 : x}" y="22" text-anchor="${anchor}"><title>${escaped(node)}</title>${escaped(fitting(node, room, 6.6))}</text>`);
  }
  for (const [y, seconds] of cuts) {
    parts.push(`<rect class="cut" x="${left}" y="${round(y - 9)}" width="${round(width - left - right)}" height="18"/>`);
    parts.push(`<text class="quiet" x="${round((left + width - right) / 2)}" y="${round(y + 4)}" text-anchor="middle">${duration(seconds, 3)} left out</text>`);
  }
  const labels = [], crosses = [];
  for (const i of places) {
    const lost = packets.outcome[i] === "dropped", to = packets.to?.[i];
    const x1 = column[packets.from[i]], y1 = begins[i];
    // Where a lost packet went is not always known; then its arrow is a stub.
    const far = to ? column[to] : x1 + (x1 > width / 2 ? -1 : 1) * 60;
    const share = lost ? (to ? 0.7 : 1) : 1;
    const x2 = x1 + (far - x1) * share, y2 = y1 + (ends[i] - y1) * share;
    const kind = packets.carries[i] === "ACK" ? "second" : packets.about[i] === "data" || packets.carries[i] === "agent advertisement" ? "plain" : packets.kind[i] === "repetition" ? "late" : "first";
    const angle = Math.atan2(y2 - y1, x2 - x1);
    const corner = (turn) => `${round(x2 - 8 * Math.cos(angle + turn))} ${round(y2 - 8 * Math.sin(angle + turn))}`;
    const head = packets.outcome[i] === "delivered" ? `M${corner(0.4)}L${round(x2)} ${round(y2)}L${corner(-0.4)}` : "";
    parts.push(`<g class="arrow ${kind}${i === selected ? " selected" : ""}" data-packet="${i}"><path class="target" d="M${round(x1)} ${round(y1)}L${round(x2)} ${round(y2)}"/>`
      + `<path class="mark" d="M${round(x1)} ${round(y1)}L${round(x2)} ${round(y2)}${head}"/></g>`);
    if (lost) crosses.push(`<path class="mark ${packets.kind[i] === "unheard" ? "plain" : "bad"}" d="${signed("lost", x2, y2)}"/>`);
    const again = packets.kind[i] === "repetition" || packets.repeated?.[i] ? " (again)" : "";
    const text = fitting(packets.description[i].replace(/^Flags /, "") + again, width - left - 8, 6);
    const half = text.length * 3;
    const middle = Math.min(Math.max((x1 + x2) / 2, left + half), width - half - 4);
    labels.push(`<text class="label ${kind}" data-packet="${i}" x="${round(middle)}" y="${round(y1 - 2)}" text-anchor="middle">${escaped(text)}</text>`);
    labels.push(`<text class="quiet" x="${left - 14}" y="${round(y1 + 3)}" text-anchor="end">+${duration(packets.t[i] - origin, 4)}</text>`);
  }
  labels.push(`<text class="quiet" x="2" y="${round(height + 8)}">from ${instant(origin)} on</text>`);
  const whole = round(height + 16);
  return `<svg width="${round(width)}" height="${whole}" viewBox="0 0 ${round(width)} ${whole}" role="img" aria-label="Message-sequence chart">${parts.join("")}${labels.join("")}${crosses.join("")}</svg>`;
}
