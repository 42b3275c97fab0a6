// Probabilities and contributions of single rows, in any browser or runtime of JavaScript.
//
// lessnaiveScorer(model) takes the formulas of a model as plain data and returns
//   classes                the classes
//   columns                the columns: {name, kind, used}
//   predictProba(row)      the probability of each class, in the order of classes
//   predict(row)           the most probable class; the first one where several tie
//   scores(row)            the score of each class, of a model that is one scorecard
//   explain(row)           what each term adds to the scores: [{name, scores}, ...], relative to the
//                          average training row, whose scores come first as "(base)"
// A row is an object with the columns that are used; null, undefined and NaN are missing. Dates are
// Date objects, text in ISO 8601, or seconds since 1970; durations are seconds.
function lessnaiveScorer(model) {
  "use strict";
  const FARTHEST = 1e200;
  const LARGEST = Number.MAX_VALUE;
  const ISO =
    /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?\s*(Z|[+-]\d\d:?\d\d)?)?$/;

  const cut = (value, most) => Math.min(most, Math.max(-most, value));
  const added = (a, b) => a.map((value, c) => value + b[c]);

  function number(value) {
    if (typeof value === "boolean") return Number(value);
    if (typeof value === "bigint") return Number(value);
    if (typeof value !== "number") throw new TypeError("expected a number");
    if (!Number.isFinite(value)) throw new RangeError("it is infinite");
    return value;
  }

  function text(value) {
    if (typeof value !== "string") throw new TypeError("expected text");
    return value;
  }

  function instant(value) {
    if (value instanceof Date) return value.getTime() / 1000;
    if (typeof value !== "string") return number(value);
    const parts = ISO.exec(value);
    if (!parts) throw new TypeError("expected a date in ISO 8601");
    const [, year, month, day, hour, minute, second, fraction, zone] = parts;
    const start = new Date(0);
    start.setUTCFullYear(+year, +month - 1, +day);
    start.setUTCHours(+(hour ?? 0), +(minute ?? 0), +(second ?? 0), 0);
    let seconds = start.getTime() / 1000;
    if (zone && zone !== "Z") {
      const minutes = 60 * +zone.slice(1, 3) + +zone.slice(-2);
      seconds -= 60 * (zone[0] === "-" ? -minutes : minutes);
    }
    return (seconds * 1e6 + +(fraction ?? "").padEnd(6, "0").slice(0, 6)) / 1e6;
  }

  const either = (value) => (typeof value === "string" ? value : number(value));
  const READERS = new Map([
    ["number", number],
    ["boolean", number],
    ["text", text],
    ["mixed", either],
    ["empty", either],
    ["datetime", instant],
    ["duration", number],
  ]);

  function read(row, { name, kind, used }) {
    if (!used) return null;
    if (!Object.hasOwn(row, name)) {
      throw new TypeError(`the row has no ${JSON.stringify(name)}: give null where it is missing`);
    }
    const value = row[name];
    if (value === null || value === undefined || Number.isNaN(value)) return null;
    if (value instanceof Date && Number.isNaN(value.getTime())) return null;
    try {
      return READERS.get(kind)(value);
    } catch (error) {
      throw new TypeError(`Column ${JSON.stringify(name)} holds ${String(value)}: ${error.message}`);
    }
  }

  // Codes: 0 is missing, the last one unseen.
  function codeFinder(codes) {
    const { column, edges, groups, special = [] } = codes;
    if (edges) {
      const apart = new Map(special.map((value, k) => [value, edges.length + 2 + k]));
      return (values) => {
        const x = values[column];
        if (x === null) return 0;
        if (apart.has(x)) return apart.get(x);
        let low = 0;
        let high = edges.length;
        while (low < high) {
          const middle = (low + high) >> 1;
          if (edges[middle] < x) low = middle + 1;
          else high = middle;
        }
        return 1 + low;
      };
    }
    const known = new Map([[null, 0]]);
    groups.forEach((group, place) => group.forEach((value) => known.set(value, place + 1)));
    return (values) => known.get(values[column]) ?? 1 + groups.length;
  }

  const FORMS = new Map([
    [
      "cells",
      ({ codes, scores }) => {
        const finders = codes.map(codeFinder);
        return (values) => finders.reduce((cell, find) => cell[find(values)], scores);
      },
    ],
    [
      "lines",
      ({ codes, anchors, offset, slope, missing }) => {
        const find = codeFinder(codes);
        return (values) => {
          const k = find(values) - 1;
          if (k < 0) return missing;
          const away = cut(values[codes.column] - anchors[k], LARGEST);
          return offset[k].map((start, c) => start + cut(slope[k][c] * away, FARTHEST));
        };
      },
    ],
    [
      "parabolas",
      ({ column, offset, center, factor, weight, missing }) => (values) => {
        const x = values[column];
        if (x === null) return missing;
        return offset.map((top, c) => {
          const z = (x - center[c]) * factor[c];
          return top - weight[c] * Math.min(FARTHEST, z * z);
        });
      },
    ],
  ]);

  const members = model.members.map(({ weight, intercept, terms }) => {
    const made = terms.map((term) => ({
      name: term.name,
      mean: term.mean,
      order: term.order,
      find: FORMS.get(term.form)(term),
    }));
    // In the order in which lessnaive adds, so that ties are ties here too.
    const ordered = [...made].sort((a, b) => a.order - b.order);
    const first = ordered.filter((term) => term.order < 3);
    const second = ordered.filter((term) => term.order === 3);
    const total = (start, some, values) =>
      some.reduce((sum, term) => added(sum, term.find(values)), start);
    return {
      weight,
      intercept,
      terms: made,
      scores: (values) =>
        added(total(intercept, first, values), total(intercept.map(() => 0), second, values)),
    };
  });

  function onlyMember() {
    if (members.length > 1) {
      throw new TypeError("An average of several scorecards is no sum over columns.");
    }
    return members[0];
  }

  const readAll = (row) => model.columns.map((column) => read(row, column));

  function probabilities(values) {
    let out = model.classes.map(() => 0);
    for (const { weight, scores } of members) {
      const own = scores(values);
      const highest = own.reduce((a, b) => Math.max(a, b));
      const odds = own.map((score) => Math.exp(score - highest));
      const total = odds.reduce((a, b) => a + b, 0);
      out = out.map((p, c) => p + weight * (odds[c] / total));
    }
    return out;
  }

  return {
    classes: model.classes,
    columns: model.columns,
    predictProba: (row) => probabilities(readAll(row)),
    predict(row) {
      const values = readAll(row);
      const scores = members.length === 1 ? members[0].scores(values) : probabilities(values);
      return model.classes[scores.indexOf(scores.reduce((a, b) => Math.max(a, b)))];
    },
    scores: (row) => onlyMember().scores(readAll(row)),
    explain(row) {
      const member = onlyMember();
      const values = readAll(row);
      const base = member.terms.reduce((sum, { mean }) => added(sum, mean), member.intercept);
      return [
        { name: "(base)", scores: base },
        ...member.terms.map(({ name, mean, find }) => ({
          name,
          scores: find(values).map((score, c) => score - mean[c]),
        })),
      ];
    },
  };
}
