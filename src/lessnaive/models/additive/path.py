"""One additive model, its penalty chosen by folds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lessnaive import _core
from lessnaive.models.additive.basis import Encoded
from lessnaive.models.additive.columns import Inputs
from lessnaive.models.additive.design import Design, Fit, Solution, encode, kernel_rows
from lessnaive.models.additive.members import Member
from lessnaive.models.additive.scores import centred, log_losses

__all__ = [
    "LEAST_GAIN",
    "PENALTIES",
    "ChosenMember",
    "FittedMember",
    "OtherFolds",
    "choose_member",
    "fit_member",
    "fold_tolerance",
    "penalty_path",
]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
Folds = Sequence[tuple[Rows, Rows]]

#: Penalties of a path, in the order of trying.
PENALTIES = (300.0, 100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.003)
#: A setting is better if it lowers the loss of held-out rows by this share.
LEAST_GAIN = 1e-4
# A path ends after so many penalties that are no better, or after one that made the loss larger by
# this share.
_PATIENCE, _RISE = 2, 0.005
# In folds a search ends when a step promises less than so many times `tol`, as a share of the loss
# of held-out rows, or after so many steps.
_LOOSER, FOLD_STEPS = 5e4, 30


@dataclass(frozen=True)
class ChosenMember:
    """The penalty of an additive model, and what models of the folds said about held-out rows.

    Attributes
    ----------
    member : Member
        The member.
    penalty : float
        The penalty that was chosen.
    held_out : HeldOut
        Scores of rows that are not in the training rows of a fold, with mean 0 in each row.
    states : list of array of shape (n_parameters, n_outputs)
        Parameters of the folds, if these have the same pieces: of each, or their mean.
    design : Design or None
        Its pieces, if the folds have the same.
    encoded : list of Encoded or None
        What they make of all rows, if it is known.
    """

    member: Member
    penalty: float
    held_out: HeldOut
    states: list[Floats]
    design: Design | None
    encoded: list[Encoded] | None

    @property
    def start(self) -> Floats | None:
        """Where the search for the parameters of all rows begins, if the folds have them."""
        if not self.states:
            return None
        return np.asarray(np.mean(self.states, axis=0))


class HeldOut(NamedTuple):
    """Scores of held-out rows, (n_rows, n_classes).

    Attributes
    ----------
    scores : array
        At the setting that is best for all held-out rows, which flatters them a little.
    honest : array
        At the setting that is best for the rows of the other folds.
    """

    scores: Floats
    honest: Floats


class OtherFolds:
    """Scores of the held-out rows of each fold, at the setting that is best for the other folds.

    At the setting that is best for the very rows that judge it, their loss would be flattered.
    A setting is better if it lowers the loss by the share `least_gain`.

    Attributes
    ----------
    loss, lowest : float
        Mean loss of all held-out rows at the setting that was looked at last, and the lowest.
    is_lowest : bool
        Whether the last setting lowered it.
    is_kept : bool
        Whether it did so for all held-out rows, or for those of all folds but one.
    """

    def __init__(self, inputs: Inputs, folds: Folds, least_gain: float = LEAST_GAIN) -> None:
        self._least_gain = least_gain
        self._tests = [test for _, test in folds]
        self._labels = [inputs.labels[test] for test in self._tests]
        weights = np.ones(inputs.n_rows) if inputs.weights is None else inputs.weights
        self._weights = [weights[test] for test in self._tests]
        self._total = sum(float(own.sum()) for own in self._weights)
        self._of_others = np.full(len(folds), np.inf)
        self.n_classes = inputs.n_classes
        shape = (inputs.n_rows, self.n_classes)
        self._scores, self._honest = np.zeros(shape), np.zeros(shape)
        self.loss = self.lowest = np.inf
        self.is_lowest = self.is_kept = False

    @property
    def held_out(self) -> HeldOut:
        """The scores of held-out rows; mostly the same setting is best for all folds."""
        same = np.array_equal(self._scores, self._honest)
        return HeldOut(self._scores, self._scores if same else self._honest)

    def look(self, scores: Sequence[Floats]) -> None:
        """Look at another setting: scores of the held-out rows of each fold."""
        each = zip(scores, self._labels, self._weights, strict=True)
        losses = [float(np.einsum("i,i->", log_losses(s, own), w)) for s, own, w in each]
        self.loss = sum(losses) / self._total
        self.is_lowest = self.is_kept = self.loss < self.lowest * (1 - self._least_gain)
        if self.is_lowest:
            self.lowest = self.loss
            for test, own in zip(self._tests, scores, strict=True):
                self._scores[test] = own
        for place, test in enumerate(self._tests):
            # The one fold there is has no others.
            others = sum(losses[:place] + losses[place + 1 :]) if len(losses) > 1 else losses[0]
            if others < self._of_others[place] * (1 - self._least_gain):
                self._of_others[place] = others
                self._honest[test] = scores[place]
                self.is_kept = True


class FittedMember(NamedTuple):
    """The pieces and parameters of an additive model of all rows."""

    name: str
    design: Design
    solution: Solution


def choose_member(
    member: Member,
    inputs: Inputs,
    some: Inputs,
    folds: Folds,
    *,
    tol: float,
    step: Callable[[], None] = lambda: None,
) -> ChosenMember:
    """Choose the penalty of a member by the folds of some of the rows."""
    labels, n_classes = some.labels, some.n_classes
    design = None if member.learns_pieces else member.design(inputs, np.arange(inputs.n_rows))
    encoded = None if design is None else encode(design.pieces, some)
    fits, tests = [], []
    for train, test in folds:
        own = member.design(some, train) if design is None else design
        blocks = _blocks(own, some) if encoded is None else encoded
        fits.append(Fit(own, blocks, some, train))
        tests.append(kernel_rows([b.take(test) for b in blocks], labels[test], None, n_classes))
    penalty, held_out, states = _choose(fits, tests, some, folds, tol, step)
    known = encoded if some is inputs else None
    if design is None:
        states = []  # of other pieces in each fold: nobody could begin with them
    elif states and not member.keeps_folds:
        states = [np.mean(states, axis=0)]  # those of many values are large
    return ChosenMember(member, penalty, held_out, states, design, known)


def fit_member(chosen: ChosenMember, inputs: Inputs, *, tol: float, max_iter: int) -> FittedMember:
    """Fit a member to all rows, with the penalty that was chosen."""
    member, design, encoded = chosen.member, chosen.design, chosen.encoded
    if design is None:
        design = member.design(inputs, np.arange(inputs.n_rows))
    if encoded is None:
        encoded = _blocks(design, inputs)
    fit = Fit(design, encoded, inputs)
    solution = fit.solve(chosen.penalty, chosen.start, tol=tol, max_iter=max_iter)
    return FittedMember(member.name, design, solution)


def _blocks(design: Design, inputs: Inputs) -> list[Encoded]:
    """Return what the pieces make of a table; those that were learned know it."""
    return encode(design.pieces, inputs) if design.encoded is None else design.encoded


def _choose(
    fits: list[Fit],
    tests: Sequence[_core.AdditiveRows],
    inputs: Inputs,
    folds: Folds,
    tol: float,
    step: Callable[[], None],
) -> tuple[float, HeldOut, list[Floats]]:
    """Return the best penalty, scores of held-out rows at it, and the parameters of the folds."""
    seen = OtherFolds(inputs, folds)
    penalty, states, worse, tried = PENALTIES[0], list[Floats](), 0, 0
    if not folds:
        return penalty, seen.held_out, states
    for lam, found in penalty_path(fits, tests, seen, folds, PENALTIES, tol):
        if seen.is_lowest:
            worse, penalty, states = 0, lam, found
        else:
            worse += 1
        tried += 1
        step()
        if worse == _PATIENCE or seen.loss > seen.lowest * (1 + _RISE):
            break
    for _ in PENALTIES[tried:]:  # those that need no look are done as well
        step()
    return penalty, seen.held_out, states


def penalty_path(
    fits: Sequence[Fit],
    tests: Sequence[_core.AdditiveRows],
    seen: OtherFolds,
    folds: Folds,
    penalties: Sequence[float],
    tol: float,
) -> Iterator[tuple[float, list[Floats]]]:
    """Yield each penalty that was looked at, and the parameters of the folds.

    A search begins where the last two penalties point to.
    """
    states = [fit.start for fit in fits]
    moves = [np.zeros(1)] * len(fits)
    for lam in penalties:
        scores = []
        tolerance = fold_tolerance(tol, min(seen.lowest, np.log(seen.n_classes)))
        for place, (fit, rows, (_, test)) in enumerate(zip(fits, tests, folds, strict=True)):
            start = states[place]
            guess = start + moves[place] if lam < penalties[0] else start
            found = fit.solve(lam, guess, tol=tolerance, max_iter=FOLD_STEPS)
            moves[place] = found.parameters - start
            states[place] = found.parameters
            out = np.empty((len(test), found.parameters.shape[1]))
            rows.scores(found.parameters, out)
            scores.append(centred(out))
        seen.look(scores)
        yield lam, list(states)


def fold_tolerance(tol: float, loss: float) -> float:
    """Return the gain per row that ends a search in a fold, given the loss of held-out rows."""
    return _LOOSER * tol * loss
