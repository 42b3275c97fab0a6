"""What all displays need: axes to draw on, and colours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["colours", "new_axes"]


def new_axes(display: str, width: float = 6.4, height: float = 4.8) -> Axes:
    """Return axes of a new figure; ImportError with the remedy if there is no matplotlib.

    Parameters
    ----------
    display : str
        Name of the display that asks.
    width, height : float
        Size of the figure in inches.

    Returns
    -------
    matplotlib Axes
    """
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            f"{display} needs matplotlib: install it with pip install 'lessnaive[plot]'."
        ) from error
    _, ax = plt.subplots(figsize=(width, height), layout="constrained")
    return ax


def colours(number: int, cmap: Any) -> NDArray[np.float64]:
    """Return so many colours, different ones as far as there are.

    Parameters
    ----------
    number : int
        How many.
    cmap : str or matplotlib Colormap or None
        Where to take them from; None for the usual ones.

    Returns
    -------
    array of shape (number, 4)
    """
    import matplotlib as mpl

    if cmap is None:
        cmap = "tab10" if number <= 10 else "tab20" if number <= 20 else "viridis"
    found = mpl.colormaps.get_cmap(cmap)
    listed = getattr(found, "colors", None)
    if listed is not None and number <= len(listed) <= 20:
        return np.asarray(found(np.arange(number)))
    return np.asarray(found(np.linspace(0, 1, number)))
