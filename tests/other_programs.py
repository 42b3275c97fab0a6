"""How programs that are not Python are started by tests."""

from __future__ import annotations

import os


def environment(**more: str) -> dict[str, str]:
    """The environment of this process, without what ``make sanitize`` puts into Python.

    Databases, browsers and office programs hang or crash with sanitizers in them.
    """
    own = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    return {**own, **more}
