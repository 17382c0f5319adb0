// What the page was given: see selfselect/report/page_data.py.

const content = JSON.parse(document.getElementById("data").textContent);

// numbers that belong to the library's rules are stated there, once
const {
  slack: SLACK,
  majority: MAJORITY,
  few_selected: FEW_SELECTED,
  max_named: MAX_NAMED,
  quantile: QUANTILE,
  quantile_squared: QUANTILE_SQUARED,
  interval_tail: INTERVAL_TAIL,
  rare: RARE,
} = content.constants;
