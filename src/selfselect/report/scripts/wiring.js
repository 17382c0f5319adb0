// Everything together: key figures, controls, themes, paper.

const RANGE_STEPS = 1000; // of the slider of the cost, which holds whole numbers
const MIDDLE_COST = 0.5; // where that slider stands while each group has a cost of its own

// ---------------------------------------------------------------- what follows a change

let toldVerdict = null; // what is told already is not told again, to those who listen
function drawVerdict() {
  if (toldVerdict === found.verdict) return;
  toldVerdict = found.verdict;
  const promised = make("span", found.promised, found.promises && found.promises.broken ? "broken" : "promised");
  byId("verdict").replaceChildren(found.finding, ...(found.promised ? [" ", promised] : []));
}
function drawPromises() {
  const { kept, broken, undecided } = found.promises;
  setText("broken", `${count(broken)} of ${count(kept + broken + undecided)}`);
  byId("broken").className = broken ? "broken" : "";
  setText("kept", `${count(kept)} kept, ${count(undecided)} undecided`);
}
function drawFigures() {
  drawVerdict();
  for (const key of ["assumed_accuracy", "induced_accuracy", "social_cost", "application_rate"]) {
    setText(key, percentOrBounds(found, key));
  }
  setText("applying_groups", `${count(found.applying_groups)} of ${count(groupCount)} groups`);
  setText("utility", amount(found.utility));
  setText("paid", amount(found.paid));
  if (found.promises !== null) drawPromises();
  setText("recipients", `to ${count(found.recipients)} people`);
}
function drawControls() {
  const { cost } = setting.terms;
  // what someone is typing stays as it is
  if (document.activeElement !== byId("cost-exact")) byId("cost-exact").value = cost === null ? "" : String(cost);
  byId("cost").value = String(Math.round((cost === null ? MIDDLE_COST : cost) * RANGE_STEPS));
  byId("cost").setAttribute("aria-valuetext", cost === null ? "as given for each group" : amount(cost));
  if (content.thresholds === null) return;
  byId("threshold").value = String(setting.threshold);
  const text = content.thresholds[setting.threshold] === null ? "none: all pass" : thresholdText(setting.threshold);
  setText("threshold-shown", text);
  byId("threshold").setAttribute("aria-valuetext", text);
}
let waiting = false;
function drawCharts() {
  waiting = false;
  if (content.thresholds !== null) { drawCurves(); drawBars(); }
  drawCosts();
  if (!HAS_UNTESTED) drawScatter();
}
function drawChartsSoon() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(drawCharts);
}
watchers.push(drawFigures, drawControls, drawChartsSoon);

// ---------------------------------------------------------------- controls

const setCost = (cost) => change({ terms: setting.terms.atCost(cost) });
const setSubsidies = (subsidies) => change({ terms: setting.terms.paying(subsidies) });

byId("skip").addEventListener("click", (event) => { event.preventDefault(); byId("main").focus(); });
byId("cost").addEventListener("input", () => setCost(Number(byId("cost").value) / RANGE_STEPS));
byId("cost-exact").addEventListener("input", () => {
  const { value } = byId("cost-exact");
  if (value !== "" && isFraction(Number(value))) setCost(Number(value));
});
if (content.thresholds !== null) {
  byId("threshold").addEventListener("input", () => change({ threshold: Number(byId("threshold").value) }));
}
byId("reset").addEventListener("click", () => change(startSetting(content)));
byId("no-subsidies").addEventListener("click", () => setSubsidies(content.names.map(() => 0)));
byId("least").addEventListener("click", () => setSubsidies(leastSubsidies(found.groups)));
document.querySelectorAll("[data-csv]").forEach((button) => {
  button.addEventListener("click", () => download(button.dataset.csv));
});
document.querySelectorAll(".chart details").forEach((details) => {
  details.addEventListener("toggle", () => {
    if (details.open) fillTable(details.querySelector("table").id.replace("table-", ""));
  });
});

// ---------------------------------------------------------------- light, dark, paper

let themeIsChosen = false;
const preference = matchMedia("(prefers-color-scheme: dark)");
preference.addEventListener("change", () => {
  if (!themeIsChosen) { setTheme(preference.matches); drawCharts(); }
});
byId("theme").addEventListener("click", () => {
  themeIsChosen = true;
  setTheme(!isDark());
  drawCharts();
});

// paper is white, whatever the screen
let darkOnScreen = null;
function drawAnew(dark) {
  setTheme(dark);
  drawCharts();
  Object.values(charts).forEach((chart) => chart.resize());
}
addEventListener("beforeprint", () => {
  if (darkOnScreen === null) darkOnScreen = isDark();
  drawAnew(false);
});
addEventListener("afterprint", () => {
  if (darkOnScreen === null) return;
  const dark = darkOnScreen;
  darkOnScreen = null;
  drawAnew(dark);
});

// ---------------------------------------------------------------- the first look

setTheme(preference.matches);
Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
drawHead();
settle(setting);

// for tests, and for whoever opens the browser's console: the page's functions, by the library's names
window.selfselect = Object.freeze({
  compute: () => found,
  csv: tableText,
  texts: Object.freeze({
    percent, level, amount, amount_up: amountUp, amount_down: amountDown, count, listed,
    verdict_sentence: verdictSentence, group_sentence: groupSentence, group_warning: groupWarning,
    promises_sentence: promisesSentence, terms_phrase: termsPhrase, spoken, range_text: rangeText,
  }),
  chances: Object.freeze({ lower_bound: lowerBound, at_least: chanceOfAtLeast, at_most: chanceOfAtMost }),
  share: (behaviour, hits, passed, cost) => BEHAVIOURS[behaviour.rule].share(behaviour, hits, passed, cost),
  outcome: (table, t, shares) => outcome(countsAt(table, t), shares),
  // all that a page made of this content would say when it opens
  opened: (given) => {
    const start = startSetting(given);
    const result = findings(given, start);
    return {
      ...result,
      sentences: result.groups.map((group) => sentenceOn(group, start.terms)),
      warnings: result.groups.map(warningOn),
    };
  },
});
