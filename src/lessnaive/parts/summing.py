"""Parts that are summed up as they come, for models that want nothing else of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from lessnaive.evidence.naive_bayes import RowCounts
from lessnaive.evidence.row_sum import RowSum
from lessnaive.parts.engine import Tree
from lessnaive.parts.reading import (
    Agreement,
    PartFacts,
    RawPart,
    agree,
    agree_on_columns,
    finish,
)
from lessnaive.scorecard.card import MOST_OBSERVED
from lessnaive.table.objects import Kind
from lessnaive.table.parts import SummedTraining, join_rows
from lessnaive.table.schema import Schema
from lessnaive.table.training import Training

__all__ = ["NotEnoughError", "SomeRows", "SumsOfParts"]

# Some rows are kept as examples: fewer where so many would take more than this share of the memory.
_SHARE = 16
_FEWEST = 1000


class NotEnoughError(Exception):
    """The sums that were kept are not enough: rows are needed that are gone."""


class SumsOfParts:
    """The sum over the rows of all parts so far, and some of the rows.

    Parameters
    ----------
    wanted : RowSum
        The sum.
    categorical_features : object
        The parameter of the model.
    memory : int
        Bytes that may be used.
    """

    def __init__(self, wanted: RowSum, categorical_features: Any, memory: int) -> None:
        self._wanted, self._categorical, self._memory = wanted, categorical_features, memory
        self._first: PartFacts | None = None
        # Of each column that had values: whether these were names, and in which part.
        self._seen: dict[str, tuple[bool, str]] = {}
        self._labelled: PartFacts | None = None
        self._tree: Tree[RowCounts] = Tree(wanted.merge)
        self._some = SomeRows(MOST_OBSERVED)
        self._n_rows = 0

    def has_enough(self, facts: PartFacts) -> bool:
        """Whether the sum is all that is wanted of a part."""
        if not facts.n_rows:
            return True
        self._first = self._first or facts
        return self._wanted.is_enough(agree_on_columns([self._first, facts], self._categorical))

    def add(self, part: RawPart, facts: PartFacts) -> None:
        """Add the rows of a part; NotEnoughError if that is not enough."""
        if self._first is None or self._n_rows == 0:
            self._first = facts
            most = self._memory // _SHARE * len(part.labels) // max(part.nbytes, 1)
            self._some = SomeRows(max(_FEWEST, min(MOST_OBSERVED, most)))
        schema = agree_on_columns([self._first, facts], self._categorical)
        self._check(schema, facts)
        own = Agreement(schema, part.classes, None, weighted=part.weights is not None)
        rows = finish(own, part)
        self._n_rows += len(rows.labels)
        self._some.add(rows)
        if len(part.classes):  # else all weights are 0
            self._tree.push(self._wanted.of(rows))

    def _check(self, schema: Schema, facts: PartFacts) -> None:
        """Raise NotEnoughError if a part shows that rows are needed which are gone."""
        values = {column.name for column in facts.columns if column.kind is not Kind.EMPTY}
        for name, named in zip(schema.names, schema.categorical, strict=True):
            before, where = self._seen.get(name, (named, facts.name))
            if name in values and named != before:
                raise NotEnoughError(
                    f"Column {name!r} holds numbers in {where if named else facts.name} and names "
                    f"in {facts.name if named else where}."
                )
            if name in values:
                self._seen.setdefault(name, (named, facts.name))
        if not self._wanted.is_enough(schema):
            raise NotEnoughError(f"The columns of {facts.name} are the first of their kind.")
        if len(facts.classes):
            self._labelled = self._labelled or facts
            labels = *self._labelled.classes.tolist(), *facts.classes.tolist()
            if len({isinstance(label, str) for label in labels}) > 1:
                agree([self._labelled, facts], self._categorical, None)  # says what is wrong

    def training(self, agreement: Agreement) -> SummedTraining:
        """Return what is known of all rows."""
        schema, classes = agreement.schema, agreement.classes
        sums = self._wanted.finish(self._tree.top(), schema, classes)
        some = [replace(part, schema=schema) for part in self._some.parts]
        return SummedTraining(sums, join_rows(some), schema, classes, self._n_rows)


class SomeRows:
    """Rows at even distances of a table whose length is not known.

    Parameters
    ----------
    most : int
        The number of rows to have in the end; up to twice as many are kept.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._step, self._seen = 1, 0
        self.parts: list[Training] = []

    def add(self, part: Training) -> None:
        """Keep some rows of the next part."""
        self.parts.append(_every(part, -self._seen % self._step, self._step))
        self._seen += len(part.labels)
        while -(-self._seen // self._step) > 2 * self._most:
            before, self._step = 0, 2 * self._step
            for place, kept in enumerate(self.parts):
                self.parts[place] = _every(kept, before % 2, 2)
                before += len(kept.labels)
            self.parts = [kept for kept in self.parts if len(kept.labels)]


def _every(part: Training, first: int, step: int) -> Training:
    return join_rows([part.take(np.arange(first, len(part.labels), step))])
