"""What came of a comparison: a table of models, and which are not worse than the best."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lessnaive.stats import corrected_resampled_t_test
from lessnaive.validation.cross_validation import summarize
from lessnaive.validation.predictions import CALIBRATION, METRICS

__all__ = ["MEASURES", "TITLES", "Comparison", "ComparisonRow"]

Floats = NDArray[np.float64]

_METRICS = {metric.name: metric for metric in (*METRICS, CALIBRATION)}
#: Measures by name.
MEASURES = {
    "log_loss": _METRICS["log-loss"],
    "accuracy": _METRICS["accuracy"],
    "auc": _METRICS["AUC"],
    "brier": _METRICS["Brier"],
    "calibration": _METRICS["calibration"],
}
# Models that differ by less are the same, however regular the difference is.
_ROUNDING = 1e-12
#: What else is told of a model.
_FACTS = ("columns", "fit_seconds", "predict_seconds")
# What a brief table has besides what models are ordered by.
_BRIEF = ("accuracy", "auc", "columns", "fit_seconds")
#: What stands above the columns of a table for people.
TITLES = {
    **{name: metric.name for name, metric in MEASURES.items()},
    "columns": "columns",
    "fit_seconds": "fit s",
    "predict_seconds": "predict s",
}


@dataclass(frozen=True)
class ComparisonRow:
    """What came of one model.

    Attributes
    ----------
    model : str
        Its name.
    mean, error : dict of str to float
        Mean over the splits and its standard error, by measure; also of ``columns`` (the number of
        columns used, NaN if unknown), ``fit_seconds`` and ``predict_seconds``. Splits overlap, so
        that standard errors are too small; the p-value knows that.
    difference : float
        By how much it is worse than the best, on average; 0 for the best.
    p_value : float
        That of the corrected resampled t-test against the best; 1 for the best.
    """

    model: str
    mean: dict[str, float]
    error: dict[str, float]
    difference: float
    p_value: float
    alpha: float = field(default=0.05, repr=False)

    @property
    def worse(self) -> bool:
        """Whether it is worse than the best by more than chance explains."""
        return self.difference > 0 and self.p_value < self.alpha


@dataclass(frozen=True, repr=False)
class Comparison:
    """The outcome of :func:`~lessnaive.compare`; printed, it is a table.

    Attributes
    ----------
    rows : list of ComparisonRow
        A row for each model, the best first.
    scoring : str
        What they are ordered by.
    scores : dict of str to array of shape (n_models, n_splits)
        All measures of all splits, the models in the order of the rows.
    failures : dict of str to str
        Models that could not be fitted, with what they said.
    """

    rows: list[ComparisonRow]
    scoring: str
    scores: dict[str, Floats]
    failures: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        cells: Sequence[Sequence[dict[str, Any]]],
        scoring: str,
        test_share: float,
        failures: dict[str, str],
    ) -> Self:
        """Sum up the results of all splits.

        Parameters
        ----------
        names : sequence of str
            The models.
        cells : sequence of sequence of dict
            By model, the results of the splits.
        scoring : str
            What the models are ordered by.
        test_share : float
            Share of the rows that a split judges.
        failures : dict of str to str
            Models that failed.

        Returns
        -------
        Comparison
        """
        keys = (*MEASURES, *_FACTS)
        scores = {key: np.array([[_number(c[key]) for c in own] for own in cells]) for key in keys}
        summaries = {key: summarize(values.T) for key, values in scores.items()}
        sign = 1.0 if MEASURES[scoring].better == "lower" else -1.0
        loss = sign * scores[scoring]
        # Where nothing is known, as of the AUC of one class, a model comes last.
        order = np.argsort(np.nan_to_num(sign * summaries[scoring].mean, nan=np.inf), kind="stable")
        top = order[0]
        rows = []
        for place in order:
            difference = loss[place] - loss[top]
            difference = difference[~np.isnan(difference)]
            difference = np.where(np.abs(difference) < _ROUNDING, 0.0, difference)
            mean, p_value = 0.0, 1.0
            if place != top and len(difference):
                test = corrected_resampled_t_test(difference, test_share=test_share)
                mean, p_value = test.mean, test.p_value
            rows.append(
                ComparisonRow(
                    names[place],
                    {key: float(summaries[key].mean[place]) for key in keys},
                    {key: float(summaries[key].error[place]) for key in keys},
                    mean,
                    p_value,
                )
            )
        return cls(rows, scoring, {k: values[order] for k, values in scores.items()}, failures)

    @property
    def best(self) -> str:
        """Name of the best model."""
        return self.rows[0].model

    @property
    def not_worse(self) -> list[str]:
        """Names of the models that are not worse than the best, itself first."""
        return [row.model for row in self.rows if not row.worse]

    @property
    def n_splits(self) -> int:
        """Number of splits."""
        return int(self.scores[self.scoring].shape[1])

    def columns(self) -> dict[str, list[Any]]:
        """Return the table as columns, for a data frame or a CSV file.

        Returns
        -------
        dict of str to list
        """
        out: dict[str, list[Any]] = {"model": [row.model for row in self.rows]}
        for key in (*MEASURES, *_FACTS):
            out[key] = [row.mean[key] for row in self.rows]
            out[f"{key}_error"] = [row.error[key] for row in self.rows]
        out["difference"] = [row.difference for row in self.rows]
        out["p_value"] = [row.p_value for row in self.rows]
        out["worse"] = [row.worse for row in self.rows]
        return out

    def to_json(self) -> str:
        """Return everything, the scores of all splits as well, as a text in JSON.

        Returns
        -------
        str
            What is not known is null.
        """
        plain = {
            "scoring": self.scoring,
            "best": self.best,
            "not_worse": self.not_worse,
            "failures": self.failures,
            "models": [
                {
                    "model": row.model,
                    "mean": _plain(row.mean),
                    "error": _plain(row.error),
                    "difference": row.difference,
                    "p_value": row.p_value,
                    "worse": row.worse,
                    "splits": {key: [_or_none(v) for v in s[i]] for key, s in self.scores.items()},
                }
                for i, row in enumerate(self.rows)
            ],
        }
        return json.dumps(plain, indent=1, allow_nan=False)

    def cells(self, brevity: int = 0) -> tuple[list[str], list[list[str]]]:
        """Return the table as text for people: the header, and a line for each model.

        A star marks models that are not worse than the best.

        Parameters
        ----------
        brevity : int, default=0
            1 to have standard errors of the first measure only, 2 to leave out half of the columns.

        Returns
        -------
        header : list of str
        lines : list of list of str
        """
        keys = [key for key in TITLES if not all(np.isnan(row.mean[key]) for row in self.rows)]
        if brevity > 1:
            keys = [key for key in keys if key in (self.scoring, *_BRIEF)]
        keys.sort(key=lambda key: key != self.scoring)
        exact = keys[:1] if brevity else keys
        header = ["model", *(TITLES[key] for key in keys), "p"]
        lines = []
        for row in self.rows:
            errors = {key: row.error[key] if key in exact else np.nan for key in keys}
            cells = [_cell(key, row.mean[key], errors[key]) for key in keys]
            star = "" if row.worse else " *"
            p = (
                ""
                if row is self.rows[0]
                else "<0.001"
                if row.p_value < 0.001
                else f"{row.p_value:.3f}"
            )
            lines.append([row.model + star, *cells, p])
        return header, lines

    def __repr__(self) -> str:
        """Return the table, aligned."""
        header, lines = self.cells()
        table = [header, *lines]
        widths = [max(len(line[place]) for line in table) for place in range(len(header))]
        return "\n".join(
            "  ".join(
                cell.ljust(width) if place == 0 else cell.rjust(width)
                for place, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in table
        )


def _number(value: Any) -> float:
    return float("nan") if value is None else float(value)


def _or_none(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _plain(values: dict[str, float]) -> dict[str, float | None]:
    return {key: _or_none(value) for key, value in values.items()}


def _cell(key: str, mean: float, error: float) -> str:
    if np.isnan(mean):
        return "-"
    if key == "columns":
        return f"{mean:.1f}".removesuffix(".0")
    if key in _FACTS:
        return f"{mean:.3f}" if mean < 10 else f"{mean:.1f}"
    return f"{mean:.4f}" if np.isnan(error) else f"{mean:.4f} ± {error:.4f}"
