"""What has changed in the columns since a model was learned, as people read it."""

from __future__ import annotations

from lessnaive.cli.display import Display, percent, printable
from lessnaive.validation.drift import CHANGED, Drift

__all__ = ["show_drift"]


def show_drift(drifts: list[Drift], display: Display) -> None:
    """Print what has changed, what has changed most first.

    Parameters
    ----------
    drifts : list of Drift
        The columns.
    display : Display
        Where to print.
    """
    display.line("What has changed since the model was learned", "bold")
    table = display.table(["column", "missing then", "now", "unseen now", "stability index"])
    order = sorted(drifts, key=lambda drift: -1.0 if drift.stability is None else -drift.stability)
    for drift in sorted(order, key=lambda drift: drift.stability is None):
        index = "unknown" if drift.stability is None else f"{drift.stability:.3f}"
        shares = [
            "unknown" if share != share else percent(share)
            for share in (drift.missing_before, drift.missing, drift.unseen)
        ]
        table.add_row(printable(drift.name, 40), *shares, index)
    display.show(table)
    display.line(
        "stability index: 0 if the shares of the values are the same, above "
        f"{CHANGED} if they have clearly changed",
        "dim",
    )
    if any(drift.stability is None for drift in drifts):
        display.line("unknown: of a curve the model keeps no counts of values", "dim")
