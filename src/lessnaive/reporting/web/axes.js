// Scales and axes of pictures.
function ticks(low, high, number = 5) {
  if (!(high > low)) return [low];
  const raw = (high - low) / number;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= raw);
  const first = Math.ceil(low / step);
  const out = [];
  for (let k = first; k * step <= high + 1e-9 * step && out.length < 50; k += 1) out.push(k * step);
  return out;
}

function tickText(values) {
  const step = values.length > 1 ? Math.abs(values[1] - values[0]) : Math.abs(values[0]) || 1;
  const largest = Math.max(...values.map(Math.abs));
  if (largest >= 1e7 || (largest > 0 && step < 1e-4)) return values.map((x) => (x === 0 ? "0" : x.toExponential(1)));
  const digits = Math.max(0, Math.min(6, -Math.floor(Math.log10(step) + 1e-9)));
  return values.map((x) => (Math.abs(x) < 1e-12 ? 0 : x).toFixed(digits));
}

function dateText(seconds) {
  const date = new Date(1000 * seconds);
  return Number.isNaN(date.getTime()) ? show(seconds) : date.toISOString().slice(0, 10);
}

const linear = (low, high, from, to) => (x) => from + ((x - low) / (high - low || 1)) * (to - from);

// A frame with two axes; numbers stand below the first up to a given one.
function frame({ width, height, x, y, xName, yName, label, left = 52, right = 10, time = null, log = false, below = 40, until = Infinity }) {
  const top = 8;
  const plot = { left, right: width - right, top, bottom: height - below };
  const change = log ? Math.log10 : (value) => value;
  const toX = linear(change(x[0]), change(x[1]), plot.left, plot.right);
  const place = { x: (value) => toX(change(value)), y: linear(y[0], y[1], plot.bottom, plot.top) };
  const svg = draw("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
  const room = Math.max(2, Math.floor((plot.right - plot.left) / (time === "datetime" ? 90 : 62)));
  let across = ticks(Math.min(change(x[0]), change(x[1])), Math.max(change(x[0]), change(x[1])), room);
  let names = tickText(across);
  if (log) {
    across = across.map((value) => 10 ** value);
    names = across.map((value) => show(value, 2));
  } else if (time === "datetime") names = across.map(dateText);
  across.forEach((value, k) => {
    if (value > until) return;
    const at = place.x(value);
    svg.append(
      draw("line", { class: "axis", x1: at, x2: at, y1: plot.bottom, y2: plot.bottom + 4 }),
      draw("text", { class: "quiet", x: at, y: plot.bottom + 16, "text-anchor": "middle" }, names[k]),
    );
  });
  const up = ticks(Math.min(...y), Math.max(...y), Math.max(2, Math.floor((plot.bottom - plot.top) / 36)));
  tickText(up).forEach((text, k) => {
    const at = place.y(up[k]);
    svg.append(
      draw("line", { class: "gridline", x1: plot.left, x2: plot.right, y1: at, y2: at }),
      draw("text", { class: "quiet", x: plot.left - 6, y: at + 4, "text-anchor": "end" }, text),
    );
  });
  svg.append(
    draw("path", { class: "axis", d: `M${plot.left},${plot.top}V${plot.bottom}H${plot.right}` }),
    draw("text", { x: (plot.left + plot.right) / 2, y: height - 6, "text-anchor": "middle" }, isolated(xName, 60)),
  );
  if (yName) {
    const middle = (plot.top + plot.bottom) / 2;
    const turned = { x: 12, y: middle, "text-anchor": "middle", transform: `rotate(-90 12 ${middle})` };
    svg.append(draw("text", turned, isolated(yName, 50)));
  }
  return { svg, place, plot };
}

const pathOf = (xs, ys, place) =>
  xs.map((x, k) => `${k ? "L" : "M"}${place.x(x).toFixed(1)},${place.y(ys[k]).toFixed(1)}`).join("");

function extent(values, room = 0.05, withZero = false) {
  let low = withZero ? 0 : Infinity;
  let high = withZero ? 0 : -Infinity;
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (!(high >= low)) return [-1, 1];
  const more = room * (high - low) || 0.5;
  return [low - more, high + more];
}
