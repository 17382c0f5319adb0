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
addEventListener("beforeprint", () => {
  if (darkOnScreen === null) darkOnScreen = isDark();
  setTheme(false);
  drawAll();
});
addEventListener("afterprint", () => {
  if (darkOnScreen === null) return;
  setTheme(darkOnScreen);
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
