"""Everything that can be reproduced, by name: what ``lessnaive reproduce`` opens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Literal

from reproduce.findings import Report

__all__ = ["ABSENT", "TARGETS", "Effort", "run_target"]


@dataclass(frozen=True)
class Effort:
    """How much is done.

    Attributes
    ----------
    size : {"full", "quick", "smoke"}
        As in the paper; in about a minute; or just enough to see that all of the code runs, with no
        table but the one of the package.
    out : Path
        Where finished pieces of work are kept.
    jobs : int
        Processes side by side.
    """

    size: Literal["full", "quick", "smoke"]
    out: Path
    jobs: int = 1


#: By name what it is, and the module and function that does it.
TARGETS: dict[str, tuple[str, str, str]] = {
    "barista-table1": ("Accuracy on eight tables", "target_barista", "table1"),
    "barista-figure1": ("How ISTA and FISTA converge", "target_barista", "figure1"),
    "nbrlr-tables1-4": ("Simulations: errors, bias, variance", "target_nbrlr", "tables1_4"),
    "nbrlr-tables6-8": ("Win / draw / loss on 30 tables", "target_nbrlr_tables", "tables6_8"),
    "fractional-figures1-5": ("Weights in [0, 1] on 36 tables", "target_fractional", "figures"),
    "stagewise-figures1-6": (
        "What noise does to naive Bayes",
        "target_stagewise_figures",
        "figures",
    ),
    "stagewise-table1": ("Synthetic tables", "target_stagewise", "table1"),
    "stagewise-table2": ("Diabetes", "target_stagewise", "table2"),
    "stagewise-table4": ("Which methods differ", "target_stagewise", "table4"),
    "spam": ("Binarized words and logarithms", "target_spam", "spam"),
}

#: What cannot be reproduced, with the reason.
ABSENT = {
    "stagewise, Table 3 (StarPlus)": "the fMRI recordings of six subjects are not at hand.",
    "NBRLR, supplement": "the results of single tables, and how settings 3 and 4 were drawn, are "
    "in a supplement that is not at hand; our settings 3 and 4 are python -m reproduce.nbrlr.",
    "BARISTA, Table 1, column CWANB": "how it adjusts its weights could not be found.",
    "BARISTA, Table 1, other columns": "they appear to be quoted from papers with other folds and "
    "preprocessing; ours are measured like all the rest.",
}


def run_target(name: str, effort: Effort) -> Report:
    """Do the work of a target, or what is left of it.

    Parameters
    ----------
    name : str
        One of `TARGETS`.
    effort : Effort
        How much is done.

    Returns
    -------
    Report
    """
    _, module, function = TARGETS[name]
    work: Callable[[Effort], Report] = getattr(import_module(f"reproduce.{module}"), function)
    return work(effort)
