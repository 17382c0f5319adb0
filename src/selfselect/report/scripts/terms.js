// What groups face, and what share of them applies: the same object as selfselect.deciding.Terms.

// ways in which people decide, by name: from counts and the cost faced to the share of a group that applies
const BEHAVIOURS = {
  // counts are compared, never ratios
  hard: (settings, hits, passed, cost) => {
    if (passed > 0) return hits >= (cost - SLACK) * passed ? 1 : 0;
    return settings.undefined === "apply" ? 1 : 0;
  },
};

const leastAdditive = (precision, cost) => Math.max(cost - precision, 0);
function leastProportional(precision, cost) {
  if (cost > 0) return Math.max(1 - precision / cost, 0);
  return Number.isNaN(precision) ? NaN : 0;
}
// whether a group of which this share applies counts as applying
const mostApply = (share) => share >= MOST_OF_A_GROUP;

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

  paying(subsidies) {
    return new Terms({ ...this, subsidies });
  }

  payingGroup(z, subsidy) {
    return this.paying(this.subsidies.map((paid, other) => (other === z ? subsidy : paid)));
  }

  listed(z) {
    return this.cost === null ? this.group_costs[z] : this.cost;
  }

  facedBy(z) {
    const paid = this.subsidies[z];
    return this.kind === "proportional" ? this.listed(z) * (1 - paid) : Math.max(this.listed(z) - paid, 0);
  }

  // least further subsidy of its kind at which a group applies: 0 if it does, NaN without a precision
  furtherSubsidy(z, precision) {
    if (this.kind === "additive") return leastAdditive(precision, this.facedBy(z));
    return Math.max(leastProportional(precision, this.listed(z)) - this.subsidies[z], 0);
  }

  share(z, hits, passed) {
    return BEHAVIOURS[this.behaviour.rule](this.behaviour, hits, passed, this.facedBy(z));
  }

  shares(counts) {
    return counts.selected.map((passed, z) => this.share(z, counts.true_positives[z], passed));
  }
}
