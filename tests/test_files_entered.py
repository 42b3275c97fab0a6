"""A reader can follow a fit without opening too many files."""

from __future__ import annotations

import pytest

from benchmarks.files_entered import LIMITS, files_of_fit


@pytest.mark.parametrize("name", LIMITS)
def test_files_entered_by_fit(name):
    found = files_of_fit(name)
    assert "scorecard/card.py" in found
    assert len(found) <= LIMITS[name], found
