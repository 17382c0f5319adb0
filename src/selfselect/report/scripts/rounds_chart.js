// Who applies, round by round: a row for each group, a cell for each round.

const ROUNDS_ROW = 30; // pixels
const FEWEST = 0.005; // a smaller share is shown as nobody

function roundsPicture(chart) {
  const cells = chart.groups.flatMap((g, place) => chart.rounds.map((round, at) => (
    { place, at, name: g.name, round, share: g.share[at], published: g.published[at] })));
  return (width) => {
    const left = roomFor(chart.groups.map((g) => g.name), width * 0.35);
    const every = Math.ceil((26 * chart.rounds.length) / (width - left - 12)); // rounds whose numbers do not touch
    const cell = { y: "place", x1: (d) => d.at - 0.46, x2: (d) => d.at + 0.46 };
    return {
      width,
      height: chart.groups.length * ROUNDS_ROW + 60,
      marginTop: 8,
      marginBottom: 44,
      marginLeft: left,
      marginRight: 12,
      x: { domain: [-0.5, chart.rounds.length - 0.5], label: null },
      y: { type: "band", domain: chart.groups.map((_, place) => place), axis: null, padding: 0.12 },
      marks: [
        Plot.barX(cells, { ...cell, fill: "var(--line)", fillOpacity: 0.45 }),
        Plot.barX(cells, { ...cell, fill: "var(--in)", fillOpacity: "share" }),
        Plot.dot(cells.filter((d) => d.share < FEWEST), { x: "at", y: "place", r: 2, fill: "var(--out)" }),
        Plot.text(chart.groups.map((g, place) => ({ place, name: g.name })), { x: -0.5, y: "place", dx: -8, textAnchor: "end",
          text: (d) => fitting(d.name, left - 14), fontWeight: 600, fill: "var(--ink)" }),
        Plot.dot(cells, Plot.pointer({ x: "at", y: "place", r: 9, stroke: "var(--ink)", strokeWidth: 2 })),
        Plot.axisX({ ticks: chart.rounds.flatMap((_, at) => (at % every === 0 ? [at] : [])), tickFormat: (at) => String(chart.rounds[at]), tickSize: 0,
          fill: "var(--quiet)", label: "round", labelAnchor: "center", labelArrow: "none" }),
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
