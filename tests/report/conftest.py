"""One browser for all tests of a file."""

from __future__ import annotations

import pytest

from browser import start


@pytest.fixture(scope="module")
def browser():
    yield from start()
