// How marks look, by their kind: a sign, and a colour by the class of the style sheet.

const KINDS = {
  "delivered": ["tick", "good"], "sent": ["tick", "plain"], "late": ["tick", "late"], "on its way": ["tick", "plain"],
  "lost": ["cross", "bad"], "lost ACK": ["small cross", "bad"],
  "message": ["tick", "first"], "repetition": ["ring", "late"], "sent again": ["ring", "late"], "window probe": ["short tick", "late"], "ACK": ["short tick", "second"],
  "agent advertisement": ["short tick", "plain"], "unheard": ["short tick", "faint"],
  "link_detected": ["ring", "first"], "link_up": ["up", "good"], "link_going_down": ["diamond", "late"],
  "link_event_rollback": ["back", "good"], "link_down": ["down", "bad"], "link_lost": ["small cross", "late"],
  "scan_begun": ["short tick", "second"], "scan_ended": ["short tick", "second"],
  "given up": ["cross", "bad"],
  "heard": ["bar", "first"], "up": ["bar", "good"], "no packet": ["bar", "bad"], "detected to completed": ["bar", "late"],
  "scanning": ["bar", "first"], "asking for resources": ["bar", "second"], "commitment": ["bar", "third"],
  "redirection": ["bar", "good"],
  "authentication": ["bar", "second"], "association": ["bar", "third"], "ranging": ["bar", "late"],
  "capabilities": ["bar", "second"], "registration": ["bar", "third"], "service_flows": ["bar", "good"],
};

/** Kinds that are looked for: they are drawn above the others, and never too small to see. */
const RARE = new Set(["lost", "lost ACK", "late", "repetition", "sent again", "window probe", "link_down", "given up"]);

const sign = (kind) => (KINDS[kind] ?? ["tick", "plain"])[0];
const colour = (kind) => (KINDS[kind] ?? ["tick", "plain"])[1];

/** Paths of the signs, around a point. */
const SIGNS = {
  "tick": (x, y) => `M${x} ${y - 6}v12`,
  "short tick": (x, y) => `M${x} ${y - 3}v6`,
  "cross": (x, y) => `M${x - 4} ${y - 4}l8 8m0 -8l-8 8`,
  "small cross": (x, y) => `M${x - 3} ${y - 3}l6 6m0 -6l-6 6`,
  "ring": (x, y) => `M${x - 4} ${y}a4 4 0 1 1 8 0a4 4 0 1 1 -8 0`,
  "up": (x, y) => `M${x} ${y - 5}l4.5 8h-9z`,
  "down": (x, y) => `M${x} ${y + 5}l4.5 -8h-9z`,
  "back": (x, y) => `M${x - 5} ${y}l8 -4.5v9z`,
  "diamond": (x, y) => `M${x} ${y - 5}l5 5l-5 5l-5 -5z`,
};

const round = (number) => Math.round(number * 10) / 10;

/** The sign of a kind at a point. */
function signed(kind, x, y) {
  return (SIGNS[sign(kind)] ?? SIGNS["tick"])(round(x), round(y));
}

/** One path for all marks of a kind, so that a redrawing makes few elements. */
function paths(byKind) {
  const kinds = Object.keys(byKind).sort((a, b) => RARE.has(a) - RARE.has(b));
  return kinds.map((kind) => `<path class="mark ${colour(kind)}" data-kind="${escaped(kind)}" d="${byKind[kind]}"/>`).join("");
}

/** The legend of the kinds that a time line has. */
function legend(kinds) {
  return kinds.map((kind) => {
    const shape = sign(kind) === "bar" ? `<rect class="bar ${colour(kind)}" x="1" y="3" width="14" height="8"/>` : `<path class="mark ${colour(kind)}" d="${signed(kind, 8, 7)}"/>`;
    return `<span><svg width="16" height="14" aria-hidden="true">${shape}</svg>${escaped(kind.replaceAll("_", " "))}</span>`;
  }).join("");
}
