// What follows from the share of each group that applies: the same as in selfselect/deciding/outcomes.py.

const sum = (values) => values.reduce((total, value) => total + value, 0);
const product = (weights, values) => sum(values.map((value, z) => weights[z] * value));

// counts of a table at one of its thresholds
const countsAt = (table, t) => ({
  n: table.n,
  positives: table.positives,
  selected: table.selected[t],
  true_positives: table.true_positives[t],
  worth: table.worth ? table.worth[t] : null,
});
// how many equally weighted people a group's people who pass are worth, per unit of weight
const worthOf = (counts, z) => (counts.worth === null ? 1 : counts.worth[z]);
// people who are judged rightly, group by group
const correctDecisions = (counts) => counts.n.map((n, z) =>
  n - counts.positives[z] - counts.selected[z] + 2 * counts.true_positives[z]);

function outcome(counts, shares) {
  const correct = correctDecisions(counts);
  const applicants = product(shares, counts.n);
  const away = shares.map((share) => 1 - share);
  return {
    assumed_accuracy: ratio(sum(correct), sum(counts.n)),
    induced_accuracy: ratio(product(shares, correct), applicants),
    applying_groups: shares.filter(mostApply).length,
    application_rate: ratio(applicants, sum(counts.n)),
    social_cost: ratio(product(away, counts.positives), sum(counts.positives)),
  };
}
