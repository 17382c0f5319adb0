// Sentences: the same functions as in selfselect/report/sentences/words.py, tested with the same cases.

// whether a name reads better after the word group: numbers, ranges, signs, truths
const needsWord = (name) => !/^\p{L}/u.test(name) || ["True", "False", "None"].includes(name);
function nameGroups(names) {
  const word = names.some(needsWord) ? (names.length === 1 ? "group " : "groups ") : "";
  return word + listed(names);
}
const several = (chosen, names) => (chosen.length <= MAX_NAMED ? nameGroups(chosen) :
  `${chosen.length} of ${names.length} groups`);
const capitalised = (text) => (/^groups? /.test(text) ? `G${text.slice(1)}` : text);
function rangeText(low, high) {
  const [least, most] = [percent(low), percent(high)];
  return least === most ? least : `${least} to ${most}`;
}

// ---------------------------------------------------------------- the verdict

const WORTH = "of what being selected is worth";
// names by the text of their value, in the order of first mention
function byText(names, values, form) {
  const texts = new Map();
  names.forEach((name, z) => {
    const text = form(values[z]);
    texts.set(text, [...(texts.get(text) || []), name]);
  });
  return texts;
}
function costsPhrase(names, costs) {
  const texts = byText(names, costs, shortPercent);
  const commonest = [...texts.keys()].reduce((best, text) =>
    (texts.get(text).length > texts.get(best).length ? text : best));
  const others = [...texts].filter(([text]) => text !== commonest).map(([text, whom]) => `${text} for ${nameGroups(whom)}`);
  if (others.length > MAX_NAMED) {
    const least = costs.reduce((a, b) => Math.min(a, b));
    const most = costs.reduce((a, b) => Math.max(a, b));
    return `${shortPercent(least)} to ${shortPercent(most)} ${WORTH}, depending on the group`;
  }
  return `${commonest} ${WORTH}${others.length ? ` (${others.join(", ")})` : ""}`;
}
function termsPhrase(cost, names, costs, subsidies, kind = "additive") {
  const costing = `If applying costs ${costsPhrase(names, cost === null ? costs : names.map(() => cost))}`;
  const form = kind === "proportional" ? percent : amountUp;
  const paid = byText(names, subsidies, form);
  paid.delete(form(0));
  if (!paid.size) return `${costing},`;
  if (paid.size > MAX_NAMED) {
    return `${costing}, with subsidies for ${[...paid.values()].flat().length} of ${names.length} groups,`;
  }
  const unit = kind === "proportional" ? " of the cost" : "";
  const each = [...paid].map(([text, whom]) =>
    `${text}${unit} for ${whom.length === names.length && names.length > 1 ? "every group" : nameGroups(whom)}`);
  return `${costing}, with ${each.length === 1 ? "a subsidy" : "subsidies"} of ${each.join(", of ")},`;
}
function whoApplies(names, stay, open, shut, shares, result) {
  if (shares.some((share) => share > 0 && share < 1)) return `${percent(result.application_rate)} of people apply`;
  const parts = [];
  if (!shares.some((share) => share > 0) && !open.length) {
    if (!stay.length) return "nobody applies: nobody passes screening";
    parts.push("nobody applies");
  } else if (stay.length) {
    parts.push(`${several(stay, names)} ${stay.length === 1 ? "stays" : "stay"} away`);
  }
  if (open.length) parts.push(`${several(open, names)} could go either way`);
  if (shut.length) parts.push(`nobody in ${several(shut, names)} passes screening`);
  const others = names.length - stay.length - open.length - shut.length;
  if (!parts.length) return "everybody applies";
  if (others) parts.push(others === 1 ? "the other group applies" : `the other ${count(others)} groups apply`);
  return parts.join("; ");
}
function numbersText(result, people, openCount, ranges, staying, shut, rejected) {
  const number = (name) => (ranges !== null ? rangeText(...ranges[name]) :
    rangeText(result[`${name}_low`] ?? result[name], result[`${name}_high`] ?? result[name]));
  const everybody = rangeText(result.assumed_accuracy_low ?? result.assumed_accuracy, result.assumed_accuracy_high ?? result.assumed_accuracy);
  const [accuracy, social] = [number("induced_accuracy"), number("social_cost")];
  const [low, high] = ranges === null ? [result.application_rate, result.application_rate] : ranges.application_rate;
  const compared = accuracy === everybody ? "the same as among everybody" : `against ${everybody} among everybody`;
  let text = `accuracy among applicants (induced accuracy)${low === 0 ? ", if anybody applies," : ""} is ${accuracy}, ${compared}`;
  if (high === 0) {
    text = "there is no accuracy among applicants";
  } else if (people !== null && low < 1) {
    const [least, most] = [count(low * people), count(high * people)];
    text = `${least === most ? least : `${least} to ${most}`} of ${count(people)} people apply: ${text}`;
  }
  if (ranges !== null) text = `depending on ${openCount === 1 ? "this group" : "these groups"}, ${text}`;
  const away = staying && shut ? "stay away or are shut out" : shut ? "are shut out" : "stay away";
  let lost = `${social} of qualified people ${away} (social cost)`;
  if (Number.isNaN(result.social_cost) && !result.untested) {
    lost = "nobody counts as qualified, so nobody qualified stays away";
  } else if (rejected !== null) {
    lost += `, and ${ranges === null ? percent(rejected) : rangeText(...ranges.qualified_rejected)} apply but are rejected`;
  }
  return `${text[0].toUpperCase()}${text.slice(1)}; ${lost}.`;
}
const certaintyText = (openCount) => (openCount ?
  `The 95% interval of precision of ${openCount === 1 ? "this group" : "these groups"} includes the cost.` :
  "No 95% interval of precision includes the cost.");
