// Colours and forms, light and dark.

const LIGHT = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#3a3a3a", "#8c7a00"];
const DARK = ["#56b4e9", "#e69f00", "#1fbf92", "#e39bc4", "#f0e442", "#d55e00", "#e6eaee", "#4d9de0"];
const DASHES = [[], [7, 4], [2, 3], [10, 3, 2, 3], [], [7, 4], [2, 3], [10, 3, 2, 3]];
const POINTS = ["circle", "rect", "triangle", "rectRot", "star", "crossRot", "rectRounded", "cross"];

const isDark = () => document.documentElement.dataset.theme === "dark";
const palette = () => (isDark() ? DARK : LIGHT);
const styleOf = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function setTheme(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  byId("theme").textContent = dark ? "Light" : "Dark";
  byId("theme").setAttribute("aria-pressed", String(dark));
  byId("theme").setAttribute("aria-label", dark ? "Switch to light colours" : "Switch to dark colours");
}
