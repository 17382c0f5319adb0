// What all charts share: axes, legends, lines, and a place for each.

const charts = {};
const HIDDEN = "\u0000"; // labels that begin so stay out of the legend

// ---------------------------------------------------------------- the axis of thresholds

const FARTHEST_DRAWN = 1e9; // beyond it an axis of numbers cannot be read
const MARGIN = 0.02; // of the axis, in front of the least threshold, for "none"
const TICK_DIGITS = 3;
const finite = content.thresholds === null ? [] : content.thresholds.slice(1);
// a straight axis where numbers allow it, the slider's steps where they are too far apart to draw
const realAxis = finite.length > 1 && finite.every((value) => Math.abs(value) < FARTHEST_DRAWN);
const margin = realAxis ? (finite[finite.length - 1] - finite[0]) * MARGIN : 1;
const place = (t) => (realAxis ? (t === 0 ? finite[0] - margin : content.thresholds[t]) : t);
function thresholdTick(value) {
  if (realAxis) return String(Number(value.toPrecision(TICK_DIGITS)));
  return content.thresholds[Math.round(value)] === undefined ? "" : thresholdText(Math.round(value));
}

const thresholdTicks = { callback: thresholdTick };
const percentTicks = { includeBounds: true, callback: (value) => `${Math.round(value * 100)}%` };

// ---------------------------------------------------------------- drawing

function legendItems(chart) {
  return Chart.defaults.plugins.legend.labels.generateLabels(chart)
    .filter((item) => !item.text.startsWith(HIDDEN))
    .map((item) => {
      const dataset = chart.data.datasets[item.datasetIndex];
      const points = dataset.showLine === false;
      return { ...item, strokeStyle: dataset.borderColor, lineWidth: points ? 2 : 2.5, fontColor: styleOf("--ink"),
        lineDash: points ? [] : dataset.borderDash || [], pointStyle: dataset.pointStyle };
    });
}
function chartOptions(x, y, tooltip, extra = {}) {
  const quiet = styleOf("--quiet");
  const line = styleOf("--line");
  const axis = (settings) => ({
    ...settings,
    title: { display: true, text: settings.label, color: quiet },
    ticks: { color: quiet, maxRotation: 0, autoSkipPadding: 12, includeBounds: false, ...settings.ticks },
    grid: { color: line },
    border: { color: line },
  });
  return {
    responsive: true,
    maintainAspectRatio: false,
    animation: false,
    parsing: false,
    normalized: true,
    interaction: { mode: "nearest", axis: "x", intersect: false },
    scales: { x: axis({ type: "linear", ...x }), y: axis({ type: "linear", ...y }) },
    plugins: {
      legend: {
        position: "bottom",
        labels: { color: styleOf("--ink"), usePointStyle: true, pointStyleWidth: 30, boxHeight: 7,
          generateLabels: legendItems },
      },
      tooltip: { ...tooltip },
    },
    ...extra,
  };
}
function show(name, type, datasets, settings, label) {
  const canvas = byId(`chart-${name}`);
  canvas.setAttribute("aria-label", `${label} The numbers are in the table below.`);
  const data = { datasets, ...(settings.labels ? { labels: settings.labels } : {}) };
  if (charts[name]) {
    charts[name].data = data;
    charts[name].options = settings.options;
    charts[name].update("none");
  } else {
    charts[name] = new Chart(canvas, { type, data, options: settings.options });
  }
  if (byId(`table-${name}`).closest("details").open) fillTable(name);
}
const lineOf = (label, points, color, more = {}) => ({
  label, data: points, borderColor: color, backgroundColor: color, borderWidth: 2, pointRadius: 0, pointHitRadius: 8,
  pointStyle: "line", ...more,
});
const marker = (label, points) => lineOf(label, points, styleOf("--ink"), {
  borderWidth: 1.5, borderDash: [4, 4], pointHitRadius: 0,
});
