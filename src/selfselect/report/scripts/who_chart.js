// The first graphic: each group's precision, with its interval, against its own cost. Few groups have a row each; of
// many, all stand side by side.

const MAX_ROWS = 20; // more groups than that stand side by side
const LARGEST_DOT = 13; // pixels: the radius of the largest group; areas are as people
const SMALLEST_DOT = 3;
const AXIS_STEPS = 20; // the axis ends at multiples of 1 / 20
const LABELLED = 6; // of many groups, so many of those who do not come are named
const EDGE = 0.02; // room beyond the outermost number
const BETTER = RESPONDS === null ? "better off" : "applies";

// ---------------------------------------------------------------- the order of groups, and who is drawn how

// groups that have an order keep it; others by how far they are above their cost when the page opens
function orderOfGroups(opened) {
  const all = opened.groups.map((group) => group.z);
  if (content.order !== null) return content.order;
  const margin = (group) => (Number.isNaN(group.precision) ? -Infinity : (RESPONDS === null ? group.precision : dotOf(group)) - group.cost);
  return all.sort((a, b) => margin(opened.groups[b]) - margin(opened.groups[a]) || a - b);
}
const GROUP_ORDER = orderOfGroups(findings(content, startSetting(content)));
const placeOf = new Map(GROUP_ORDER.map((z, i) => [z, i]));

const mostPeople = Math.max(...content.published.n, 1);
const radiusOf = (group, largest = LARGEST_DOT) =>
  Math.max(Math.min(SMALLEST_DOT, largest), Math.sqrt(group.n / mostPeople) * largest);
// the ends of an axis of shares that holds all of these
function shareAxis(values) {
  const known = values.filter((value) => !Number.isNaN(value));
  const low = Math.max(0, Math.floor((Math.min(...known, 1) - EDGE) * AXIS_STEPS) / AXIS_STEPS);
  const high = Math.min(1, Math.ceil((Math.max(...known, 0) + EDGE) * AXIS_STEPS) / AXIS_STEPS);
  return low < high ? [low, high] : [Math.max(0, low - 1 / AXIS_STEPS), Math.min(1, high + 1 / AXIS_STEPS)];
}
// the one cost that all groups face; null where they differ
function commonCost(groups) {
  const [first] = groups;
  return groups.every((group) => group.cost === first.cost) ? first.cost : null;
}
const numbersOf = (group) => [group.precision_low, group.precision_high, group.cost,
  ...(HAS_NEW_PEOPLE ? [group.delivered_low, group.delivered_high] : []),
  ...(setting.terms.hasLimits ? [group.max_accepted_cost] : [])];
// where the dot stands: at the precision, or where people go by something else, at the highest cost that they accept
function dotOf(group) {
  if (Number.isNaN(group.max_accepted_cost)) return RESPONDS === null ? group.precision : 0;
  return setting.terms.hasLimits ? group.max_accepted_cost : group.precision;
}
const drawnPrecision = (groups) => groups.filter((group) => !Number.isNaN(group.precision));
const dotLooks = { r: "r",  symbol: (g) => STATUSES[g.status].symbol, fill: fillOf,
  stroke: (g) => STATUSES[g.status].colour, strokeWidth: 2.25 };
const withLooks = (groups, largest) => groups.map((group) => ({ ...group, r: radiusOf(group, largest) }));

// ---------------------------------------------------------------- a row for each group

const ROW = 46; // pixels; on a phone, where the name stands above, more
const PHONE_ROW = 62;
const NAME_ROOM = 0.28; // of the width, at most
const nameRoom = (groups, width) => Math.round(Math.min(width * NAME_ROOM,
  Math.max(...groups.map(({ name, n }) => Math.max(name.length * 1.1, `${count(n)} people`.length))) * CHARACTER + 22));

