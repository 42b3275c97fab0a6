// Try values: a field for each column, the probabilities, and what each column adds to them.
const MOST_OPTIONS = 200;
const MOST_STEPS = 12;
const NEVER_SEEN = "\u0001never seen";

// The values that the formulas know of each column, and which columns are numbers.
function columnValues(model) {
  const values = model.columns.map(() => new Map());
  const numeric = model.columns.map(() => false);
  for (const { terms } of model.members) {
    for (const term of terms) {
      const codes = term.codes === undefined ? [] : [term.codes].flat();
      if (term.column !== undefined) numeric[term.column] = true;
      for (const { column, edges, groups } of codes) {
        if (edges) numeric[column] = true;
        else {
          const own = model.columns[column].kind === "boolean" ? Boolean : (value) => value;
          groups.flat().map(own).forEach((value) => values[column].set(JSON.stringify(value), value));
        }
      }
    }
  }
  return model.columns.map((column, j) => ({ ...column, numeric: numeric[j], values: [...values[j].values()] }));
}

function valueText(value, kind) {
  if (kind === "boolean") return value ? "true" : "false";
  return kind === "datetime" && typeof value === "number" ? dateText(value) : String(value);
}

function neverSeen({ kind, values }) {
  if (kind === "boolean") return null;
  if (values.some((value) => typeof value === "string") || !values.length) return NEVER_SEEN;
  return 1 + Math.max(...values.map(Number));
}

// A field: {element, read, write}; read throws where the text is no value of the column.
function makeField(column, place, typical) {
  const id = `field-${place}`;
  const label = make("label", { for: id }, nameOf(column.name, 60));
  const wrap = (control) => make("div", { class: "field" }, label, control);
  const known = new Map(column.values.map((value) => [JSON.stringify(value), value]));
  if (!column.numeric && column.values.length <= MOST_OPTIONS && column.values.length) {
    const unseen = neverSeen(column);
    const choices = [["(missing)", null], ...column.values.map((value) => [valueText(value, column.kind), value])];
    if (unseen !== null) choices.push(["(never seen)", unseen]);
    const options = choices.map(([text, value], k) => {
      const kind = value === null ? "missing" : known.has(JSON.stringify(value)) ? "known" : "unseen";
      return make("option", { value: k, "data-kind": kind, "data-value": JSON.stringify(value) }, shorten(text, 60) || "(empty text)");
    });
    const control = make("select", { id, "data-column": column.name }, options);
    const write = (value) => {
      const text = JSON.stringify(value);
      control.value = String(Math.max(0, choices.findIndex(([, own]) => JSON.stringify(own) === text)));
    };
    write(typical ?? null);
    return { element: wrap(control), read: () => choices[Number(control.value)][1], write };
  }
  const isNumber = column.numeric && column.kind !== "datetime";
  const listId = column.values.length && !column.numeric ? `values-${place}` : null;
  const control = make("input", {
    id,
    type: isNumber ? "number" : "text",
    step: isNumber ? "any" : null,
    list: listId,
    placeholder: column.kind === "datetime" ? "2024-02-29" : "missing",
    autocomplete: "off",
    "data-column": column.name,
  });
  const list = listId && make("datalist", { id: listId }, column.values.slice(0, 2000).map((value) => make("option", { value: shorten(valueText(value, column.kind), 200) })));
  const byText = new Map(column.values.map((value) => [valueText(value, column.kind), value]));
  const read = () => {
    const text = control.value.trim();
    if (isNumber) {
      if (control.validity.badInput) throw new TypeError("no number");
      return text === "" ? null : Number(text);
    }
    if (control.value === "") return null;
    if (column.numeric) return text;
    return byText.has(control.value) ? byText.get(control.value) : column.kind === "number" ? Number(text) : control.value;
  };
  const write = (value) => {
    const date = column.kind === "datetime" && typeof value === "number";
    control.value = value === null || value === undefined ? "" : date ? new Date(1000 * value).toISOString().slice(0, 19) : valueText(value, column.kind);
  };
  write(typical);
  const element = wrap(control);
  if (list) element.append(list);
  return { element, read, write };
}

function relativeScores(scores) {
  const possible = scores.filter(Number.isFinite);
  const mean = possible.reduce((a, b) => a + b, 0) / (possible.length || 1);
  return scores.map((score) => score - mean);
}

function softmax(scores) {
  const highest = scores.reduce((a, b) => Math.max(a, b));
  const odds = scores.map((score) => Math.exp(score - highest));
  const total = odds.reduce((a, b) => a + b, 0);
  return odds.map((odd) => odd / total);
}

// From the average row to this one, the largest steps first.
function stepsOf(parts, c, textOf) {
  const [first, ...terms] = parts;
  const order = terms.map((term) => ({ ...term, value: relativeScores(term.scores)[c] }));
  order.sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
  const shown = order.slice(0, MOST_STEPS).map((term) => ({ ...term, name: textOf(term.name) }));
  const others = order.slice(MOST_STEPS);
  if (others.length) {
    const scores = others.reduce((sum, term) => sum.map((score, k) => score + term.scores[k]), first.scores.map(() => 0));
    shown.push({ name: `${others.length} other terms`, scores, value: relativeScores(scores)[c] });
  }
  let sum = first.scores;
  const chances = [softmax(sum)[c]];
  for (const { scores } of shown) {
    sum = sum.map((score, k) => score + scores[k]);
    chances.push(softmax(sum)[c]);
  }
  return { base: relativeScores(first.scores)[c], steps: shown, chances };
}

