// The table of groups, and the sentences on them.


// with more to show than fits beside one another, an interval stands below its number
const IS_WIDE = HAS_NEW_PEOPLE || setting.terms.hasLimits;
const PRECISION = { key: "precision", title: "Precision", text: (g) => percent(g.precision) };
const publishedInterval = (g) => (g.selected ? `${percent(g.precision_low)} to ${percent(g.precision_high)}` : UNDEFINED);
const deliveredInterval = (g) => (Number.isNaN(g.delivered) ? "" :
  `${percent(g.delivered_low)} to ${percent(g.delivered_high)}`);
const PRECISION_COLUMNS = IS_WIDE ? [{ ...PRECISION, below: (g) => (g.selected ? publishedInterval(g) : "") }] :
  [PRECISION, { key: "precision_low", title: "95% interval", text: publishedInterval }];
const BOUND_COLUMNS = !setting.terms.hasLimits ? [] :
  [{ key: "max_accepted_cost", title: CONFIDENCE === null ? "Accepts up to" : "Lower bound", text: (g) => percent(g.max_accepted_cost) }];
const PROMISE_COLUMNS = HAS_NEW_PEOPLE ? [
  { key: "delivered", title: "New precision", text: (g) => percent(g.delivered), below: deliveredInterval },
  { key: "promise_kept", title: "As published", kind: "middle" },
] : [];
const COLUMNS = [
  { key: "name", title: "Group", kind: "text" },
  { key: "status", title: "Status", kind: "middle" },
  { key: "n", title: "People", text: (g) => count(g.n) },
  { key: "base_rate", title: "Qualified", text: (g) => percentOrBounds(g, "base_rate") },
  { key: "selected", title: "Pass", text: (g) => count(g.selected) },
  ...(content.published.worth === null ? [] : [{ key: "effective", title: "Count as", text: (g) => count(nearest(g.effective * 10) / 10) }]),
  ...PRECISION_COLUMNS,
  ...BOUND_COLUMNS,
  ...PROMISE_COLUMNS,
  { key: "accuracy", title: "Accuracy", text: (g) => percentOrBounds(g, "accuracy") },
  ...(HAS_UNTESTED ? [] : [
    { key: "true_positive_rate", title: "Qualified who pass", text: (g) => percent(g.true_positive_rate) },
    { key: "false_positive_rate", title: "Others who pass", text: (g) => percent(g.false_positive_rate) },
  ]),
  { key: "cost", title: "Cost", text: (g) => aligned(g.cost) },
  { key: "subsidy", title: content.terms.kind === "proportional" ? "Subsidy (share of cost)" : "Subsidy" },
  { key: "subsidy_needed", title: "Still needed",
    text: (g) => (g.applies ? "\u2013" : Number.isNaN(g.subsidy_needed) ? "none helps" : alignedUp(g.subsidy_needed)) },
  ...(content.thresholds === null ? [] : [{ key: "drawn", title: "Draw", kind: "middle screen" }]),
];
const ROWS_AT_FIRST = 20;
const MORE_ROWS = 200; // on each press of the button for more
const MAX_TOLD = 12; // sentences: nobody reads more
const SLIDER_STEPS = 1000; // sliders hold whole numbers
const view = { sort: "order", down: false, search: "", most: ROWS_AT_FIRST };

function shownGroups() {
  const wanted = view.search.trim().toLowerCase();
  const matching = found.groups.filter((g) => g.name.toLowerCase().includes(wanted));
  const values = { drawn: (g) => Number(setting.drawn.includes(g.z)), order: (g) => placeOf.get(g.z) };
  const value = values[view.sort] || ((g) => g[view.sort]);
  matching.sort((a, b) => {
    const [x, y] = [value(a), value(b)];
    let order;
    if (typeof x === "string") order = x.localeCompare(y);
    else if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y);
    else order = x - y;
    return (view.down ? -order : order) || a.z - b.z;
  });
  return matching;
}

