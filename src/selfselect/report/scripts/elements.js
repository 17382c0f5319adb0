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
const shortened = (name, most = 22) => (name.length > most ? `${name.slice(0, most - 1)}\u2026` : name);
