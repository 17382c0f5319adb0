// The setting in force: terms, threshold, groups that are drawn. The address keeps it, and whoever watches is told.

const MAX_DRAWN = 8; // as many as there are colours that can be told apart

// Groups that are drawn in colour have a slot each, and keep it, and so their colour, whatever becomes of the others; a
// free slot is null.
const drawnSlots = () => setting.drawn.flatMap((z, slot) => (z === null ? [] : [{ z, slot }]));
function withDrawn(drawn, z) {
  const free = drawn.indexOf(null);
  if (free >= 0) return drawn.map((other, slot) => (slot === free ? z : other));
  return drawn.length < MAX_DRAWN ? [...drawn, z] : null; // null: there is no room
}
const withoutDrawn = (drawn, z) => drawn.map((other) => (other === z ? null : other));

function startThreshold(given) {
  const t = given.threshold_position;
  if (given.published.selected[t] === undefined) throw new Error(`The page lacks the threshold in use (${t}).`);
  return t;
}
function startSetting(given) {
  const { n } = given.published;
  const largest = n.map((_, z) => z).sort((a, b) => n[b] - n[a] || a - b);
  return { terms: new Terms(given.terms), threshold: startThreshold(given), drawn: largest.slice(0, MAX_DRAWN) };
}

function toAddress(current) {
  const start = startSetting(content);
  const parts = [];
  if (current.terms.cost !== start.terms.cost) parts.push(`c=${current.terms.cost}`);
  if (current.threshold !== start.threshold) parts.push(`t=${thresholdText(current.threshold)}`);
  const paid = current.terms.subsidies.flatMap((s, z) => (s === start.terms.subsidies[z] ? [] : [`${z}:${s}`]));
  if (paid.length) parts.push(`s=${paid.join(",")}`);
  if (current.drawn.join() !== start.drawn.join()) parts.push(`d=${current.drawn.join(",")}`);
  return parts.join("&");
}

const isGroup = (z) => Number.isInteger(z) && z >= 0 && z < groupCount;
const isFraction = (value) => value >= 0 && value <= 1;
// what cannot be read is left as it was at the start: anybody can write an address
function fromAddress(text) {
  const next = startSetting(content);
  for (const part of text.replace(/^#/, "").split("&")) {
    const [key, value = ""] = part.split("=");
    if (key === "c" && value !== "" && isFraction(Number(value))) {
      next.terms = next.terms.atCost(Number(value));
    } else if (key === "t" && content.thresholds !== null) {
      const t = content.thresholds.findIndex((_, i) => thresholdText(i) === value);
      if (t >= 0) next.threshold = t;
    } else if (key === "s") {
      for (const pair of value.split(",")) {
        const [z, subsidy] = pair.split(":").map(Number);
        if (isGroup(z) && isFraction(subsidy)) next.terms = next.terms.withSubsidyOf(z, subsidy);
      }
    } else if (key === "d") {
      const asked = value.split(",").map((z) => (z === "" ? null : Number(z)));
      const seen = new Set();
      const once = (z) => (isGroup(z) && !seen.has(z) ? seen.add(z) && z : null);
      next.drawn = asked.map((z) => (z === null ? null : once(z))).slice(0, MAX_DRAWN);
    }
  }
  return next;
}

let setting = fromAddress(location.hash);
const { confidence: CONFIDENCE } = setting.terms; // that people ask for; null where they go by the precision
const RESPONDS = setting.terms.responds; // how people respond, where they do not compare what is published with the cost
let found = findings(content, setting);
const addressNow = () => location.hash.replace(/^#/, "");
let ownAddress = addressNow();
const watchers = [];

function remember() {
  ownAddress = toAddress(setting);
  try {
    history.replaceState(null, "", `#${ownAddress}`);
  } catch {
    location.hash = ownAddress;
  }
}
function settle(next) {
  setting = next;
  found = findings(content, setting);
  watchers.forEach((watcher) => watcher());
}
function change(part) {
  settle({ ...setting, ...part });
  remember();
}
addEventListener("hashchange", () => {
  if (addressNow() === ownAddress) return;
  ownAddress = addressNow();
  settle(fromAddress(location.hash));
});
