// What all charts share: a place for each, drawn when it comes into sight, what is told under it, and pictures of it.

const pictures = {}; // name -> function from a width to { label, tell, ...what Plot takes }
const PHONE = 560; // pixels: below it there is no room beside a chart
const NARROWEST = 240;
const PICTURE_SCALE = 2; // pixels of a saved picture for each on the screen
const PICTURE_MARGIN = 16;
const SETTLING = 150; // milliseconds after the last change of size

const percentTick = (value) => `${Math.round(value * 100)}%`;
// with a decimal where the axis is so short that whole numbers would repeat
const SHORT_AXIS = 0.12;
const percentTicks = ([low, high]) => (high - low < SHORT_AXIS ? (value) => `${(value * 100).toFixed(1)}%` : percentTick);
const POINTING = matchMedia("(hover: none)").matches ? "Tap" : "Point at";

// ---------------------------------------------------------------- drawing

const stale = new Set(); // charts that have to be drawn anew
const inSight = new Set();

const widthOf = (name) => Math.max(byId(`chart-${name}`).clientWidth, NARROWEST);
function drawPicture(name, width = widthOf(name)) {
  stale.delete(name);
  const box = byId(`chart-${name}`);
  const { label, tell, rest = "", ...options } = pictures[name](width);
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
    readout.dataset.rest = [`${POINTING} the chart to read numbers here.`, rest].filter(Boolean).join(" ");
    readout.textContent = readout.dataset.rest;
    readout.classList.remove("says");
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
  // each once while the page rests: a chart first drawn in sight would move what is below it from under a pointer
  whenResting(drawAll);
}
const whenResting = window.requestIdleCallback || ((act) => setTimeout(act, SETTLING));
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
// what a picture that leaves the page has to say by itself; pages may say more
const captions = [() => document.title];
const CAPTION_LINE = 20; // pixels
async function savePicture(name) {
  const dark = isDark();
  setTheme(false); // on paper and in other people's documents
  drawPicture(name);
  const figure = byId(`chart-${name}`).firstChild;
  const { width, height } = figure.viewBox.baseVal;
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(standalone(figure))}`;
  const [paper, ink] = ["background-color", "color"].map((property) => getComputedStyle(document.body).getPropertyValue(property));
  setTheme(dark);
  await image.decode();
  const lines = [byId(`h-${name}`).textContent, ...captions.map((caption) => caption())].filter(Boolean);
  const top = PICTURE_MARGIN + lines.length * CAPTION_LINE + 4;
  const canvas = document.createElement("canvas");
  canvas.width = (width + 2 * PICTURE_MARGIN) * PICTURE_SCALE;
  canvas.height = (height + top + PICTURE_MARGIN) * PICTURE_SCALE;
  const pen = canvas.getContext("2d");
  pen.scale(PICTURE_SCALE, PICTURE_SCALE);
  pen.fillStyle = paper;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.fillStyle = ink;
  lines.forEach((line, i) => {
    pen.font = i === 0 ? "bold 16px sans-serif" : "13px sans-serif";
    pen.fillText(line, PICTURE_MARGIN, PICTURE_MARGIN + (i + 0.7) * CAPTION_LINE, width);
  });
  pen.drawImage(image, PICTURE_MARGIN, top, width, height);
  canvas.toBlob((blob) => keepFile(blob, `selfselect-${name}.png`), "image/png");
}
