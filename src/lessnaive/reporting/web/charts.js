// Pictures: lines, bars, heat maps and waterfalls.

// series: [{name, x, y, low, high, style}]
function lineChart({ width, height = 280, series, x, y, xName, yName, label, log, time, marks = [], diagonal, step }) {
  const xs = series.flatMap((own) => own.x);
  const ys = series.flatMap((own) => [...own.y, ...(own.low ?? []), ...(own.high ?? [])]);
  const across = x ?? [Math.min(...xs), Math.max(...xs)];
  const { svg, place, plot } = frame({ width, height, x: across, y: y ?? extent(ys, 0.05, true), xName, yName, label, log, time });
  if (diagonal) {
    const ends = diagonal === true ? [[0, 1], [0, 1]] : diagonal;
    svg.append(draw("path", { class: "line thin", d: pathOf(ends[0], ends[1], place) }));
  }
  for (const { at, text } of marks) {
    const px = place.x(at);
    svg.append(draw("path", { class: "line thin", d: `M${px},${plot.top}V${plot.bottom}` }));
    const end = px > (plot.left + plot.right) / 2;
    svg.append(draw("text", { class: "quiet", x: px + (end ? -4 : 4), y: plot.top + 10, "text-anchor": end ? "end" : "start" }, text));
  }
  for (const own of series) {
    if (own.low) {
      const back = own.x.map((_, k) => own.x.length - 1 - k);
      const d = `${pathOf(own.x, own.high, place)}${pathOf(back.map((k) => own.x[k]), back.map((k) => own.low[k]), place).replace("M", "L")}Z`;
      svg.append(draw("path", { class: `band ${own.style}`, d }));
    }
    const line = draw("path", { class: `line ${own.style}${own.dashed ? " dashed" : ""}`, d: pathOf(own.x, own.y, place) });
    line.append(draw("title", {}, shorten(own.name)));
    svg.append(line);
    if (own.dots) own.x.forEach((value, k) => svg.append(draw("circle", { class: `dot ${own.style}`, cx: place.x(value), cy: place.y(own.y[k]), r: 3.5 })));
  }
  return { svg, place, plot, step };
}

// Curves of a numeric column, with rows in grey and what a missing value adds at the right.
function curveChart(term, shown, names, width) {
  const { x, scores, band, edges, rows, missing } = term.drawing;
  const of = (c) => scores.map((line) => line[c]);
  const series = shown.map((c) => ({
    name: names[c],
    x,
    y: of(c),
    low: band && of(c).map((score, k) => score - band[k][c]),
    high: band && of(c).map((score, k) => score + band[k][c]),
    style: colour(c),
    dashed: c >= 10,
  }));
  // A wide band must not hide the curve.
  const core = extent(shown.flatMap((c) => [...of(c), ...(missing ? [missing[c]] : [])]), 0.35, true);
  const whole = extent(series.flatMap((own) => [...own.y, ...(own.low ?? []), ...(own.high ?? [])]), 0.03, true);
  const y = [Math.max(core[0], whole[0]), Math.min(core[1], whole[1])];
  const low = x[0];
  const high = x[x.length - 1];
  const beside = missing ? 0.09 * (high - low) : 0;
  const { svg, place, plot } = frame({
    width, height: 280, x: [low, high + 1.6 * beside], y, xName: term.name, yName: "score (nats)",
    label: `What ${shorten(term.name)} adds to the scores`, time: term.time, until: high,
  });
  const inside = draw("svg", { x: plot.left, y: plot.top, width: plot.right - plot.left, height: plot.bottom - plot.top, viewBox: `${plot.left} ${plot.top} ${plot.right - plot.left} ${plot.bottom - plot.top}` });
  if (rows) {
    const ends = [low, ...edges, high].map((edge) => Math.min(high, Math.max(low, edge)));
    const dense = rows.map((n, k) => (ends[k + 1] > ends[k] ? n / (ends[k + 1] - ends[k]) : 0));
    const most = Math.max(...dense, 1e-300);
    dense.forEach((value, k) => {
      if (!value) return;
      const tall = (0.22 * (plot.bottom - plot.top) * value) / most;
      const bar = draw("rect", { class: "rows", x: place.x(ends[k]), y: plot.bottom - tall, width: Math.max(0.5, place.x(ends[k + 1]) - place.x(ends[k])), height: tall });
      bar.append(draw("title", {}, `${rowsText(rows[k])} rows`));
      inside.append(bar);
    });
  }
  for (const own of series) {
    if (!own.low) continue;
    const back = [...x.keys()].reverse();
    const d = `${pathOf(x, own.high, place)}${pathOf(back.map((k) => x[k]), back.map((k) => own.low[k]), place).replace("M", "L")}Z`;
    inside.append(draw("path", { class: `band ${own.style}`, d }));
  }
  inside.append(draw("path", { class: "axis", d: `M${plot.left},${place.y(0)}H${plot.right}` }));
  for (const own of series) inside.append(draw("path", { class: `line ${own.style}${own.dashed ? " dashed" : ""}`, d: pathOf(x, own.y, place) }));
  svg.append(inside);
  if (missing) {
    const at = high + beside;
    svg.append(draw("path", { class: "line thin", d: `M${place.x(high + 0.4 * beside)},${plot.top}V${plot.bottom}` }));
    for (const c of shown) {
      const dot = draw("circle", { class: `dot ${colour(c)}`, cx: place.x(at), cy: place.y(Math.min(y[1], Math.max(y[0], missing[c]))), r: 4 });
      dot.append(draw("title", {}, `missing: ${signed(missing[c])}`));
      svg.append(dot);
    }
    svg.append(draw("text", { class: "quiet", x: plot.right, y: plot.bottom + 28, "text-anchor": "end" }, "missing"));
  }
  return svg;
}

