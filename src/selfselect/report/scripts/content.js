// What the page was given: see selfselect/report/page_data.py.

const content = JSON.parse(document.getElementById("data").textContent);

// numbers that belong to the library's rules are stated there, once
const {
  slack: SLACK,
  most_of_a_group: MOST_OF_A_GROUP,
  few_selected: FEW_SELECTED,
  most_named: MOST_NAMED,
  quantile: QUANTILE,
  quantile_squared: QUANTILE_SQUARED,
  interval_tail: INTERVAL_TAIL,
  rare: RARE,
} = content.constants;
