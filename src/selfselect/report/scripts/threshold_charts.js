// Charts over the threshold: precision of each group, and where it applies. Only for scores.

const precisionAt = (t, z) => ratio(content.published.true_positives[t][z], content.published.selected[t][z]);
// what people go by: the precision, or what is sure of it
const decidingAt = (t, z) => setting.terms.comesAt(z, content.published.true_positives[t][z], content.published.selected[t][z]);
const thresholdLabel = `threshold on ${shortened(content.score)}`;

function drawCurves() {
  const colors = palette();
  const chosen = setting.drawn;
  const { cost } = setting.terms;
  const datasets = chosen.map((z, i) => {
    const points = finite.map((_, j) => ({ x: place(j + 1), y: decidingAt(j + 1, z), t: j + 1, z }));
    return lineOf(shortened(content.names[z]), points.filter((point) => !Number.isNaN(point.y)), colors[i],
      { borderDash: DASHES[i], stepped: "before" });
  });
  const ends = [place(Math.min(1, thresholdCount - 1)), place(thresholdCount - 1)];
  if (cost !== null) datasets.push(marker(`cost ${amount(cost)}`, ends.map((x) => ({ x, y: cost }))));
  if (setting.threshold > 0) {
    const x = place(setting.threshold);
    datasets.push(marker(`${HIDDEN}threshold`, [{ x, y: 0 }, { x, y: 1 }]));
  }
  const tooltip = {
    filter: (item) => item.raw.z !== undefined,
    callbacks: {
      title: (items) => (items.length ? `threshold ${thresholdText(items[0].raw.t)}` : ""),
      label: (item) => {
        const { z, t } = item.raw;
        const passing = count(content.published.selected[t][z]);
        const surely = CONFIDENCE === null ? "" : `, surely ${percent(item.raw.y)}`;
        return `${shortened(content.names[z])}: ${percent(precisionAt(t, z))} of ${passing} who pass${surely}`;
      },
    },
  };
  show("curves", "line", datasets, {
    options: chartOptions({ label: thresholdLabel, ticks: thresholdTicks, min: ends[0], max: ends[1] },
      { label: CONFIDENCE === null ? "precision" : "lower bound of precision", min: 0, max: 1, ticks: percentTicks },
      tooltip),
  }, `Line chart: ${CONFIDENCE === null ? "precision" : "lower bound of the precision"} of ${chosen.length} groups over the threshold.`);
}
const CURVE_COLUMNS = [
  { title: (name) => name, value: precisionAt },
  ...(CONFIDENCE === null ? [] : [{ title: (name) => `${name} (surely)`, value: decidingAt }]),
];
tables.curves = () => ({
  columns: ["threshold", ...setting.drawn.flatMap((z) => CURVE_COLUMNS.map(({ title }) => title(content.names[z])))],
  rows: content.thresholds.map((_, t) => [thresholdText(t),
    ...setting.drawn.flatMap((z) => CURVE_COLUMNS.map(({ value }) => value(t, z)))]),
  format: (value, i) => (i === 0 ? value : percent(value)),
});

// stretches of thresholds at which a group applies: [first, first after it]
function applyingRuns(z) {
  const { selected, true_positives: hits } = content.published;
  const runs = [];
  let from = -1;
  for (let t = 0; t <= thresholdCount; t += 1) {
    const applies = t < thresholdCount && mostApply(setting.terms.share(z, hits[t][z], selected[t][z]));
    if (applies && from < 0) from = t;
    if (!applies && from >= 0) { runs.push([from, t]); from = -1; }
  }
  return runs;
}
const edge = (t) => place(Math.min(t, thresholdCount - 1));
const edgeText = (t) => (t >= thresholdCount ? "the end" : thresholdText(t));
const HAIRLINE = 1 / 500; // of the axis: half the width of the line at the threshold
const LABEL_LENGTH = 16;
const TITLE_LENGTH = 40;

function barDatasets(chosen) {
  const colors = palette();
  const runs = chosen.map(applyingRuns);
  const pieces = Math.max(1, ...runs.map((run) => run.length));
  const empty = [edge(0), edge(0)];
  const datasets = Array.from({ length: pieces }, (_, piece) => ({
    label: "applies",
    data: chosen.map((_, i) => (runs[i][piece] ? runs[i][piece].map(edge) : empty)),
    runs: chosen.map((_, i) => runs[i][piece]),
    backgroundColor: chosen.map((_, i) => colors[i]),
    borderColor: styleOf("--ink"),
    grouped: false,
    barPercentage: 0.65,
    categoryPercentage: 1,
    order: 1,
  }));
  if (setting.threshold > 0) {
    const x = place(setting.threshold);
    const half = (edge(thresholdCount - 1) - edge(0)) * HAIRLINE;
    datasets.push({
      label: "threshold", data: chosen.map(() => [x - half, x + half]), backgroundColor: styleOf("--ink"),
      grouped: false, barPercentage: 1, categoryPercentage: 1, order: 0,
    });
  }
  return datasets;
}
function drawBars() {
  const chosen = setting.drawn;
  const options = chartOptions(
    { label: thresholdLabel, ticks: thresholdTicks, min: edge(0), max: edge(thresholdCount - 1) },
    { type: "category", label: "", ticks: { autoSkip: false } },
    {
      filter: (item) => Boolean(item.dataset.runs && item.dataset.runs[item.dataIndex]),
      callbacks: {
        title: (items) => (items.length ? shortened(content.names[chosen[items[0].dataIndex]], TITLE_LENGTH) : ""),
        label: (item) => {
          const run = item.dataset.runs[item.dataIndex];
          return `applies from threshold ${edgeText(run[0])} to ${edgeText(run[1])}`;
        },
      },
    },
    { indexAxis: "y", parsing: true, normalized: false, interaction: { mode: "nearest", intersect: true } },
  );
  options.scales.y.title.display = false;
  options.scales.y.grid = { display: false };
  options.plugins.legend.display = false;
  const labels = chosen.map((z) => shortened(content.names[z], LABEL_LENGTH));
  show("bars", "bar", barDatasets(chosen), { options, labels },
    `Bar chart: thresholds at which ${chosen.length} groups apply.`);
}
tables.bars = () => ({
  columns: ["group", "applies from threshold", "until threshold"],
  rows: setting.drawn.flatMap((z) => {
    const runs = applyingRuns(z);
    if (!runs.length) return [[content.names[z], "never", ""]];
    return runs.map(([from, until]) => [content.names[z], edgeText(from), edgeText(until)]);
  }),
  format: (value) => value,
});
