// Charts of what follows: accuracy and social cost over the cost, and precision against accuracy.

const COSTS_DRAWN = Array.from({ length: 101 }, (_, i) => i / 100);
let costRows = [];
watchers.push(() => { costRows = []; });
const rowsOverCosts = () => {
  if (!costRows.length) costRows = overCosts(content, setting, COSTS_DRAWN);
  return costRows;
};

const COST_LINES = [
  { key: "induced_accuracy", name: "accuracy among applicants", short: "applicants", slot: 0 },
  { key: "assumed_accuracy", name: "accuracy among everybody", short: "everybody", slot: 2 },
  { key: "social_cost", name: "qualified who stay away", short: "stay away", slot: 1 },
];
function costsChart(width) {
  const height = 360;
  const rows = rowsOverCosts();
  const { cost } = setting.terms;
  const of = (key) => rows.map((row) => ({ x: row.cost, y: row[key], row }));
  const named = COST_LINES.map((line) => ({ ...line, name: width < PHONE ? line.short : line.name }));
  const lines = named.flatMap((line) => (HAS_UNTESTED
    ? [{ ...line, name: `${line.name}, at least`, points: of(`${line.key}_low`) }, { ...line, name: `${line.name}, at most`, points: of(`${line.key}_high`) }]
    : [{ ...line, points: of(line.key) }]));
  const drawn = lines.map((line) => ({ ...line, points: line.points.filter((p) => !Number.isNaN(p.y)) }));
  const bands = HAS_UNTESTED ? COST_LINES.map(({ key, slot }) => Plot.areaY(rows, { x: "cost", y1: `${key}_low`, y2: `${key}_high`, fill: COLOURS[slot], fillOpacity: 0.12 })) : [];
  const room = roomFor(lines.map(({ name }) => name), width * 0.5);
  return {
    width,
    height,
    marginLeft: 44,
    marginRight: room,
    marginTop: 28,
    marginBottom: 44,
    x: { domain: [0, 1], label: null },
    y: { domain: [0, 1], label: null },
    marks: [
      Plot.gridY({ stroke: "var(--line)", strokeOpacity: 1 }),
      ...bands,
      ...lines.map((line) => Plot.line(line.points, { x: "x", y: "y", stroke: COLOURS[line.slot], strokeWidth: 2.25, strokeDasharray: DASHES[line.slot], curve: "step" })),
      ...(cost === null ? [] : [Plot.ruleX([cost], { stroke: "var(--out)", strokeWidth: 2 }),
        Plot.text([cost], { x: (x) => x, frameAnchor: "top", dy: -16, text: (x) => `cost ${amount(x)}`, fill: "var(--out)", fontWeight: 600 })]),
      ...lineEnds(drawn, height, 28, 44).map((line) =>
        Plot.text([line.end], { x: 1, y: "y", text: () => fitting(line.name, room - 12), textAnchor: "start", dx: 8, dy: line.shift, fill: "var(--ink)" })),
      Plot.ruleX(of("application_rate"), Plot.pointerX({ x: "x", stroke: "var(--quiet)" })),
      Plot.axisY({ tickFormat: percentTick, fill: "var(--quiet)", stroke: "var(--line)", label: "share of people", labelArrow: "none" }),
      Plot.axisX({ fill: "var(--quiet)", stroke: "var(--line)", label: "cost of applying", labelAnchor: "center", labelArrow: "none" }),
    ],
    label: "Line chart: accuracy among applicants, accuracy among everybody and qualified people who stay away, over the cost.",
    tell: ({ row }) => `At a cost of ${shortPercent(row.cost)}: ${COST_LINES.map(({ key, name }) => `${name} ${percentOrBounds(row, key)}`).join("; ")}; ${count(row.applying_groups)} of ${count(groupCount)} groups apply.`,
  };
}
const COST_NUMBERS = ["induced_accuracy", "assumed_accuracy", "social_cost"].flatMap((key) => (HAS_UNTESTED
  ? [`${key}_low`, `${key}_high`] : [key]));
tables.costs = () => ({
  columns: ["cost", ...COST_NUMBERS.map((key) => key.replaceAll("_", " ")), "application rate", "applying groups"],
  rows: rowsOverCosts().map((r) => [r.cost, ...COST_NUMBERS.map((key) => r[key]), r.application_rate, r.applying_groups]),
  format: (value, i) => (i === 0 ? amount(value) : i === COST_NUMBERS.length + 2 ? count(value) : percent(value)),
});

