// Pieces of the page. Texts are only ever set as text.

const byId = (id) => document.getElementById(id);

function make(tag, text, className) {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  if (className) element.className = className;
  return element;
}
function setText(id, text) {
  const element = byId(id);
  if (element.textContent !== text) element.textContent = text;
}
function makeInput(type, label, attributes = {}) {
  const input = make("input");
  input.type = type;
  input.setAttribute("aria-label", label);
  Object.assign(input, attributes);
  return input;
}
// names often differ at their ends only: the middle goes
function shortened(name, most = 22) {
  const letters = [...name]; // whole characters, whatever they are made of
  if (letters.length <= most) return name;
  const tail = Math.floor((most - 1) * 0.4);
  return `${letters.slice(0, most - 1 - tail).join("")}\u2026${letters.slice(letters.length - tail).join("")}`;
}
