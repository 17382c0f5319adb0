// The picture of a page that states something once.

const KINDS = { comparison: [comparisonPicture, comparisonTable], frontier: [frontierPicture, frontierTable], rounds: [roundsPicture, roundsTable] };
const [makePicture, makeTable] = KINDS[content.chart.kind];
pictures.document = makePicture(content.chart);
tables.document = makeTable(content.chart);
if (content.chart.kind === "comparison") {
  const before = make("span", undefined, "key-item");
  const sign = make("span", "\u25a0", "sign shut");
  sign.setAttribute("aria-hidden", "true");
  before.append(sign, ` ${content.chart.names[0]}; in colour, ${content.chart.names[1]}:`);
  byId("key").replaceChildren(before, ...keyOf(content.chart.groups.map((g) => g.after.status).filter((status) => status !== null)));
}
drawSoon();
watchPictures();
window.selfselect = Object.freeze({ csv: tableText });
