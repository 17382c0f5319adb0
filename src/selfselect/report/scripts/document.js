// The picture of a page that states something once.

const KINDS = { comparison: [comparisonPicture, comparisonTable], frontier: [frontierPicture, frontierTable] };
const [makePicture, makeTable] = KINDS[content.chart.kind];
pictures.document = makePicture(content.chart);
tables.document = makeTable(content.chart);
drawSoon();
watchPictures();
window.selfselect = Object.freeze({ csv: tableText });
