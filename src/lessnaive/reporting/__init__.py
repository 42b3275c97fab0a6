"""One HTML file that shows a fitted model to people who never import the package; needs jinja2."""

from typing import TYPE_CHECKING

from lessnaive.lazy import lazy_names

if TYPE_CHECKING:
    from lessnaive.reporting.making import Report, report

__all__ = ["Report", "report"]

__getattr__, __dir__ = lazy_names(__name__, dict.fromkeys(__all__, "lessnaive.reporting.making"))