// the sentences of a verdict: who applies, what follows, what it assumes, how certain it is
function verdictParts(cost, names, shares, result, { costs, subsidies, selected, people, kind = "additive",
  confidence = null, behaviour = null, undecided = null, ranges = null, rejected = null, unqualified = [] }) {
  const all = names.map((_, z) => z);
  const named = (positions) => positions.map((z) => names[z]);
  const away = all.filter((z) => !mostApply(shares[z]));
  const isOpen = (z) => undecided !== null && undecided[z];
  const open = named(all.filter(isOpen));
  const stay = named(away.filter((z) => selected[z] > 0 && !isOpen(z)));
  const shut = named(away.filter((z) => selected[z] === 0));
  const divided = shares.some((share) => share > 0 && share < 1);
  const parts = [
    `${termsPhrase(cost, names, costs, subsidies, kind)} ${whoApplies(names, stay, open, shut, shares, result)}.`,
    numbersText(result, divided ? null : people, open.length, open.length ? ranges : null,
      open.length > 0 || away.length > shut.length, shut.length > 0, rejected),
  ];
  if (unqualified.length) {
    parts.push(`Nobody in ${nameGroups(unqualified)} counts as qualified: check whether the label is fair to them.`);
  }
  if (behaviour !== null) parts.push(`People are assumed to respond by ${behaviour}.`);
  else if (confidence !== null) {
    parts.push(`People decide by a lower bound of precision (${level(confidence)} confidence, for each group by itself).`);
  }
  if (result.untested) {
    parts.push(`Some numbers are ranges because ${count(result.untested)} ${result.untested === 1 ? "person was" : "people were"} not tested.`);
  }
  if (undecided !== null && selected.some((n) => n > 0)) parts.push(certaintyText(open.length));
  return parts;
}
const verdictSentence = (...given) => verdictParts(...given).join(" ");

// ---------------------------------------------------------------- groups

// what a group does, in the words of charts and tables
function groupStatus(selected, applies, undecided) {
  if (!(selected > 0) && !applies) return "nobody passes";
  if (undecided) return "could go either way";
  return applies ? "applies" : "stays away";
}
// the same with its precision and what it needs
function statusPhrase(stands, precision, cost, { max_accepted_cost: limit = precision, confidence = null, share = null } = {}) {
  if (share !== null) {
    const part = share > 0 && share < 1 ? ` (${percent(share)})` : "";
    return `${stands}${part}: accepts ${Number.isNaN(limit) ? "no cost" : `up to ${percent(limit)}`}, faces ${percent(cost)}`;
  }
  if (Number.isNaN(precision)) return `${stands}: no precision to publish`;
  const sure = Number.isNaN(limit) ? "no guarantee" : `lower bound ${percent(limit)}`;
  const text = confidence === null ? percent(precision) : `${sure} (published ${percent(precision)})`;
  return `${stands}: ${text}, needs ${percent(cost)}`;
}

