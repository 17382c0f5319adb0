// Findings in plain sentences: the same functions as in selfselect/auditing/words.py, held to the same table of cases.

// whether a name reads better after the word group: numbers, ranges, signs, truths
const needsWord = (name) => !/^\p{L}/u.test(name) || ["True", "False", "None"].includes(name);
function spoken(names, most = MOST_NAMED) {
  const word = names.some(needsWord) ? (names.length === 1 ? "group " : "groups ") : "";
  return word + listed(names, most);
}
function rangeText(low, high) {
  const [least, most] = [percent(low), percent(high)];
  return least === most ? least : `between ${least} and ${most}`;
}
// names by what is written of each, in the order of first mention
function byText(names, values, form) {
  const texts = new Map();
  names.forEach((name, z) => {
    const text = form(values[z]);
    texts.set(text, [...(texts.get(text) || []), name]);
  });
  return texts;
}
function costsPhrase(names, costs) {
  const texts = byText(names, costs, amount);
  const commonest = [...texts.keys()].reduce((best, text) =>
    (texts.get(text).length > texts.get(best).length ? text : best));
  const others = [...texts].filter(([text]) => text !== commonest).map(([text, whom]) => `${text} for ${spoken(whom)}`);
  if (others.length > MOST_NAMED) {
    const least = costs.reduce((a, b) => Math.min(a, b));
    const most = costs.reduce((a, b) => Math.max(a, b));
    return `At costs between ${amount(least)} and ${amount(most)}`;
  }
  return `At a cost of ${commonest}${others.length ? ` (${others.join(", ")})` : ""}`;
}
function termsPhrase(cost, names, costs, subsidies, kind = "additive") {
  const told = cost === null ? costsPhrase(names, costs) : `At a cost of ${amount(cost)}`;
  const form = kind === "proportional" ? percent : amountUp;
  const paid = byText(names, subsidies, form);
  paid.delete(form(0));
  if (!paid.size) return `${told},`;
  if (paid.size > MOST_NAMED) {
    const whom = [...paid.values()].flat().length;
    return `${told}, with subsidies for ${whom} of ${names.length} groups,`;
  }
  const unit = kind === "proportional" ? " of the cost" : "";
  const each = [...paid].map(([text, whom]) =>
    `${text}${unit} for ${whom.length === names.length && names.length > 1 ? "every group" : spoken(whom)}`);
  return `${told}, with ${each.length === 1 ? "a subsidy" : "subsidies"} of ${each.join(", of ")},`;
}

const several = (chosen, names) => (chosen.length <= MOST_NAMED ? spoken(chosen) :
  `${chosen.length} of ${names.length} groups`);
