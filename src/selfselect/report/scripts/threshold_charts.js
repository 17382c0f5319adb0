// Charts over the threshold, one above the other with one axis: precision of each group, and where it applies.

const FARTHEST_DRAWN = 1e9; // beyond it an axis of numbers cannot be read
const MARGIN = 0.02; // of the axis, in front of the least threshold, for "none"
const TICK_DIGITS = 3;
const finite = content.thresholds === null ? [] : content.thresholds.slice(1);
// a straight axis where numbers allow it, the slider's steps where they are too far apart to draw
const realAxis = finite.length > 1 && finite.every((value) => Math.abs(value) < FARTHEST_DRAWN);
const axisMargin = realAxis ? (finite[finite.length - 1] - finite[0]) * MARGIN : 1;
const thresholdPlace = (t) => (realAxis ? (t === 0 ? finite[0] - axisMargin : content.thresholds[t]) : t);
function thresholdTick(value) {
  if (realAxis) return String(Number((SIGN * value).toPrecision(TICK_DIGITS)));
  return content.thresholds[Math.round(value)] === undefined ? "" : thresholdText(Math.round(value));
}

const precisionAt = (t, z) => ratio(content.published.true_positives[t][z], content.published.selected[t][z]);
// what people go by: the precision, what is sure of it, or else the highest cost that they accept
const DECIDING = RESPONDS !== null ? "highest accepted cost" : CONFIDENCE === null ? "precision" : "lower bound of precision";
const LIMIT_WORDS = RESPONDS === null ? "lower bound" : "accepts up to";
const decidingAt = (t, z) => setting.terms.maxAcceptedCost(z, content.published.true_positives[t][z], content.published.selected[t][z]);
const thresholdLabel = `threshold on ${shortened(content.score)}`;
const edge = (t) => thresholdPlace(Math.min(t, thresholdCount - 1));
const END = Math.max(thresholdCount - 1, 0);
const LABEL_ROOM = 0.3; // of the width at most, beside a chart, for names at the ends of lines
const ROUGHLY = 4;
const MAX_CONTEXT = 40; // other groups that are drawn in grey behind the chosen ones

const inOrder = () => drawnSlots().sort((a, b) => placeOf.get(a.z) - placeOf.get(b.z));
const drawnGroups = () => inOrder().map(({ z }) => z);
// of some groups so many, spread evenly over their order
const evenly = (groups, most) => (groups.length <= most ? groups :
  Array.from({ length: most }, (_, i) => groups[Math.floor((i * groups.length) / most)]));

// counts hold from one threshold up to the next: each value as a step, also the last before nobody passes
function stepsOf(z, valueAt) {
  const points = [];
  for (let t = 0; t < thresholdCount; t += 1) {
    const value = valueAt(t, z);
    if (!Number.isNaN(value)) points.push({ x: thresholdPlace(t), until: edge(t + 1), y: value, t, z });
  }
  return points;
}
// what people go by does not depend on the setting: each curve is worked out once
const curvesByGroup = new Map();
function curveOf(z) {
  if (!curvesByGroup.has(z)) {
    const steps = stepsOf(z, decidingAt);
    // in grey, behind the others, every few steps are enough
    const rough = steps.filter((_, i) => i % ROUGHLY === 0).map((step) => ({ ...step, until: step.x }));
    curvesByGroup.set(z, { steps, line: asLine(steps), rough, band: bandOf(z) });
  }
  return curvesByGroup.get(z);
}
const asLine = (points) => points.flatMap((p) => [{ ...p }, { ...p, x: p.until }]);
function bandOf(z) {
  const counts = (t) => {
    const [passed, hits] = [content.published.selected[t][z], content.published.true_positives[t][z]];
    const worth = content.published.worth === null ? 1 : content.published.worth[t][z];
    return interval(hits * worth, passed * worth);
  };
  return asLine(stepsOf(z, (t) => counts(t)[0]).map((p) => ({ ...p, top: counts(p.t)[1] })));
}
// a line for each cost that drawn groups face, and whose it is where not all have the same
function costLines(drawn, left, at, height) {
  const faced = [...new Set(drawn.map(({ z }) => found.groups[z].cost))];
  const lines = faced.map((cost) => {
    const whose = drawn.filter(({ z }) => found.groups[z].cost === cost).map(({ z }) => fitting(content.names[z], 130));
    return { cost, text: `cost ${amount(cost)}${commonCost(found.groups) === null ? ` of ${listed(whose)}` : ""}` };
  });
  const places = spread(lines.map(({ cost }) => at(cost) - 8), 15, 0, height);
  return [Plot.ruleY(lines, { y: "cost", stroke: "var(--out)", strokeWidth: 2, strokeDasharray: lines.length > 1 ? "6 3" : "none" }),
    ...lines.map((line, i) => Plot.text([line], { x: left, y: "cost", text: "text", textAnchor: "start", dx: 4, dy: places[i] - at(line.cost), fill: "var(--out)", fontWeight: 600, ...HALO }))];
}
// where a share stands, in pixels from the top
const heightAt = (height, top, bottom, [low, high] = [0, 1]) => (y) => top + (1 - (y - low) / (high - low)) * (height - top - bottom);
function lineEnds(lines, height, top, bottom) {
  const at = heightAt(height, top, bottom);
  const ends = lines.filter((line) => line.points.length).map((line) => ({ ...line, end: line.points[line.points.length - 1] }));
  const places = spread(ends.map(({ end }) => at(end.y)), 15, top, height - bottom);
  return ends.map((line, i) => ({ ...line, shift: places[i] - at(line.end.y) }));
}
const frame = (width) => ({ width, marginLeft: 44, marginRight: roomFor(content.names, width * LABEL_ROOM) + 14 });
const thresholdAxis = () => ({ domain: [edge(0), thresholdPlace(END)], label: null });
const thresholdMark = () => (setting.threshold > 0
  ? [Plot.ruleX([thresholdPlace(setting.threshold)], { stroke: "var(--ink)", strokeWidth: 1.5, strokeDasharray: "4 3" })] : []);
