// What the columns do: a list that is searched and sorted, with a picture for each.
const MOST_TERMS = 200;
const MOST_SHOWN_CLASSES = 10;
const N_OPEN = 3;

function termNumbers(term, names) {
  const { drawing } = term;
  const cells = (scores) => scores.map(signed);
  const head = ["value", ...(drawing.rows ? ["rows"] : []), ...names.map((name) => nameOf(name, 30))];
  const rows = (k) => (drawing.rows ? [rowsText(drawing.rows[k])] : []);
  if (drawing.type === "bars") {
    return table(head, drawing.labels.map((label, k) => [nameOf(label), ...rows(k), ...cells(drawing.scores[k])]));
  }
  if (drawing.type === "heat") {
    const lines = drawing.labels.flatMap((label, i) =>
      drawing.other_labels.map((other, j) => [
        make("span", {}, nameOf(label, 40), " & ", nameOf(other, 40)),
        ...(drawing.rows ? [rowsText(drawing.rows[i][j])] : []),
        ...cells(drawing.scores[i][j]),
      ]),
    );
    return table(head, lines);
  }
  const value = (x) => (term.time === "datetime" ? dateText(x) : show(x, 6));
  const lines = drawing.x.map((x, k) => [value(x), ...cells(drawing.scores[k])]);
  if (drawing.missing) lines.unshift(["(missing)", ...cells(drawing.missing)]);
  return table(["value", ...names.map((name) => nameOf(name, 30))], lines, "Between two values the score goes straight from one to the other; a value that stands twice is a jump");
}

function showTerms(data) {
  const { terms, classes } = data;
  const list = byId("terms");
  const chosen = byId("term-class");
  const two = classes.length === 2;
  chosen.replaceChildren(
    ...(two ? [] : [make("option", { value: "all" }, classes.length > MOST_SHOWN_CLASSES ? `the first ${MOST_SHOWN_CLASSES}` : "all")]),
    ...classes.map((name, c) => make("option", { value: c }, shorten(name, 40) || "(empty)")),
  );
  if (two) chosen.value = "1";
  const strongest = Math.max(...terms.map((term) => term.importance), 1e-300);
  let most = MOST_TERMS;

  const shownClasses = () =>
    chosen.value === "all" ? classes.map((_, c) => c).slice(0, MOST_SHOWN_CLASSES) : [Number(chosen.value)];

  function body(term, place) {
    const shown = shownClasses();
    const { type } = term.drawing;
    const one = shown[shown.length - 1];
    const renderers = {
      bars: (width) => barsChart(term, shown, classes, width),
      curve: (width) => curveChart(term, shown, classes, width),
      heat: (width) => heatChart(term, one, width),
    };
    const numbers = make("details", { class: "numbers" }, make("summary", {}, "Numbers"));
    numbers.addEventListener("toggle", () => {
      if (numbers.open && numbers.children.length === 1) {
        const region = { class: "wide tall", tabindex: 0, role: "region", "aria-label": "Numbers" };
        numbers.append(make("div", region, termNumbers(term, classes)));
      }
    });
    place.replaceChildren(legend(classes, type === "heat" ? [one] : shown), picture(make("div", { class: "chart" }), renderers[type]), numbers);
  }

  const items = terms.map((term) => {
    const bar = make("span");
    bar.style.width = `${(100 * term.importance) / strongest}%`;
    const summary = make(
      "summary",
      {},
      make("span", { class: "name" }, nameOf(term.name)),
      make("span", { class: "strength", "aria-hidden": "true" }, bar),
      make("span", { class: "n" }, show(term.importance)),
    );
    const place = make("div", { class: "body" });
    const element = make("details", { class: "term" }, summary, place);
    element.addEventListener("toggle", () => {
      if (element.open && !place.firstChild) body(term, place);
    });
    return { term, element, place };
  });

  function arrange() {
    const wanted = byId("term-search").value.trim().toLowerCase();
    const found = items.filter(({ term }) => term.name.toLowerCase().includes(wanted));
    const orders = {
      importance: () => 0,
      name: (a, b) => a.term.name.localeCompare(b.term.name),
      place: (a, b) => a.term.place - b.term.place,
    };
    found.sort(orders[byId("term-sort").value]);
    list.replaceChildren(...found.slice(0, most).map(({ element }) => element));
    byId("more-terms").hidden = found.length <= most;
    byId("term-count").textContent = `${Math.min(most, found.length)} of ${items.length} shown`;
    return found;
  }

  items.slice(0, N_OPEN).forEach(({ element, term, place }) => {
    body(term, place);
    element.open = true;
  });
  const openAll = (open) => arrange().slice(0, most).forEach(({ element, term, place }) => {
    if (open && !place.firstChild) body(term, place);
    element.open = open;
  });
  byId("term-search").addEventListener("input", arrange);
  byId("term-sort").addEventListener("change", arrange);
  chosen.addEventListener("change", () => items.forEach(({ term, place }) => place.firstChild && body(term, place)));
  byId("open-terms").addEventListener("click", () => openAll(true));
  byId("close-terms").addEventListener("click", () => openAll(false));
  byId("more-terms").addEventListener("click", () => {
    most += MOST_TERMS;
    arrange();
  });
  arrange();
}