// what is known of a number: itself twice, or its bounds
const boundsOf = (result, name) => [result[`${name}_low`] ?? result[name], result[`${name}_high`] ?? result[name]];
// who does not come, by choice or because the model passes nobody of them; empty if everybody does
function whoIsLost({ names, stay, probably, shut }) {
  const told = [];
  if (stay.length) told.push(`${several(stay, names)} ${stay.length === 1 ? "stays" : "stay"} away`);
  if (probably.length) {
    const one = probably.length === 1;
    const does = stay.length ? (one ? "does" : "do") : `${one ? "stays" : "stay"} away`;
    told.push(`${several(probably, names)} probably ${does}`);
  }
  if (shut.length) told.push(`the model passes nobody of ${several(shut, names)}`);
  return told.length > 1 ? `${told.slice(0, -1).join(", ")} and ${told[told.length - 1]}` : told.join("");
}
// that all come, some of them only probably
function everyone({ names, barely }) {
  if (names.length === 1) return `everybody ${barely.length ? "probably " : ""}applies`;
  return `all ${names.length} groups apply${barely.length ? `, ${several(barely, names)} probably` : ""}`;
}
function findingText(who, shares, result, lost) {
  if (!shares.some((share) => share > 0)) {
    let why = "no group finds it worth being tested";
    if (who.shut.length) why = who.stay.length || who.probably.length ? whoIsLost(who) : "the model passes nobody";
    return `nobody applies: ${why}, and there is nobody to be accurate about.`;
  }
  const [induced, assumed, social] = ["induced_accuracy", "assumed_accuracy", "social_cost"].map((name) =>
    rangeText(...boundsOf(result, name)));
  const compared = induced === assumed ? ", as assumed" : `, not ${assumed} as assumed`;
  const asAssumed = result.untested ? ` (${assumed} of everybody)` : compared;
  const accuracy = `the model is right for ${induced} of those who apply${asAssumed}, and ${social} of qualified people ${lost}.`;
  if (shares.some((share) => share > 0 && share < 1)) {
    return `${percent(result.application_rate)} of people apply: ${accuracy}`;
  }
  if (!whoIsLost(who)) return `${everyone(who)}: the model is right for ${assumed} of them, as assumed.`;
  return `${whoIsLost(who)}: ${accuracy}`;
}
function certaintyText(names, passed, undecided, way, lost) {
  if (!passed.some((n) => n > 0)) return "";
  const open = names.filter((_, z) => undecided[z]);
  if (!open.length) {
    return "This is clear, as far as chance goes: every precision is clearly on one side of its cost (95% intervals).";
  }
  const right = `${rangeText(...way.induced_accuracy)} of those who apply${way.nobody ? " (or nobody applies)" : ""}`;
  const rest = names.length - open.length;
  const others = rest === 0 ? "No group is clear." : rest === 1 ? "The other group is clear." :
    `The other ${count(rest)} groups are clear.`;
  const own = open.length === 1 ? "its true precision may lie on either side of its cost" :
    "their true precision may lie on either side of their cost";
  return `Whether ${several(open, names)} ${open.length === 1 ? "applies" : "apply"} is too close to call (by chance alone, ${own}): either way, the model is right for ${right}, and ` +
    `${rangeText(...way.social_cost)} of qualified people ` +
    `${lost === "are shut out" ? "stay away or are shut out" : lost}. ${others}`;
}
// the sentences of a verdict: who applies and what follows, what is not known, what it rests on, how certain it is
function verdictParts(cost, names, shares, result, { confidence = null, costs = null, subsidies = null,
  kind = "additive", passed = null, people = null, undecided = null, either_way: way = null } = {}) {
  const nothing = names.map(() => 0);
  const terms = cost === null && costs === null ? "At the costs given," :
    termsPhrase(cost, names, costs || nothing, subsidies || nothing, kind);
  const away = names.map((_, z) => z).filter((z) => !mostApply(shares[z]));
  const held = undecided || names.map(() => false);
  const named = (positions) => positions.map((z) => names[z]);
  const shut = named(away.filter((z) => passed !== null && passed[z] === 0));
  const staying = away.filter((z) => passed === null || passed[z] > 0);
  const who = { names, stay: named(staying.filter((z) => !held[z])), probably: named(staying.filter((z) => held[z])), shut,
    barely: names.filter((_, z) => held[z] && !away.includes(z)) };
  const lost = staying.length && shut.length ? "stay away or are shut out" : shut.length ? "are shut out" : "stay away";
  const parts = [`${terms} ${findingText(who, shares, result, lost)}`];
  if (confidence !== null) parts.push(`People are taken to go by the lower bound of precision (at ${level(confidence)}).`);
  if (result.untested) {
    parts.push(`What lies between two numbers is not known better: ${count(result.untested)} ` +
      `${result.untested === 1 ? "person was" : "people were"} not tested.`);
  }
  if (people !== null && result.application_rate > 0 && result.application_rate < 1) {
    parts.push(`The accuracy rests on the ${count(result.application_rate * people)} of ${count(people)} people who apply.`);
  }
  if (undecided !== null && way !== null) parts.push(certaintyText(names, passed || nothing, undecided, way, lost));
  return parts.filter(Boolean);
}
const verdictSentence = (...given) => verdictParts(...given).join(" ");

