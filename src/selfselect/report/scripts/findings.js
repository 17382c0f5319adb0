// Everything about one setting (terms and a threshold): a function of what the page was given, and of nothing else.

function groupFindings(name, z, terms, share, published, population) {
  const n = published.n[z];
  const selected = published.selected[z];
  const hits = published.true_positives[z];
  const cost = terms.effectiveCost(z);
  const precision = ratio(hits, selected);
  const worth = worthOf(published, z);
  const [low, high] = selected > 0 ? interval(hits * worth, selected * worth) : [NaN, NaN];
  const maxAcceptedCost = terms.maxAcceptedCost(z, hits, selected);
  const applies = mostApply(share);
  const worthwhile = hits - cost * selected;
  const gain = Math.abs(worthwhile) <= SLACK * selected ? 0 : share * worthwhile; // a rounding error is not a loss
  const payment = terms.listed(z) - cost;
  const passing = share * population.selected[z];
  return {
    z, name, n, selected, cost, precision, share, applies, gain,
    true_positives: hits,
    max_accepted_cost: maxAcceptedCost,
    precision_low: low,
    precision_high: high,
    effective: published.worth === null ? null : selected * worth,
    base_rate: published.untested[z] > 0 ? NaN : ratio(published.positives[z], n),
    base_rate_low: ratio(published.positives[z], n),
    base_rate_high: ratio(published.positives[z] + published.untested[z], n),
    selection_rate: ratio(selected, n),
    true_positive_rate: published.untested[z] > 0 ? NaN : ratio(hits, published.positives[z]),
    false_positive_rate: published.untested[z] > 0 ? NaN : ratio(selected - hits, n - published.positives[z]),
    subsidy: terms.subsidies[z],
    subsidy_needed: applies ? 0 : terms.furtherSubsidy(z, maxAcceptedCost),
    utility: ratio(gain, n),
    paid: payment * passing,
    recipients: payment > 0 ? passing : 0,
  };
}

// the people who are published and those who are counted, often the same
function peopleAt(given, threshold) {
  const published = countsAt(given.published, threshold);
  return { published, population: given.population === null ? published : countsAt(given.population, threshold) };
}

// how many promises came to what; null where there are no new people to tell
function promiseCounts(given, groups) {
  if (given.population === null) return null;
  const of = (answer) => groups.filter((group) => group.promise_kept === answer).length;
  return { kept: of("yes"), broken: of("no"), undecided: of("undecided") };
}
function promisesOn(given, groups, population) {
  if (given.population === null) return "";
  return promisesSentence(given.names, groups.map((group) => group.promise_kept), population.selected,
    groups.map((group) => group.delivered), groups.map((group) => group.cost));
}

function findings(given, { terms, threshold }) {
  const { published, population } = peopleAt(given, threshold);
  const shares = terms.shares(published);
  const [fewest, most] = correctBounds(published);
  const groups = given.names.map((name, z) => {
    const group = groupFindings(name, z, terms, shares[z], published, population);
    const promise = given.population === null ? {} :
      promiseOn(population.true_positives[z], population.selected[z], group.cost, group.applies, worthOf(population, z));
    const [low, high] = [fewest, most].map((right) => ratio(right[z], published.n[z]));
    const accuracy = { accuracy: published.untested[z] > 0 ? NaN : high, accuracy_low: low, accuracy_high: high };
    return { ...group, ...promise, ...accuracy };
  });
  const result = outcome(population, shares);
  // what was published before decides, whatever the interval; and so does what people want to be sure of
  const undecided = given.population === null && terms.behaviour.rule === "hard" && !terms.behaviour.promised ? groups.map(isUndecided) : null;
  groups.forEach((group, z) => {
    group.settled = undecided === null; // who applies does not depend on the interval
    group.undecided = Boolean(undecided && undecided[z]);
    group.status = groupStatus(group.selected, group.applies, group.undecided);
  });
  const ranges = undecided && undecidedRanges(population, groups.map((group) => group.applies), undecided);
  const parts = verdictParts(terms.cost, given.names, shares, result, {
    confidence: terms.confidence,
    behaviour: terms.responds,
    costs: given.names.map((_, z) => terms.listed(z)),
    subsidies: terms.subsidies,
    kind: terms.kind,
    selected: published.selected,
    people: sum(population.n),
    undecided,
    ranges,
    rejected: Number.isNaN(result.qualified_rejected) ? null : result.qualified_rejected,
    unqualified: sum(population.positives) ? given.names.filter((_, z) => population.n[z] > 0 && !population.positives[z] && !population.untested[z]) : [],
  });
  const finding = parts.join(" ");
  const promised = promisesOn(given, groups, population);
  return {
    ...result,
    groups,
    ranges: undecided && undecided.some(Boolean) ? ranges : null,
    paid: sum(groups.map((group) => group.paid)),
    recipients: sum(groups.map((group) => group.recipients)),
    utility: ratio(sum(groups.map((group) => group.gain)), sum(published.n)),
    promises: promiseCounts(given, groups),
    finding,
    finding_parts: parts,
    promised,
    verdict: promised ? `${finding} ${promised}` : finding,
  };
}

const sentenceOn = (group, terms) => groupSentence(group.name, group.cost, group.share, group.selected, group.precision,
  group.subsidy_needed,
  { kind: terms.kind, subsidised: group.subsidy > 0, undecided: group.undecided, max_accepted_cost: group.max_accepted_cost, confidence: terms.confidence });
const phraseOn = (group, terms) => statusPhrase(group.status, group.precision, group.cost,
  { max_accepted_cost: group.max_accepted_cost, confidence: terms.confidence, share: terms.responds === null ? null : group.share });
const warningOn = (group) => groupWarning(group.selected, group.settled ? NaN : group.precision_low,
  group.settled ? NaN : group.precision_high, group.cost, group.effective);
// the same as a sentence of its own
function noteOn(group) {
  const warning = warningOn(group);
  return warning && `${warning[0].toUpperCase()}${warning.slice(1)}.`;
}

// what the same threshold would lead to at each of some costs
function overCosts(given, { terms, threshold }, costs) {
  const { published, population } = peopleAt(given, threshold);
  return costs.map((cost) => ({ cost, ...outcome(population, terms.atCost(cost).shares(published)) }));
}

// subsidies that bring everyone in who can come; those who apply keep theirs
const leastSubsidies = (groups) => groups.map((group) => (group.applies || !(group.subsidy_needed >= 0)
  ? group.subsidy
  : Math.min(group.subsidy + group.subsidy_needed, 1)));
