"""The loop of a stream: test, train, keep."""

from __future__ import annotations

from collections.abc import Callable

from lessnaive.cli.errors import InputError
from lessnaive.cli.streaming.batches import Batch, Tables
from lessnaive.cli.streaming.checkpoint import Checkpoints, State
from lessnaive.cli.streaming.interrupts import Interrupts
from lessnaive.table import read_table

__all__ = ["learn_stream"]


def learn_stream(
    state: State,
    tables: Tables,
    batch_size: int,
    checkpoints: Checkpoints | None,
    interrupts: Interrupts,
    progress: Callable[[int], None],
) -> None:
    """Test and train a model on all that is left of the tables.

    Checkpoints are written between batches only, and not behind a last one that is shorter: rows
    that are added to the table later shall find whole batches before them. So it makes no
    difference to the model where a run ended and another one went on.

    Parameters
    ----------
    state : State
        Where the stream is; it changes.
    tables : Tables
        The tables, behind what the state has read.
    batch_size : int
        Number of rows that are tested and then learned together.
    checkpoints : Checkpoints or None
        Where the state is kept.
    interrupts : Interrupts
        Says when to end early.
    progress : callable
        Is told the number of rows of each batch.
    """
    halfway = False
    try:
        last = _learn_whole_batches(state, tables, batch_size, checkpoints, interrupts, progress)
    except KeyboardInterrupt:
        halfway = True  # a batch may be, and the model with it
        raise
    finally:
        # Whatever else ended it, an error in a later row included: what was learned is kept.
        if checkpoints is not None and not halfway:
            checkpoints.write(state)
    if last is not None:
        _learn(state, last)


def _learn_whole_batches(
    state: State,
    tables: Tables,
    batch_size: int,
    checkpoints: Checkpoints | None,
    interrupts: Interrupts,
    progress: Callable[[int], None],
) -> Batch | None:
    """Learn from all batches but a last one that is shorter, which is returned."""
    while (batch := tables.take(batch_size)) is not None:
        if batch.n_read < batch_size:
            return batch
        with interrupts.held():
            _learn(state, batch)
            state.passed = tables.passed
            if checkpoints is not None:
                checkpoints.offer(state)
        progress(batch.n_read)
    return None


def _learn(state: State, batch: Batch) -> None:
    """Test and train on a batch; where a row is refused, nothing has changed."""
    if len(batch.y):
        X = read_table(batch.X).cached()  # which is predicted, then learned
        try:
            state.prequential.test_then_train(state.model, X, batch.y, batch.weights)
        except ValueError as error:
            problem = str(error).removesuffix(".")
            raise InputError(f"{problem} (in the batch from {batch.where} on).") from None
        rows = (batch.X, batch.y, batch.weights)
        state.baseline_prequential.test_then_train(state.baseline, *rows)
    state.n_read += batch.n_read
    state.n_bad += len(batch.bad)
    if state.first_bad is None and batch.bad:
        state.first_bad = batch.bad[0]
