"""A short run of the fuzzer: ``make fuzz`` runs a long one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("click")


@pytest.mark.skipif(sys.platform != "linux", reason="memory is told by /proc")
def test_two_thousand_mutants():
    program = Path(__file__).with_name("fuzz.py")
    command = [sys.executable, str(program), "--mutants", "2000", "--hostile", "1", "--jobs", "2"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "mutants: 2000 files, 0 failed" in run.stdout
