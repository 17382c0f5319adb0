// Findings in plain sentences: the same functions as in selfselect/auditing/words.py, held to the same table of cases.

function verdictSentence(cost, names, shares, result, { confidence = null } = {}) {
  const by = confidence === null ? "" : ` for people who go by the lower bound of precision (at ${level(confidence)}),`;
  const at = (cost === null ? "At the costs given," : `At a cost of ${amount(cost)},`) + by;
  const accuracy = `the model is right for ${percent(result.induced_accuracy)} of those who apply, not ` +
    `${percent(result.assumed_accuracy)} as assumed, and ${percent(result.social_cost)} of qualified people stay away.`;
  if (!shares.some((share) => share > 0)) {
    return `${at} nobody applies: no group finds it worth being tested, and there is nobody to be accurate about.`;
  }
  if (shares.some((share) => share > 0 && share < 1)) {
    return `${at} ${percent(result.application_rate)} of people apply: ${accuracy}`;
  }
  const staying = names.filter((_, z) => !mostApply(shares[z]));
  if (staying.length === 0) {
    const everyone = names.length === 1 ? "everybody applies" : `all ${names.length} groups apply`;
    return `${at} ${everyone}: the model is right for ${percent(result.assumed_accuracy)} of them, as assumed.`;
  }
  const who = staying.length <= MOST_NAMED ? listed(staying) : `${staying.length} of ${names.length} groups`;
  return `${at} ${who} ${staying.length === 1 ? "stays" : "stay"} away: ${accuracy}`;
}

function groupSentence(name, cost, share, selected, precision, needed,
  { kind = "additive", subsidised = false, comes_at: limit = precision, confidence = null } = {}) {
  const some = share >= 1 ? `${name} applies` : `${percent(share)} of ${name} apply`;
  if (selected === 0) {
    if (share > 0) return `${some} at a cost of ${amount(cost)}, although nobody in it passes screening.`;
    return `${name} stays away: nobody in it passes screening, so no subsidy can bring it in.`;
  }
  if (Number.isNaN(limit)) {
    return `${name} stays away: ${percent(precision)} of those who pass screening are hired, but nothing is promised ` +
      "to it, so no subsidy can bring it in.";
  }
  const surely = confidence === null ? "" : `, surely (at ${level(confidence)}) at least ${percent(limit)}`;
  const hired = `${percent(precision)} of those who pass screening are hired${surely}`;
  if (share > 0) return `${some} at a cost of ${amount(cost)}: ${hired}.`;
  if (precision === 0) {
    return `${name} stays away at a cost of ${amount(cost)}: nobody of those who pass screening is hired.`;
  }
  const further = subsidised ? "further subsidy" : "subsidy";
  const unit = kind === "proportional" ? " of the cost" : "";
  return `${name} stays away at a cost of ${amount(cost)}: ${hired}; it would come at ${amountDown(limit)} or ` +
    `with a ${further} of ${amountUp(needed)}${unit}.`;
}

// how promises ended that are not broken; empty without any
function otherPromises(kept, undecided, broken) {
  const ends = [[kept, "kept"], [undecided, "undecided"]].filter(([several]) => several > 0);
  if (!ends.length) return "";
  const text = ends.map(([several, end]) => `${count(several)} ${several === 1 ? "is" : "are"} ${end}`).join(" and ");
  return broken ? `Of the others, ${text}.` : `No promise is shown to be broken: ${text}.`;
}
function promisesSentence(names, kept, passed, delivered, costs) {
  const of = (answer) => kept.flatMap((given, z) => (given === answer ? [z] : []));
  const broken = of("no");
  const [yes, open] = [of("yes").length, of("undecided").length];
  const others = otherPromises(yes, open, broken.length > 0);
  if (!broken.length) return others;
  const lacking = (z) => costs[z] - delivered[z];
  const worst = broken.reduce((most, z) => (lacking(z) > lacking(most) ? z : most));
  const who = listed(broken.map((z) => names[z]));
  const told = broken.length === 1 ? `The promise to ${who} is broken` :
    `The promises to ${who} are broken, most to ${names[worst]}`;
  const parts = [`${told}: of its ${count(passed[worst])} new people who pass screening, ` +
    `${percent(delivered[worst])} are qualified, where at least ${percent(costs[worst])} were needed; if so many were ` +
    `the rule, so few would be seen in less than ${level(RARE)} of cases.`];
  const all = broken.length + yes + open;
  const chance = Math.floor(all * RARE);
  if (chance) parts.push(`By chance alone, ${count(chance)} of ${count(all)} promises may look broken.`);
  if (others) parts.push(others);
  return parts.join(" ");
}

function groupWarning(selected, precisionLow, precisionHigh, cost) {
  if (selected === 0) return "";
  if (selected < FEW_SELECTED) return `only ${count(selected)} pass screening, mostly chance`;
  if (precisionLow < cost && cost <= precisionHigh) return "the interval holds the cost";
  return "";
}
