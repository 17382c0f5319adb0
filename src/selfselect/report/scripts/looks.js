// Colours and forms. Charts name variables of the style sheet, so that light, dark and paper need no new drawing.

// one colour for a group, light and dark: all have a contrast of at least 3 with either background
const COLOURS = ["#2b7bba", "#d1601f", "#12876a", "#b3589a", "#8a7a12", "#7a6bd0", "#c24a55", "#0f8fa3"];
const DASHES = ["none", "7 4", "2 3", "10 3 2 3", "none", "7 4", "2 3", "10 3 2 3"];

// how groups stand: the colour is never alone, each has its shape and its words
const STATUSES = {
  "applies": { colour: "var(--in)", symbol: "circle", filled: true, sign: "\u25cf", class: "in" },
  "could go either way": { colour: "var(--open)", symbol: "diamond", filled: true, sign: "\u25c6", class: "open" },
  "stays away": { colour: "var(--out)", symbol: "circle", filled: false, sign: "\u25cb", class: "out" },
  "nobody passes": { colour: "var(--quiet)", symbol: "times", filled: false, sign: "\u00d7", class: "shut" },
};
// hollow where people stay away
const fillOf = (g) => (STATUSES[g.status].filled ? STATUSES[g.status].colour : "var(--paper)");
// what signs mean, and how many groups have each; only those that are there
function keyOf(stands) {
  return Object.entries(STATUSES).flatMap(([words, looks]) => {
    const number = stands.filter((other) => other === words).length;
    if (!number) return [];
    const item = make("span", undefined, "key-item");
    const sign = make("span", looks.sign, `sign ${looks.class}`);
    sign.setAttribute("aria-hidden", "true");
    item.append(sign, ` ${words} (${number})`);
    return [item];
  });
}

const isDark = () => document.documentElement.dataset.theme === "dark";
function setTheme(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  byId("theme").textContent = dark ? "Light" : "Dark";
  byId("theme").setAttribute("aria-pressed", String(dark));
  byId("theme").setAttribute("aria-label", dark ? "Switch to light colours" : "Switch to dark colours");
}