function groupSentence(name, cost, share, selected, precision, needed,
  { kind = "additive", subsidised = false, undecided = false, max_accepted_cost: limit = precision, confidence = null } = {}) {
  const whom = nameGroups([name]);
  const subject = capitalised(whom);
  const open = `${subject} could go either way`;
  const part = share >= 1 ? `${subject} applies` : `${percent(share)} of ${whom} apply`;
  const [some, none] = undecided ? [open, open] : [part, `${subject} stays away`];
  const known = !Number.isNaN(limit);
  if (selected === 0 && share > 0) return `${some}, although nobody in it passes screening.`;
  if (selected === 0 && !known) return `Nobody in ${whom} passes screening, so no subsidy can make it apply.`;
  const qualified = `${percent(precision)} of its people who pass screening are qualified`;
  if (!(share > 0) && !known) {
    const never = confidence === null ? "it would not apply at any cost" : "nothing is guaranteed to it";
    return `${none}: ${qualified}, but ${never}, so no subsidy helps.`;
  }
  const bound = known ? `lower bound ${percent(limit)}` : "nothing is guaranteed";
  const sure = confidence === null ? "" : ` (${bound})`;
  const why = selected > 0 ? `${qualified}${sure}, and applying costs ${shortPercent(cost)}` : "nobody in it passes screening";
  if (mostApply(share) || (share > 0 && !known)) return `${some}: ${why}.`;
  if (!(share > 0) && precision === 0) return `${none}: nobody who passes screening is qualified.`;
  const [begins, who] = share > 0 ? [some, "Half of it"] : [none, "It"];
  const subsidy = `a ${subsidised ? "further " : ""}subsidy of ${amountUp(needed)}${kind === "proportional" ? " of the cost" : ""}`;
  return `${begins}: ${why}. ${who} would apply at a cost of ${shortPercentDown(limit)} or less (${subsidy}).`;
}
function groupWarning(selected, precisionLow, precisionHigh, cost, effective = null) {
  if (selected === 0) return "";
  if (effective !== null && effective < FEW_SELECTED) {
    return `a rough estimate: those who pass count as only ${count(nearest(effective * 10) / 10)} people`;
  }
  if (effective === null && selected < FEW_SELECTED) {
    return `a rough estimate: only ${count(selected)} ${selected === 1 ? "person passes" : "people pass"}`;
  }
  return precisionLow < cost && cost <= precisionHigh ? "the 95% interval of precision includes the cost" : "";
}

// ---------------------------------------------------------------- promises

function keptPromises(yes, undecided) {
  const promised = yes + undecided;
  const groups = promised === 1 ? "the one group that applies" : `all ${count(promised)} groups that apply`;
  if (!promised) return "";
  if (!undecided) return `New applicants did as well as published in ${groups}.`;
  if (!yes) return `There are too few new applicants to tell whether they did as well as published in ${groups}.`;
  return `New applicants did as well as published in ${count(yes)} of ${count(promised)} groups that apply; in the others there are too few to tell.`;
}
function promisesSentence(names, kept, passed, delivered, costs) {
  const of = (answer) => kept.flatMap((given, z) => (given === answer ? [z] : []));
  const broken = of("no");
  const [yes, undecided] = [of("yes").length, of("undecided").length];
  if (!broken.length) return keptPromises(yes, undecided);
  const gap = (z) => costs[z] - delivered[z];
  const worst = broken.reduce((most, z) => (gap(z) > gap(most) ? z : most));
  const where = broken.length === 1 ? "" : `The largest gap is in ${nameGroups([names[worst]])}: `;
  const parts = [
    `New applicants from ${nameGroups(broken.map((z) => names[z]))} did worse than published.`,
    `${where}${percent(delivered[worst])} of the ${count(passed[worst])} who pass screening are qualified, and at least ` +
      `${percent(costs[worst])} were needed (the probability of this by chance is below ${level(RARE)}).`,
  ];
  const promised = broken.length + yes + undecided;
  const chance = Math.floor(promised * RARE);
  if (chance) parts.push(`By chance alone, ${count(chance)} of ${count(promised)} groups may look like this.`);
  if (yes || undecided) parts.push(`Other groups that apply: ${count(yes)} as published, ${count(undecided)} undecided.`);
  return parts.join(" ");
}
