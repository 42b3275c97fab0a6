"""Any model on bins that an encoder finds or is given."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from lessnaive.encoding.base import SupervisedEncoder
from lessnaive.encoding.binning import Binning
from lessnaive.models.base import ScorecardClassifier
from lessnaive.scorecard.recoding import TableRecoding
from lessnaive.scorecard.terms.views import Recoding
from lessnaive.table import Table, read_table
from lessnaive.table.column import ArrayColumn, Column

__all__ = ["fit_binned"]


class CodeColumn(ArrayColumn):
    """Codes of bins, as names."""

    declared_categorical = True


def fit_binned(
    model: Any,
    encoder: Any,
    X: Any,
    y: Any,
    sample_weight: ArrayLike | None = None,
) -> ScorecardClassifier:
    """Fit any classifier of lessnaive to the bins and groups of an encoder.

    The encoder is fitted first, with special values, directions, cuts and groups as it was told,
    and the model learns from bins alone. What it has learned becomes a scorecard of the columns as
    they are, so that it predicts, is saved, exported and made into points like any other.

    Parameters
    ----------
    model : estimator
        A classifier of lessnaive, which is not changed.
    encoder : MODLEncoder or MDLPDiscretizer
        What makes bins; it is not changed.
    X : table of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        The class of each row.
    sample_weight : array-like of shape (n_samples,), optional
        Weight of each row.

    Returns
    -------
    estimator
        The fitted model. Bins come from all rows, also where the model cross-validates; it cannot
        go on with ``partial_fit``.

    Examples
    --------
    >>> from lessnaive import AttributeWeightedNB, MODLEncoder, fit_binned
    >>> from lessnaive.datasets import load_penguins
    >>> X, y = load_penguins("pandas")
    >>> encoder = MODLEncoder(cuts={"body_mass_g": [4000, 5000]})
    >>> model = fit_binned(AttributeWeightedNB(), encoder, X[["body_mass_g", "sex"]], y)
    >>> [label for label, *_ in model.scorecard_.terms[0].rows(model.scorecard_.schema.kinds)]
    ['(missing)', '<= 4000', '(4000, 5000]', '> 5000']
    """
    if not isinstance(model, ScorecardClassifier):
        raise TypeError(f"model must be a classifier of lessnaive, got {type(model).__name__}.")
    if not isinstance(encoder, SupervisedEncoder):
        kind = type(encoder).__name__
        raise TypeError(f"encoder must be a MODLEncoder or MDLPDiscretizer, got {kind}.")
    table = read_table(X)
    encoder = clone(encoder).fit(table, y, sample_weight)
    columns: list[Column] = []
    for name, codes in zip(table.names, encoder.transform(table).T, strict=True):
        columns.append(CodeColumn(name, np.where(codes == 0, np.nan, codes.astype(np.float64))))
    fitted: ScorecardClassifier = clone(model)
    fitted.fit(Table(columns, table.n_rows, table.named), y, sample_weight)
    recodings = [_recoding(binning) for binning in encoder._fitted_binnings()]
    fitted._leave_codes(TableRecoding(encoder._schema, recodings))
    if hasattr(fitted, "_stream"):
        fitted._stream = None  # which has counted codes
    return fitted


def _recoding(binning: Binning) -> Recoding:
    codes = list(range(1, binning.encoding.n_codes + 1))
    missing = binning.missing_code or None
    nothing = np.zeros_like(binning.missing)
    counts = np.vstack([binning.missing, binning.counts, nothing])
    return Recoding(binning.encoding, codes, missing, counts)
