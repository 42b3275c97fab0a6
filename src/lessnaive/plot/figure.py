"""What the displays share: matplotlib when it is needed, and text on colours."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage
    from matplotlib.text import Text

__all__ = ["import_pyplot", "write_cells"]

# Luminance of a colour below which text on it is white.
_DARK = 0.45


def import_pyplot(display: str) -> ModuleType:
    """Return matplotlib.pyplot, or say which display needs it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            f"{display} needs matplotlib: install it with pip install 'lessnaive[plot]'."
        ) from error
    return plt


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
