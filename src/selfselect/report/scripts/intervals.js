// Shares and how sure one can be of them: the same as in selfselect/counting/intervals.py.

const ratio = (top, bottom) => (bottom === 0 ? NaN : top / bottom);

// Wilson's interval of a precision
function interval(hits, passed) {
  if (passed <= 0) return [NaN, NaN];
  const half = QUANTILE * Math.sqrt((hits * (passed - hits)) / passed + QUANTILE_SQUARED / 4);
  const middle = hits + QUANTILE_SQUARED / 2;
  const low = hits <= 0 ? 0 : (middle - half) / (passed + QUANTILE_SQUARED);
  const high = hits >= passed ? 1 : (middle + half) / (passed + QUANTILE_SQUARED);
  return [low, high];
}

// Bounds that were asked for before: charts ask for the same ones over and over while a slider moves. The page holds
// counts of some ten thousand groups at thresholds, so this cannot grow beyond reason.
const knownBounds = new Map();
function within(map, key) {
  let inner = map.get(key);
  if (inner === undefined) {
    inner = new Map();
    map.set(key, inner);
  }
  return inner;
}
function knownLowerBound(hits, passed, probability) {
  const known = within(within(knownBounds, probability), passed);
  let bound = known.get(hits);
  if (bound === undefined) {
    bound = lowerBound(hits, passed, probability);
    known.set(hits, bound);
  }
  return bound;
}

// Clopper and Pearson's interval of a precision
function exactInterval(hits, passed) {
  if (passed <= 0) return [NaN, NaN];
  const counted = Math.min(hits, passed);
  return [knownLowerBound(counted, passed, INTERVAL_TAIL), 1 - knownLowerBound(passed - counted, passed, INTERVAL_TAIL)];
}
