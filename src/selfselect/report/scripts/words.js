// Findings in plain sentences: the same functions as in selfselect/auditing/words.py, held to the same table of cases.

function verdictSentence(cost, names, shares, result) {
  const at = cost === null ? "At the costs given," : `At a cost of ${amount(cost)},`;
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

function groupSentence(name, cost, share, selected, precision, needed, { kind = "additive", subsidised = false } = {}) {
  const some = share >= 1 ? `${name} applies` : `${percent(share)} of ${name} apply`;
  if (selected === 0) {
    if (share > 0) return `${some} at a cost of ${amount(cost)}, although nobody in it passes screening.`;
    return `${name} stays away: nobody in it passes screening, so no subsidy can bring it in.`;
  }
  const hired = `${percent(precision)} of those who pass screening are hired`;
  if (share > 0) return `${some} at a cost of ${amount(cost)}: ${hired}.`;
  if (precision === 0) {
    return `${name} stays away at a cost of ${amount(cost)}: nobody of those who pass screening is hired.`;
  }
  const further = subsidised ? "further subsidy" : "subsidy";
  const unit = kind === "proportional" ? " of the cost" : "";
  return `${name} stays away at a cost of ${amount(cost)}: ${hired}; it would come at ${amountDown(precision)} or ` +
    `with a ${further} of ${amountUp(needed)}${unit}.`;
}

function groupWarning(selected, precisionLow, precisionHigh, cost) {
  if (selected === 0) return "";
  if (selected < FEW_SELECTED) return `only ${count(selected)} pass screening, mostly chance`;
  if (precisionLow < cost && cost <= precisionHigh) return "the interval holds the cost";
  return "";
}
