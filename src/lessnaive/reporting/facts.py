"""What a report says in words: a summary, and the card of the model."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from lessnaive._version import __version__
from lessnaive.reporting.problems import Problem
from lessnaive.scorecard import Scorecard
from lessnaive.scorecard.terms import GROUPS
from lessnaive.validation.measuring import training_weight

__all__ = ["counted", "cut", "model_card", "summary"]

_LONGEST = 60


def counted(n: float, noun: str) -> str:
    """Return a number with its noun, in the plural where needed."""
    plural = noun + ("es" if noun.endswith("s") else "s")
    return f"{n:,.6g} {noun if n == 1 else plural}"


def cut(text: object, most: int = _LONGEST) -> str:
    """Return a text that is no longer than so many characters."""
    shown = str(text)
    return shown if len(shown) <= most else shown[: most - 1] + "…"


def listed(names: Sequence[object], most: int = 5) -> str:
    """Return names in a row, the first ones if there are many."""
    # Names that run from right to left, or turn text round, stand for themselves.
    shown = [f"\u2068{cut(name, 40)}\u2069" for name in names[:most]]
    if len(names) > most:
        return f"{', '.join(shown)} and {len(names) - most} more"
    return ", ".join(shown[:-1]) + " and " + shown[-1] if len(shown) > 1 else "".join(shown)


def summary(
    card: Scorecard, performance: dict[str, Any] | None, problems: Sequence[Problem]
) -> list[str]:
    """Return the model in plain sentences.

    Parameters
    ----------
    card : Scorecard
        The model.
    performance : dict or None
        Its measures on a table, if there is one.
    problems : sequence of Problem
        Problems of the data.

    Returns
    -------
    list of str
    """
    classes, terms = card.classes.tolist(), card.terms
    n_columns = Counter(len(term.inputs) for term in terms)
    used = len({place for term in terms for place in term.inputs})
    rows = training_weight(card)
    learned = "" if rows is None else f", learned from {counted(rows, 'row')}"
    groups = [f"{counted(n_columns[k], word)} of them" for k, word in GROUPS if n_columns[k]]
    pairs = "".join(f" and {group}" for group in groups)
    out = [
        f"{card.model} tells {counted(len(classes), 'class')} apart ({listed(classes)}) by "
        f"{counted(used, 'column')}{pairs}{learned}."
    ]
    order = np.argsort(-np.nan_to_num(card.importance), kind="stable")[:3]
    if len(order):
        strongest = listed([terms[place].name for place in order])
        out.append(f"What says most: {strongest}.")
    if performance is not None:
        out += _measured(performance)
    bad = sum(problem.severity == "high" for problem in problems)
    if bad:
        first = "1 problem" if bad == 1 else f"{bad} problems"
        out.append(f"{first} of the data should be looked at first: see below.")
    return out


def _measured(performance: dict[str, Any]) -> list[str]:
    by_name = {measure["name"]: measure for measure in performance["measures"]}
    accuracy, loss = by_name["accuracy"], by_name["log-loss"]
    out = [
        f"It predicts {accuracy['model']:.1%} of the {counted(performance['n_rows'], 'row')} of "
        "the table right; always guessing the most frequent class gets "
        f"{accuracy['baseline']:.1%} right."
    ]
    if loss["model"] is not None and loss["baseline"]:
        gained = 1 - loss["model"] / loss["baseline"]
        out.append(
            f"It removes {gained:.0%} of the uncertainty about the class that is left if one knows "
            "the class frequencies alone."
            if gained > 0
            else "Its probabilities are worse than the class frequencies alone: do not use them."
        )
    error = performance["calibration_error"]
    words = "about right" if error < 0.03 else "a little off" if error < 0.08 else "off"
    out.append(
        f"Its probabilities are {words}: how sure it is differs from how often it is right by "
        f"{100 * error:.1f} percentage points on average."
    )
    return out


def model_card(
    model: Any, date: str, data: Sequence[tuple[str, str]]
) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return sections of names and texts: the model, its data, versions, and parameters.

    Parameters
    ----------
    model : model
        The fitted model.
    date : str
        The date of the report.
    data : sequence of (str, str)
        What is known about the data.

    Returns
    -------
    list of (title, list of (name, text))
    """
    card: Scorecard = model.scorecard_
    rows = training_weight(card)
    described = [
        ("model", card.model),
        ("classes", listed(card.classes.tolist(), 20)),
        ("columns", f"{len(card.schema.names):,}"),
        ("terms", f"{len(card.terms):,}"),
        ("training rows", "unknown" if rows is None else f"{rows:,.6g}"),
    ]
    if getattr(model, "cv_log_loss_", None) is not None:
        described.append(("log-loss in cross-validation", f"{model.cv_log_loss_:.4f}"))
    versions = [
        ("date of the report", date),
        ("lessnaive", __version__),
        ("Python", platform.python_version()),
        ("numpy", np.__version__),
    ]
    return [
        ("Model", described),
        ("Data", list(data) or [("table", "none was given")]),
        ("Versions", versions),
        ("Parameters", _parameters(model)),
    ]


def _parameters(model: Any) -> list[tuple[str, str]]:
    """Parameters with those first that differ from their defaults."""
    if not hasattr(model, "get_params"):
        return []
    given = model.get_params(deep=False)
    defaults = type(model)().get_params(deep=False)
    changed = [name for name in given if repr(given[name]) != repr(defaults.get(name))]
    texts = [(name, f"{cut(repr(given[name]), 200)} (set)") for name in changed]
    return texts + [
        (name, cut(repr(value), 200)) for name, value in given.items() if name not in changed
    ]
