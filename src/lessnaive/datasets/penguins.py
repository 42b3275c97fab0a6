"""The Palmer penguins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lessnaive.datasets.csv_file import read_csv, split_target
from lessnaive.table.making import Backend

__all__ = ["PENGUINS_CSV", "load_penguins"]

#: The file, as it comes with the package; NA means missing.
PENGUINS_CSV = Path(__file__).with_name("penguins.csv")


def load_penguins(backend: Backend | None = None) -> tuple[Any, Any]:
    """Load the Palmer penguins: 344 birds of three species, with gaps.

    The columns are island and sex (text), bill length and depth, flipper length (mm), body mass (g)
    and year (numbers). Two birds were not measured, and the sex of eleven is unknown [1]_.

    Parameters
    ----------
    backend : {"pandas", "polars", "pyarrow"}, optional
        The library of the data frame; the first of these that is installed by default.

    Returns
    -------
    X : data frame of shape (344, 7)
        What is known of each bird.
    y : series of length 344
        Its species: Adelie, Chinstrap or Gentoo.

    References
    ----------
    .. [1] Gorman KB, Williams TD, Fraser WR (2014). Ecological sexual dimorphism and environmental
       variability within a community of Antarctic penguins (genus Pygoscelis). PLoS ONE 9(3):
       e90081. https://doi.org/10.1371/journal.pone.0090081

    Examples
    --------
    >>> from lessnaive import NaiveBayes
    >>> from lessnaive.datasets import load_penguins
    >>> X, y = load_penguins()
    >>> X.shape
    (344, 7)
    >>> float(NaiveBayes().fit(X, y).score(X, y)) > 0.95
    True
    """
    return split_target(read_csv(PENGUINS_CSV, missing=("NA",)), "species", backend)
