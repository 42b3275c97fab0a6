"""A fitted model as formulas: all that a program in another language needs to predict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lessnaive.scorecard import Scorecard
from lessnaive.scorecard.terms.formulas import Formula
from lessnaive.table import Kind

__all__ = ["InputColumn", "Member", "ModelFormulas", "TermFormula", "falls_short", "formulas_of"]

# Members of an average with a smaller weight are left out.
_SMALLEST_WEIGHT = 1e-15


@dataclass(frozen=True)
class InputColumn:
    """A column of the table to predict.

    Attributes
    ----------
    name : str
        Its name.
    kind : Kind
        What it holds.
    used : bool
        Whether any formula looks at it; other columns need not be there.
    """

    name: str
    kind: Kind
    used: bool


@dataclass(frozen=True)
class TermFormula:
    """A term of a scorecard.

    Attributes
    ----------
    name : str
        Its name.
    formula : Formula
        What it adds to the scores of the classes.
    mean : array of shape (n_classes,)
        What it adds on average over the training rows.
    """

    name: str
    formula: Formula
    mean: NDArray[np.float64]


@dataclass(frozen=True)
class Member:
    """A scorecard with its weight in an average of probabilities; most models are a single one.

    Attributes
    ----------
    weight : float
        Its weight.
    intercept : array of shape (n_classes,)
        The scores of a row without any evidence.
    terms : list of TermFormula
        What is added to them.
    """

    weight: float
    intercept: NDArray[np.float64]
    terms: list[TermFormula]

    def sums(self) -> tuple[list[TermFormula], list[TermFormula]]:
        """Return the terms in the order in which Python adds them up, so that ties are the same.

        The first ones are added to the intercept one by one, the others to 0, and then both sums
        to each other.
        """
        ordered = sorted(self.terms, key=lambda term: term.formula.order)
        split = sum(term.formula.order < 3 for term in ordered)
        return ordered[:split], ordered[split:]


@dataclass(frozen=True)
class ModelFormulas:
    r"""The probabilities of a model as formulas.

    .. math::
        p(c \mid x) = \sum_m w_m \, \frac{e^{s_{mc}(x)}}{\sum_k e^{s_{mk}(x)}}
        \qquad s_{mc}(x) = b_{mc} + \sum_j s_{mjc}(x)

    Attributes
    ----------
    model : str
        Name of the model.
    columns : list of InputColumn
        All columns that the model was fitted with.
    classes : list
        The classes.
    members : list of Member
        The scorecards m: one, unless the model averages probabilities.
    """

    model: str
    columns: list[InputColumn]
    classes: list[Any]
    members: list[Member]

    def used_columns(self) -> Iterator[tuple[int, InputColumn]]:
        """Yield the columns that formulas look at, with their places."""
        return ((place, column) for place, column in enumerate(self.columns) if column.used)

    def to_plain(self) -> dict[str, Any]:
        """Return the formulas as plain data, which the standalone programs read."""
        return {
            "model": self.model,
            "columns": [
                {"name": column.name, "kind": str(column.kind), "used": column.used}
                for column in self.columns
            ],
            "classes": self.classes,
            "members": [
                {
                    "weight": member.weight,
                    "intercept": member.intercept.tolist(),
                    "terms": [
                        {
                            "name": term.name,
                            "order": term.formula.order,
                            "mean": term.mean.tolist(),
                            **term.formula.to_plain(),
                        }
                        for term in member.terms
                    ],
                }
                for member in self.members
            ],
        }


def falls_short(edge: float) -> bool:
    """Whether an edge is below the number of 15 digits that it is as good as.

    The middle of 0.66 and 0.7 is not 0.68, but a little less: so 0.68 is above that edge, and where
    numbers are not told apart to the last digit, the edge has to be moved to keep it there.
    """
    return edge < float(f"{edge:.15g}")


def formulas_of(model: Any) -> ModelFormulas:
    """Return the formulas of a fitted model.

    Parameters
    ----------
    model : estimator or Scorecard
        A fitted classifier of lessnaive, or the scorecard of one.

    Returns
    -------
    ModelFormulas

    Examples
    --------
    >>> from lessnaive import NaiveBayes
    >>> from lessnaive.deploy.formulas import formulas_of
    >>> X, y = [[1.0, "a"], [2.0, "b"], [4.0, "b"], [5.0, "b"]], [0, 0, 1, 1]
    >>> formulas = formulas_of(NaiveBayes().fit(X, y))
    >>> [column.name for column in formulas.columns], formulas.classes
    (['x0', 'x1'], [0, 1])
    >>> formulas.members[0].terms[1].formula.codes[0]
    ValueCodes(column=1, groups=[['a'], ['b']])
    """
    if not hasattr(model, "members"):
        model = _predictor(model)
    parts = [(weight, card) for weight, card in model.members() if weight >= _SMALLEST_WEIGHT]
    members = [_member(weight, card) for weight, card in parts]
    used = {place for _, card in parts for term in card.terms for place in term.inputs}
    first: Scorecard = parts[0][1]
    columns = [
        InputColumn(name, kind, place in used)
        for place, (name, kind) in enumerate(
            zip(first.schema.names, first.schema.kinds, strict=True)
        )
    ]
    return ModelFormulas(first.model, columns, first.classes.tolist(), members)


def _predictor(model: Any) -> Any:
    if hasattr(model, "_predictor"):
        return model._predictor()
    name = type(model).__name__
    problem = f"Only classifiers of lessnaive can be exported, and {name} is none of them"
    if isinstance(getattr(model, "steps", None), list):
        raise TypeError(
            f"{problem}: export its last step, pipeline[-1], and apply the others before; to ONNX "
            "skl2onnx converts pipelines as a whole."
        )
    raise TypeError(f"{problem}.")


def _member(weight: float, card: Scorecard) -> Member:
    both = zip(card.terms, card.mean, strict=True)
    terms = [TermFormula(term.name, term.formula(), mean) for term, mean in both]
    return Member(weight, card.intercept, terms)
