"""What the commands print: an evaluation, a model, an explanation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from rich.text import Text
from scipy.special import softmax

from lessnaive.cli.by_class import Line, most_probable, show_by_class
from lessnaive.cli.display import Display, bar, counted, percent, printable, signed
from lessnaive.cli.evaluation import Evaluation, excess
from lessnaive.cli.importance import centered, strength
from lessnaive.scorecard import Contributions, Scorecard
from lessnaive.scorecard.terms import GROUPS, TermRow
from lessnaive.validation.cross_validation import summarize
from lessnaive.validation.predictions import METRICS

__all__ = ["show_evaluation", "show_explanation", "show_model"]

# Values of a column beyond this many are not listed.
_MOST_VALUES = 8
# What is less reads as 0.000 and 0.00.
_LEAST_IMPORTANCE, _LEAST_SCORE = 0.0005, 0.005


def show_evaluation(
    evaluation: Evaluation, model_name: str, display: Display, *, advice: str
) -> None:
    """Print the measures of a model beside those of the baseline.

    Parameters
    ----------
    evaluation : Evaluation
        The measures.
    model_name : str
        Name of the model.
    display : Display
        Where to print.
    advice : str
        What to try if the model is worse than the baseline.
    """
    table = display.table(["metric", model_name, "baseline", "better"])
    table.columns[3].justify = "left"
    columns = [summarize(values) for values in (evaluation.model, evaluation.baseline)]
    for place, metric in enumerate(METRICS):
        cells = [_with_error(mean[place], error[place]) for mean, error in columns]
        table.add_row(metric.name, Text(cells[0], "bold"), cells[1], Text(metric.better, "dim"))
    display.show(table)
    folds = len(evaluation.model)
    if folds > 1:
        display.line(f"mean ± standard error over {folds} folds", "dim")
    display.line("baseline: always the class frequencies, whatever the row holds", "dim")
    if evaluation.unknown:
        others = "no row of the other folds has" if folds > 1 else "the model does not know"
        display.line(
            f"{counted(evaluation.unknown, 'row')} of a class that {others}: "
            "counted as wrong, left out of the log-loss",
            "dim",
        )
    above, error = excess(evaluation)
    if above > 0:
        display.line()
        # Less than its error may be chance: other folds might say the opposite.
        told = (
            "no better than knowing nothing: its log-loss is not below that of the baseline."
            if above <= error
            else "worse than knowing nothing: its log-loss is above that of the baseline."
        )
        display.line(f"{model_name} is {told} {advice}")


def show_model(
    scorecard: Scorecard, n_detailed: int, display: Display, *, every_value: bool = False
) -> None:
    """Print the classes of a model and its strongest evidence.

    Parameters
    ----------
    scorecard : Scorecard
        The model.
    n_detailed : int
        Number of columns whose tables are printed.
    display : Display
        Where to print.
    every_value : bool, default=False
        Whether to print all values of these columns, not only those that say most.
    """
    is_prior = scorecard.intercept_name == "(prior)"
    priors = softmax(scorecard.intercept if is_prior else scorecard.base)
    classes = [str(label) for label in scorecard.classes.tolist()]
    display.line(f"{scorecard.model} with {_size(scorecard)}", "bold")
    display.line()
    shown = [percent(share) for share in priors.tolist()]
    _show_bars(["class", "prior" if is_prior else "average row"], classes, shown, priors, display)
    display.line()
    display.line("Strongest evidence", "bold")
    display.line(
        "How far each column moves the scores of the classes away from those of the average row, "
        "in the training data:",
        "dim",
    )
    importance, mean = scorecard.importance, scorecard.mean
    order = np.argsort(-importance, kind="stable")
    weak = importance[order] < _LEAST_IMPORTANCE  # not those that are not known
    listed = order if every_value else _worth_listing(order, weak)
    _show_importance([scorecard.terms[j].name for j in listed], importance[listed], display)
    if len(listed) < len(order):
        others = f"{len(order) - len(listed):,} others"
        display.line(f"and {others} of less than {_LEAST_IMPORTANCE:g} (--all shows them)", "dim")
    compared = most_probable(priors)
    if n_detailed:
        display.line()
        display.line(
            "What values add, relative to the average row and to the mean over the classes "
            "(+ speaks for a class, - against it):",
            "dim",
        )
    for j in order[:n_detailed]:
        display.line()
        term = scorecard.terms[j]
        lines, n_others = _term_lines(
            list(term.rows(scorecard.schema.kinds)), mean[j], compared, every_value=every_value
        )
        show_by_class([term.name, "rows"], lines, classes, priors, display, left=1)
        if n_others:
            display.line(f"and {counted(n_others, 'other value')} (--all shows them)", "dim")


def show_explanation(
    contributions: Contributions,
    values: Mapping[str, str],
    title: str,
    display: Display,
    *,
    absolute: bool,
) -> None:
    """Print what each column of a row adds to the score of each class.

    Parameters
    ----------
    contributions : Contributions of shape (1, 1 + n_terms, n_classes)
        The contributions.
    values : mapping of str to str
        What the row holds, by the name of the term.
    title : str
        Which row this is.
    display : Display
        Where to print.
    absolute : bool
        Whether the contributions are not centred, and are printed as they are.
    """
    scores = np.asarray(contributions)[0]
    probabilities = softmax(scores.sum(axis=0))
    compared = most_probable(probabilities)
    classes = [str(label) for label in contributions.classes.tolist()]
    best = classes[int(probabilities.argmax())]
    display.line(f"{title}: {best} ({percent(probabilities.max())})", "bold")
    display.line()
    printed = scores if absolute else centered(scores, compared)
    order = 1 + np.argsort(-strength(scores[1:], compared), kind="stable")
    weak = np.abs(printed[order]).max(axis=1) < _LEAST_SCORE
    listed = order if absolute else _worth_listing(order, weak)
    lines = []
    for j in listed.tolist():
        name = contributions.names[j]
        lines.append(Line([printable(name, 40), values[name]], _signed(printed[j])))
    others = np.setdiff1d(order, listed)
    if len(others):
        told = [f"{len(others):,} others", "0.00 each"]
        lines.append(Line(told, _signed(printed[others].sum(axis=0))))
    lines.append(Line([contributions.names[0], ""], _signed(printed[0]), last=True))
    lines.append(Line(["total", ""], _signed(printed.sum(axis=0))))
    chances = [Text(percent(p), "bold") for p in probabilities.tolist()]
    lines.append(Line([Text("probability", "bold"), ""], chances))
    show_by_class(["column", "value"], lines, classes, probabilities, display, left=2)
    if absolute:
        display.line("log-probabilities", "dim")
        return
    these = "the" if len(compared) == len(classes) else f"the {len(compared)} most probable"
    display.line(
        "+ speaks for a class, - against it: log-probabilities relative to the average training "
        f"row, which (base) is, and to their mean over {these} classes",
        "dim",
    )


def _worth_listing(order: NDArray[np.intp], weak: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return places without the weak ones beyond the first few, if these are several."""
    left_out = weak.copy()
    left_out[:_MOST_VALUES] = False
    return order if left_out.sum() < 2 else order[~left_out]


