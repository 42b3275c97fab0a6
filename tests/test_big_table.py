"""The page "Which model should I use?" says what follows from its data, and nothing else."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).parents[1]
STUDIES = ROOT / "docs" / "studies"
PAGE = ROOT / "docs" / "user_guide" / "which_model.rst"
STUDY = STUDIES / "less_naive.rst"


@pytest.fixture(scope="module")
def big_table():
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        import big_table
    finally:
        sys.path.remove(str(ROOT / "benchmarks"))
    return big_table


@pytest.fixture(scope="module")
def frame():
    return pd.read_csv(STUDIES / "big_table.csv")


def test_the_tables_of_the_page_follow_from_the_data(big_table, frame, tmp_path):
    big_table.report(frame, tmp_path)
    written = sorted(file.name for file in tmp_path.iterdir())
    assert written
    for name in written:
        assert (tmp_path / name).read_text("utf-8") == (STUDIES / name).read_text("utf-8"), name
    pages = PAGE.read_text("utf-8") + STUDY.read_text("utf-8")
    assert all(name in pages for name in written)


def test_every_piece_is_there_once(frame, big_table):
    assert not frame.duplicated(["table", "method", "fold"]).any()
    assert frame["fold"].isin(range(big_table.FOLDS)).all()
    assert frame["kind"].notna().all()


def test_pictures_of_the_page_exist_and_are_all_there_are():
    shown = PAGE.read_text("utf-8") + (STUDIES / "big_table_pictures.txt").read_text("utf-8")
    places = [line.split("::")[1].strip() for line in shown.splitlines() if "image::" in line]
    assert len(places) >= 8
    assert all((PAGE.parent / place).exists() for place in places)
    drawn = {file.name for file in STUDIES.glob("big_table_methods_*.svg")}
    assert drawn <= {Path(place).name for place in places}


def results(means, n_tables=20, folds=5, **facts):
    """Log-losses that vary from table to table and fold to fold as the means of methods do."""
    rng = np.random.default_rng(0)
    lines = []
    for number in range(n_tables):
        level = rng.uniform(0.5, 1.0)
        for method, mean in means.items():
            for fold in range(folds):
                loss = level * mean * rng.uniform(0.98, 1.02)
                scores = {"log_loss": loss, "accuracy": 1 - loss / 9, "auc": 1 - loss / 10}
                seconds = 0.001 * (1 + len(method))
                line = {"table": f"t{number}", "method": method, "fold": fold, "rows": 200}
                lines.append({**line, "columns": 3, "classes": 2, "kind": "numbers", **scores})
                lines[-1] |= {"fit_cpu_seconds": seconds, **facts}
    return pd.DataFrame(lines)


def test_what_the_page_says_follows_from_the_ranks(big_table):
    means = {"LessNaive": 0.5, "CatBoost": 0.7, "AveragedNB": 0.8, "NaiveBayes": 0.9}
    frame = results({**means, "class frequencies": 1.0})
    best, near, quick, last, *alike = big_table.summary(frame)
    assert best.startswith("**The best probabilities:** :class:`LessNaiveClassifier`, with an aver")
    assert "rank by log-loss of 1.00 among 5 methods on 20 tables" in best
    assert "it is the best on all kinds of tables below. On the tables that no choice of" in best
    assert "it is also :class:`LessNaiveClassifier` (1.00)." in best
    assert "cannot be told from it" not in near or "NaiveBayes" not in near
    assert ":class:`LessNaiveClassifier`, :class:`AveragedNB` and :class:`NaiveBayes`" in quick
    assert last.startswith("**Not** :class:`NaiveBayes`")
    assert "only class frequencies have a worse rank" in last
    assert not alike
    frame = results({**means, "CatBoost": 0.4, "class frequencies": 1.0})
    assert big_table.summary(frame)[0].startswith("**The best probabilities:** CatBoost, with an")
    half = frame["table"].isin([f"t{number}" for number in range(10)])
    turned = half & (frame["method"] == "NaiveBayes")
    frame.loc[half, "classes"] = 3
    frame.loc[turned, "log_loss"] = 0.01
    text = big_table.summary(frame)[0]
    assert "but not on tables of more than two classes (:class:`NaiveBayes`)" in text
    frame.loc[frame["method"] == "LessNaive", "fit_cpu_seconds"] = 2.0
    assert "LessNaive" not in big_table.summary(frame)[2]
    frame = results(dict.fromkeys([*means, "class frequencies"], 0.5), n_tables=8)
    assert "most methods cannot be told apart" in big_table.summary(frame)[-1]


def test_results_of_several_runs_are_put_together(big_table, tmp_path):
    home, first, second = (tmp_path / name for name in ("home", "first", "second"))
    names = [f"t{number}" for number in range(9)]
    entries = [{"name": name, "numeric": ["x"], "categorical": []} for name in names]
    for folder in (home, first, second):
        folder.mkdir()
    (home / "manifest.json").write_text(json.dumps(entries))
    old = results({"LessNaive": 0.9, "NaiveBayes": 1.0}, n_tables=9)
    old.to_csv(tmp_path / "big_table.csv", index=False)
    new = results({"LessNaive": 0.1}, n_tables=8)  # a table less
    few = results({"CatBoost": 0.2, "NaiveBayes": 0.3}, n_tables=9, folds=1)
    for folder, frame in ((first, new), (second, few)):
        lines = [json.dumps(line) for line in frame.to_dict("records")]
        (folder / "quality.jsonl").write_text("\n".join(lines) + "\n")
    sources = [first, second / "quality.jsonl", tmp_path / "big_table.csv"]
    frame = big_table.gather(sources, home)
    assert not frame.duplicated(["table", "method", "fold"]).any()
    means = frame.groupby(["method", "table"])["log_loss"].mean()
    assert means["LessNaive"][names[:8]].max() < 0.2  # the first run counts
    assert means["LessNaive"]["t8"] > 0.3
    assert means["NaiveBayes"].min() > 0.4  # five folds count more than one
    both = big_table.panels(frame)
    assert set(both["methods"]["method"]) == {"LessNaive", "NaiveBayes", "CatBoost"}
    assert set(both["methods"]["fold"]) == {0}  # which all of them have
    assert set(both["tables"]["method"]) == {"LessNaive", "NaiveBayes"}
    assert set(both["tables"]["fold"]) == set(range(5))
    [header, *lines] = big_table.coverage(frame)
    assert header[-3:] == ["fewer folds", "absent", "stopped after"]
    assert all(line[-3:] == ["CatBoost (1)", "none", "none"] for line in lines)


def test_what_was_stopped_has_no_result_but_is_told(big_table, tmp_path):
    (tmp_path / "manifest.json").write_text('[{"name": "t0", "numeric": ["x"], "categorical": []}]')
    known = results({"LessNaive": 0.5}, n_tables=1)
    cells = [
        *known.to_dict("records"),
        {"table": "t0", "method": "EBM", "fold": 0, "stopped": 60.0},
    ]
    source = tmp_path / "quality.jsonl"
    source.write_text("".join(json.dumps(cell) + "\n" for cell in cells))
    frame = big_table.gather([source], tmp_path)
    assert (len(frame), len(big_table.measured(frame))) == (6, 5)
    assert big_table.coverage(frame)[1][-3:] == ["none", "EBM", "EBM (60 s)"]


def test_slices_of_tables(big_table):
    frame = pd.DataFrame(
        {
            "table": [f"t{i}" for i in range(20)],
            "rows": [100] * 10 + [5000] * 10,
            "classes": [2] * 20,
            "kind": ["numbers"] * 12 + ["mixed"] * 8,
        }
    )
    found = {part.name: len(part.tables) for part in big_table.slices(frame)}
    assert found["all"] == 20
    assert (found["small"], found["large"]) == (10, 10)
    assert (found["numbers"], found["mixed"]) == (12, 8)
    assert "middle" not in found
    assert "more" not in found
