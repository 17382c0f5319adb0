// What new people got of what was published, and whether the promise is kept: as in selfselect/auditing/promises.py.

// "no" where so few hits would be rare if the precision were as high as the cost, "yes" where so many would
function promiseKept(hits, passed, cost) {
  if (chanceOfAtMost(hits, passed, cost) < RARE) return "no";
  return chanceOfAtLeast(hits, passed, cost) < RARE ? "yes" : "undecided";
}

// of a group of new people; nothing is promised to those who stay away
function promiseOn(hits, passed, cost, applies, worth) {
  const [low, high] = exactInterval(hits * worth, passed * worth);
  return {
    delivered: ratio(hits, passed),
    delivered_low: low,
    delivered_high: high,
    promise_kept: applies ? promiseKept(hits * worth, passed * worth, cost) : "",
  };
}
