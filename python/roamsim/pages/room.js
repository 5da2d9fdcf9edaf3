// The room that a figure takes, told of its specification before it is drawn, so that a page does not move when it is.

/** Around a figure (Vega's padding), and half a label of a vertical axis of numbers above its end. */
const AROUND = 10, ABOVE = 6;

/** Labels of a horizontal axis with their ticks, and its title. */
const LABELS = 19, TITLE = 16;

/** Beside the data of a panel over time: its title, and half a label above and below. */
const PANEL = 25;

/** Above bars their title; above one of several views alike what it is of, and between two of these. */
const OVER = 16, HEADER = 23, BETWEEN = 23;

/** A line of a legend with the space to the next one; before a legend below the data, unless it says otherwise. */
const LINE = 16, OFFSET = 18;

/** Between two legends below the data. */
const BETWEEN_LEGENDS = 11;

/** Names of a legend in columns below the data, under its title. */
function legendRoom(names, columns, title, offset = OFFSET) {
  return names ? offset + (title ? TITLE + 1 : 0) + LINE * Math.ceil(names / columns) - 3 : 0;
}

/** All encodings of a view and of what is in it. */
function encodings(view) {
  const inner = [...(view.layer ?? []), ...(view.spec ? [view.spec] : [])];
  return [...(view.encoding ? [view.encoding] : []), ...inner.flatMap(encodings)];
}

/** The height of a figure in its width: `spec` as it is drawn but for the data. */
function roomOf(spec) {
  return Math.ceil(AROUND + (spec.vconcat ? roomOfPanels(spec) : spec.concat ? roomOfBars(spec) : roomOfViews(spec)));
}

/** Panels under each other over one axis of time, each with its legend, if it has one. */
function roomOfPanels({vconcat, spacing}) {
  const each = (view) => {
    const colour = view.layer.map(({encoding}) => encoding?.color).find((one) => one?.legend);
    if (!colour) return PANEL + view.height;
    const {legend: {orient, columns, offset, title}, scale: {domain}} = colour;
    if (orient === "right") return PANEL + Math.max(view.height, legendRoom(domain.length, 1, title, 0));
    return PANEL + view.height + legendRoom(domain.length, columns, title, offset);
  };
  return vconcat.reduce((sum, view) => sum + each(view), 0) + spacing * (vconcat.length - 1) + LABELS + TITLE;
}

/** Bars under each other, each over an axis of its own. */
function roomOfBars({concat, spacing}) {
  const each = ({height, encoding: {y, color}}) => OVER + height.step * y.scale.domain.length + LABELS
    + (color.legend ? legendRoom(color.scale.domain.length, color.legend.columns, color.legend.title) : 0);
  return concat.reduce((sum, view) => sum + each(view), 0) + spacing * (concat.length - 1);
}

/** The height of what a view has between its axes; of panels with a line for each of their rows, of the largest. */
function heightOfData({height, spec, data}) {
  const own = spec ? spec.height : height;
  if (typeof own === "number") return own;
  const rows = (data?.values ?? []).reduce((counted, {panel}) => counted.set(panel, (counted.get(panel) ?? 0) + 1), new Map());
  return (own?.step ?? 0) * Math.max(0, ...rows.values());
}

/** One view, or several alike beside each other. */
function roomOfViews(spec) {
  const all = encodings(spec), legends = all.flatMap(({color, strokeDash}) => [color, strokeDash]).filter((channel) => channel?.legend);
  const {panels = 0, dots = false, legend: names = [], dashes = 0} = spec.usermeta ?? {}, {orient = "bottom", columns = 1} = spec.config?.legend ?? {};
  const titled = legends.some(({title, legend}) => legend.title ?? title);
  const rows = panels ? Math.ceil(panels / spec.columns) : 1, above = panels ? HEADER : dots ? 0 : ABOVE;
  const axes = all.some(({x}) => x && x.axis !== null) ? above + LABELS + TITLE : 0;
  const data = rows * heightOfData(spec) + (rows - 1) * (above + BETWEEN) + axes;
  // Dashes have a legend of their own, below that of the colours.
  const legend = legendRoom(names.length - dashes, columns, titled, 0) + legendRoom(dashes, columns, false, BETWEEN_LEGENDS);
  return orient === "bottom" ? data + (names.length ? OFFSET + legend : 0) : Math.max(data, legend);
}
