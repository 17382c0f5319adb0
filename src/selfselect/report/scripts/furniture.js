// What every page has: light and dark, paper, files and pictures of charts.

let themeIsChosen = false;
const preference = matchMedia("(prefers-color-scheme: dark)");
preference.addEventListener("change", () => { if (!themeIsChosen) setTheme(preference.matches); });
byId("theme").addEventListener("click", () => {
  themeIsChosen = true;
  setTheme(!isDark());
});
setTheme(preference.matches);

// paper is white, whatever the screen, and shows every chart
let darkOnScreen = null;
let closedOnScreen = [];
const parts = [...document.querySelectorAll("details.part, details.part details:not(.chart details)")];
parts.forEach((part) => part.addEventListener("toggle", () => {
  if (part.open) drawSoon(Object.keys(pictures).filter((name) => part.contains(byId(`chart-${name}`))));
}));
addEventListener("beforeprint", () => {
  if (darkOnScreen === null) closedOnScreen = parts.filter((part) => !part.open);
  closedOnScreen.forEach((part) => { part.open = true; });
  if (darkOnScreen === null) darkOnScreen = isDark();
  setTheme(false);
  drawAll();
});
addEventListener("afterprint", () => {
  if (darkOnScreen === null) return;
  setTheme(darkOnScreen);
  closedOnScreen.forEach((part) => { part.open = false; });
  darkOnScreen = null;
});

document.querySelectorAll("[data-csv]").forEach((button) => {
  button.addEventListener("click", () => download(button.dataset.csv));
});
document.querySelectorAll("[data-picture]").forEach((button) => {
  button.addEventListener("click", () => savePicture(button.dataset.picture));
});
document.querySelectorAll(".chart details").forEach((details) => {
  details.addEventListener("toggle", () => {
    if (details.open) fillTable(details.querySelector("table").id.replace("table-", ""));
  });
});
