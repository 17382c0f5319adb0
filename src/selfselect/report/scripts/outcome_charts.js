// Charts of what follows: accuracy and social cost over the cost, and precision against accuracy.

const COSTS_DRAWN = Array.from({ length: 101 }, (_, i) => i / 100);
let costRows = [];

function drawCosts() {
  costRows = overCosts(content, setting, COSTS_DRAWN);
  const colors = palette();
  const { cost } = setting.terms;
  const of = (key) => costRows.map((row) => ({ x: row.cost, y: row[key] }));
  // where people were not tested, each has two lines, which bound it
  const linesOf = (name, key, colour, looks) => (HAS_UNTESTED
    ? [lineOf(`${name}, at least`, of(`${key}_low`), colour, looks), lineOf(`${name}, at most`, of(`${key}_high`), colour, looks)]
    : [lineOf(name, of(key), colour, looks)]);
  const datasets = [
    ...linesOf("induced accuracy", "induced_accuracy", colors[0], { stepped: "middle" }),
    ...linesOf("assumed accuracy", "assumed_accuracy", colors[2], { borderDash: DASHES[1], stepped: "middle" }),
    ...linesOf("social cost", "social_cost", colors[1], { borderDash: DASHES[2], stepped: "middle" }),
  ];
  const lines = datasets.length;
  if (cost !== null) datasets.push(marker(`${HIDDEN}cost`, [{ x: cost, y: 0 }, { x: cost, y: 1 }]));
  const options = chartOptions({ label: "cost of being tested", min: 0, max: 1, ticks: { includeBounds: true } },
    { label: "", min: 0, max: 1, ticks: percentTicks }, {
      mode: "index",
      filter: (item) => item.datasetIndex < lines,
      callbacks: {
        title: (items) => (items.length ? `cost ${amount(items[0].raw.x)}` : ""),
        label: (item) => `${item.dataset.label}: ${percent(item.raw.y)}`,
      },
    }, { interaction: { mode: "index", intersect: false }, spanGaps: false });
  options.scales.y.title.display = false;
  show("costs", "line", datasets, { options },
    "Line chart: assumed accuracy, induced accuracy and social cost over the cost.");
}
const COST_NUMBERS = ["induced_accuracy", "assumed_accuracy", "social_cost"].flatMap((key) => (HAS_UNTESTED
  ? [`${key}_low`, `${key}_high`] : [key]));
tables.costs = () => ({
  columns: ["cost", ...COST_NUMBERS.map((key) => key.replaceAll("_", " ")), "application rate", "applying groups"],
  rows: costRows.map((r) => [r.cost, ...COST_NUMBERS.map((key) => r[key]), r.application_rate, r.applying_groups]),
  format: (value, i) => (i === 0 ? amount(value) : i === COST_NUMBERS.length + 2 ? count(value) : percent(value)),
});

// ---------------------------------------------------------------- precision against accuracy

const SIDE = 0.03; // room beside the outermost points
const ABOVE = 0.02; // and above and below
const ROUND_STEPS = 20; // the axis of precision ends at a multiple of 1 / 20

// the line through a point: its interval, or from what is sure of it up to what is published
const spanOf = (g) => (CONFIDENCE === null ? [g.precision_low, g.precision_high] : [g.comes_at, g.precision]);
function scatterDatasets(chosen) {
  const colors = palette();
  return chosen.flatMap((g, i) => {
    if (Number.isNaN(g.precision)) return [];
    const [low, high] = spanOf(g).map((y) => ({ x: g.accuracy, y }));
    return [{
      label: shortened(g.name), data: [{ x: g.accuracy, y: g.precision, z: g.z }], showLine: false,
      borderColor: colors[i], backgroundColor: g.applies ? colors[i] : "transparent", pointStyle: POINTS[i],
      pointRadius: 6, borderWidth: 2, pointHitRadius: 10, pointHoverRadius: 8,
    }, lineOf(`${HIDDEN}interval`, [low, high], colors[i], { borderWidth: 1.5, pointHitRadius: 0 })];
  });
}
function scatterRange(chosen, cost) {
  const xs = chosen.map((g) => g.accuracy);
  const ys = chosen.flatMap((g) => (Number.isNaN(g.precision) ? [] : spanOf(g)));
  if (cost !== null) ys.push(cost);
  const bottom = Math.max(0, Math.floor((Math.min(...ys, 1) - ABOVE) * ROUND_STEPS) / ROUND_STEPS);
  const top = Math.min(1, Math.ceil((Math.max(...ys, 0) + ABOVE) * ROUND_STEPS) / ROUND_STEPS);
  return {
    left: Math.max(0, Math.min(...xs, 1) - SIDE),
    right: Math.min(1, Math.max(...xs, 0) + SIDE),
    bottom: Math.min(bottom, top - 1 / ROUND_STEPS),
    top,
  };
}
function drawScatter() {
  const chosen = setting.drawn.map((z) => found.groups[z]);
  const { cost } = setting.terms;
  const { left, right, bottom, top } = scatterRange(chosen, cost);
  const datasets = scatterDatasets(chosen);
  if (cost !== null) datasets.push(marker(`cost ${amount(cost)}`, [{ x: left, y: cost }, { x: right, y: cost }]));
  const options = chartOptions({ label: "accuracy", min: left, max: right, ticks: { callback: (v) => percent(v) } },
    { label: "precision", min: bottom, max: top, ticks: percentTicks }, {
      filter: (item) => item.raw.z !== undefined,
      callbacks: {
        title: () => "",
        label: (item) => {
          const g = found.groups[item.raw.z];
          const surely = CONFIDENCE === null ? [] : [`surely at least ${percent(g.comes_at)} (at ${level(CONFIDENCE)})`];
          return [`${shortened(g.name)} ${g.applies ? "applies" : g.selected ? "stays away" : "is shut out"} (n = ${count(g.n)})`,
            `precision ${percent(g.precision)} (${percent(g.precision_low)} to ${percent(g.precision_high)})`,
            ...surely, `accuracy ${percent(g.accuracy)}`];
        },
      },
    }, { interaction: { mode: "nearest", axis: "xy", intersect: false } });
  options.plugins.legend.labels.pointStyleWidth = 14;
  show("scatter", "line", datasets, { options },
    `Scatter chart: precision against accuracy of ${chosen.length} groups.`);
}
tables.scatter = () => ({
  columns: ["group", "n", "accuracy", "precision", "precision low", "precision high", "applies"],
  rows: setting.drawn.map((z) => found.groups[z]).map((g) => [g.name, g.n, g.accuracy, g.precision, g.precision_low,
    g.precision_high, g.applies ? "yes" : "no"]),
  format: (value, i) => (i === 0 || i === 6 ? value : i === 1 ? count(value) : percent(value)),
});
