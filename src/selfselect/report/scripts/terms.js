// What groups face, and what share of them applies: the same object as selfselect.costs.Terms.

// whether people who see the precision only would come; counts are compared, never ratios
function isWorthIt(settings, hits, passed, cost) {
  if (passed > 0) return hits >= (cost - SLACK) * passed;
  return settings.undefined === "apply";
}
// Whether the lower bound reaches the cost: if and only if so many hits would be as rare at that cost. The bound itself
// is known from before, and decides wherever the slack of the comparison cannot matter: it moves the bound by no more
// than this width, as the logarithm of the probability is concave in that of the cost.
function reachesBound(hits, passed, cost, rare) {
  if (cost <= SLACK) return true;
  const width = 2 * SLACK * (1 + 1 / (rare * (1 - rare)));
  const beyond = cost - knownLowerBound(hits, passed, rare);
  if (Math.abs(beyond) > width) return beyond < 0;
  return chanceOfAtLeast(hits, passed, cost - SLACK) <= rare + SLACK;
}

// Where the page does not know how people decide, it has a table of what they do: of each group and pair of counts, the
// highest cost at which it applies, and the shares at costs 0, 0.01, ..., 1 (of yes or no: the share without such a cost).
const rowsByCounts = new WeakMap();
function tableRow({ groups }, hits, passed, z) {
  if (!rowsByCounts.has(groups[z])) {
    rowsByCounts.set(groups[z], new Map(groups[z].map((row) => [`${row[0]}/${row[1]}`, row])));
  }
  const [, , limit, shares] = rowsByCounts.get(groups[z]).get(`${hits}/${passed}`);
  return { limit: limit ?? NaN, shares };
}
function tableShare(settings, hits, passed, cost, z) {
  const [ownHits, ownPassed, ownCost, ownShare] = settings.start[z]; // what is shown first is not rounded
  if (hits === ownHits && passed === ownPassed && cost === ownCost) return ownShare;
  const { limit, shares } = tableRow(settings, hits, passed, z);
  const applies = cost <= limit + SLACK;
  if (!Array.isArray(shares)) return Number.isNaN(limit) ? shares : Number(applies);
  const place = cost * (shares.length - 1);
  const left = Math.min(Math.floor(place), shares.length - 2);
  const share = shares[left] + (place - left) * (shares[left + 1] - shares[left]);
  // between two costs the line may be on the wrong side of one half
  if (Number.isNaN(limit)) return share;
  return applies ? Math.max(share, MAJORITY) : Math.min(share, MAJORITY - SLACK);
}

// ways in which people decide, by name: from counts and the cost faced to the share of a group that applies; and the
// highest cost at which it does
const BEHAVIOURS = {
  hard: {
    share: (settings, hits, passed, cost) => (isWorthIt(settings, hits, passed, cost) ? 1 : 0),
    maxAcceptedCost: (settings, hits, passed) => ratio(hits, passed),
  },
  // by the lower bound of the precision, at a level of confidence
  sure: {
    share: (settings, hits, passed, cost) => {
      if (!isWorthIt(settings, hits, passed, cost)) return 0;
      return passed <= 0 || reachesBound(hits, passed, cost, 1 - settings.confidence) ? 1 : 0;
    },
    maxAcceptedCost: (settings, hits, passed) => (passed > 0
      ? Math.min(knownLowerBound(hits, passed, 1 - settings.confidence), hits / passed)
      : NaN),
  },
  table: {
    share: tableShare,
    maxAcceptedCost: (settings, hits, passed, z) => tableRow(settings, hits, passed, z).limit,
  },
};

const leastAdditive = (precision, cost) => Math.max(cost - precision, 0);
function leastProportional(precision, cost) {
  if (cost > 0) return Math.max(1 - precision / cost, 0);
  return Number.isNaN(precision) ? NaN : 0;
}
// whether a group of which this share applies counts as applying
const mostApply = (share) => share >= MAJORITY;

class Terms {
  // cost: one number for all groups, or null where group_costs has one for each
  constructor({ cost, group_costs, subsidies, kind, behaviour }) {
    if (!Object.hasOwn(BEHAVIOURS, behaviour.rule)) throw new Error(`The page knows no rule "${behaviour.rule}".`);
    Object.assign(this, { cost, group_costs, subsidies, kind, behaviour });
    Object.freeze(this);
  }

  atCost(cost) {
    return new Terms({ ...this, cost });
  }

  withSubsidies(subsidies) {
    return new Terms({ ...this, subsidies });
  }

  withSubsidyOf(z, subsidy) {
    return this.withSubsidies(this.subsidies.map((paid, other) => (other === z ? subsidy : paid)));
  }

  listed(z) {
    return this.cost === null ? this.group_costs[z] : this.cost;
  }

  effectiveCost(z) {
    const paid = this.subsidies[z];
    return this.kind === "proportional" ? this.listed(z) * (1 - paid) : Math.max(this.listed(z) - paid, 0);
  }

  // least further subsidy of its kind at which a group applies: 0 if it does, NaN without a precision
  furtherSubsidy(z, maxAcceptedCost) {
    if (this.kind === "additive") return leastAdditive(maxAcceptedCost, this.effectiveCost(z));
    return Math.max(leastProportional(maxAcceptedCost, this.listed(z)) - this.subsidies[z], 0);
  }

  // whether anything is published about a group: with a guarantee, only if it passed a test
  isPromised(z) {
    return !this.behaviour.promised || this.behaviour.promised[z];
  }

  share(z, hits, passed) {
    if (!this.isPromised(z)) return this.behaviour.undefined === "apply" ? 1 : 0;
    return BEHAVIOURS[this.behaviour.rule].share(this.behaviour, hits, passed, this.effectiveCost(z), z);
  }

  // highest cost at which a group applies: its precision, or what is sure of it; NaN without one
  maxAcceptedCost(z, hits, passed) {
    if (!this.isPromised(z)) return NaN;
    return BEHAVIOURS[this.behaviour.rule].maxAcceptedCost(this.behaviour, hits, passed, z);
  }

  // how people respond, in words; null where they compare the precision, or its lower bound, with the cost
  get responds() {
    return this.behaviour.rule === "table" ? this.behaviour.name : null;
  }

  // whether people go by something else than the precision: then charts show the highest cost that they accept
  get hasLimits() {
    return this.behaviour.rule !== "hard";
  }

  // the confidence that people ask for; null where they go by the precision as it is
  get confidence() {
    return this.behaviour.rule === "sure" ? this.behaviour.confidence : null;
  }

  shares(counts) {
    return counts.selected.map((passed, z) => this.share(z, counts.true_positives[z], passed));
  }
}
