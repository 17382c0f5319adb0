// Two audits side by side: each group's precision before and after, against its own cost.

const MAX_COMPARED = 30; // groups with a row each; of more, those of whom most changed
const COMPARED_ROW = 46;

// groups that come or leave before the others, then by how far their precision moved
function compared({ groups, order }) {
  if (order !== null && groups.length <= MAX_COMPARED) return order.map((z) => groups[z]);
  const moved = (g) => Math.abs((g.after.precision ?? NaN) - (g.before.precision ?? NaN)) || 0;
  const turned = (g) => (g.before.applies === g.after.applies ? 1 : 0);
  return [...groups].sort((a, b) => turned(a) - turned(b) || moved(b) - moved(a)).slice(0, MAX_COMPARED);
}
// a side of each group that is there and passes somebody
const sideOf = (groups, when) => groups.map((g, i) => ({ ...g[when], name: g.name, change: g.change, place: i }))
  .filter((g) => g.precision !== null && g.precision !== undefined);

function comparisonPicture(chart) {
  const shown = compared(chart);
  const [before, after] = [sideOf(shown, "before"), sideOf(shown, "after")];
  const both = after.flatMap((g) => before.filter((other) => other.place === g.place).map((other) => ({ place: g.place, from: other.precision, to: g.precision })));
  const numbers = [...before, ...after].flatMap((g) => [g.precision_low, g.precision_high, g.cost]).filter((value) => value !== null);
  const low = Math.max(0, Math.floor((Math.min(...numbers, 1) - 0.02) * 20) / 20);
  const high = Math.min(1, Math.ceil((Math.max(...numbers, 0) + 0.02) * 20) / 20);
  const rows = shown.map((g, place) => ({ ...g, place, cost: g.after.cost ?? g.before.cost }));
  const colour = (g) => STATUSES[g.status].colour;
  return (width) => {
    const phone = width < PHONE;
    const left = phone ? 8 : roomFor(rows.map((g) => g.name), width * 0.28);
    const right = phone ? 14 : roomFor([...rows.map((g) => g.change), "from 00.0% to 00.0%"], width * 0.3);
    const told = (g) => `${percentOr(g.before.precision)} \u2192 ${percentOr(g.after.precision)}`;
    const names = phone
      ? [Plot.text(rows, { x: low, y: "place", text: (g) => `${fitting(g.name, width * 0.5)}`, textAnchor: "start", dy: -18, fontWeight: 600, fill: "var(--ink)" }),
        Plot.text(rows, { x: high, y: "place", text: "change", textAnchor: "end", dy: -18, fill: "var(--ink)" })]
      : [Plot.text(rows, { x: low, y: "place", text: (g) => fitting(g.name, left - 14), textAnchor: "end", dx: -12, fontWeight: 600, fill: "var(--ink)" }),
        Plot.text(rows, { x: high, y: "place", text: "change", textAnchor: "start", dx: 12, dy: -7, fontWeight: 600, fill: "var(--ink)" }),
        Plot.text(rows, { x: high, y: "place", text: told, textAnchor: "start", dx: 12, dy: 9, fill: "var(--quiet)" })];
    const ticks = phone ? 4 : 8;
    return {
      width,
      height: rows.length * (phone ? 62 : COMPARED_ROW) + 70,
      marginTop: 20,
      marginBottom: 50,
      marginLeft: left,
      marginRight: right,
      x: { domain: [low, high], label: null },
      y: { type: "band", domain: rows.map((g) => g.place), axis: null, padding: 0.12 },
      marks: [
        Plot.barX(rows, { y: "place", x1: low, x2: (g) => Math.min(Math.max(g.cost, low), high), fill: "var(--out-paper)", insetTop: phone ? 12 : 2 }),
        Plot.gridX({ stroke: "var(--line)", strokeOpacity: 1, ticks }),
        Plot.tickX(after, { x: "cost", y: "place", stroke: "var(--out)", strokeWidth: 2 }),
        Plot.tickX(before.filter((g) => after.some((other) => other.place === g.place && other.cost !== g.cost)), { x: "cost", y: "place", stroke: "var(--quiet)", strokeDasharray: "3 3" }),
        Plot.link(before, { x1: "precision_low", x2: "precision_high", y1: "place", y2: "place", dy: -5, stroke: "var(--quiet)", strokeWidth: 2, strokeOpacity: 0.6 }),
        Plot.dot(before, { x: "precision", y: "place", dy: -5, r: 4.5, symbol: "square", fill: "var(--quiet)" }),
        Plot.link(after, { x1: "precision_low", x2: "precision_high", y1: "place", y2: "place", dy: 7, stroke: colour, strokeWidth: 4, strokeOpacity: 0.55 }),
        Plot.link(both, { x1: "from", x2: "to", y1: "place", y2: "place", dy: 1, stroke: "var(--ink)", strokeWidth: 1.25, markerEnd: "arrow" }),
        Plot.dot(after, { x: "precision", y: "place", dy: 7, r: 7, symbol: (g) => STATUSES[g.status].symbol, fill: fillOf, stroke: colour, strokeWidth: 2.25 }),
        Plot.dot(rows, Plot.pointerY({ x: (g) => g.after.precision ?? g.before.precision ?? low, y: "place", r: 12, stroke: "var(--ink)" })),
        Plot.axisX({ tickFormat: percentTick, ticks, fill: "var(--quiet)", stroke: "var(--line)", label: phone ? "precision: share qualified among those who pass screening" : "precision: share qualified among those who pass screening", labelAnchor: "center", labelArrow: "none" }),
        ...names,
      ],
      rest: rows.length < chart.groups.length ? `${count(rows.length)} of ${count(chart.groups.length)} groups are drawn: those that start or stop applying, then those that changed most.` : "",
      label: `Precision of ${rows.length} groups before and after, against the cost of each.`,
      tell: (g) => `${g.name} (${g.change}): ${chart.names[0]} ${sideText(g.before)}; ${chart.names[1]} ${sideText(g.after)}.`,
    };
  };
}
const percentOr = (value) => (value === null || value === undefined ? "none" : percent(value));
const sideText = (side) => (side.status === null ? "not there" :
  `${side.status}, precision ${percentOr(side.precision)} of ${count(side.selected)} who pass, needs ${percent(side.cost)}`);
const comparisonTable = (chart) => () => ({
  columns: ["group", "change", ...chart.names.flatMap((name) => ["people", "pass", "precision", "precision low", "precision high", "cost", "status"].map((what) => `${what}, ${name}`))],
  rows: chart.groups.map((g) => [g.name, g.change, ...["before", "after"].flatMap((when) => [g[when].n, g[when].selected, g[when].precision, g[when].precision_low, g[when].precision_high, g[when].cost, g[when].status])]),
  format: (value, i) => {
    if (i < 2 || typeof value === "string") return value;
    if (value === null) return "none";
    return [count, count, percent, percent, percent, amount][(i - 2) % 7](value);
  },
});
