"""What all displays need: matplotlib, axes to draw on, colours, and text on them."""

from __future__ import annotations

from types import ModuleType, UnionType
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D
    from matplotlib.text import Text

    from lessnaive.scorecard import Scorecard

__all__ = [
    "check_drawable",
    "class_place",
    "colours",
    "import_pyplot",
    "legend_beside",
    "legend_name",
    "mark_chosen",
    "new_axes",
    "plain_text",
    "scale_penalties",
    "term_place",
    "write_cells",
]

# Characters of names of columns and values; longer ones would leave no room for the picture.
_LONGEST_TEXT = 60
# Luminance of a colour below which text on it is white.
_DARK = 0.45


def check_drawable(estimator: Any, kind: type | UnionType, purpose: str) -> None:
    """Refuse a model that a display cannot draw: one of another kind, or one that is not fitted."""
    if not isinstance(estimator, kind):
        raise TypeError(f"{purpose}, got {type(estimator).__name__}.")
    check_is_fitted(estimator)


def class_place(classes: ArrayLike, class_: Any) -> int:
    """Return the place of a class: of the last one by default; ValueError if there is none."""
    labels = np.asarray(classes).tolist()
    if class_ is None:
        return len(labels) - 1
    if class_ not in labels:
        raise ValueError(f"class_ must be one of the classes {labels}, got {class_!r}.")
    return int(labels.index(class_))


def term_place(card: Scorecard, column: str | int) -> int:
    """Return the place of the term of a column; ValueError that names the terms if it has none."""
    names = [term.name for term in card.terms]
    if isinstance(column, str):
        if column in names:
            return names.index(column)
        if column in card.schema.names:
            raise ValueError(f"The model does not use column {column!r}: it adds nothing.")
        shown = ", ".join(map(repr, names[:10])) + (" ..." if len(names) > 10 else "")
        raise ValueError(f"column must be one of the terms {shown}, got {column!r}.")
    if not -len(names) <= column < len(names):
        raise ValueError(f"column must be below {len(names)}, the number of terms, got {column}.")
    return column % len(names)


def plain_text(text: object, most: int = _LONGEST_TEXT) -> str:
    """Return a name as matplotlib shows it letter by letter: no formulas, no line ends."""
    shown = " ".join(str(text).split()) if str(text).strip() else repr(text)
    if len(shown) > most:
        shown = shown[: most - 1] + "…"
    return shown.replace("$", r"\$")


def legend_name(text: object, most: int = _LONGEST_TEXT) -> str:
    """Return a name for a legend, from which matplotlib leaves out those that begin with _."""
    shown = plain_text(text, most)
    return f" {shown}" if shown.startswith("_") else shown


def import_pyplot(display: str) -> ModuleType:
    """Return matplotlib.pyplot, or say which display needs it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            f"{display} needs matplotlib: install it with pip install 'lessnaive[plot]'."
        ) from error
    return plt


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
    _, ax = import_pyplot(display).subplots(figsize=(width, height), layout="constrained")
    return cast("Axes", ax)


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


def scale_penalties(ax: Axes, penalties: ArrayLike) -> None:
    """Set a logarithmic scale, on which a penalty of 0 has its place too."""
    values = np.asarray(penalties, dtype=np.float64)
    if (values > 0).all():
        ax.set_xscale("log")
    elif values.any():
        ax.set_xscale("symlog", linthresh=float(values[values > 0].min()))


def mark_chosen(ax: Axes, chosen: float | None) -> Line2D | None:
    """Draw a line at the penalty that was chosen, if one was."""
    if chosen is None:
        return None
    return ax.axvline(chosen, color="black", linestyle="--", label=f"chosen: {chosen:.3g}")


def legend_beside(ax: Axes, **options: Any) -> Legend:
    """Draw a legend to the right of the axes."""
    return ax.legend(
        loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize="small", **options
    )


def write_cells(ax: Axes, image: AxesImage, texts: list[list[str]]) -> list[Text]:
    """Write into the cells of a heat map, in a colour that can be read there."""
    colours = image.to_rgba(np.asarray(image.get_array()))
    light = colours[..., :3] @ [0.2126, 0.7152, 0.0722]
    return [
        ax.text(
            column,
            row,
            text,
            ha="center",
            va="center",
            fontsize="small",
            color="white" if light[row, column] < _DARK else "black",
        )
        for row, line in enumerate(texts)
        for column, text in enumerate(line)
    ]
