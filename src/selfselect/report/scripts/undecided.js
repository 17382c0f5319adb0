// Groups whose interval holds their cost, and what hangs on them: the same as in selfselect/auditing/undecided.py.

const isUndecided = (group) => group.precision_low < group.cost && group.cost <= group.precision_high;

// lowest (sign -1) or highest (1) accuracy over those who apply, NaN if nobody can
function extremeAccuracy(counts, right, sure, undecided, sign) {
  const all = counts.n.map((_, z) => z);
  const accuracy = (z) => right[z] / counts.n[z];
  const chosen = all.filter((z) => undecided[z] && counts.n[z] > 0).sort((a, b) => sign * (accuracy(b) - accuracy(a)) || a - b);
  let [hits, people] = [right, counts.n].map((values) => sum(all.filter((z) => sure[z]).map((z) => values[z])));
  const reached = [ratio(hits, people)];
  chosen.forEach((z) => { hits += right[z]; people += counts.n[z]; reached.push(ratio(hits, people)); });
  const defined = reached.filter((value) => !Number.isNaN(value));
  return defined.length ? defined.reduce((a, b) => (sign * b > sign * a ? b : a)) : NaN;
}
function undecidedRanges(counts, applies, undecided) {
  const sure = applies.map((is, z) => is && !undecided[z]);
  const allIn = applies.map((is, z) => is || undecided[z]);
  const [fewest, most] = correctBounds(counts);
  const missed = counts.positives.map((qualified, z) => qualified - counts.true_positives[z]);
  const shareOf = (values, whole) => [sure, allIn].map((who) => ratio(sum(values.filter((_, z) => who[z])), sum(whole)));
  return {
    application_rate: shareOf(counts.n, counts.n),
    qualified_rejected: shareOf(missed, counts.positives),
    induced_accuracy: [extremeAccuracy(counts, fewest, sure, undecided, -1), extremeAccuracy(counts, most, sure, undecided, 1)],
    social_cost: [extremeShare(counts, allIn.map((is) => (is ? 0 : 1)), -1), extremeShare(counts, sure.map((is) => (is ? 0 : 1)), 1)],
    nobody: !sure.some(Boolean),
  };
}
