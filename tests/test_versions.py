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
    names = ("cli", "plot", "report", "test")
    wanted = [*PROJECT["dependencies"], *(text for name in names for text in extras[name])]
    found = [re.fullmatch(r"([\w-]+)>=(.+)", text) for text in wanted]
    minimums = dict(match.groups() for match in found if match)
    oldest = (ROOT / "tests" / "oldest.txt").read_text("utf-8")
    for name, version in re.findall(r"^([\w-]+)==(.+)$", oldest, re.M):
        assert f"{version}.".startswith(f"{minimums[name]}."), name
    named = set(re.findall(r"^([\w-]+)==", oldest, re.M))
    tools = {"duckdb", "hypothesis", "onnxruntime", "pytest", "pytest-xdist", "selenium"}
    peers = {"baycomp", "scikit-posthocs"}
    assert set(minimums) - named == tools | peers