const bottomAxis = (label) => Plot.axisX({ label, labelAnchor: "center", labelArrow: "none", fill: "var(--quiet)", stroke: "var(--line)", tickFormat: thresholdTick, tickSpacing: 90 });

function curvesChart(width) {
  const height = 360;
  const drawn = inOrder();
  const lines = drawn.map(({ z, slot }) => ({ z, slot, name: content.names[z], points: curveOf(z).line }));
  const chosen = new Set(drawn.map(({ z }) => z));
  const others = GROUP_ORDER.filter((z) => !chosen.has(z));
  const context = evenly(others, MAX_CONTEXT);
  const steps = drawn.flatMap(({ z }) => curveOf(z).steps);
  return {
    ...frame(width),
    height,
    marginTop: 30,
    marginBottom: 44,
    x: thresholdAxis(),
    y: { domain: [0, 1], label: null },
    marks: [
      Plot.gridY({ stroke: "var(--line)", strokeOpacity: 1 }),
      Plot.line(context.flatMap((z) => curveOf(z).rough), { x: "x", y: "y", z: "z", stroke: "var(--line)", strokeWidth: 1.5 }),
      Plot.areaY(drawn.flatMap(({ z, slot }) => curveOf(z).band.map((p) => ({ ...p, slot }))), { x: "x", y1: "y", y2: "top", z: "z", fill: (p) => COLOURS[p.slot], fillOpacity: 0.1 }),
      ...lines.map((line) => Plot.line(line.points, { x: "x", y: "y", stroke: COLOURS[line.slot], strokeWidth: 2.25, strokeDasharray: DASHES[line.slot] })),
      ...costLines(drawn, edge(0), heightAt(height, 30, 44), height - 44),
      ...thresholdMark(),
      ...lineEnds(lines, height, 30, 44).flatMap((line) => [
        Plot.dot([line.end], { x: "x", y: "y", r: 3.5, fill: COLOURS[line.slot] }),
        Plot.dot([line.end], { x: thresholdPlace(END), y: "y", dx: 14, dy: line.shift, r: 5, fill: COLOURS[line.slot] }),
        Plot.text([line.end], { x: thresholdPlace(END), y: "y", text: () => fitting(line.name, frame(width).marginRight - 28), textAnchor: "start", dx: 24, dy: line.shift, fill: "var(--ink)" })]),
      Plot.ruleX(steps, Plot.pointerX({ x: "x", stroke: "var(--quiet)" })),
      Plot.axisY({ tickFormat: percentTick, fill: "var(--quiet)", stroke: "var(--line)", label: DECIDING, labelArrow: "none" }),
      bottomAxis(thresholdLabel),
    ],
    rest: others.length ? `In grey: ${context.length < others.length ? `${count(context.length)} of the ${count(others.length)} other groups, spread over their order` : "the other groups"}; tick them in the table.` : "",
    label: `Line chart: ${DECIDING} of ${drawn.length} groups over the threshold.`,
    tell: ({ t }) => `At a threshold of ${thresholdText(t)}: ${drawn.map(({ z }) => `${content.names[z]} ${percent(precisionAt(t, z))} of ${count(content.published.selected[t][z])}${setting.terms.hasLimits ? `, ${LIMIT_WORDS} ${percent(decidingAt(t, z))}` : ""}`).join("; ")}.`,
  };
}
const CURVE_COLUMNS = [
  { title: (name) => name, value: precisionAt },
  ...(setting.terms.hasLimits ? [{ title: (name) => `${name} (${LIMIT_WORDS})`, value: decidingAt }] : []),
];

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
const edgeText = (t) => (t >= thresholdCount ? "the end" : thresholdText(t));

