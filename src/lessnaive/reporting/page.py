"""The page itself: a template with its styles and programs in one file that asks for no other."""

from __future__ import annotations

import json
from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from typing import Any

__all__ = ["embedded_json", "make_page"]

# In this order: each uses what stands before it.
_PROGRAMS = (
    "dom.js",
    "axes.js",
    "charts.js",
    "terms.js",
    "performance.js",
    "weights.js",
    "whatif.js",
    "main.js",
)
# No text within JSON ends a <script> element or a line of JavaScript.
_ESCAPES = {
    "<": "\\u003c",
    ">": "\\u003e",
    "&": "\\u0026",
    "\u2028": "\\u2028",
    "\u2029": "\\u2029",
}


def embedded_json(value: Any) -> str:
    """Return plain data as JSON that stands safely within a ``<script>`` element.

    Parameters
    ----------
    value : plain data
        What is to be embedded; all numbers are finite.

    Returns
    -------
    str
    """
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for character, escape in _ESCAPES.items():
        text = text.replace(character, escape)
    return text


def make_page(facts: dict[str, Any], data: Any, model_json: str, engine: str) -> str:
    """Return a page.

    Parameters
    ----------
    facts : dict
        What the template says in words and tables.
    data : plain data
        What the programs of the page draw.
    model_json, engine : str
        The formulas of the model as JSON, and the program that computes them.

    Returns
    -------
    str
        HTML. Its policy lets nothing run but the programs that stand in it, and nothing be asked
        for elsewhere.
    """
    try:
        from jinja2 import Environment
    except ImportError as error:
        raise ImportError(
            "Reports need jinja2: install it with pip install 'lessnaive[report]'."
        ) from error
    web = files("lessnaive.reporting").joinpath("web")
    style = web.joinpath("style.css").read_text("utf-8")
    programs = [web.joinpath(name).read_text("utf-8") for name in _PROGRAMS]
    program = "\n".join(['"use strict";', engine, *programs])
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(web.joinpath("page.html").read_text("utf-8"))
    policy = (
        f"default-src 'none'; script-src {_digest(program)}; style-src {_digest(style)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    return template.render(
        **facts,
        policy=policy,
        style=_Raw(style),
        program=_Raw(program),
        data=_Raw(embedded_json(data)),
        model_json=_Raw(model_json),
    )


class _Raw(str):
    """Text of this package, or JSON that is escaped already: what a template takes as it is."""

    def __html__(self) -> str:
        """Return the text."""
        return str(self)


def _digest(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
