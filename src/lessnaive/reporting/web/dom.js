// Elements: all text goes in as text, never as HTML.
const NAMESPACE = "http://www.w3.org/2000/svg";
const LONGEST = 80;

const byId = (id) => document.getElementById(id);

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

const make = (tag, attributes = {}, ...children) =>
  fill(document.createElement(tag), attributes, children);
const draw = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS(NAMESPACE, tag), attributes, children);

// Characters, not halves of them.
function shorten(text, most = LONGEST) {
  const letters = [...String(text).slice(0, 4 * most)];
  return letters.length > most ? letters.slice(0, most - 1).join("") + "…" : letters.join("");
}

// Names may run from right to left: they stand for themselves.
function nameOf(text, most = LONGEST) {
  const shown = shorten(text, most);
  const full = String(text).length > shown.length ? String(text).slice(0, 2000) : null;
  return make("bdi", { title: full }, shown === "" ? "(empty)" : shown);
}
const isolated = (text, most) => `\u2068${shorten(text, most) || "(empty)"}\u2069`;

function show(x, digits = 3) {
  if (x === null || x === undefined || Number.isNaN(x)) return "–";
  if (x !== 0 && (Math.abs(x) >= 1e6 || Math.abs(x) < 1e-4)) return x.toExponential(2);
  return String(Number(x.toPrecision(Math.max(digits, 1))));
}
const signed = (x) => (x >= 0 ? "+" : "−") + Math.abs(x).toFixed(2);
function percent(p) {
  if (p > 0 && p < 0.0005) return "< 0.1 %";
  if (p < 1 && p >= 0.9995) return "> 99.9 %";
  return `${(100 * p).toFixed(1)} %`;
}
const rowsText = (n) => Number(n.toPrecision(6)).toLocaleString("en-US");
const colour = (place) => `c${place % 10}`;

function legend(names, places) {
  const items = places.map((c) =>
    make("li", {}, make("span", { class: `swatch ${colour(c)}`, "aria-hidden": "true" }), nameOf(names[c], 40)),
  );
  return make("ul", { class: "legend" }, items);
}

function table(head, lines, caption) {
  const top = make("tr", {}, head.map((cell, j) => make("th", { scope: "col", class: j ? "n" : null }, cell)));
  const body = lines.map(([first, ...cells]) =>
    make("tr", {}, make("th", { scope: "row" }, first), cells.map((cell) => make("td", { class: "n" }, cell))),
  );
  const head_ = make("thead", {}, top);
  return make("table", {}, caption ? make("caption", {}, caption) : null, head_, make("tbody", {}, body));
}

// A picture that is drawn when it comes into view, and again when its place gets wider.
const pictures = new Map();
const widthOf = (place) => Math.max(250, Math.min(1060, Math.floor(place.clientWidth) || 640));
function redraw(place, width = widthOf(place)) {
  const known = pictures.get(place);
  if (!known || known.width === width) return;
  known.width = width;
  place.replaceChildren(known.render(width));
}
const watcher = new IntersectionObserver(
  (entries) => entries.filter((entry) => entry.isIntersecting).forEach((entry) => redraw(entry.target)),
  { rootMargin: "300px" },
);
const sizes = new ResizeObserver((entries) => {
  for (const { target } of entries) if (pictures.get(target)?.width) redraw(target);
});
function picture(place, render) {
  const was = pictures.get(place);
  pictures.set(place, { render, width: 0 });
  if (was?.width) redraw(place);
  else {
    watcher.observe(place);
    sizes.observe(place);
  }
  return place;
}
addEventListener("beforeprint", () => {
  for (const [place, known] of pictures) if (!known.width && place.isConnected) redraw(place, 640);
});