// how a group stands, in the words that charts and tables use
function standing(selected, applies, undecided) {
  if (!(selected > 0) && !applies) return "rejected by the model";
  const doing = applies ? "applies" : "stays away";
  return undecided ? `probably ${doing}` : doing;
}
// the same with why: what its people see, and what they need
function standingPhrase(stands, precision, cost, { max_accepted_cost: limit = precision, confidence = null } = {}) {
  if (stands === "rejected by the model") return "rejected by the model: nobody passes";
  if (Number.isNaN(precision)) return `${stands}: nobody passes`;
  const surely = Number.isNaN(limit) ? "nothing promised" : `surely ${percent(limit)}`;
  const told = confidence === null ? percent(precision) : `${surely} (published ${percent(precision)})`;
  return `${stands}: ${told}, needs ${percent(cost)}`;
}

function groupSentence(name, cost, share, selected, precision, needed,
  { kind = "additive", subsidised = false, max_accepted_cost: limit = precision, confidence = null } = {}) {
  const whom = spoken([name]);
  const subject = needsWord(name) ? whom[0].toUpperCase() + whom.slice(1) : whom;
  const some = share >= 1 ? `${subject} applies` : `${percent(share)} of ${whom} apply`;
  if (selected === 0) {
    if (share > 0) return `${some} at a cost of ${amount(cost)}, although nobody in it passes screening.`;
    return `${subject} is shut out: nobody in it passes screening, so no subsidy can bring it in.`;
  }
  if (Number.isNaN(limit)) {
    return `${subject} stays away: ${percent(precision)} of those who pass screening are qualified, but nothing is promised ` +
      "to it, so no subsidy can bring it in.";
  }
  const surely = confidence === null ? "" : `, surely (at ${level(confidence)}) at least ${percent(limit)}`;
  const hired = `${percent(precision)} of those who pass screening are qualified${surely}`;
  if (share > 0) return `${some} at a cost of ${amount(cost)}: ${hired}.`;
  if (precision === 0) {
    return `${subject} stays away at a cost of ${amount(cost)}: nobody of those who pass screening is qualified.`;
  }
  const further = subsidised ? "further subsidy" : "subsidy";
  const unit = kind === "proportional" ? " of the cost" : "";
  return `${subject} stays away at a cost of ${amount(cost)}: ${hired}. Its people would apply at a cost of ` +
    `${amountDown(limit)}, or with a ${further} of ${amountUp(needed)}${unit}.`;
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
  const who = spoken(broken.map((z) => names[z]));
  const told = broken.length === 1 ? `The promise to ${who} is broken` :
    `The promises to ${who} are broken, most to ${spoken([names[worst]])}`;
  const parts = [`${told}: of its ${count(passed[worst])} new people who pass screening, ` +
    `${percent(delivered[worst])} are qualified, where at least ${percent(costs[worst])} were needed; if so many were ` +
    `the rule, so few would be seen in less than ${level(RARE)} of cases.`];
  const all = broken.length + yes + open;
  const chance = Math.floor(all * RARE);
  if (chance) parts.push(`By chance alone, ${count(chance)} of ${count(all)} promises may look broken.`);
  if (others) parts.push(others);
  return parts.join(" ");
}

function groupWarning(selected, precisionLow, precisionHigh, cost, effective = null) {
  if (selected === 0) return "";
  if (effective !== null && effective < FEW_SELECTED) {
    return `those who pass are worth only ${count(nearest(effective * 10) / 10)} people: this is known only roughly`;
  }
  if (effective === null && selected < FEW_SELECTED) {
    return `only ${count(selected)} ${selected === 1 ? "person passes" : "people pass"} screening: this is known only roughly`;
  }
  if (precisionLow < cost && cost <= precisionHigh) {
    return "too close to call: chance may decide";
  }
  return "";
}
