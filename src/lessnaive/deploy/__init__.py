"""Fitted models at work elsewhere: standalone programs, databases, runtimes and workbooks."""

from typing import TYPE_CHECKING

from lessnaive.lazy import lazy_names

if TYPE_CHECKING:
    from lessnaive.deploy.sql import to_sql
    from lessnaive.deploy.standalone import (
        javascript_engine,
        scorecard_json,
        to_javascript,
        to_python,
    )

__all__ = ["javascript_engine", "scorecard_json", "to_javascript", "to_python", "to_sql"]

_PLACES = {
    **dict.fromkeys(__all__, "lessnaive.deploy.standalone"),
    "to_sql": "lessnaive.deploy.sql",
}
__getattr__, __dir__ = lazy_names(__name__, _PLACES)
