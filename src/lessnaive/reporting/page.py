"""The page itself: a template with its styles and programs in one file that asks for no other."""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from typing import Any

__all__ = ["make_page", "packed"]

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


def packed(text: str) -> str:
    """Return a text compressed, as letters and digits that stand safely anywhere in a page.

    Tables of pairs make a model many times larger than what they say: packed, it is a fifth.

    Parameters
    ----------
    text : str
        The text.

    Returns
    -------
    str
        Base64 of gzip of UTF-8.
    """
    return b64encode(gzip.compress(text.encode(), mtime=0)).decode()


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
        data=packed(json.dumps(data, allow_nan=False, separators=(",", ":"))),
        model_json=packed(model_json),
    )


class _Raw(str):
    """Text of this package, which a template takes as it is."""

    def __html__(self) -> str:
        """Return the text."""
        return str(self)


def _digest(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
