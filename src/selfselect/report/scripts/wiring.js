// Key figures, controls, and what happens when the setting changes.

const RANGE_STEPS = 1000; // of the slider of the cost, which holds whole numbers
const MIDDLE_COST = 0.5; // where that slider stands while each group has a cost of its own

// ---------------------------------------------------------------- what follows a change

// the headline, then the other sentences in smaller letters
const drawnVerdict = ([first, ...others]) => [first, ...others.flatMap((part) => [" ", make("span", part, "follows")])];
let toldVerdict = null; // what is told already is not told again, to those who listen
function drawVerdict() {
  if (toldVerdict === found.verdict) return;
  toldVerdict = found.verdict;
  const promised = make("span", found.promised, found.promises && found.promises.broken ? "broken" : "promised");
  byId("verdict").replaceChildren(...drawnVerdict(found.finding_parts), ...(found.promised ? [" ", promised] : []));
}
// the verdict in a few words, beside the sliders, where it stays in sight
const figureText = (key) => (found.ranges && found.ranges[key] ? rangeText(...found.ranges[key]) : percentOrBounds(found, key));
// how many groups apply: a range where some could go either way
function groupsText() {
  const open = found.groups.filter((g) => g.undecided).length;
  const certain = found.groups.filter((g) => g.applies && !g.undecided).length;
  return `${open ? `${count(certain)} to ${count(certain + open)}` : count(found.applying_groups)} of ${count(groupCount)} groups`;
}
function drawSummary() {
  setText("summary-who", RESPONDS !== null ? `${percent(found.application_rate)} of people apply` : `${groupsText()} apply`);
  setText("summary-right", found.application_rate > 0 || found.ranges ? figureText("induced_accuracy") : UNDEFINED);
  setText("summary-lost", figureText("social_cost"));
}
function drawPromises() {
  const { kept, broken, undecided } = found.promises;
  setText("broken", `${count(broken)} of ${count(kept + broken + undecided)}`);
  byId("broken").className = broken ? "broken" : "";
  setText("kept", `${count(kept)} as published, ${count(undecided)} undecided`);
}
function drawFigures() {
  drawVerdict();
  drawSummary();
  for (const key of ["assumed_accuracy", "induced_accuracy", "social_cost", "application_rate", "qualified_rejected"]) {
    if (byId(key)) setText(key, figureText(key));
  }
  setText("applying_groups", groupsText());
  setText("paid", amount(found.paid));
  byId("paid-card").hidden = found.paid === 0 && found.recipients === 0;
  if (found.promises !== null) drawPromises();
  setText("recipients", `to ${count(found.recipients)} people (1 is what being selected is worth)`);
}

// ---------------------------------------------------------------- controls

const setCost = (cost) => change({ terms: setting.terms.atCost(cost) });
const setSubsidies = (subsidies) => change({ terms: setting.terms.withSubsidies(subsidies) });

// what is typed and cannot be is said, and what the page shows instead
function complain(id, words) {
  setText(`${id}-wrong`, words);
  byId(`${id}-exact`).setAttribute("aria-invalid", String(words !== ""));
}
function drawControls() {
  const { cost } = setting.terms;
  // what someone is typing stays as it is
  if (document.activeElement !== byId("cost-exact")) {
    byId("cost-exact").value = cost === null ? "" : String(cost);
    byId("cost-exact").setAttribute("aria-invalid", "false");
  }
  byId("cost").value = String(Math.round((cost === null ? MIDDLE_COST : cost) * RANGE_STEPS));
  byId("cost").setAttribute("aria-valuetext", cost === null ? "as given for each group" : amount(cost));
  byId("own-costs").hidden = cost !== null;
  if (content.thresholds === null) return;
  byId("threshold").value = String(setting.threshold);
  const text = content.thresholds[setting.threshold] === null ? "none: everybody passes" : thresholdText(setting.threshold);
  if (document.activeElement !== byId("threshold-exact")) {
    byId("threshold-exact").value = content.thresholds[setting.threshold] === null ? "" : thresholdText(setting.threshold);
    byId("threshold-exact").setAttribute("aria-invalid", "false");
  }
  byId("threshold").setAttribute("aria-valuetext", text);
}
function typedCost() {
  const { value, validity } = byId("cost-exact");
  const fits = value !== "" && isFraction(Number(value));
  const shown = setting.terms.cost === null ? "each group's own" : amount(setting.terms.cost);
  if (fits) setCost(Number(value));
  const wrong = !fits && (value !== "" || validity.badInput);
  complain("cost", wrong ? `A cost must be between 0 and 1. The page still shows ${shown}.` : "");
}
// Counts change only at offered thresholds where the page holds all that make a difference; elsewhere it holds some, and
// takes the nearest.
function thresholdFor(value) {
  if (content.exact) return content.thresholds.reduce((best, offered, t) => (offered === null || offered <= value ? t : best), 0);
  const distance = (t) => Math.abs(content.thresholds[t] - value);
  return finite.reduce((best, _, i) => (distance(i + 1) < distance(best) ? i + 1 : best), 1);
}
function typedThreshold() {
  const { value, validity } = byId("threshold-exact");
  if (value === "" || !Number.isFinite(Number(value))) {
    complain("threshold", validity.badInput ? "A threshold must be a number." : "");
    return;
  }
  change({ threshold: thresholdFor(SIGN * Number(value)) });
  const near = thresholdText(setting.threshold);
  const same = Number(near) === Number(value);
  complain("threshold", same ? "" : content.exact ? `The same people pass as at ${near}.` : `The nearest threshold with counts is ${near}.`);
}

