"""What the commands print: an evaluation, a model, an explanation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from rich.text import Text
from scipy.special import softmax

from lessnaive.cli.by_class import Line, most_probable, show_by_class
from lessnaive.cli.display import Display, bar, counted, percent, printable, signed
from lessnaive.cli.evaluation import METRICS, Evaluation, is_worse
from lessnaive.cli.importance import centered, removed_uncertainty, spread
from lessnaive.scorecard import Contributions, Scorecard, Term
from lessnaive.validation.choice import summarize

__all__ = ["show_evaluation", "show_explanation", "show_model"]

# Values of a column beyond this many are not listed.
_MOST_VALUES = 8


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
    if is_worse(evaluation):
        display.line()
        display.line(
            f"{model_name} is worse than knowing nothing: its log-loss is above that of the "
            f"baseline. {advice}"
        )


def show_model(scorecard: Scorecard, n_detailed: int, display: Display) -> None:
    """Print the classes of a model and its strongest evidence.

    Parameters
    ----------
    scorecard : Scorecard
        The model.
    n_detailed : int
        Number of columns whose tables are printed.
    display : Display
        Where to print.
    """
    priors = softmax(scorecard.intercept)
    classes = [str(label) for label in scorecard.classes.tolist()]
    n_columns = counted(len(scorecard.terms), "column")
    title = f"{scorecard.model} with {counted(len(classes), 'class')} and {n_columns}"
    display.line(title, "bold")
    display.line()
    _show_shares(["class", "prior"], classes, priors, display)
    display.line()
    display.line("Strongest evidence", "bold")
    display.line(
        "How much of the uncertainty about the class each column removes on its own, "
        "in the training data:",
        "dim",
    )
    shares = removed_uncertainty(scorecard)
    order = np.argsort(-shares, kind="stable")
    names = [scorecard.terms[j].name for j in order]
    _show_shares(["column", "removes"], names, shares[order], display)
    for j in order[:n_detailed]:
        display.line()
        term = scorecard.terms[j]
        lines, n_others = _term_lines(term, most_probable(priors))
        show_by_class([term.name, "rows"], lines, classes, priors, display, left=1)
        if n_others:
            display.line(f"and {counted(n_others, 'other value')}", "dim")


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
        Whether to print the contributions as they are, not relative to the mean over the classes.
    """
    scores = np.asarray(contributions)[0]
    probabilities = softmax(scores.sum(axis=0))
    compared = most_probable(probabilities)
    classes = [str(label) for label in contributions.classes.tolist()]
    best = classes[int(probabilities.argmax())]
    display.line(f"{title}: {best} ({percent(probabilities.max())})", "bold")
    display.line()
    printed = scores if absolute else centered(scores, compared)
    lines = []
    for j in 1 + np.argsort(-spread(scores[1:], compared), kind="stable"):
        name = contributions.names[j]
        lines.append(Line([printable(name, 40), values[name]], _signed(printed[j])))
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
        "+ speaks for a class, - against it: log-probabilities relative to their mean over "
        f"{these} classes",
        "dim",
    )


def _with_error(mean: float, error: float) -> str:
    if np.isnan(mean):
        return "undefined"
    digits = ".4f" if abs(mean) < 1e4 else ".4g"
    return f"{mean:{digits}}" + ("" if np.isnan(error) else f" ± {error:{digits}}")


def _signed(scores: NDArray[np.float64]) -> list[Text]:
    return [signed(score) for score in scores.tolist()]


def _show_shares(
    header: list[str], names: list[str], shares: NDArray[np.float64], display: Display
) -> None:
    """Print names with their shares, and bars for people."""
    table = display.table([*header, ""] if display.is_terminal else header)
    for name, share in zip(names, shares.tolist(), strict=True):
        bars = [Text(bar(share), "cyan")] if display.is_terminal else []
        table.add_row(printable(name, 40), percent(share), *bars)
    table.columns[-1].justify = "left" if display.is_terminal else "right"
    display.show(table)


def _term_lines(term: Term, compared: Sequence[int]) -> tuple[list[Line], int]:
    """Lines for the values that say most, and how many other values there are.

    What has a value in some classes only, such as the mean of a class, makes one line together.
    """
    typical: dict[int, tuple[str, float]] = {}
    rows = []
    for row in term.rows():
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
    weights = [row.counts.sum() * spread(row.scores, compared) for row in rows]
    strongest = np.argsort(-np.array(weights), kind="stable")[:_MOST_VALUES]
    for place in sorted(strongest.tolist()):
        row = rows[place]
        labels = [printable(row.label, 40), f"{row.counts.sum():,.6g}"]
        lines.append(Line(labels, _signed(centered(row.scores, compared))))
    return lines, len(rows) - len(strongest)