const MOST_BARS = 40;
function barsChart(term, shown, names, width) {
  const { labels, scores, band, rows } = term.drawing;
  let kept = labels.map((_, k) => k);
  if (kept.length > MOST_BARS && rows) {
    kept = kept.sort((a, b) => rows[b] - rows[a]).slice(0, MOST_BARS).sort((a, b) => a - b);
  } else kept = kept.slice(0, MOST_BARS);
  const left = Math.min(Math.round(0.42 * width), 30 + 6.4 * Math.max(...kept.map((k) => Math.min(34, [...shorten(labels[k], 34)].length)), 4));
  const right = rows ? 62 : 12;
  const thick = Math.max(5, Math.min(12, 26 / shown.length));
  const line = thick * shown.length + 8;
  const height = 34 + line * kept.length;
  const values = kept.flatMap((k) => shown.map((c) => scores[k][c]));
  const [low, high] = extent(values, 0.25, true);
  const toX = linear(low, high, left, width - right);
  const clamp = (value) => Math.min(width - right, Math.max(left, toX(value)));
  const svg = draw("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `What values of ${shorten(term.name)} add to the scores` });
  const marks = ticks(low, high, Math.max(2, Math.floor((width - left - right) / 60)));
  tickText(marks).forEach((text, k) => {
    const at = toX(marks[k]);
    svg.append(
      draw("line", { class: marks[k] === 0 ? "axis" : "gridline", x1: at, x2: at, y1: 14, y2: height - 18 }),
      draw("text", { class: "quiet", x: at, y: height - 4, "text-anchor": "middle" }, text),
    );
  });
  if (rows) svg.append(draw("text", { class: "quiet", x: width - 4, y: 10, "text-anchor": "end" }, "rows"));
  const characters = Math.max(6, Math.floor((left - 12) / 6.4));
  kept.forEach((k, place) => {
    const top = 16 + place * line;
    const name = draw("text", { x: left - 8, y: top + (line - 8) / 2 + 4, "text-anchor": "end" }, isolated(labels[k], characters));
    name.append(draw("title", {}, shorten(labels[k], 300)));
    svg.append(name);
    shown.forEach((c, j) => {
      const score = scores[k][c];
      const from = Math.min(toX(0), toX(score));
      const y = top + j * thick;
      const bar = draw("rect", { class: `fill-class ${colour(c)}`, x: from, y, width: Math.max(1, Math.abs(toX(score) - toX(0))), height: thick - 1 });
      bar.append(draw("title", {}, `${shorten(labels[k])}, ${shorten(names[c])}: ${signed(score)}`));
      svg.append(bar);
      if (band) svg.append(draw("line", { class: "whisker", x1: clamp(score - band[k][c]), x2: clamp(score + band[k][c]), y1: y + thick / 2 - 0.5, y2: y + thick / 2 - 0.5 }));
    });
    if (rows) svg.append(draw("text", { class: "quiet", x: width - 4, y: top + (line - 8) / 2 + 4, "text-anchor": "end" }, rowsText(rows[k])));
  });
  const others = labels.length - kept.length;
  return others > 0 ? make("div", {}, svg, make("p", { class: "quiet" }, `${others} rarer values are in the numbers below.`)) : svg;
}

// One class of a pair of columns; blue speaks for it, red against it.
function heatChart(term, c, width) {
  const { labels, other_labels: others, scores, rows } = term.drawing;
  const left = Math.min(Math.round(0.3 * width), 130);
  const cell = Math.max(4, (width - left - 10) / others.length);
  const tall = Math.max(10, Math.min(24, 420 / labels.length));
  const bottom = 14 + tall * labels.length;
  const height = bottom + 66;
  const svg = draw("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `What pairs of values of ${shorten(term.name)} add to the score` });
  const most = Math.max(...scores.flat().map((cellScores) => Math.abs(cellScores[c])), 1e-9);
  labels.forEach((label, i) => {
    others.forEach((other, j) => {
      const score = scores[i][j][c];
      const box = draw("rect", { x: left + j * cell, y: 14 + i * tall, width: cell + 0.3, height: tall + 0.3 });
      const share = Math.round((85 * Math.abs(score)) / most);
      box.style.fill = `color-mix(in srgb, var(${score >= 0 ? "--for" : "--against"}) ${share}%, var(--paper))`;
      const n = rows ? `, ${rowsText(rows[i][j])} rows` : "";
      box.append(draw("title", {}, `${shorten(label)} & ${shorten(other)}: ${signed(score)}${n}`));
      svg.append(box);
    });
  });
  const every = (count, room) => Math.max(1, Math.ceil(count / Math.max(1, Math.floor(room))));
  const down = every(labels.length, (tall * labels.length) / 14);
  labels.forEach((label, i) => {
    if (i % down) return;
    svg.append(draw("text", { class: "quiet", x: left - 5, y: 14 + (i + 0.5) * tall + 4, "text-anchor": "end" }, isolated(label, Math.floor(left / 6.2))));
  });
  const along = every(others.length, (cell * others.length) / 70);
  others.forEach((other, j) => {
    if (j % along) return;
    svg.append(draw("text", { class: "quiet", x: left + (j + 0.5) * cell, y: bottom + 14, "text-anchor": "middle" }, isolated(other, Math.max(3, Math.floor((along * cell) / 6.4)))));
  });
  const [first, second] = term.columns;
  svg.append(
    draw("text", { x: 4, y: 10 }, isolated(first, 40)),
    draw("text", { x: (left + width) / 2, y: bottom + 32, "text-anchor": "middle" }, isolated(second, 40)),
    draw("text", { class: "quiet", x: left, y: height - 6 }, `from ${signed(-most)} (red, against the class) to ${signed(most)} (blue, for it)`),
  );
  return svg;
}

// steps: [{name, value, chance}], from the average row to this one.
function waterfall({ base, steps, chances, label }, width) {
  const line = 26;
  const height = 30 + line * (steps.length + 2);
  const left = Math.min(Math.round(0.44 * width), 240);
  const right = 118;
  const until = [base];
  steps.forEach(({ value }) => until.push(until[until.length - 1] + value));
  const [low, high] = extent(until, 0.04, true);
  const toX = linear(low, high, left, width - right);
  const svg = draw("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
  const marks = ticks(low, high, Math.max(2, Math.floor((width - left - right) / 60)));
  tickText(marks).forEach((text, k) => {
    const at = toX(marks[k]);
    svg.append(
      draw("line", { class: marks[k] === 0 ? "axis" : "gridline", x1: at, x2: at, y1: 4, y2: height - 22 }),
      draw("text", { class: "quiet", x: at, y: height - 6, "text-anchor": "middle" }, text),
    );
  });
  const characters = Math.max(8, Math.floor((left - 10) / 6.6));
  const put = (place, name, from, to, style, text) => {
    const top = 8 + place * line;
    const words = draw("text", { x: left - 8, y: top + 14, "text-anchor": "end" }, isolated(name, characters));
    words.append(draw("title", {}, shorten(name, 300)));
    svg.append(
      words,
      draw("rect", { class: style, x: Math.min(toX(from), toX(to)), y: top + 2, width: Math.max(1.5, Math.abs(toX(to) - toX(from))), height: line - 9 }),
      draw("text", { class: "quiet", x: width - 4, y: top + 14, "text-anchor": "end" }, text),
    );
  };
  put(0, "(average row)", 0, base, "sum", `${signed(base)}  ${percent(chances[0])}`);
  steps.forEach(({ name, value }, k) => {
    put(k + 1, name, until[k], until[k + 1], value >= 0 ? "for" : "against", `${signed(value)}  ${percent(chances[k + 1])}`);
  });
  const last = until[until.length - 1];
  put(steps.length + 1, "(this row)", 0, last, "sum", `${signed(last)}  ${percent(chances[chances.length - 1])}`);
  return svg;
}
