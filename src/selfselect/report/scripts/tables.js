// The numbers behind the table of groups and behind charts: as tables on the page, and as files.

const tables = {}; // name -> function that makes { columns, rows, format }
const MAX_TABLE_ROWS = 500; // on the page; files hold all
const UNTIL_FORGOTTEN = 10000; // milliseconds: by then any browser has taken the file

// text that a spreadsheet will not take for a formula: the same as in selfselect/_text.py, held to the same table of cases
function escapeFormula(value) {
  if (typeof value !== "string") return value;
  const beginsFormula = (text) => {
    const seen = [...text].find((char) => !/[\s\p{C}\p{Z}]/u.test(char)) || "";
    return /^[=+\-@]/.test(seen.normalize("NFKC"));
  };
  const [first, ...rest] = value.split(/([;\t\r\n])/);
  const safe = first + rest.map((part) => (beginsFormula(part) ? `'${part}` : part)).join("");
  return /^[\t\r]/.test(value) || beginsFormula(value) ? `'${safe}` : safe;
}
function csvText(columns, rows) {
  const cell = (value) => {
    if (value === null || value === undefined || Number.isNaN(value)) return "";
    const text = String(escapeFormula(value));
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [columns, ...rows].map((row) => row.map(cell).join(",")).join("\n") + "\n";
}
function tableText(name) {
  const { columns, rows } = tables[name]();
  return csvText(columns, rows);
}
function keepFile(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), UNTIL_FORGOTTEN);
}
const download = (name) => keepFile(new Blob([tableText(name)], { type: "text/csv" }), `${name}.csv`);
function fillTable(name) {
  const table = byId(`table-${name}`);
  const { columns, rows, format } = tables[name]();
  const head = make("tr");
  columns.forEach((column, i) => {
    const th = make("th", column, i === 0 ? "text" : "");
    th.scope = "col";
    head.append(th);
  });
  table.tHead.replaceChildren(head);
  table.tBodies[0].replaceChildren(...rows.slice(0, MAX_TABLE_ROWS).map((row) => {
    const tr = make("tr");
    row.forEach((value, i) => {
      const td = make(i === 0 ? "th" : "td", format(value, i), i === 0 ? "text" : "");
      if (i === 0) td.scope = "row";
      tr.append(td);
    });
    return tr;
  }));
}
