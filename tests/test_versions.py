"""Versions are the same wherever they are written down."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import lessnaive

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def test_version_of_the_package():
    assert lessnaive.__version__ == PROJECT["version"]
    assert f"\nversion: {PROJECT['version']}\n" in (ROOT / "CITATION.cff").read_text("utf-8")


def test_oldest_versions_are_the_minimums():
    """`make test-oldest` runs with the oldest versions that pyproject.toml allows."""
    extras = PROJECT["optional-dependencies"]
    wanted = [*PROJECT["dependencies"], *extras["cli"], *extras["plot"], *extras["test"]]
    found = [re.fullmatch(r"([\w-]+)>=(.+)", text) for text in wanted]
    minimums = dict(match.groups() for match in found if match)
    oldest = (ROOT / "tests" / "oldest.txt").read_text("utf-8")
    for name, version in re.findall(r"^([\w-]+)==(.+)$", oldest, re.M):
        assert f"{version}.".startswith(f"{minimums[name]}."), name
    named = set(re.findall(r"^([\w-]+)==", oldest, re.M))
    assert set(minimums) - named == {"hypothesis", "pytest", "pytest-xdist"}  # tools
