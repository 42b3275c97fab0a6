"""The arena: many models on one table, compared so that anyone can do it again."""

from typing import TYPE_CHECKING

from lessnaive.lazy import lazy_names

if TYPE_CHECKING:
    from lessnaive.arena.candidates import default_models
    from lessnaive.arena.comparing import compare
    from lessnaive.arena.comparison import Comparison, ComparisonRow
    from lessnaive.arena.tuning import Tuned

__all__ = ["Comparison", "ComparisonRow", "Tuned", "compare", "default_models"]

_PLACES = {
    "default_models": "lessnaive.arena.candidates",
    "compare": "lessnaive.arena.comparing",
    "Comparison": "lessnaive.arena.comparison",
    "ComparisonRow": "lessnaive.arena.comparison",
    "Tuned": "lessnaive.arena.tuning",
}
__getattr__, __dir__ = lazy_names(__name__, _PLACES)
