// What follows from the share of each group that applies: the same as in selfselect/outcomes.py.

const sum = (values) => values.reduce((total, value) => total + value, 0);
const product = (weights, values) => sum(values.map((value, z) => weights[z] * value));

// counts of a table at one of its thresholds
const countsAt = (table, t) => ({
  n: table.n,
  positives: table.positives,
  selected: table.selected[t],
  true_positives: table.true_positives[t],
  worth: table.worth ? table.worth[t] : null,
  untested: table.untested || table.n.map(() => 0),
});
// how many equally weighted people a group's people who pass are worth, per unit of weight
const worthOf = (counts, z) => (counts.worth === null ? 1 : counts.worth[z]);
// people who are judged rightly, group by group
const correctDecisions = (counts) => counts.n.map((n, z) =>
  n - counts.positives[z] - counts.selected[z] + 2 * counts.true_positives[z]);

// fewest and most of them, whatever the labels of people who were not tested: these are rejected
function correctBounds(counts) {
  const most = correctDecisions(counts);
  return [most.map((right, z) => right - counts.untested[z]), most];
}
// lowest (sign -1) or highest (1) share of qualified people who stay away, whatever the labels of the untested
function extremeShare(counts, away, sign) {
  const order = away.map((_, z) => z).sort((a, b) => sign * (away[b] - away[a]) || a - b);
  let qualified = sum(counts.positives);
  let lost = product(away, counts.positives);
  const reached = [ratio(lost, qualified)];
  order.forEach((z) => {
    qualified += counts.untested[z];
    lost += away[z] * counts.untested[z];
    reached.push(ratio(lost, qualified));
  });
  const defined = reached.filter((value) => !Number.isNaN(value));
  return defined.length ? defined.reduce((a, b) => (sign * b > sign * a ? b : a)) : NaN;
}
// where people were not tested: what is known, and the bounds of the rest
function boundedOutcome(counts, shares) {
  const [fewest, most] = correctBounds(counts);
  const away = shares.map((share) => 1 - share);
  const applicants = product(shares, counts.n);
  const bounds = {
    assumed_accuracy: [ratio(sum(fewest), sum(counts.n)), ratio(sum(most), sum(counts.n))],
    induced_accuracy: [ratio(product(shares, fewest), applicants), ratio(product(shares, most), applicants)],
    social_cost: [extremeShare(counts, away, -1), extremeShare(counts, away, 1)],
  };
  const known = { untested: sum(counts.untested) };
  Object.entries(bounds).forEach(([name, [low, high]]) => {
    Object.assign(known, { [name]: low === high ? low : NaN, [`${name}_low`]: low, [`${name}_high`]: high });
  });
  return known;
}

function outcome(counts, shares) {
  const correct = correctDecisions(counts);
  const applicants = product(shares, counts.n);
  const away = shares.map((share) => 1 - share);
  const bounded = counts.untested.some((n) => n > 0) ? boundedOutcome(counts, shares) : {};
  return {
    assumed_accuracy: ratio(sum(correct), sum(counts.n)),
    induced_accuracy: ratio(product(shares, correct), applicants),
    applying_groups: shares.filter(mostApply).length,
    application_rate: ratio(applicants, sum(counts.n)),
    social_cost: ratio(product(away, counts.positives), sum(counts.positives)),
    qualified_rejected: counts.untested.some((n) => n > 0) ? NaN :
      ratio(product(shares, counts.positives.map((n, z) => n - counts.true_positives[z])), sum(counts.positives)),
    ...bounded,
  };
}
