// The people that the page is about: how many groups and thresholds there are, and what is known of them.

const groupCount = content.names.length;
const thresholdCount = content.published.selected.length;
// whether labels of some people are unknown, so that what depends on them is known within bounds only
const HAS_UNTESTED = [content.published, content.population].some((table) => table && table.untested);
const HAS_NEW_PEOPLE = content.population !== null;
