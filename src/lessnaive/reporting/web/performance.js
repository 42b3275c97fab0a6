// How well the model predicts: curves of a class, a threshold to move, and confusion.
function showPerformance({ performance, classes }) {
  const chosen = byId("performance-class");
  chosen.replaceChildren(
    ...performance.classes.map(({ place }, k) => make("option", { value: k }, shorten(classes[place], 40) || "(empty)")),
  );
  chosen.value = String(classes.length === 2 ? performance.classes.length - 1 : 0);
  const charts = byId("performance-charts");
  const own = () => performance.classes[Number(chosen.value)];
  const figure = (title, value, render) =>
    make("figure", {}, make("figcaption", {}, title, value ? make("strong", {}, ` ${value}`) : null), picture(make("div", { class: "chart" }), render));

  function curves() {
    const of = own();
    const style = colour(of.place);
    const line = ({ x, y }, name) => [{ name, x, y, style }];
    const unit = { x: [0, 1], y: [0, 1], height: 270 };
    const lift = of.lift.y[of.lift.x.findIndex((x) => x >= 0.1)] / 0.1;
    const bins = of.reliability;
    charts.replaceChildren(
      figure("ROC: area", show(of.auc, 4), (width) =>
        lineChart({ ...unit, width, series: line(of.roc, "ROC"), xName: "false alarms (share)", yName: "found (share)", diagonal: true, label: "ROC curve" }).svg),
      figure("Precision and recall: average precision", show(of.average_precision, 4), (width) =>
        lineChart({ ...unit, width, series: line(of.precision_recall, "precision"), xName: "recall", yName: "precision", diagonal: [[0, 1], [of.share, of.share]], label: "Precision-recall curve" }).svg),
      figure("Calibration: expected error", show(of.calibration_error, 3), (width) => {
        const series = [{ name: "shares", x: bins.predicted, y: bins.observed, low: bins.low, high: bins.high, style, dots: true }];
        return lineChart({ ...unit, width, series, xName: "predicted probability", yName: "share found", diagonal: true, label: "Reliability curve with bands of 95 %" }).svg;
      }),
      figure("Lift: of the most probable tenth, times as many as at random", show(lift, 3), (width) =>
        lineChart({ ...unit, width, series: line(of.lift, "found"), xName: "rows taken (share)", yName: "found (share)", diagonal: true, label: "Cumulative gain" }).svg),
    );
    const lines = bins.predicted.map((p, k) => [show(p), show(bins.observed[k]), `${show(bins.low[k])} to ${show(bins.high[k])}`, rowsText(bins.counts[k])]);
    const cuts = [1, 5, 10, 20, 40, 60, 80, 100, 120, 140, 160, 180, 190, 195, 199].map((k) => {
      const right = of.thresholds.right[k];
      const taken = right + of.thresholds.wrong[k];
      const share = (part, whole) => (whole > 0 ? show(part / whole) : "–");
      const all = of.n_positive + of.n_negative;
      return [(k / 200).toFixed(3), share(taken, all), share(right, of.n_positive), share(taken - right, of.n_negative), share(right, taken)];
    });
    const numbers = make("details", { class: "numbers" }, make("summary", {}, "Numbers"));
    const put = (name, made) => numbers.append(make("div", { class: "wide", tabindex: 0, role: "region", "aria-label": name }, made));
    put("Numbers of the curves", table(["threshold", "rows taken", "found (recall)", "false alarms", "precision"], cuts, "ROC, precision and recall, lift"));
    put("Numbers of the calibration", table(["predicted", "found", "95 % interval", "rows"], lines, "Calibration"));
    charts.append(numbers);
  }

  const threshold = byId("threshold");
  function cut() {
    const of = own();
    const k = Number(threshold.value);
    byId("threshold-value").textContent = (k / 200).toFixed(3);
    const right = of.thresholds.right[k];
    const wrong = of.thresholds.wrong[k];
    const missed = of.n_positive - right;
    const left = of.n_negative - wrong;
    const name = classes[of.place];
    const own_ = table(
      ["", "predicted", "not predicted"],
      [
        [make("span", {}, "truly ", nameOf(name, 40)), rowsText(right), rowsText(missed)],
        ["truly another", rowsText(wrong), rowsText(left)],
      ],
    );
    byId("threshold-table").replaceChildren(byId("threshold-table").querySelector("caption"), ...own_.children);
    const share = (part, whole) => (whole > 0 ? percent(part / whole) : "–");
    const tiles = [
      ["precision", share(right, right + wrong)],
      ["recall", share(right, of.n_positive)],
      ["specificity", share(left, of.n_negative)],
      ["accuracy", share(right + left, of.n_positive + of.n_negative)],
    ];
    byId("threshold-measures").replaceChildren(...tiles.map(([title, text]) => make("div", {}, make("dt", {}, title), make("dd", {}, text))));
  }

  const confusion = byId("confusion");
  if (confusion) {
    const names = performance.confusion.map((_, k) => (k < classes.length ? nameOf(classes[k], 30) : "(unknown class)"));
    const made = table(["true class", ...classes.map((name) => nameOf(name, 30))], performance.confusion.map((line, k) => [names[k], ...line.map(rowsText)]));
    confusion.replaceChildren(confusion.querySelector("caption"), ...made.children);
  }
  chosen.addEventListener("change", () => {
    curves();
    cut();
  });
  threshold.addEventListener("input", cut);
  curves();
  cut();
}
