// What all charts share: a place for each, drawn when it comes into sight, what is told under it, and pictures of it.

const pictures = {}; // name -> function from a width to { label, tell, ...what Plot takes }
const PHONE = 560; // pixels: below it there is no room beside a chart
const NARROWEST = 240;
const PICTURE_SCALE = 2; // pixels of a saved picture for each on the screen
const PICTURE_MARGIN = 16;
const SETTLING = 150; // milliseconds after the last change of size

const percentTick = (value) => `${Math.round(value * 100)}%`;

// ---------------------------------------------------------------- drawing

const stale = new Set(); // charts that have to be drawn anew
const inSight = new Set();

const widthOf = (name) => Math.max(byId(`chart-${name}`).clientWidth, NARROWEST);
function drawPicture(name, width = widthOf(name)) {
  stale.delete(name);
  const box = byId(`chart-${name}`);
  const { label, tell, ...options } = pictures[name](width);
  const figure = Plot.plot({ className: "plot", color: { type: "identity" }, symbol: { type: "identity" },
    r: { type: "identity" }, opacity: { type: "identity" }, ...options });
  figure.setAttribute("role", "img");
  figure.setAttribute("aria-label", `${label} The numbers are in the table below.`);
  // the picture as a whole has a name; its parts have none to be read out
  figure.querySelectorAll("[aria-label], [aria-hidden]").forEach((part) => {
    part.dataset.mark = part.getAttribute("aria-label") || "";
    ["aria-label", "aria-description", "aria-hidden"].forEach((attribute) => part.removeAttribute(attribute));
  });
  const readout = byId(`told-${name}`);
  if (readout && tell) {
    figure.addEventListener("input", () => {
      readout.textContent = figure.value ? tell(figure.value) : readout.dataset.rest;
      readout.classList.toggle("says", Boolean(figure.value));
    });
  }
  box.replaceChildren(figure);
}
let waiting = false;
function drawStale() {
  waiting = false;
  // all are measured before any is drawn: measuring in between would lay out the page each time
  const seen = [...stale].filter((name) => inSight.has(name)).map((name) => [name, widthOf(name)]);
  seen.forEach(([name, width]) => drawPicture(name, width));
}
function drawSoon(names = Object.keys(pictures)) {
  names.forEach((name) => stale.add(name));
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(drawStale);
}
// what is not in sight waits until it is, so that a slider moves freely however many groups there are
function watchPictures() {
  const observer = new IntersectionObserver((entries) => {
    entries.forEach(({ target, isIntersecting }) => {
      const name = target.id.replace("chart-", "");
      if (isIntersecting) inSight.add(name); else inSight.delete(name);
    });
    if ([...stale].some((name) => inSight.has(name))) drawSoon([]);
  }, { rootMargin: "100px" });
  let settled = 0;
  let before = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === before) return;
    before = innerWidth;
    clearTimeout(settled);
    settled = setTimeout(drawSoon, SETTLING);
  });
  Object.keys(pictures).forEach((name) => observer.observe(byId(`chart-${name}`)));
}
function drawAll() {
  Object.keys(pictures).forEach((name) => { if (stale.has(name) || !byId(`chart-${name}`).firstChild) drawPicture(name); });
}

// ---------------------------------------------------------------- labels beside lines

// places of labels, in the order given: near where they belong, at least so far apart, within the frame
function spread(places, gap, low, high) {
  const order = places.map((_, i) => i).sort((a, b) => places[a] - places[b]);
  const moved = [...places];
  order.forEach((i, k) => { moved[i] = Math.max(places[i], k ? moved[order[k - 1]] + gap : low); });
  [...order].reverse().forEach((i, k, all) => { moved[i] = Math.min(moved[i], k ? moved[all[k - 1]] - gap : high); });
  return moved;
}
// as much of a name as there is room for
const CHARACTER = 7.3; // pixels, on average
const HALO = { stroke: "var(--paper)", strokeWidth: 4 }; // around letters that stand on lines
const roomFor = (texts, most) => Math.round(Math.min(most, Math.max(...texts.map((text) => text.length), 4) * CHARACTER + 16));
const fitting = (name, pixels) => shortened(name, Math.max(4, Math.floor(pixels / CHARACTER)));

// ---------------------------------------------------------------- pictures to keep

const KEPT_STYLES = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity", "fill-opacity", "opacity", "font-size",
  "font-weight", "text-anchor", "font-variant-numeric"];
function standalone(figure) {
  const copy = figure.cloneNode(true);
  const originals = [figure, ...figure.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((element, i) => {
    const style = getComputedStyle(originals[i]);
    KEPT_STYLES.forEach((property) => element.setAttribute(property, style.getPropertyValue(property)));
  });
  copy.querySelectorAll("style").forEach((element) => element.remove());
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("font-family", "sans-serif");
  return new XMLSerializer().serializeToString(copy);
}
async function savePicture(name) {
  if (stale.has(name)) drawPicture(name);
  const figure = byId(`chart-${name}`).firstChild;
  const { width, height } = figure.viewBox.baseVal;
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(standalone(figure))}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = (width + 2 * PICTURE_MARGIN) * PICTURE_SCALE;
  canvas.height = (height + 2 * PICTURE_MARGIN) * PICTURE_SCALE;
  const pen = canvas.getContext("2d");
  pen.fillStyle = getComputedStyle(document.body).backgroundColor;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(image, PICTURE_MARGIN * PICTURE_SCALE, PICTURE_MARGIN * PICTURE_SCALE, width * PICTURE_SCALE, height * PICTURE_SCALE);
  canvas.toBlob((blob) => keepFile(blob, `${name}.png`), "image/png");
}
