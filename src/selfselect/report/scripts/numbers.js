// Numbers as text: the same functions as in selfselect/_formats.py, tested with the same cases.

const UNDEFINED = "none";
const PLACES = 3;
const THOUSAND = 1000;
const MIN_PLACES = 2;
// in thousandths: half of what the rule by which groups decide forgives, so that what is written is enough
const SPARE = (THOUSAND * SLACK) / 2;

const nearest = (value) => Math.floor(value + 0.5);
const withCommas = (digits) => digits.replace(/\B(?=(\d{3})+(?!\d))/g, ",");

// so many units of the last place, once rounded, as a decimal number; zeros at its end go, down to the fewest places
function decimal(units, rounded, places, fewest, grouped = false) {
  if (!Number.isFinite(units)) return UNDEFINED;
  const wholeUnits = rounded(units);
  const digits = BigInt(Math.abs(wholeUnits)).toString().padStart(places + 1, "0"); // exact, however large
  const whole = digits.slice(0, -places);
  const rest = digits.slice(-places);
  const decimals = rest.slice(0, fewest) + rest.slice(fewest).replace(/0+$/, "");
  const text = (grouped ? withCommas(whole) : whole) + (decimals ? "." : "") + decimals;
  return wholeUnits < 0 ? `-${text}` : text;
}
function percent(value) {
  const text = decimal(value * 1000, nearest, 1, 1);
  return text === UNDEFINED ? text : `${text}%`;
}
// a cost as a share of what being selected is worth, with a decimal where needed
const shortPercent = (value) => decimal(value * 1000, nearest, 1, 0) + (Number.isFinite(value) ? "%" : "");
const shortPercentDown = (value) => decimal(value * 1000 + SPARE, Math.floor, 1, 0) + (Number.isFinite(value) ? "%" : "");
// a level of confidence, rounded down
const level = (value) => {
  const text = decimal(value * 100 * THOUSAND + SPARE * 100, Math.floor, PLACES, 0);
  return text === UNDEFINED ? text : `${text}%`;
};
const amount = (value) => decimal(value * THOUSAND, nearest, PLACES, MIN_PLACES);
const amountUp = (value) => decimal(value * THOUSAND - SPARE, Math.ceil, PLACES, MIN_PLACES);
const amountDown = (value) => decimal(value * THOUSAND + SPARE, Math.floor, PLACES, MIN_PLACES);
function count(value) {
  if (Number.isInteger(value)) return withCommas(BigInt(value).toString());
  if (value > 0 && value < 1 / THOUSAND) return "under 0.001";
  return decimal(value * THOUSAND, nearest, PLACES, 0, true);
}
function listed(names, most = MAX_NAMED) {
  if (names.length > most) return `${names.slice(0, most).join(", ")} and ${names.length - most} more`;
  if (names.length < 2) return names.join("");
  return `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}`;
}

// a share that is known, or the bounds within which it is: where people were not tested
const percentOrBounds = (result, key) => {
  const [low, high] = [result[`${key}_low`], result[`${key}_high`]];
  return low === undefined || low === high ? percent(result[key]) : `${percent(low)} to ${percent(high)}`;
};

// in columns, where all numbers have as many places
const aligned = (value) => decimal(value * THOUSAND, nearest, PLACES, PLACES);
const alignedUp = (value) => decimal(value * THOUSAND - SPARE, Math.ceil, PLACES, PLACES);

// the shortest text that reads back as the same number, so that texts are equal exactly where thresholds are
const SIGN = content.lower_passes ? -1 : 1; // thresholds are on minus the score where lower scores pass
function thresholdText(t) {
  const value = content.thresholds[t];
  return value === null ? "none" : String(SIGN * value);
}
