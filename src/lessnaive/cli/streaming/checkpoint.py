"""Checkpoints: all that a stream needs to go on as if it had never stopped."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any

import lessnaive
from lessnaive.cli.errors import InputError
from lessnaive.cli.streaming.batches import Passed
from lessnaive.cli.streaming.rows import BadRow, Place
from lessnaive.cli.streaming.source import Stamp
from lessnaive.cli.streaming.types import Columns
from lessnaive.exceptions import ModelFormatError
from lessnaive.export.json_text import json_lines, parse_json
from lessnaive.export.model_file import from_document, to_document
from lessnaive.export.writing import whole_file
from lessnaive.plain import Node
from lessnaive.stream import ClassFrequencies, Prequential

__all__ = ["Checkpoints", "State"]

_FORMAT = "lessnaive-checkpoint"
_VERSION = 1
_LARGEST = 2**62
_REMEDY = "begin anew with --restart, or use another folder"


class State:
    """Where a stream is.

    Parameters
    ----------
    model : classifier
        What was learned.
    columns : Columns
        The columns of the tables.
    window : float
        About how many rows the recent measures speak of.

    Attributes
    ----------
    prequential : Prequential
        How well the model predicted.
    baseline : ClassFrequencies
        The frequencies of the classes.
    baseline_prequential : Prequential
        How well these predicted.
    passed : list of Passed
        What was read of the tables.
    n_read : int
        Number of rows read, the bad ones and those of weight 0 included.
    n_bad : int
        Number of rows that were left out.
    first_bad : BadRow or None
        The first of them.
    """

    def __init__(self, model: Any, columns: Columns, window: float) -> None:
        self.model = model
        self.columns = columns
        self.prequential = Prequential(window)
        self.baseline = ClassFrequencies()
        self.baseline_prequential = Prequential(window)
        self.passed: list[Passed] = []
        self.n_read = self.n_bad = 0
        self.first_bad: BadRow | None = None


class Checkpoints:
    """The checkpoint in a folder: whenever the process dies, there is the old one or the new one.

    Parameters
    ----------
    folder : str
        The folder; it is made if it is not there.
    settings : dict
        What the result depends on besides the tables, as plain data.
    every : int
        Number of rows from one checkpoint to the next.
    """

    def __init__(self, folder: str, settings: dict[str, Any], every: int) -> None:
        self.folder = folder
        self._path = Path(folder) / "checkpoint.json"
        self._settings = settings
        self._every = every
        self._kept = 0
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot make the folder {folder!r}: {error.strerror}.") from None
        self._lock = _locked(folder)
        for half in self._path.parent.glob(".lessnaive-*.tmp"):  # left by a run that was killed
            with suppress(FileNotFoundError):
                half.unlink()

    def close(self) -> None:
        """Leave the folder to other runs."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def read(self) -> State | None:
        """Read the checkpoint, or return None if there is none.

        One of other settings, of another version of the package, or that is damaged, is an
        InputError.
        """
        try:
            data = self._path.read_bytes()
        except FileNotFoundError:
            return None
        try:
            root = Node(parse_json(data))
            _check_origin(root, self._settings)
            given, rest = root.pop("checksum")
            if given.text() != _checksum(rest.plain()):
                raise root.error("its checksum is not that of its content")
            state = _state(rest)
        except ModelFormatError as error:
            problem = str(error).removesuffix(".")
            raise InputError(f"{self._path} is damaged ({problem}): {_REMEDY}.") from None
        self._kept = state.n_read
        return state

    def remove(self) -> None:
        """Remove the checkpoint, if there is one."""
        self._path.unlink(missing_ok=True)

    def offer(self, state: State) -> None:
        """Write a checkpoint if it is time for the next one."""
        if state.n_read - self._kept >= self._every:
            self.write(state)

    def write(self, state: State) -> None:
        """Write a checkpoint, unless nothing is new."""
        if state.n_read > self._kept:
            with whole_file(self._path) as file:
                document = _to_plain(state, self._settings)
                document["checksum"] = _checksum(document)
                pieces = chain(json_lines(document), "\n")
                file.writelines(piece.encode() for piece in pieces)
            self._kept = state.n_read