// ---------------------------------------------------------------- rows, made once for each group

function subsidyInputs(z) {
  const set = (value) => {
    if (isFraction(value)) change({ terms: setting.terms.withSubsidyOf(z, value) });
    subsidy.setAttribute("aria-invalid", String(!isFraction(value)));
    setText("groups-told", isFraction(value) ? "" : `A subsidy must be between 0 and 1. ${content.names[z]} keeps ${amountUp(setting.terms.subsidies[z])}.`);
  };
  const subsidy = makeInput("number", `Subsidy for ${content.names[z]}`, { min: "0", max: "1", step: "0.005" });
  subsidy.addEventListener("input", () => set(Number(subsidy.value)));
  subsidy.addEventListener("blur", () => { drawGroups(); subsidy.setAttribute("aria-invalid", "false"); });
  const slider = makeInput("range", `Slider of the subsidy for ${content.names[z]}`,
    { min: "0", max: String(SLIDER_STEPS), step: "5" });
  slider.addEventListener("input", () => set(Number(slider.value) / SLIDER_STEPS));
  return { subsidy, slider };
}
function drawnInput(z) {
  const drawn = makeInput("checkbox", `Draw ${content.names[z]} in the charts`);
  drawn.addEventListener("change", () => {
    const next = drawn.checked ? withDrawn(setting.drawn, z) : withoutDrawn(setting.drawn, z);
    drawn.checked = drawn.checked && next !== null;
    const names = drawnSlots().map((slot) => content.names[slot.z]);
    setText("groups-told", next === null ? `At most ${MAX_DRAWN} groups can be drawn in colour. Remove one of these first: ${listed(names, MAX_DRAWN)}.` : "");
    if (next !== null) change({ drawn: next });
  });
  return drawn;
}
// as short as it can be written without being less than what is paid
const shownSubsidy = (paid) => (paid > 0 ? String(Number(amountUp(paid))) : "0");
const rowsByGroup = new Map();
function groupRow(z) {
  if (rowsByGroup.has(z)) return rowsByGroup.get(z);
  const row = make("tr");
  const cells = {};
  for (const column of COLUMNS) {
    const cell = make(column.key === "name" ? "th" : "td", undefined, column.kind || "");
    cell.dataset.title = column.title; // on a phone, cells have their titles beside them
    cells[column.key] = cell;
    row.append(cell);
  }
  cells.name.scope = "row";
  const drawn = drawnInput(z);
  const { subsidy, slider } = subsidyInputs(z);
  if (cells.drawn) cells.drawn.append(drawn);
  cells.subsidy.append(subsidy, slider);
  const made = { row, cells, drawn, subsidy, slider };
  rowsByGroup.set(z, made);
  return made;
}

// ---------------------------------------------------------------- drawing