function showWhatIf(data, model) {
  const scorer = lessnaiveScorer(model);
  const names = data.classes;
  const columns = columnValues(model);
  const rank = new Map();
  data.terms.forEach((term) => term.columns.forEach((name) => rank.has(name) || rank.set(name, rank.size)));
  const used = columns.filter((column) => column.used).sort((a, b) => (rank.get(a.name) ?? 1e9) - (rank.get(b.name) ?? 1e9));
  const fields = used.map((column, place) => ({ column, ...makeField(column, place, data.typical[column.name]) }));
  const chances = make("table", { class: "chances" });
  const chosen = make("select", { id: "what-if-class" }, make("option", { value: "best" }, "the most probable"), names.map((name, c) => make("option", { value: c }, shorten(name, 40) || "(empty)")));
  const chart = make("div", { class: "chart", id: "waterfall" });
  const status = make("p", { class: "quiet", role: "status", id: "what-if-status" });
  const search = make("input", { type: "search", id: "field-search", autocomplete: "off" });
  const buttons = [
    ["Typical row", () => fields.forEach(({ column, write }) => write(data.typical[column.name] ?? null))],
    ["All missing", () => fields.forEach(({ write }) => write(null))],
  ].map(([text, act]) => {
    const button = make("button", { type: "button" }, text);
    button.addEventListener("click", () => {
      act();
      update();
    });
    return button;
  });

  const empty = {};
  const put = (row, name, value) => Object.defineProperty(row, name, { value, enumerable: true, configurable: true });
  used.forEach(({ name }) => put(empty, name, null));
  const isWrong = (name, value) => {
    try {
      scorer.predictProba(put({ ...empty }, name, value));
      return false;
    } catch {
      return true;
    }
  };

  // The values of all fields; what is no value of its column counts as missing, and is marked.
  function readRow() {
    const row = {};
    const wrong = new Set();
    for (const { column, read } of fields) {
      try {
        put(row, column.name, read());
      } catch {
        put(row, column.name, null);
        wrong.add(column.name);
      }
    }
    try {
      scorer.predictProba(row);
    } catch {
      for (const { name } of used) {
        if (!isWrong(name, row[name])) continue;
        put(row, name, null);
        wrong.add(name);
      }
    }
    fields.forEach(({ column, element }) => element.classList.toggle("wrong", wrong.has(column.name)));
    return { row, wrong: [...wrong] };
  }

  function update() {
    const { row, wrong } = readRow();
    const p = scorer.predictProba(row);
    const best = p.indexOf(Math.max(...p));
    const order = p.map((_, c) => c).sort((a, b) => p[b] - p[a]).slice(0, 20);
    const lines = (names.length <= 20 ? p.map((_, c) => c) : order).map((c) => {
      const bar = make("span", { class: `chance ${colour(c)}` });
      bar.style.width = `${100 * p[c]}%`;
      return make("tr", {}, make("th", { scope: "row" }, nameOf(names[c], 40)), make("td", { class: "n", "data-class": c, "data-probability": p[c] }, percent(p[c])), make("td", {}, bar));
    });
    chances.replaceChildren(make("caption", {}, "Probability of each class"), make("tbody", {}, lines));
    status.textContent = wrong.length ? `No value of the column, taken as missing: ${wrong.map((name) => shorten(name, 40)).join(", ")}` : `Most probable: ${shorten(names[best], 60)}, ${percent(p[best])}`;
    const c = chosen.value === "best" ? best : Number(chosen.value);
    if (model.members.length > 1) {
      chart.replaceChildren(make("p", { class: "note" }, "This model averages the probabilities of several scorecards, so that they are no sum over columns."));
      return;
    }
    const textOf = (name) => {
      const term = data.terms.find((own) => own.name === name);
      const values = (term?.columns ?? []).map((column) => {
        const kind = used.find((own) => own.name === column)?.kind;
        const value = row[column];
        if (value === null || value === undefined) return "(missing)";
        return value === NEVER_SEEN ? "(never seen)" : shorten(valueText(value, kind), 24);
      });
      return values.length ? `${shorten(name, 40)} = ${values.join(" & ")}` : shorten(name, 40);
    };
    const made = stepsOf(scorer.explain(row), c, textOf);
    picture(chart, (width) => waterfall({ ...made, label: `What each column adds to the score of ${shorten(names[c])}` }, width));
  }

  const box = make("div", { class: "fields", role: "group", "aria-label": "Values" }, fields.map(({ element }) => element));
  box.addEventListener("input", update);
  chosen.addEventListener("change", update);
  search.addEventListener("input", () => {
    const wanted = search.value.trim().toLowerCase();
    fields.forEach(({ column, element }) => { element.hidden = !column.name.toLowerCase().includes(wanted); });
  });
  byId("what-if-panel").replaceChildren(
    make("div", { class: "panel" },
      make("div", {}, make("p", { class: "controls" }, make("label", {}, "Find a column ", search), buttons), box),
      make("div", {}, chances, status, make("p", { class: "controls" }, make("label", {}, "What speaks for or against ", chosen)), chart, make("p", { class: "quiet" }, "From the average training row to this one: each bar is what a column adds to the score of the class, relative to the mean over the classes; beside it the probability with the columns so far."))),
  );
  update();
}
