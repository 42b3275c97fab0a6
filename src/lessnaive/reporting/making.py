"""Reports of fitted models."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import date as calendar
from html import escape
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lessnaive.deploy.standalone import javascript_engine, scorecard_json
from lessnaive.export.writing import whole_file
from lessnaive.models.base import ScorecardClassifier
from lessnaive.reporting.facts import counted, cut, model_card, summary
from lessnaive.reporting.page import make_page
from lessnaive.reporting.performance import measure_performance
from lessnaive.reporting.problems import find_problems
from lessnaive.reporting.terms import describe_terms, typical_row
from lessnaive.reporting.weights import describe_path, describe_weights
from lessnaive.table import Table, read_table, read_weights
from lessnaive.validation.drift import measure_drift
from lessnaive.validation.measuring import training_weight

__all__ = ["Report", "report"]

#: What a reader may fill in, and what to write there.
NOTES = {
    "Intended use": "What the model is for, and who uses it.",
    "Not to be used for": "What it must not decide.",
    "Training data": "Where the rows come from, from when, and who is missing from them.",
    "Contact": "Who answers questions.",
}
_FRAME_HEIGHT = 640
# The population stability index of columns that have not changed at all.
_SAME = 1e-9


class Report:
    """A report: one HTML file, to be kept, sent and opened in any browser.

    Attributes
    ----------
    html : str
        The file.
    """

    def __init__(self, html: str) -> None:
        self.html = html

    def __repr__(self) -> str:
        return f"<Report of {len(self.html):,} characters: save it with save(path)>"

    def _repr_html_(self) -> str:
        """Return the report in a frame, as notebooks show it."""
        return (
            f'<iframe srcdoc="{escape(self.html)}" width="100%" height="{_FRAME_HEIGHT}" '
            'sandbox="allow-scripts allow-modals"></iframe>'
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the report to a file, as a whole or not at all.

        Parameters
        ----------
        path : str or path
            The file.
        """
        with whole_file(path) as file:
            file.write(self.html.encode())


def report(
    model: Any,
    X: Any = None,
    y: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    title: str | None = None,
    data_name: str | None = None,
    notes: Mapping[str, str] | None = None,
    date: str | None = None,
) -> Report:
    """Show a fitted model as one HTML file that needs nothing else.

    It holds a summary in words, what each column does, weights, a panel to try values in, problems
    of the data, and the card of the model; with a table, how well the model predicts it. It holds
    no rows of the table.

    Parameters
    ----------
    model : classifier of lessnaive
        A fitted model.
    X : table of shape (n_samples, n_features), optional
        Rows to measure the model on, best such that it was not learned from.
    y : array-like of shape (n_samples,), optional
        Their classes; without them only problems of the data are looked for.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows.
    title : str, optional
        What stands above; by default the name of the model.
    data_name : str, optional
        What the table is called.
    notes : mapping of str to str, optional
        Texts for the card of the model, such as ``{"Intended use": "..."}``; what is not given can
        be filled in on the page.
    date : str, optional
        The date of the report; by default today.

    Returns
    -------
    Report
        Its ``save(path)`` writes the file; notebooks show it.

    Examples
    --------
    >>> import tempfile, pathlib, lessnaive
    >>> X, y = lessnaive.datasets.load_penguins("pandas")
    >>> model = lessnaive.LessNaiveClassifier().fit(X[::2], y[::2])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "penguins.html"
    ...     lessnaive.report(model, X[1::2], y[1::2]).save(path)
    """
    card = _scorecard(model)
    if X is None and y is not None:
        raise ValueError("y without X says nothing: give both.")
    table = None if X is None else read_table(X)
    weights = None if table is None else read_weights(sample_weight, table.n_rows)
    labels = None if y is None or table is None else _labels(y, card.classes, table)
    performance = (
        None
        if table is None or labels is None
        else measure_performance(model, table, labels, weights)
    )
    problems = find_problems(card, table, weights, labels)
    columns = None if table is None else card.schema.match(table, card.model)
    weighting, path = describe_weights(model), describe_path(model)
    terms = describe_terms(card)
    today = calendar.today().isoformat() if date is None else date
    facts = {
        "title": cut(title or f"{card.model} report", 200),
        "model_name": card.model,
        "summary": summary(card, performance, problems),
        "performance": performance,
        "is_training": table is not None and _is_training(card, table, weights),
        "problems": problems,
        "has_table": table is not None,
        "weights": weighting,
        "path": path,
        "n_terms": len(terms),
        "card": model_card(model, today, _data_facts(table, labels, data_name, weights)),
        "notes": _notes(notes),
    }
    data = {
        "classes": [str(label) for label in card.classes.tolist()],
        "terms": terms,
        "performance": performance,
        "weights": weighting,
        "path": path,
        "typical": typical_row(card, columns),
    }
    html = make_page(facts, data, scorecard_json(model), javascript_engine())
    return Report(html)


def _scorecard(model: Any) -> Any:
    if not isinstance(model, ScorecardClassifier):
        is_pipeline = isinstance(getattr(model, "steps", None), list)
        remedy = ": give its last step, pipeline[-1], and the table as that gets it"
        raise TypeError(
            f"report shows a fitted classifier of lessnaive, got {type(model).__name__}"
            f"{remedy if is_pipeline else ''}."
        )
    return model._fitted_scorecard()


def _labels(y: ArrayLike, classes: NDArray[Any], table: Table) -> NDArray[np.int64]:
    """Return the places of classes, -1 for those that the model does not know."""
    given = np.asarray(y).tolist()
    if len(given) != table.n_rows:
        raise ValueError(f"X has {table.n_rows} rows and y has {len(given)}: give one for each.")
    places = {label: place for place, label in enumerate(classes.tolist())}
    labels = np.array([places.get(label, -1) for label in given], dtype=np.int64)
    if (labels < 0).all():
        known = ", ".join(map(repr, list(places)[:3]))
        raise ValueError(f"y holds none of the classes of the model ({known}), but {given[0]!r}.")
    return labels


def _is_training(card: Any, table: Table, weights: NDArray[np.float64] | None) -> bool:
    """Whether a table seems to be the one that a model was learned from."""
    rows = table.n_rows if weights is None else float(weights.sum())
    if training_weight(card) != rows:
        return False
    indices = [drift.stability for drift in measure_drift(card, table, weights)]
    return all(index is None or index < _SAME for index in indices)


def _data_facts(
    table: Table | None,
    labels: NDArray[np.int64] | None,
    name: str | None,
    weights: NDArray[np.float64] | None,
) -> list[tuple[str, str]]:
    if table is None:
        return []
    out = [("table", name or "as given"), ("rows", f"{table.n_rows:,}")]
    out.append(("columns", f"{len(table.columns):,}"))
    out.append(("classes known", "no" if labels is None else "yes"))
    if weights is not None:
        out.append(("weight of the rows", counted(float(weights.sum()), "row")))
    return out


def _notes(given: Mapping[str, str] | None) -> list[tuple[str, str, str]]:
    """Return names, texts, and what to write where there is none."""
    known = {} if given is None else {str(name): str(text) for name, text in given.items()}
    out = [(name, known.pop(name, ""), hint) for name, hint in NOTES.items()]
    return out + [(name, text, "") for name, text in known.items()]