def _with_error(mean: float, error: float) -> str:
    if np.isnan(mean):
        return "undefined"
    digits = ".4f" if abs(mean) < 1e4 else ".4g"
    return f"{mean:{digits}}" + ("" if np.isnan(error) else f" ± {error:{digits}}")


def _signed(scores: NDArray[np.float64]) -> list[Text]:
    return [signed(score) for score in scores.tolist()]


def _size(scorecard: Scorecard) -> str:
    """Say how many classes, columns, pairs and triples of columns a model has."""
    n_columns = Counter(len(term.inputs) for term in scorecard.terms)
    parts = [counted(len(scorecard.classes), "class"), counted(n_columns[1], "column")]
    parts += [f"{counted(n_columns[k], word)} of columns" for k, word in GROUPS if n_columns[k]]
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def _show_importance(names: list[str], importance: NDArray[np.float64], display: Display) -> None:
    known = np.nan_to_num(importance)
    bars = known / max(known.max(initial=0.0), np.finfo(np.float64).tiny)
    shown = [
        "unknown" if np.isnan(i) else f"{i:.3f}" if i < 1e6 else f"{i:.3g}"
        for i in importance.tolist()
    ]
    _show_bars(["column", "importance"], names, shown, bars, display)


def _show_bars(
    header: list[str],
    names: list[str],
    shown: list[str],
    shares: NDArray[np.float64],
    display: Display,
) -> None:
    """Print names with a number each, and bars for people."""
    table = display.table([*header, ""] if display.is_terminal else header)
    for name, number, share in zip(names, shown, shares.tolist(), strict=True):
        bars = [Text(bar(share), "cyan")] if display.is_terminal else []
        table.add_row(printable(name, 40), number, *bars)
    table.columns[-1].justify = "left" if display.is_terminal else "right"
    display.show(table)


def _term_lines(
    described: Sequence[TermRow],
    mean: NDArray[np.float64],
    compared: Sequence[int],
    *,
    every_value: bool,
) -> tuple[list[Line], int]:
    """Lines for the values that say most, and how many other values there are.

    What has a value in some classes only, such as the mean of a class, makes one line together.
    """
    typical: dict[int, tuple[str, float]] = {}
    rows = []
    for row in described:
        absent = np.isnan(row.scores)
        if absent.any():
            own = np.flatnonzero(~absent).tolist()
            typical.update({c: (row.label, float(row.counts[c])) for c in own})
        else:
            rows.append(row)
    lines = []
    if typical:
        total = sum(count for _, count in typical.values())
        cells = [typical[c][0] for c in sorted(typical)]
        lines.append(Line(["mean ± spread", f"{total:,.6g}"], cells))
    # Each value counts as often as it occurs.
    scores = [row.scores if row.is_difference else row.scores - mean for row in rows]
    said = zip(rows, scores, strict=True)
    weights = [row.counts.sum() * strength(own, compared) for row, own in said]
    strongest = np.argsort(-np.array(weights), kind="stable").tolist()
    if not every_value:
        # Nobody asks first for what no row has.
        seen = [place for place in strongest if rows[place].counts.sum() > 0]
        strongest = (seen or strongest)[:_MOST_VALUES]
    for place in sorted(strongest):
        row = rows[place]
        labels = [printable(row.label, 50), f"{row.counts.sum():,.6g}"]
        lines.append(Line(labels, _signed(centered(scores[place], compared))))
    return lines, len(rows) - len(strongest)
