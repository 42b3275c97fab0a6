"""From a table of codes to the table that the codes were made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lessnaive.scorecard.card import Scorecard
from lessnaive.scorecard.terms import Term
from lessnaive.scorecard.terms.views import Recoding
from lessnaive.table import Schema

__all__ = ["TableRecoding"]


@dataclass(frozen=True)
class TableRecoding:
    """The columns that a table of codes was made of.

    Attributes
    ----------
    schema : Schema
        The columns as they are.
    columns : sequence of Recoding
        How each of them became a column of codes.
    """

    schema: Schema
    columns: Sequence[Recoding]

    def scorecard(self, card: Scorecard) -> Scorecard:
        """Return a scorecard of codes as one of the columns as they are."""
        terms = [term.recoded([self.columns[j] for j in term.inputs]) for term in card.terms]
        # Rows add what they added before, so that the averages stay as they are.
        return Scorecard(
            card.model, self.schema, card.classes, card.intercept, terms, card.averages
        )

    def code(self, term: Term, code: int) -> int:
        """Return the code that a code of a term of one column becomes: of its first bin, if any."""
        [place] = term.inputs
        became = np.flatnonzero(self.columns[place].places(term.codes())[:-1] == code)
        return int(became[became > 0][0]) if (became > 0).any() else 0
