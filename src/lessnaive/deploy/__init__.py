"""Fitted models at work elsewhere: standalone programs, databases, runtimes and workbooks."""

from typing import TYPE_CHECKING

from lessnaive.lazy import lazy_names

if TYPE_CHECKING:
    from lessnaive.deploy.onnx import onnx_inputs, to_onnx
    from lessnaive.deploy.skl2onnx import register_converters
    from lessnaive.deploy.sql import to_sql
    from lessnaive.deploy.standalone import (
        javascript_engine,
        scorecard_json,
        to_javascript,
        to_python,
    )
    from lessnaive.deploy.xlsx import to_xlsx

__all__ = [
    "javascript_engine",
    "onnx_inputs",
    "register_converters",
    "scorecard_json",
    "to_javascript",
    "to_onnx",
    "to_python",
    "to_sql",
    "to_xlsx",
]

_PLACES = {
    **dict.fromkeys(__all__, "lessnaive.deploy.standalone"),
    **dict.fromkeys(("onnx_inputs", "to_onnx"), "lessnaive.deploy.onnx"),
    "register_converters": "lessnaive.deploy.skl2onnx",
    "to_sql": "lessnaive.deploy.sql",
    "to_xlsx": "lessnaive.deploy.xlsx",
}
__getattr__, __dir__ = lazy_names(
    __name__,
    _PLACES,
    of_extras=("onnx_inputs", "register_converters", "to_onnx", "to_sql", "to_xlsx"),
)