watchers.push(() => document.body.classList.toggle("changed", toAddress(setting).replace(/(^|&)d=[^&]*/, "") !== ""));
captions.push(
  () => `${content.title}${content.dated ? `, data of ${content.dated}` : ""}; made ${content.date}`,
  () => termsPhrase(setting.terms.cost, content.names, content.names.map((_, z) => setting.terms.listed(z)), setting.terms.subsidies, setting.terms.kind).replace(/,$/, "") +
    (content.thresholds === null ? "" : `, at a threshold of ${thresholdText(setting.threshold)}`),
);
watchers.push(drawFigures, drawControls, () => drawSoon());
watchers.push(() => {
  document.querySelectorAll(".chart details[open] table").forEach((table) => fillTable(table.id.replace("table-", "")));
});

byId("skip").addEventListener("click", (event) => { event.preventDefault(); byId("main").focus(); });
// complaints stay until something else is set
byId("cost").addEventListener("input", () => complain("cost", ""));
byId("cost").addEventListener("input", () => setCost(Number(byId("cost").value) / RANGE_STEPS));
byId("cost-exact").addEventListener("input", typedCost);
byId("cost-exact").addEventListener("blur", drawControls);
if (content.thresholds !== null) {
  byId("threshold").addEventListener("input", () => complain("threshold", ""));
  byId("threshold").addEventListener("input", () => change({ threshold: Number(byId("threshold").value) }));
  byId("threshold-exact").addEventListener("input", typedThreshold);
  byId("threshold-exact").addEventListener("blur", drawControls);
}
// paper shows all groups; the screen goes back to what it showed
let mostOnScreen = null;
addEventListener("beforeprint", () => {
  if (mostOnScreen === null) mostOnScreen = view.most;
  view.most = groupCount;
  drawGroups();
});
addEventListener("afterprint", () => {
  if (mostOnScreen === null) return;
  view.most = mostOnScreen;
  mostOnScreen = null;
  drawGroups();
});
byId("reset").addEventListener("click", () => change(startSetting(content)));
byId("no-subsidies").addEventListener("click", () => setSubsidies(content.names.map(() => 0)));
byId("least").addEventListener("click", () => setSubsidies(leastSubsidies(found.groups)));

// ---------------------------------------------------------------- the first look

drawHead();
settle(setting);
watchPictures();

// for tests, and for whoever opens the browser's console: the page's functions, by the library's names
window.selfselect = Object.freeze({
  compute: () => found,
  csv: tableText,
  texts: Object.freeze({
    percent, short_percent: shortPercent, short_percent_down: shortPercentDown, level, amount, amount_up: amountUp,
    amount_down: amountDown, count, listed,
    verdict_sentence: verdictSentence, group_sentence: groupSentence, group_warning: groupWarning,
    promises_sentence: promisesSentence, terms_phrase: termsPhrase, name_groups: nameGroups, range_text: rangeText, group_status: groupStatus,
    escape_formula: escapeFormula,
  }),
  chances: Object.freeze({ lower_bound: lowerBound, at_least: chanceOfAtLeast, at_most: chanceOfAtMost }),
  share: (behaviour, ...given) => BEHAVIOURS[behaviour.rule].share(behaviour, ...given),
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
