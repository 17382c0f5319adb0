// Who applies, round by round: a row for each group, a cell for each round.

const ROUNDS_ROW = 30; // pixels
const NOBODY = 0.005;

function roundsPicture(chart) {
  const cells = chart.groups.flatMap((g, place) => chart.rounds.map((round, i) => (
    { place, name: g.name, round, share: g.share[i], published: g.published[i] })));
  return (width) => {
    const left = roomFor(chart.groups.map((g) => g.name), width * 0.35);
    const wide = (width - left - 12) / chart.rounds.length;
    const every = Math.ceil(26 / wide); // rounds whose numbers do not touch
    return {
      width,
      height: chart.groups.length * ROUNDS_ROW + 60,
      marginTop: 8,
      marginBottom: 44,
      marginLeft: left,
      marginRight: 12,
      x: { type: "band", domain: chart.rounds, label: null, padding: 0.06 },
      y: { type: "band", domain: chart.groups.map((_, place) => place), axis: null, padding: 0.12 },
      marks: [
        Plot.cell(cells, { x: "round", y: "place", fill: "var(--in)", fillOpacity: "share" }),
        Plot.cell(cells, { x: "round", y: "place", fill: "none", stroke: "var(--line)", strokeWidth: 1 }),
        Plot.dot(cells.filter((d) => d.share < NOBODY), { x: "round", y: "place", r: 2, fill: "var(--out)" }),
        Plot.text(chart.groups.map((g, place) => ({ place, name: g.name })), { frameAnchor: "left", y: "place", dx: -10, textAnchor: "end",
          text: (d) => fitting(d.name, left - 14), fontWeight: 600, fill: "var(--ink)" }),
        Plot.cell(cells, Plot.pointer({ x: "round", y: "place", fill: "none", stroke: "var(--ink)", strokeWidth: 2 })),
        Plot.axisX({ ticks: chart.rounds.filter((_, i) => i % every === 0), fill: "var(--quiet)", stroke: "var(--line)", label: "round", labelAnchor: "center", labelArrow: "none", tickSize: 0 }),
      ],
      rest: chart.groups.length < chart.total ? `The ${count(chart.groups.length)} largest of ${count(chart.total)} groups are drawn.` : "",
      label: `Share of ${chart.groups.length} groups that applies in each of ${chart.rounds.length} rounds.`,
      tell: (d) => `${d.name}, round ${d.round}: ${percent(d.share)} apply; ${d.published === null ? "nothing is published" : `${percent(d.published)} is published`}.`,
    };
  };
}
const roundsTable = (chart) => () => ({
  columns: ["group", ...chart.rounds.map((round) => `round ${round}`)],
  rows: chart.groups.map((g) => [g.name, ...g.share]),
  format: (value, i) => (i === 0 ? value : percent(value)),
});