function rowMarks(groups, [low, high], phone, width) {
  const row = { y: "place" };
  const paid = groups.filter((g) => g.listed > g.cost);
  const deep = phone ? 10 : 0; // below the words
  const told = (g) => phraseParts(g);
  const names = phone
    ? [Plot.text(groups, { ...row, x: low, text: (g) => fitting(g.name, width - 40 - phoneStatus(g).length * CHARACTER * 1.1), textAnchor: "start", dy: -19, fontWeight: 600, fill: "var(--ink)", ...HALO }),
      Plot.text(groups, { ...row, x: high, text: phoneStatus, textAnchor: "end", dy: -19, fill: (g) => STATUSES[g.status].colour, fontWeight: 600, ...HALO })]
    : [Plot.text(groups, { ...row, x: low, text: (g) => fitting(g.name, nameRoom(groups, width) / 1.1 - 14), textAnchor: "end", dx: -14, dy: -7, fontWeight: 600, fill: "var(--ink)" }),
      Plot.text(groups, { ...row, x: low, text: (g) => `${count(g.n)} people`, textAnchor: "end", dx: -14, dy: 9, fill: "var(--quiet)" }),
      Plot.text(groups, { ...row, x: high, text: (g) => told(g)[0], textAnchor: "start", dx: 12, dy: -7, fontWeight: 600, fill: (g) => STATUSES[g.status].colour }),
      Plot.text(groups, { ...row, x: high, text: (g) => told(g)[1], textAnchor: "start", dx: 12, dy: 9, fill: "var(--quiet)" })];
  const shown = drawnPrecision(groups);
  return [
    // shaded: what is not worth it to the group
    Plot.barX(groups, { ...row, x1: low, x2: (g) => Math.min(Math.max(g.cost, low), high), fill: "var(--out-paper)", insetTop: deep + 2, insetBottom: 2 }),
    Plot.gridX({ stroke: "var(--line)", strokeOpacity: 1, ticks: phone ? 4 : 8 }),
    Plot.tickX(groups, { ...row, x: "cost", stroke: "var(--out)", strokeWidth: 2, insetTop: deep, insetBottom: 0 }),
    // a subsidy moves the line from the cost to what is faced
    Plot.tickX(paid, { ...row, x: "listed", stroke: "var(--quiet)", strokeDasharray: "3 3", insetTop: deep }),
    Plot.link(paid, { y1: "place", y2: "place", x1: "listed", x2: "cost", stroke: "var(--quiet)", markerEnd: "arrow", dy: phone ? 22 : 17 }),
    ...intervalMarks(shown, deep),
    ...deliveredMarks(shown, deep),
    Plot.dot(shown, { ...row, x: dotOf, dy: deep / 2, ...dotLooks }),
    Plot.text(groups.filter((g) => Number.isNaN(g.precision)), { ...row, x: (low + high) / 2, dy: deep / 2, text: () => "\u00d7  nobody passes screening, so there is no precision", fill: "var(--quiet)", ...HALO }),
    Plot.dot(groups, Plot.pointerY({ ...row, x: (g) => (Number.isNaN(g.precision) ? low : dotOf(g)), dy: deep / 2, r: (g) => g.r + 4, stroke: "var(--ink)", strokeWidth: 1.5 })),
    ...names,
  ];
}
// the 95% interval; where people go by a bound, a line from there up to the published precision, with a tick there
function intervalMarks(groups, deep) {
  const looks = { y1: "place", y2: "place", dy: deep / 2, stroke: (g) => STATUSES[g.status].colour, strokeWidth: 4, strokeOpacity: 0.55, strokeLinecap: "round" };
  if (!setting.terms.hasLimits) return [Plot.link(groups, { ...looks, x1: "precision_low", x2: "precision_high" })];
  return [Plot.link(groups, { ...looks, x1: dotOf, x2: "precision", strokeWidth: 2 }),
    Plot.text(groups, { x: "precision", y: "place", dy: deep / 2, text: () => "|", fontSize: 18, fontWeight: 700, fill: (g) => STATUSES[g.status].colour })];
}
const phraseParts = (group) => {
  const [stands, ...why] = phraseOn(group, setting.terms).split(": ");
  return [stands, why.join(": ")];
};
const phoneStatus = (g) => (Number.isNaN(g.precision) ? g.status : `${g.status}: ${percent(dotOf(g))}`);
// what new people got, below what was published
function deliveredMarks(groups, deep) {
  if (!HAS_NEW_PEOPLE) return [];
  const known = groups.filter((g) => !Number.isNaN(g.delivered));
  const place = { dy: deep / 2 + 13 };
  return [
    Plot.link(known, { y1: "place", y2: "place", x1: "delivered_low", x2: "delivered_high", ...place, stroke: "var(--ink)", strokeWidth: 1.5 }),
    Plot.dot(known, { x: "delivered", y: "place", ...place, symbol: "square", r: 3.5, fill: "var(--ink)" }),
  ];
}
function whoRows(width) {
  const phone = width < PHONE;
  const groups = withLooks(GROUP_ORDER.map((z, i) => ({ ...found.groups[z], place: i, listed: setting.terms.listed(z) })));
  const axis = shareAxis(groups.flatMap((g) => [...numbersOf(g), g.listed]));
  const cost = commonCost(groups);
  const rowHeight = phone ? PHONE_ROW : ROW;
  // beside its line, on the side where there is room
  const room = (phone ? width : width * 0.55) * ((axis[1] - (cost ?? 0)) / (axis[1] - axis[0]));
  const late = room < 190;
  const heading = cost === null
    ? [Plot.text([axis[0]], { x: (x) => x, frameAnchor: "top", dy: -14, text: () => `${RESPONDS === null ? "better off applying" : "applies"} right of the line \u2192`, textAnchor: "start", fill: "var(--out)", fontWeight: 600 })]
    : [Plot.text([cost], { x: (x) => x, frameAnchor: "top", dx: late ? -4 : 4, dy: -14, text: (x) => `${BETTER} from ${percent(x)} \u2192`, textAnchor: late ? "end" : "start", fill: "var(--out)", fontWeight: 600 })];
  return {
    width,
    height: groups.length * rowHeight + 78,
    marginTop: 28,
    marginBottom: 50,
    marginLeft: phone ? 8 : nameRoom(groups, width),
    marginRight: phone ? 14 : roomFor(groups.flatMap((g) => [phraseParts(g)[1], `${g.status}  `]), width * 0.34),
    x: { domain: axis, label: null, tickFormat: percentTick, ticks: phone ? 4 : 8 },
    y: { type: "band", domain: groups.map((g) => g.place), axis: null, padding: 0.12 },
    marks: [
      ...rowMarks(groups, axis, phone, width),
      Plot.axisX({ tickFormat: percentTick, ticks: phone ? 4 : 8, fill: "var(--quiet)", stroke: "var(--line)", label: RESPONDS === null ? "precision: share qualified among those who pass screening" : "dots: highest cost that a group accepts; ticks: precision", labelAnchor: "center", labelArrow: "none" }),
      ...heading,
    ],
  };
}