def _locked(folder: str) -> int | None:
    """Keep other runs off a folder, until it is closed or the process ends, however it ends."""
    if sys.platform == "win32":
        return None
    import fcntl

    lock = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        raise InputError(
            f"the folder {folder!r} is in use by another run: wait for its end, or use another "
            "folder."
        ) from None
    except OSError:  # some file systems know no locks
        os.close(lock)
        return None
    return lock


def _checksum(document: dict[str, Any]) -> str:
    """Return what tells that the content is as it was written."""
    digest = hashlib.sha256()
    for piece in json_lines(document):
        digest.update(piece.encode(errors="surrogatepass"))
    return digest.hexdigest()


def _to_plain(state: State, settings: dict[str, Any]) -> dict[str, Any]:
    return {
        "format": _FORMAT,
        "version": _VERSION,
        "written_by": f"lessnaive {lessnaive.__version__}",
        "settings": settings,
        "n_read": state.n_read,
        "tables": [
            {"path": path, "place": list(place), "stamp": None if stamp is None else list(stamp)}
            for path, place, stamp in state.passed
        ],
        "columns": state.columns.to_plain(),
        "bad_rows": {"count": state.n_bad, "first": state.first_bad and list(state.first_bad)},
        "prequential": state.prequential.to_plain(),
        "baseline": state.baseline.to_plain(),
        "baseline_prequential": state.baseline_prequential.to_plain(),
        "model": to_document(state.model),
    }


def _check_origin(root: Node, settings: dict[str, Any]) -> None:
    """Refuse a checkpoint of another version of the package, or of other settings."""
    entries = root.entries()
    for key in ("format", "written_by", "settings"):
        if key not in entries:
            raise root.error(f"the key {key!r} is missing")
    entries["format"].choice([_FORMAT])
    now = f"lessnaive {lessnaive.__version__}"
    if entries["written_by"].text() != now:
        raise InputError(
            f"the checkpoint was written by {entries['written_by'].text()}, and this is {now}: "
            f"{_REMEDY}."
        )
    before = entries["settings"].plain()
    for name in settings:
        if before.get(name) != settings[name]:
            raise InputError(
                f"the checkpoint is of another stream: {name} was {json.dumps(before.get(name))} "
                f"and is {json.dumps(settings[name])} now; {_REMEDY}."
            )


def _state(root: Node) -> State:
    fields = root.record(
        *("format", "version", "written_by", "settings", "n_read", "tables", "columns"),
        *("bad_rows", "prequential", "baseline", "baseline_prequential", "model"),
    )
    fields["version"].integer(_VERSION, _VERSION)
    bad = fields["bad_rows"].record("count", "first")
    first = None
    if not bad["first"].is_null():
        first = BadRow(*(item.text() for item in _as_many(bad["first"], BadRow)))
    prequential = Prequential.from_plain(fields["prequential"])
    columns = Columns.from_plain(fields["columns"])
    state = State(from_document(fields["model"]), columns, prequential.window)
    state.prequential = prequential
    state.baseline = ClassFrequencies.from_plain(fields["baseline"])
    state.baseline_prequential = Prequential.from_plain(fields["baseline_prequential"])
    state.passed = [_passed(item) for item in fields["tables"].items()]
    state.n_read = fields["n_read"].integer(0, _LARGEST)
    if state.n_read and not state.passed:
        raise fields["tables"].error(f"expected the tables that the {state.n_read} rows are of")
    if state.n_read < prequential.n_rows:
        raise fields["n_read"].error(f"expected {prequential.n_rows} rows or more")
    state.n_bad, state.first_bad = bad["count"].integer(0, _LARGEST), first
    return state


def _passed(node: Node) -> Passed:
    fields = node.record("path", "place", "stamp")
    place = Place(*(item.integer(0, _LARGEST) for item in _as_many(fields["place"], Place)))
    stamp = None
    if not fields["stamp"].is_null():
        parts = _as_many(fields["stamp"], Stamp)
        stamp = Stamp(*(item.integer(-_LARGEST, _LARGEST) for item in parts))
    return Passed(fields["path"].text(), place, stamp)


def _as_many(node: Node, kind: Any) -> Sequence[Node]:
    """Return the items of a list, as many as the tuple has that is to be made of them."""
    items = node.items()
    if len(items) != len(kind._fields):
        raise node.error(f"expected {len(kind._fields)} items, got {len(items)}")
    return items