function warningMark(text) {
  const mark = make("span", " \u26a0", "warn");
  mark.title = text;
  mark.setAttribute("role", "img");
  mark.setAttribute("aria-label", `Uncertain: ${text}`);
  return mark;
}
function applyingPill(g) {
  const part = g.share > 0 && g.share < 1 ? ` (${percent(g.share)})` : "";
  return make("span", g.status + part, `pill ${STATUSES[g.status].class}`);
}
const PROMISE_COLOURS = { yes: "in", no: "out", undecided: "open" };
function promisePills(g) {
  return g.promise_kept ? [make("span", g.promise_kept, `pill ${PROMISE_COLOURS[g.promise_kept]}`)] : ["\u2013"];
}
function drawRow(g) {
  const { row, cells, drawn, subsidy, slider } = groupRow(g.z);
  drawn.checked = setting.drawn.includes(g.z);
  const slot = setting.drawn.indexOf(g.z);
  drawn.style.accentColor = slot < 0 ? "" : COLOURS[slot];
  // what someone is typing into stays as it is
  if (document.activeElement !== subsidy) subsidy.value = shownSubsidy(g.subsidy);
  if (document.activeElement !== slider) slider.value = String(Math.round(g.subsidy * SLIDER_STEPS));
  slider.setAttribute("aria-valuetext", amount(g.subsidy));
  cells.subsidy.dataset.printed = aligned(g.subsidy); // on paper there is nothing to type into
  if (cells.drawn) cells.drawn.dataset.printed = slot < 0 ? "" : "\u2713";
  const warning = warningOn(g);
  cells.name.replaceChildren(make("bdi", g.name), ...(warning ? [warningMark(warning)] : []));
  cells.status.replaceChildren(applyingPill(g));
  if (HAS_NEW_PEOPLE) cells.promise_kept.replaceChildren(...promisePills(g));
  for (const column of COLUMNS) {
    if (column.text) cells[column.key].textContent = column.text(g);
    if (column.below) cells[column.key].append(make("span", column.below(g), "below"));
  }
  return row;
}
function drawSentences(matching) {
  // groups that do not certainly apply, or whose number is uncertain; of many, the largest
  const notable = matching.filter((g) => g.status !== "applies" || warningOn(g));
  const told = notable.length <= MAX_TOLD ? notable : [...notable].sort((a, b) => b.n - a.n).slice(0, MAX_TOLD);
  const items = told.map((g) => make("li", toldOf(g), STATUSES[g.status].class));
  if (notable.length > told.length) items.push(make("li", `And ${count(notable.length - told.length)} more in the table.`));
  byId("sentences").replaceChildren(...items);
}
function drawGroups() {
  const matching = shownGroups();
  const rows = matching.slice(0, view.most).map(drawRow);
  const body = byId("groups").tBodies[0];
  if (rows.length !== body.rows.length || rows.some((row, i) => row !== body.rows[i])) body.replaceChildren(...rows);
  const all = `${count(groupCount)} groups`;
  byId("matches").textContent = view.search ? `${count(matching.length)} of ${all}` : all;
  byId("more").hidden = matching.length <= view.most;
  drawSentences(matching);
}
function drawHead() {
  const row = byId("groups").tHead.rows[0];
  byId("groups").classList.toggle("wide", IS_WIDE);
  row.replaceChildren(...COLUMNS.map((column) => {
    const th = make("th", undefined, column.kind || "");
    th.scope = "col";
    const active = view.sort === column.key;
    th.setAttribute("aria-sort", active ? (view.down ? "descending" : "ascending") : "none");
    const button = make("button", column.title + (active ? (view.down ? " \u25be" : " \u25b4") : ""));
    button.type = "button";
    button.addEventListener("click", () => {
      view.down = active ? !view.down : column.kind !== "text";
      view.sort = column.key;
      drawHead();
      drawGroups();
      row.cells[COLUMNS.indexOf(column)].firstChild.focus();
    });
    th.append(button);
    return th;
  }));
}

const GROUP_FILE = ["n", "base_rate", "selected", "true_positives", "precision", "precision_low", "precision_high",
  "accuracy", "true_positive_rate", "false_positive_rate", ...(HAS_UNTESTED ? ["base_rate_low", "base_rate_high", "accuracy_low", "accuracy_high"] : []), "cost", "subsidy", "status", "applies", ...(RESPONDS === null ? [] : ["share"]), "subsidy_needed", "utility", ...BOUND_COLUMNS.map(({ key }) => key),
  ...(HAS_NEW_PEOPLE ? ["delivered", "delivered_low", "delivered_high", "promise_kept"] : [])];
tables.groups = () => ({
  columns: ["group", ...GROUP_FILE],
  rows: shownGroups().map((g) => [g.name, ...GROUP_FILE.map((key) => g[key])]),
});

byId("search").addEventListener("input", () => {
  view.search = byId("search").value;
  view.most = ROWS_AT_FIRST;
  drawGroups();
});
byId("more").addEventListener("click", () => { view.most += MORE_ROWS; drawGroups(); });
watchers.push(drawGroups);
