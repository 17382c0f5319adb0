// Chances of counts, and what they say of a share: the regularised incomplete beta function and its inverse. Counts may
// be sums of weights, and need not be whole.

const MAX_STEPS = 100000; // of a continued fraction; it takes some hundred where a million people pass
const TINY = 1e-300; // in place of 0, where the next step divides by it
const AS_EXACT = 1e-16; // what a double cannot hold any more
const FAR_UP = 16; // from where on Stirling's series is exact to a double

// log of n! less Stirling's formula for it: the part of it that does not cancel between counts
function stirlingError(n) {
  let x = n;
  let shift = 0;
  while (x < FAR_UP) {
    shift += (x + 0.5) * Math.log1p(1 / x) - 1;
    x += 1;
  }
  const y = 1 / (x * x);
  return shift + (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - y / 1188) * y) * y) * y) / x;
}

// x log(x / m) + m - x, also where x and m are nearly equal
function deviance(x, m) {
  if (Math.abs(x - m) >= 0.1 * (x + m)) return x * Math.log(x / m) + m - x;
  const v = (x - m) / (x + m);
  let total = (x - m) * v;
  let power = 2 * x * v;
  for (let j = 3; ; j += 2) {
    power *= v * v;
    const next = total + power / j;
    if (next === total) return total;
    total = next;
  }
}

// x^a (1 - x)^b / B(a, b), by small numbers only, so that nothing is lost where a million people pass
function betaPower(a, b, x) {
  const n = a + b;
  const error = stirlingError(n) - stirlingError(a) - stirlingError(b);
  return Math.sqrt((a / n) * b / (2 * Math.PI)) * Math.exp(error - deviance(a, n * x) - deviance(b, n * (1 - x)));
}

// the continued fraction of the incomplete beta function, evaluated by Lentz's method
function betaFraction(a, b, x) {
  const away = (value) => (Math.abs(value) < TINY ? TINY : value);
  let c = 1;
  let d = 1 / away(1 - ((a + b) * x) / (a + 1));
  let total = d;
  for (let m = 1; m < MAX_STEPS; m += 1) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away(1 + even * d);
    c = away(1 + even / c);
    total *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away(1 + odd * d);
    c = away(1 + odd / c);
    total *= d * c;
    if (Math.abs(d * c - 1) < 2 * AS_EXACT) break;
  }
  return total;
}

// the share below x of a beta distribution; a and b above 0
function incompleteBeta(a, b, x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (b === 1) return x ** a;
  if (x < (a + 1) / (a + b + 2)) return (betaPower(a, b, x) * betaFraction(a, b, x)) / a;
  return 1 - (betaPower(a, b, x) * betaFraction(b, a, 1 - x)) / b;
}

// the chance of at least so many hits among those who pass, each of which is one with this chance
const chanceOfAtLeast = (hits, passed, chance) => (hits > 0 ? incompleteBeta(hits, passed - hits + 1, chance) : 1);
const chanceOfAtMost = (hits, passed, chance) => (hits < passed ? incompleteBeta(passed - hits, hits + 1, 1 - chance) : 1);

// The chance of a hit at which so many of them, or more, come with the probability given: Clopper and Pearson's lower
// bound. The logarithm of the probability is a concave function of the logarithm of the chance, so that Newton's steps
// find it from anywhere; from the second on they only ever rise.
function lowerBound(hits, passed, probability) {
  if (hits <= 0) return 0;
  const [a, b] = [hits, passed - hits + 1];
  let x = a / (a + b);
  for (let step = 0; step < 100; step += 1) {
    const reached = incompleteBeta(a, b, x);
    if (reached === 0) return x;
    const slope = betaPower(a, b, x) / (1 - x) / reached;
    const rise = (Math.log(probability) - Math.log(reached)) / slope;
    x *= Math.exp(rise);
    if (!(x < 1)) x = 1 - AS_EXACT;
    if (Math.abs(rise) < 4 * AS_EXACT || (step > 1 && rise <= 0)) break;
  }
  return x;
}