// ---------------------------------------------------------------- precision against accuracy

const MAX_NAMED_DOTS = 8; // with more, names would cover dots: pointing at them tells
// the line through a point: its interval, or from what is sure of it up to what is published
const spanOf = (g) => (CONFIDENCE === null ? [g.precision_low, g.precision_high] : [g.max_accepted_cost, g.precision]);
function scatterChart(width) {
  const all = withLooks(found.groups, width < PHONE ? 8 : 10);
  const shown = drawnPrecision(all);
  const cost = commonCost(all);
  const x = shareAxis(shown.map((g) => g.accuracy));
  const y = shareAxis(shown.flatMap((g) => [...spanOf(g), g.cost]));
  const named = groupCount <= MAX_NAMED_DOTS ? shown : [];
  const half = (x[1] - x[0]) / 40;
  const at = heightAt(360, 30, 44, y);
  const places = spread(named.map((g) => at(g.precision)), 15, 30, 316);
  return {
    width,
    height: 360,
    marginLeft: 48,
    marginRight: 24,
    marginTop: 30,
    marginBottom: 44,
    x: { domain: x, label: null },
    y: { domain: y, label: null },
    marks: [
      Plot.gridY({ stroke: "var(--line)", strokeOpacity: 1 }),
      ...(cost === null
        ? [Plot.link(shown, { x1: (g) => g.accuracy - half, x2: (g) => g.accuracy + half, y1: "cost", y2: "cost", stroke: "var(--out)", strokeWidth: 2 })]
        : [Plot.ruleY([cost], { stroke: "var(--out)", strokeWidth: 2 }),
          Plot.text([cost], { x: x[0], y: (v) => v, text: (v) => `cost ${amount(v)}`, textAnchor: "start", dx: 4, dy: -8, fill: "var(--out)", fontWeight: 600 })]),
      Plot.link(shown, { x1: "accuracy", x2: "accuracy", y1: (g) => spanOf(g)[0], y2: (g) => spanOf(g)[1], stroke: (g) => STATUSES[g.status].colour, strokeWidth: 1.5, strokeOpacity: 0.6 }),
      Plot.dot(shown, { x: "accuracy", y: "precision", ...dotLooks, sort: { channel: "-r" } }),
      ...named.map((g, i) => {
        const right = g.accuracy > (x[0] + x[1]) / 2; // names stand towards the middle
        return Plot.text([g], { x: "accuracy", y: "precision", text: () => fitting(g.name, width / 3), dx: (right ? -1 : 1) * (g.r + 6), dy: places[i] - at(g.precision), textAnchor: right ? "end" : "start", fill: "var(--ink)", ...HALO });
      }),
      Plot.dot(shown, Plot.pointer({ x: "accuracy", y: "precision", r: (g) => g.r + 4, stroke: "var(--ink)", strokeWidth: 1.5 })),
      Plot.axisY({ tickFormat: percentTicks(y), fill: "var(--quiet)", stroke: "var(--line)", label: "precision", labelArrow: "none" }),
      Plot.axisX({ tickFormat: percentTicks(x), fill: "var(--quiet)", stroke: "var(--line)", label: "accuracy: share of right decisions", labelAnchor: "center", labelArrow: "none", tickSpacing: 70 }),
    ],
    rest: shown.length < all.length ? `${count(all.length - shown.length)} of ${count(all.length)} groups have no precision and are not drawn.` : "",
    label: `Scatter chart: precision against accuracy of ${shown.length} groups.`,
    tell: (g) => `${g.name}, ${phraseOn(g, setting.terms)}; accuracy is ${percent(g.accuracy)} for its ${count(g.n)} people.`,
  };
}
pictures.costs = costsChart;
if (!HAS_UNTESTED) pictures.scatter = scatterChart;
tables.scatter = () => ({
  columns: ["group", "n", "accuracy", "precision", "precision low", "precision high", "applies"],
  rows: GROUP_ORDER.map((z) => found.groups[z]).map((g) => [g.name, g.n, g.accuracy, g.precision, g.precision_low,
    g.precision_high, g.applies ? "yes" : "no"]),
  format: (value, i) => (i === 0 || i === 6 ? value : i === 1 ? count(value) : percent(value)),
});
