"""Dask tables: learning from them where they are, and predicting them part by part."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lessnaive.parts.batches import local_training
from lessnaive.parts.cluster import Cluster, ClusterHeld
from lessnaive.parts.engine import Parcel
from lessnaive.parts.options import PartOptions, current_options
from lessnaive.parts.reading import RawPart, agree, facts_of, finish, read_part
from lessnaive.table.parts import PartedTraining
from lessnaive.table.training import Training

__all__ = ["fit_delayed", "fit_distributed", "packed", "predict_distributed"]


def fit_distributed(model: Any, X: Any, y: Any, sample_weight: Any = None) -> Any:
    """Fit a model to a Dask table.

    With a ``distributed.Client`` the parts stay on its workers. Without one they are computed one
    after the other by whatever scheduler Dask has, as in :func:`~lessnaive.fit_batches`.

    Parameters
    ----------
    model : classifier
        The model.
    X : Dask DataFrame, or Dask Array of shape (n_samples, n_features)
        The rows.
    y, sample_weight
        Dask collections in the same partitions.

    Returns
    -------
    classifier
        The model.
    """
    model._check_parts()
    return fit_delayed(model, _parts(X, y, sample_weight))


def fit_delayed(model: Any, parts: Sequence[Any]) -> Any:
    """Fit a model to parts that are not computed yet.

    Parameters
    ----------
    model : classifier
        The model.
    parts : sequence of dask.delayed.Delayed
        What :func:`packed` returns for each part.

    Returns
    -------
    classifier
        The model.
    """
    model._check_parts()
    options = current_options()
    client = _client()
    if client is None:
        with local_training(
            model,
            partial(_computed, parts),
            options.memory,
            options.bins,
            progress=options.progress,
        ) as training:
            return model._fit_parts(training)
    cluster = Cluster(client, options)
    try:
        return model._fit_parts(_training(cluster, model, parts, options))
    finally:
        cluster.release()


def _client() -> Any:
    """Return the client that is there, or None."""
    try:
        from distributed import get_client
    except ImportError:
        return None
    try:
        client = get_client()
    except ValueError:
        return None
    if client.asynchronous:
        raise TypeError(
            "The Dask client is asynchronous: make one with Client(..., asynchronous=False)."
        )
    return client


def _training(
    cluster: Cluster, model: Any, parts: Sequence[Any], options: PartOptions
) -> PartedTraining:
    """Read the parts where they are, and let them agree."""
    import dask

    categorical = model.categorical_features
    read = dask.delayed(_read, pure=False)
    tasks = [
        read(number, part, categorical, dask_key_name=cluster.key("read"))
        for number, part in enumerate(parts)
    ]
    raw = cluster.compute(tasks)
    facts = ClusterHeld[RawPart](cluster, raw).each(facts_of)
    agreement = agree(facts, categorical, model._weight_of_classes())
    there = [(fact.n_rows, future) for fact, future in zip(facts, raw, strict=True) if fact.n_rows]
    rows = cluster.map(_agreed, partial(finish, agreement), [future for _, future in there])
    cluster.await_all(rows, "parts")
    sizes = np.array([size for size, _ in there], dtype=np.int64)
    return PartedTraining(
        ClusterHeld(cluster, cluster.balanced(rows)),
        agreement.schema,
        agreement.classes,
        sizes,
        options.bins,
        options.memory,
    )


def _read(number: int, part: Parcel[tuple[Any, ...]], categorical: Any) -> Parcel[RawPart]:
    return Parcel(read_part(number, part.content, categorical).alone())


def _agreed(
    agreed: Parcel[Callable[[RawPart], Training]], part: Parcel[RawPart]
) -> Parcel[Training]:
    return Parcel(agreed.content(part.content))


def _parts(X: Any, y: Any, sample_weight: Any) -> list[Any]:
    """Return parcels of a table, its target and its weights, none of them computed."""
    import dask

    n_parts = _n_partitions(X, "X")
    _check_partitions(y, "y", n_parts)
    given = [X, y]
    if sample_weight is not None:
        _check_partitions(sample_weight, "sample_weight", n_parts)
        given.append(sample_weight)
    if all(map(_is_frame, given)):
        import dask.dataframe as dd

        # One expression: columns of one file are read together.
        together = dd.map_partitions(
            _pack, *given, meta=("parts", object), enforce_metadata=False, align_dataframes=False
        )
        return list(together.to_delayed())
    pack = dask.delayed(_pack)
    return [pack(*own) for own in zip(*map(_partitions, given), strict=True)]


def _pack(X: Any, y: Any, sample_weight: Any = None) -> Parcel[tuple[Any, Any, Any]]:
    return Parcel((X, y, sample_weight))


def packed(part: tuple[Any, ...]) -> Parcel[tuple[Any, ...]]:
    """Return a part, a tuple as in :func:`~lessnaive.fit_batches`, ready for its way."""
    return Parcel(part)


def _check_partitions(values: Any, name: str, n_parts: int) -> None:
    if not type(values).__module__.startswith("dask."):
        what = "None" if values is None else type(values).__name__
        raise TypeError(
            f"X is a Dask collection, but {name} is {what}: give {name} as one too, for example "
            "the column of the same DataFrame."
        )
    found = _n_partitions(values, name)
    if found != n_parts:
        raise ValueError(
            f"X has {n_parts} partitions, but {name} has {found}: they must be cut at the same "
            "rows, for example as columns of one DataFrame, or by rechunk."
        )


def _is_frame(values: Any) -> bool:
    return isinstance(getattr(values, "divisions", None), tuple)


def _n_partitions(values: Any, name: str) -> int:
    if _is_frame(values):
        return int(values.npartitions)
    if not isinstance(getattr(values, "chunks", None), tuple):
        raise TypeError(
            f"{name} is a Dask {type(values).__name__}: make it a DataFrame or an Array."
        )
    if values.ndim not in (1, 2):
        raise ValueError(f"{name} has {values.ndim} dimensions: a table has two, y has one.")
    return len(values.chunks[0])


def _partitions(values: Any) -> list[Any]:
    if _is_frame(values):
        return list(values.to_delayed())
    whole = values.rechunk({1: -1}) if values.ndim == 2 else values
    return list(whole.to_delayed().ravel())


def _computed(parts: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    """Compute one part after the other."""
    for part in parts:
        yield part.compute().content


def predict_distributed(model: Any, method: str, X: Any) -> Any:
    """Return what a model predicts for a Dask table, as a Dask array that is not computed yet.

    Parameters
    ----------
    model : classifier
        The fitted model.
    method : str
        Name of the method that predicts.
    X : Dask DataFrame or Dask Array
        The rows.

    Returns
    -------
    dask.array.Array
        In the partitions of the table.
    """
    model._fitted_scorecard()
    labels = method == "predict"
    dtype = model.classes_.dtype if labels else np.dtype(np.float64)
    width: tuple[int, ...] = () if labels else (len(model.classes_),)
    predict = partial(_predicted, method, dtype, width, Parcel(model))
    _n_partitions(X, "X")
    if X.ndim != 2:
        raise ValueError(f"X has {X.ndim} dimensions: a table has two.")
    if _is_frame(X):
        return X.map_partitions(predict, meta=np.empty((0, *width), dtype), enforce_metadata=False)
    whole = X.rechunk({1: -1})
    axes = {"drop_axis": 1} if labels else {"chunks": (whole.chunks[0], width)}
    return whole.map_blocks(predict, dtype=dtype, meta=np.empty((0,) * (2 - labels), dtype), **axes)


def _predicted(
    method: str, dtype: np.dtype[Any], width: tuple[int, ...], model: Parcel[Any], rows: Any
) -> NDArray[Any]:
    if len(rows) == 0:
        return np.empty((0, *width), dtype=dtype)
    return np.asarray(getattr(model.content, method)(rows))
