"""The package as a tree of files."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "lessnaive"


def test_private_names_of_sklearn_stand_in_one_file():
    """Names with an underscore may change in any version of scikit-learn."""
    private = re.compile(
        r"_fit_context|_param_validation|_validate_params|_get_param_names"
        r"|(from|import) sklearn[.\w]*\._\w"
        r"|from sklearn[.\w]* import ([^()\n]*|\([^)]*)\b_\w"
    )
    folders = [PACKAGE, *(ROOT / name for name in ("benchmarks", "examples", "reproduce"))]
    files = [file for folder in folders for file in folder.rglob("*.py")]
    found = [file.name for file in files if private.search(file.read_text("utf-8"))]
    assert found == ["_sklearn.py"]
