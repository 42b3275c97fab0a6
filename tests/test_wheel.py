"""The wheel of `make wheel`, installed where there is no compiler."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
COMPILERS = ("cc", "c++", "gcc", "g++", "clang", "clang++", "cmake", "ninja", "make")

pytestmark = pytest.mark.slow


def the_wheel() -> Path:
    wheels = sorted(ROOT.glob("dist/lessnaive-*.whl"), key=lambda file: file.stat().st_mtime)
    if not wheels:
        pytest.skip("there is no wheel in dist: build one with make wheel")
    return wheels[-1]


def test_the_wheel_says_where_it_runs():
    """It is for one version of Python and all later ones, if that version is new enough."""
    if sys.platform != "linux":
        pytest.skip("auditwheel repairs wheels of Linux only")
    name = the_wheel().name
    assert "manylinux" in name or "musllinux" in name
    if sys.version_info >= (3, 12):
        assert "-cp312-abi3-" in name


def test_the_demo_runs_without_a_compiler(tmp_path):
    wheel = the_wheel()
    venv.create(tmp_path / "bare", with_pip=True)
    bin_ = tmp_path / "bare" / ("Scripts" if os.name == "nt" else "bin")
    # Nothing but the environment itself is on the path.
    path = str(bin_)
    assert not any(shutil.which(name, path=path) for name in COMPILERS)
    bare = {name: os.environ[name] for name in ("HOME", "LANG") if name in os.environ}
    bare |= {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    bare |= {"PATH": path}
    python = bin_ / "python"
    install = [python, "-m", "pip", "install", "--quiet", "--only-binary", ":all:"]
    done = subprocess.run(
        [*install, f"lessnaive[cli] @ {wheel.as_uri()}"], env=bare, capture_output=True, text=True
    )
    if done.returncode and "No matching distribution" in done.stderr:
        pytest.skip(f"the dependencies cannot be downloaded: {done.stderr[-300:]}")
    assert done.returncode == 0, done.stderr
    shown = subprocess.run(
        [bin_ / "lessnaive", "demo"], cwd=tmp_path, env=bare, capture_output=True, text=True
    )
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.startswith("344 penguins of three species")
    for name in ("model.json", "predictions.csv", "report.html"):
        assert name in shown.stdout
        assert (tmp_path / "demo-output" / name).stat().st_size > 0