const MAX_BARS = 20; // with more groups, only those in colour have a bar
const ALL_BARS = groupCount <= MAX_BARS;
function barsChart(width) {
  const slots = new Map(drawnSlots().map(({ z, slot }) => [z, slot]));
  const drawn = ALL_BARS ? GROUP_ORDER.map((z) => ({ z, slot: slots.get(z) })) : inOrder();
  const runs = drawn.flatMap(({ z, slot }) => applyingRuns(z).map(([from, until]) => ({ z, slot, from, until, x1: edge(from), x2: edge(until) })));
  const never = drawn.filter(({ z }) => !runs.some((run) => run.z === z));
  return {
    ...frame(width),
    height: Math.max(drawn.length, 1) * 30 + 60,
    marginTop: 10,
    marginBottom: 44,
    x: thresholdAxis(),
    y: { type: "band", domain: drawn.map(({ z }) => z), axis: null, padding: 0.25 },
    marks: [
      Plot.ruleY(drawn, { y: "z", stroke: "var(--line)", strokeWidth: 1 }),
      Plot.barX(runs, { y: "z", x1: "x1", x2: "x2", fill: (run) => (run.slot === undefined ? "var(--quiet)" : COLOURS[run.slot]) }),
      Plot.text(drawn, { y: "z", x: thresholdPlace(END), text: ({ z }) => fitting(content.names[z], frame(width).marginRight - 14), textAnchor: "start", dx: 10, fill: "var(--ink)" }),
      Plot.text(never, { y: "z", x: edge(0), text: () => "never applies", textAnchor: "start", dx: 6, fill: "var(--quiet)", ...HALO }),
      ...thresholdMark(),
      Plot.barX(runs, Plot.pointerY({ y: "z", x1: "x1", x2: "x2", stroke: "var(--ink)", strokeWidth: 1.5 })),
      bottomAxis(thresholdLabel),
    ],
    rest: ALL_BARS ? "" : `${count(drawn.length)} of ${count(groupCount)} groups are drawn; tick others in the table.`,
    label: `Bar chart: thresholds at which ${drawn.length} groups apply.`,
    tell: (run) => `${content.names[run.z]} applies from a threshold of ${edgeText(run.from)} to ${edgeText(run.until)}.`,
  };
}

if (content.thresholds !== null) {
  pictures.curves = curvesChart;
  pictures.bars = barsChart;
}
tables.curves = () => ({
  columns: ["threshold", ...drawnGroups().flatMap((z) => CURVE_COLUMNS.map(({ title }) => title(content.names[z])))],
  rows: content.thresholds.map((_, t) => [thresholdText(t),
    ...drawnGroups().flatMap((z) => CURVE_COLUMNS.map(({ value }) => value(t, z)))]),
  format: (value, i) => (i === 0 ? value : percent(value)),
});
tables.bars = () => ({
  columns: ["group", "applies from threshold", "until threshold"],
  rows: drawnGroups().flatMap((z) => {
    const runs = applyingRuns(z);
    if (!runs.length) return [[content.names[z], "never", ""]];
    return runs.map(([from, until]) => [content.names[z], edgeText(from), edgeText(until)]);
  }),
  format: (value) => value,
});
