// Accuracy among applicants against qualified people who stay away, over thresholds.

function frontierPicture(chart) {
  const points = chart.series.flatMap((one) => one.points.map(([x, y]) => ({ x, y, name: one.name })));
  const ends = (values) => {
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const room = Math.max(0.05 * (high - low), 0.005);
    return [Math.max(0, low - room), Math.min(1, high + room)];
  };
  const [xs, ys] = [ends(points.map(({ x }) => x)), ends(points.map(({ y }) => y))];
  const lines = chart.series.filter((one) => one.line);
  // between two points the first is the best there is
  const stepped = (one) => one.points.flatMap(([x, y], i) => (i + 1 < one.points.length ? [{ x, y }, { x: one.points[i + 1][0], y }] : [{ x, y }]));
  return (width) => {
    const room = width < PHONE ? 90 : roomFor(chart.series.map(({ name }) => name), width * 0.3);
    const height = 400;
    const at = (y) => 16 + (1 - (y - ys[0]) / (ys[1] - ys[0])) * (height - 60);
    const last = chart.series.map((one) => one.points[one.points.length - 1]);
    const places = spread(last.map(([, y]) => at(y)), 16, 16, height - 44);
    return {
      width,
      height,
      marginLeft: 56,
      marginRight: room,
      marginTop: 16,
      marginBottom: 44,
      x: { domain: xs, label: null },
      y: { domain: ys, label: null },
      marks: [
        Plot.gridY({ stroke: "var(--line)", strokeOpacity: 1 }),
        ...lines.map((one, i) => Plot.line(stepped(one), { x: "x", y: "y", stroke: COLOURS[i], strokeWidth: 2.25, strokeDasharray: DASHES[i] })),
        ...chart.series.map((one, i) => Plot.dot(one.points, { x: "0", y: "1", r: one.line ? 3.5 : 8, fill: one.line ? COLOURS[i] : "var(--out)", stroke: "var(--paper)", strokeWidth: 1 })),
        ...chart.series.map((one, i) => Plot.text([last[i]], one.line
          ? { x: xs[1], y: "1", text: () => fitting(one.name, room - 12), textAnchor: "start", dx: 8, dy: places[i] - at(last[i][1]), fill: "var(--ink)" }
          : { x: "0", y: "1", text: () => one.name, dx: 13, textAnchor: "start", fontWeight: 600, fill: "var(--out)", ...HALO })),
        Plot.dot(points, Plot.pointer({ x: "x", y: "y", r: 8, stroke: "var(--ink)", strokeWidth: 1.5 })),
        Plot.axisY({ tickFormat: (v) => percent(v), fill: "var(--quiet)", stroke: "var(--line)", label: null }),
        Plot.axisX({ tickFormat: percentTick, fill: "var(--quiet)", stroke: "var(--line)", label: "qualified people who stay away (social cost)", labelAnchor: "center", labelArrow: "none" }),
      ],
      label: "Line chart: accuracy among applicants against qualified people who stay away.",
      tell: ({ x, y, name }) => `${name}: accuracy among applicants ${percent(y)}, ${percent(x)} of qualified people stay away.`,
    };
  };
}
const frontierTable = (chart) => () => ({
  columns: ["", "qualified who stay away", "accuracy among applicants"],
  rows: chart.series.flatMap((one) => one.points.map(([x, y]) => [one.name, x, y])),
  format: (value, i) => (i === 0 ? value : percent(value)),
});