// ---------------------------------------------------------------- all groups side by side

// of some groups, in their order, those whose names do not stand over one another
function apart(groups, gap) {
  return groups.reduce((chosen, g) => (chosen.some((other) => Math.abs(other.place - g.place) < gap) ? chosen : [...chosen, g]), []);
}
function allGroups(phone) {
  if (content.order !== null) return "all groups, in their order";
  return phone ? "all groups, from furthest above to furthest below" : "all groups, from the furthest above its cost to the furthest below (at the original setting)";
}
function whoSideBySide(width) {
  const phone = width < PHONE;
  const all = withLooks(GROUP_ORDER.map((z, i) => ({ ...found.groups[z], place: i })), phone ? 5 : 9);
  const shown = drawnPrecision(all);
  const axis = shareAxis(all.flatMap(numbersOf));
  const cost = commonCost(all);
  // the ends of the order, then the largest of those who do not come
  const telling = [shown[0], shown[shown.length - 1], ...shown.filter((g) => !g.applies).sort((a, b) => b.n - a.n)].filter(Boolean);
  const lost = apart(telling, (150 * all.length) / width).slice(0, phone ? 2 : LABELLED);
  const ends = (g) => ({ ...g, from: g.place - 0.5, to: g.place + 0.5 });
  return {
    width,
    height: phone ? 320 : 400,
    marginLeft: 48,
    marginRight: 16,
    marginTop: 26,
    marginBottom: 44,
    x: { domain: [-1, all.length], axis: null },
    y: { domain: axis, label: null },
    marks: [
      Plot.gridY({ stroke: "var(--line)", strokeOpacity: 1 }),
      Plot.areaY(all.flatMap((g) => [{ x: g.place - 0.5, y: g.cost }, { x: g.place + 0.5, y: g.cost }]), { x: "x", y1: axis[0], y2: "y", fill: "var(--out-paper)" }),
      Plot.link(all.map(ends), { x1: "from", x2: "to", y1: "cost", y2: "cost", stroke: "var(--out)", strokeWidth: 2 }),
      Plot.link(shown, { x1: "place", x2: "place", y1: "precision_low", y2: "precision_high", stroke: (g) => STATUSES[g.status].colour, strokeWidth: 1.5, strokeOpacity: 0.6 }),
      Plot.dot(shown, { x: "place", y: dotOf, ...dotLooks, strokeWidth: 1.5, sort: { channel: "-r" } }),
      Plot.dot(all.filter((g) => Number.isNaN(g.precision)), { x: "place", y: axis[0], dy: 9, ...dotLooks, r: 4 }), // below the axis: they have none
      Plot.text(lost, { x: "place", y: "precision_low", text: (g) => fitting(g.name, phone ? 110 : 150), dy: 12, fill: "var(--ink)", ...HALO, textAnchor: "middle" }),
      Plot.dot(all, Plot.pointerX({ x: "place", y: (g) => (Number.isNaN(g.precision) ? axis[0] : g.precision), r: 9, stroke: "var(--ink)", strokeWidth: 2 })),
      Plot.axisY({ tickFormat: percentTick, fill: "var(--quiet)", stroke: "var(--line)", label: RESPONDS === null ? "precision" : "highest accepted cost", labelArrow: "none" }),
      ...(cost === null ? [] : [Plot.text([cost], { x: -1, y: (y) => y, text: (y) => `${BETTER} from ${percent(y)}`, textAnchor: "start", dx: 4, dy: 12, fill: "var(--out)", fontWeight: 600, ...HALO })]),
      Plot.text([allGroups(phone)], { frameAnchor: "bottom", dy: 26, fill: "var(--quiet)" }),
    ],
  };
}

// ---------------------------------------------------------------- either way

pictures.who = (width) => ({
  ...(groupCount > MAX_ROWS ? whoSideBySide(width) : whoRows(width)),
  label: `${RESPONDS === null ? "Precision" : "Highest accepted cost"} of ${groupCount} groups against the cost of each. ${found.finding}`,
  tell: (group) => toldOf(found.groups[group.z]),
});
const toldOf = (group) => [sentenceOn(group, setting.terms), noteOn(group)].filter(Boolean).join(" ");

function drawKey() {
  byId("key").replaceChildren(...keyOf(found.groups.map((g) => g.status)));
  byId("explain-paid").hidden = !setting.terms.subsidies.some((paid) => paid > 0);
}
watchers.push(drawKey);

tables.who = () => ({
  columns: ["group", "status", "people", "precision", "precision low", "precision high", "cost"],
  rows: GROUP_ORDER.map((z) => found.groups[z]).map((g) => [g.name, g.status, g.n, g.precision, g.precision_low, g.precision_high, g.cost]),
  format: (value, i) => (i < 2 ? value : i === 2 ? count(value) : i === 6 ? amount(value) : percent(value)),
});
