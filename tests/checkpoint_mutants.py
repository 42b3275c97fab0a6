"""A checkpoint to damage, and the command that goes on from it."""

from __future__ import annotations

import contextlib
import io
import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from lessnaive.cli.running import run as run_command
from lessnaive.cli.streaming.checkpoint import _checksum
from stream_tables import mixed_rows

COMMAND = [
    *("stream", "t.csv", "--target", "y", "--checkpoint", "kept", "-o", "m.json"),
    *("--batch-size", "50", "--every", "50", "--skip-bad-rows", "--weight", "code"),
    *("--model", "FractionalNB", "--set", "batch_size=60", "--set", "summary_size=20"),
]


class Run(NamedTuple):
    """What a command has answered."""

    status: int
    answer: str


class Checkpoint(NamedTuple):
    """The table, the checkpoint after most of its rows, and the model after all of them."""

    table: str
    document: Any
    model: str


def run() -> Run:
    """Give the command in the current folder."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        status = run_command(COMMAND)
    return Run(status, out.getvalue())


def _make() -> Checkpoint:
    frame = mixed_rows(230)
    frame["code"] = frame["code"] % 3 + 1
    table = frame.to_csv(index=False) + "too,few\n"
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            Path("t.csv").write_text(table)
            answer = run()
            assert answer.status == 0, answer.answer
            document = json.loads(Path("kept/checkpoint.json").read_text())
            return Checkpoint(table, document, Path("m.json").read_text())
        finally:
            os.chdir(before)


CHECKPOINT = _make()


def make_stream(folder: Path) -> None:
    """Put the table into a folder, with room for a checkpoint."""
    (folder / "t.csv").write_text(CHECKPOINT.table)
    (folder / "kept").mkdir(exist_ok=True)


def check_checkpoint(path: Path, loaded: Callable[[], None]) -> str:
    """Go on from a damaged checkpoint whose checksum is right nevertheless.

    What is kept is not told from what was learned: so a model may come of it, or a sentence.
    """
    document = json.loads(path.read_text())
    if isinstance(document, dict) and "checksum" in document:
        del document["checksum"]
        document["checksum"] = _checksum(document)
    kept = path.parent / "kept" / "checkpoint.json"
    kept.write_text(json.dumps(document))
    (path.parent / "m.json").unlink(missing_ok=True)
    status, answer = run()
    loaded()
    assert status in (0, 2), answer
    if status == 0:
        assert (path.parent / "m.json").exists()
        return "accepted"
    lines = [line for line in answer.splitlines() if line.startswith("lessnaive: ")]
    assert len(lines) == 1, answer
    return "refused"
