"""Good calls of all functions and methods of the core: see core_cases.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from core_cases import (
    CLASSES,
    HUGE,
    ROWS,
    Any1,
    Arguments,
    Codes,
    Column,
    Filled,
    FilledOrNone,
    Flag,
    Group,
    Instance,
    InstanceOrNone,
    Kind,
    Labels,
    Many,
    Read,
    ReadOrNone,
    Real,
    Weights,
    Whole,
)

LEVELS, STEPS = 9, 4  # of a stagewise scan
CODES = 5

CALLS: dict[str, Callable[[Any], Arguments]] = {}


def call(name: str) -> Callable[[Callable[[Any], Arguments]], Callable[[Any], Arguments]]:
    def add(make: Callable[[Any], Arguments]) -> Callable[[Any], Arguments]:
        CALLS[name] = make
        return make

    return add


def random(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).normal(-1, 1, shape)


def weights() -> Weights:
    return Weights(np.full(ROWS, 0.5))


def labels() -> Labels:
    return Labels(np.arange(ROWS) % CLASSES)


def codes(dtype: str = "uint8") -> Codes:
    return Codes((np.arange(ROWS) % CODES).astype(dtype))


def numbers() -> Column:
    return Column(np.sqrt(np.arange(ROWS)))


def shift() -> Whole:
    return Whole(0, (2**62 + 1, -(2**62) - 1))


def positive(value: int) -> Whole:
    return Whole(value, (0, -1, -(2**63)))


def tolerance() -> Real:
    return Real(1e-9, (-1.0, np.nan))


def rounds() -> Whole:
    return Whole(10, (-1, 2**31))


def penalty() -> Real:
    return Real(0.1, (-1.0, np.nan))


def table() -> Read:
    return Read(random(CODES, CLASSES), (np.zeros((0, CLASSES)),), free=(0,))


class Nothing(Kind):
    """An argument that may be None, and is."""

    def mistakes(self):
        return ((what, wrong) for what, wrong in super().mistakes() if wrong is not None)


def curve() -> Group:
    """Return numbers, and the edges, offsets, slopes and missing scores of a curve."""
    unsorted = (np.array([2.0, 1.0]), np.array([1.0, np.nan]))
    return Group(
        [
            numbers(),
            Read(np.array([1.0, 2.0]), unsorted),
            Read(random(3, CLASSES)),
            Read(random(3, CLASSES)),
            Read(random(CLASSES)),
        ]
    )


def pair_by_curve() -> Group:
    """Return a pair whose first column is looked at by the segments of the one curve."""
    places = np.array([1, 1, 2, 0], np.uint32)
    wrong = (np.array([1, 1, 3, 0], np.uint32), np.array([1, 2, 0], np.uint32))
    return Group(
        [
            Nothing(None, (np.zeros(3),)),
            Whole(0, (-1, 1, *HUGE)),
            Read(places, wrong, free=(0,)),
            codes("int32"),
            shift(),
            Nothing(None, ()),
            Read(random(3, CODES, CLASSES), (random(2, CODES, CLASSES),), free=(0, 1)),
        ]
    )


def pair() -> Group:
    """Return codes, shift and places of two columns, and a table."""
    places = np.array([0, 1, 2, 3, 1], np.uint32)
    outside = np.array([0, 1, 2, 4, 1], np.uint32)
    sizes = (np.zeros((0, CODES, CLASSES)), np.zeros((4, 0, CLASSES)))
    return Group(
        [
            codes(),
            shift(),
            ReadOrNone(places, (outside, np.zeros(0, np.uint32)), free=(0,)),
            codes("int32"),
            shift(),
            Nothing(None, (np.zeros(3, np.int64), np.zeros(0, np.uint32))),
            Read(random(4, CODES, CLASSES), (*sizes, random(3, CODES, CLASSES)), free=(0, 1)),
        ]
    )


def parabola() -> np.ndarray:
    return np.abs(random(5, CLASSES)) + 0.1


@call("max_threads")
def _(core: Any) -> Arguments:
    return {}


@call("trim")
def _(core: Any) -> Arguments:
    return {}


@call("set_threads")
def _(core: Any) -> Arguments:
    return {"count": Whole(1, (0, -1, 1025, *HUGE))}


@call("StopSign.__init__")
def _(core: Any) -> Arguments:
    return {}


@call("StopSign.put_up")
def _(core: Any) -> Arguments:
    return {"self": Instance(core.StopSign())}


@call("StopSign.heed")
def _(core: Any) -> Arguments:
    return {"self": Instance(core.StopSign())}


@call("StopSign.leave")
def _(core: Any) -> Arguments:
    return {"self": Instance(core.StopSign())}


@call("count")
def _(core: Any) -> Arguments:
    empty = np.zeros((0, CLASSES))
    tables = [Filled(np.zeros((CODES, CLASSES)), (empty,), free=(0,)) for _ in range(2)]
    return {
        "columns": Many([codes(), codes("int64")]),
        "shifts": Many([shift(), shift()]),
        "labels": labels(),
        "weights": weights(),
        "tables": Many(tables),
    }


@call("moments")
def _(core: Any) -> Arguments:
    return {
        "columns": Many([numbers(), numbers()]),
        "labels": labels(),
        "weights": weights(),
        "out": Filled(
            np.zeros((2, CLASSES, 6)), (np.zeros((2, 0, 6)), np.zeros((2, 2, 6))), free=(1,)
        ),
    }


@call("merge_moments")
def _(core: Any) -> Arguments:
    return {"into": Filled(np.ones((2, CLASSES, 6))), "other": Read(np.ones((2, CLASSES, 6)))}


@call("score")
def _(core: Any) -> Arguments:
    return {
        "coded_columns": Many([codes(), codes("int32")]),
        "shifts": Many([shift(), shift()]),
        "tables": Many([table(), table()]),
        "numeric_columns": Many([numbers(), numbers()]),
        "parameters": Many([Read(parabola()), Read(random(2, CLASSES))]),
        "intercept": Read(random(CLASSES)),
        "output": Whole(2, (-1, 3, *HUGE)),
        "out": Filled(np.zeros((ROWS, CLASSES))),
        "curves": Any1([curve()]),
        "pairs": Any1([pair(), pair_by_curve()]),
    }


@call("text_codes")
def _(core: Any) -> Arguments:
    text = np.frombuffer(b"onetwothree" * 2, np.uint8).copy()
    offsets = np.array([0, 3, 6, 11, 14, 17, 22], "int32")
    wrong = [offsets.copy() for _ in range(3)]
    wrong[0][2], wrong[1][-1], wrong[2][0] = 14, 23, -1
    wrong += [offsets[:-1].copy(), np.repeat(offsets, 2)[::2], offsets.astype("uint64")]
    return {
        "offsets": Codes(offsets, wrong, free=(0,)),
        "bytes": Read(text, (text[:-1].copy(),), free=(0,)),
        "valid": ReadOrNone(np.array([0b101111], np.uint8), (np.zeros(0, np.uint8),), free=(0,)),
        "first": Whole(0, (-1, 1, 6, 7, *HUGE)),
        "codes": Filled(np.zeros(6, np.int32), (np.zeros(7, np.int32),), free=(0,)),
    }


@call("find_records")
def _(core: Any) -> Arguments:
    separators = ("", ",,", '"', "\n", "\r", "\0", "é", "€", b",", 44)
    return {
        "text": Kind(b'a,b\n"c,\nd",e\n', (bytearray(b"a"), memoryview(b"a"), 3)),
        "separator": Kind(",", separators),
        "is_end": Flag(True),
    }


@call("discretize")
def _(core: Any) -> Arguments:
    return {
        "columns": Any1([numbers(), Column(np.arange(ROWS) * 1.0)]),
        "labels": labels(),
        "weights": weights(),
        "classes": Whole(CLASSES, (0, -1, CLASSES - 1, 2**20 + 1, *HUGE)),
        "modl": Flag(True),
        "use_missing": Flag(True),
        "exact_parts": Whole(512, (0, -1, 2**12 + 1, *HUGE)),
    }


@call("group")
def _(core: Any) -> Arguments:
    table = np.arange(4.0 * CLASSES).reshape(4, CLASSES)
    wrong = [np.zeros((4, 0)), np.where(table < 3, 0.0, table)]
    for value in (-1.0, np.nan, np.inf, 1.7e308):
        wrong.append(np.where(table > 9, value, table))
    return {"tables": Any1([Read(table, wrong, free=(0, 1))])}


@call("digitize")
def _(core: Any) -> Arguments:
    wrong = (np.array([2.0, 1.0]), np.array([1.0, np.nan]), np.array([np.nan]))
    return {
        "column": numbers(),
        "edges": Read(np.array([1.0, 2.0, 3.0]), wrong, free=(0,)),
        "out": Filled(np.zeros(ROWS, np.uint32)),
    }


@call("QuantileSummary.__init__")
def _(core: Any) -> Arguments:
    return {
        "classes": Whole(2, (0, -1, 2**20 + 1, *HUGE)),
        "size": Whole(4, (0, -1, *HUGE)),
    }


def summary(core: Any, classes: int = CLASSES) -> Any:
    out = core.QuantileSummary(classes, 4)
    core.summarize([out], [numbers().value], np.arange(ROWS) % classes, None)
    return out


@call("QuantileSummary.__getstate__")
def _(core: Any) -> Arguments:
    return {"self": Instance(summary(core))}


@call("QuantileSummary.__setstate__")
def _(core: Any) -> Arguments:
    nan, inf = np.nan, np.inf

    def points(*wrong: tuple[Any, ...]) -> list[list[tuple[Any, ...]]]:
        return [[each] for each in wrong]

    def listed(value: list[float], *wrong: float) -> Kind:
        return Kind(value, [[*value[:-1], each] for each in wrong] + [value[:-1], [*value, 1.0]])

    levels = points(
        ([1.0, 1.0], [1.0] * 4, [0.0] * 2),
        ([2.0, 1.0], [1.0] * 4, [0.0] * 2),
        ([1.0, nan], [1.0] * 4, [0.0] * 2),
        ([1.0, inf], [1.0] * 4, [0.0] * 2),
        ([1.0, 2.0], [1.0] * 3, [0.0] * 2),
        ([1.0, 2.0], [1.0] * 5, [0.0] * 2),
        ([1.0, 2.0], [1.0, 1.0, 1.0, nan], [0.0] * 2),
        ([1.0, 2.0], [1.0, 1.0, 1.0, -1.0], [0.0] * 2),
        ([1.0, 2.0], [1.0] * 4, [0.0]),
        ([1.0, 2.0], [1.0] * 4, [0.0, nan]),
        ([1.0, 2.0], [1.0] * 4, [0.0, -1.0]),
        ([1.0, 2.0, 3.0, 4.0, 5.0], [1.0] * 10, [0.0] * 2),
        ([1.0, 2.0], [1.0] * 4, [0.0] * 2, []),
        (None, None, None),
    )
    parts: list[Kind] = [
        Whole(2, (0, -1, 1, 3, *HUGE)),
        Whole(4, (0, -1, 1, 2**31)),
        Real(1.0, (0.0, -1.0, nan, inf, 1e-101, 1.1)),
        listed([0.0, 1.0], nan, inf, -1.0),
        listed([1.0, 2.0], nan, inf, -inf),
        Kind([0, 1], ([0, 2], [0, -1], [0, 2**32], [0], [0, 1, 1])),
        listed([1.0, 1.0], nan, inf, -1.0),
        Kind([([1.0, 2.0], [1.0] * 4, [0.0] * 2)], levels),
    ]
    return {"state": Group(parts, ((),))}


@call("QuantileSummary.merge")
def _(core: Any) -> Arguments:
    other_size = core.QuantileSummary(CLASSES, 5)
    return {
        "self": Instance(summary(core), (summary(core, 2),)),
        "other": Instance(summary(core), (summary(core, 2), other_size)),
    }


@call("QuantileSummary.decay")
def _(core: Any) -> Arguments:
    wrong = (0.0, -1.0, 1.1, np.nan, np.inf)
    return {"self": Instance(summary(core)), "factor": Real(0.5, wrong)}


@call("QuantileSummary.spread_classes")
def _(core: Any) -> Arguments:
    wrong = ([0, 1], [0, 1, 2, 3], [0, 1, 1], [0, 1, -1], [0, 1, 5], [0, 1, 2**40])
    return {
        "self": Instance(summary(core)),
        "places": Kind([0, 2, 4], wrong),
        "classes": Whole(5, (0, -1, 4, 2**20 + 1, *HUGE)),
    }


@call("QuantileSummary.points")
def _(core: Any) -> Arguments:
    return {"self": Instance(summary(core))}


@call("QuantileSummary.bytes")
def _(core: Any) -> Arguments:
    return {"self": Instance(summary(core))}


@call("QuantileSummary.count")
def _(core: Any) -> Arguments:
    return {
        "self": Instance(summary(core)),
        "edges": Read(np.array([1.0, 2.0]), (np.array([2.0, 1.0]), np.array([1.0, np.nan]))),
        "out": Filled(np.zeros((3, CLASSES))),
    }


@call("summarize")
def _(core: Any) -> Arguments:
    first, second = summary(core), summary(core)
    twice = [first, first]
    return {
        "summaries": Many([Instance(first), Instance(second)], (twice,)),
        "columns": Many([numbers(), numbers()]),
        "labels": labels(),
        "weights": weights(),
    }


@call("discretize_summaries")
def _(core: Any) -> Arguments:
    return {
        "summaries": Any1([Instance(summary(core)), Instance(summary(core, 2))]),
        "modl": Flag(True),
        "use_missing": Flag(True),
    }


@call("keep_values")
def _(core: Any) -> Arguments:
    slots = 4
    bounds = [np.array([1.0, 1.0, 1.0, wrong]) for wrong in (np.nan, -1.0, np.inf)]
    wrong_slots = ([0, 0, -1, -1], [0, -2, -1, -1], [0, 2, -1, -1], [2**40, 0, -1, -1])
    return {
        "codes": codes(),
        "shift": shift(),
        "labels": labels(),
        "weights": weights(),
        "slot_of": Kind([0, 1, -1, -1], wrong_slots),
        "used": Whole(2, (-1, 1, slots + 1, *HUGE)),
        "counts": Filled(np.ones((slots, CLASSES)), (np.ones((0, CLASSES)), np.ones((slots, 0)))),
        "bound": Filled(np.full(slots, 3.0), bounds),
        "rest": Filled(np.zeros(CLASSES)),
        "missing": Filled(np.zeros(CLASSES)),
    }


def evidence(core: Any) -> Any:
    return core.Evidence(*(kind.value for kind in CALLS["Evidence.__init__"](core).values()))


@call("Evidence.__init__")
def _(core: Any) -> Arguments:
    table = random(CODES, CLASSES)
    empty = np.zeros((0, CLASSES))
    return {
        "codes": Many([codes(), codes("int64")]),
        "shifts": Many([shift(), shift()]),
        "tables": Many([Read(table, (empty,)), Read(table, (empty,))]),
        "own_tables": Many([ReadOrNone(table), ReadOrNone(table)]),
        "coded_places": Many([Whole(2, (-1, 3, 1, 5, *HUGE)), Whole(0, (-1, 3, 1, 5, *HUGE))]),
        "values": Many([numbers(), numbers()]),
        "parameters": Many([Read(parabola()), Read(parabola())]),
        "own_values": Many([ReadOrNone(random(ROWS)), ReadOrNone(random(ROWS))]),
        "value_places": Many([Whole(1, (-1, 2, 5, *HUGE)), Whole(3, (-1, 2, 5, *HUGE))]),
        "intercept": Read(random(CLASSES), (np.zeros(0),)),
        "own_intercept": ReadOrNone(random(CLASSES)),
        "labels": labels(),
        "weights": weights(),
        "sharpness": Many([ReadOrNone(np.ones(ROWS)), ReadOrNone(np.ones(ROWS))]),
        "curves": Many([curve()]),
        "own_curves": Many([ReadOrNone(random(ROWS))]),
        "curve_places": Many([Whole(4, (-1, 3, 5, *HUGE))]),
    }


COLUMNS = 5  # of this evidence


def column_weights() -> Read:
    return Read(random(CLASSES, COLUMNS))


@call("Evidence.take")
def _(core: Any) -> Arguments:
    wrong = [np.array(rows) for rows in ([1, 0], [-1, 0], [0, ROWS], [0, 2**40], [-(2**63)])]
    return {
        "self": Instance(evidence(core)),
        "rows": Read(np.array([0, 3, 3, ROWS - 1]), wrong, free=(0,)),
    }


@call("Evidence.unpack")
def _(core: Any) -> Arguments:
    return {
        "self": Instance(evidence(core)),
        "out": Filled(np.zeros((ROWS, CLASSES, COLUMNS))),
    }


@call("Evidence.labels")
def _(core: Any) -> Arguments:
    return {"self": Instance(evidence(core))}


@call("Evidence.loss")
def _(core: Any) -> Arguments:
    return {
        "self": Instance(evidence(core)),
        "weights": column_weights(),
        "squared": Flag(False),
        "gradient": FilledOrNone(np.zeros((CLASSES, COLUMNS))),
    }


@call("Evidence.mixed_loss")
def _(core: Any) -> Arguments:
    return {
        "self": Instance(evidence(core)),
        "first": column_weights(),
        "second": column_weights(),
        "share": Real(0.5, (-0.1, 1.1, np.nan)),
        "squared": Flag(False),
        "by_first": Filled(np.zeros((CLASSES, COLUMNS))),
        "by_second": Filled(np.zeros((CLASSES, COLUMNS))),
    }


@call("Evidence.probabilities")
def _(core: Any) -> Arguments:
    return {
        "self": Instance(evidence(core)),
        "weights": column_weights(),
        "out": Filled(np.zeros((ROWS, CLASSES))),
    }


@call("Evidence.curvature")
def _(core: Any) -> Arguments:
    last = CLASSES * COLUMNS - 1
    wrong = [np.array(places) for places in ([1, 0], [0, 0], [-1, 0], [0, last + 1], [0, 2**40])]
    return {
        "self": Instance(evidence(core)),
        "weights": column_weights(),
        "squared": Flag(False),
        "tied": Flag(False),
        "chosen": Read(np.array([0, last]), wrong),
        "rows": positive(ROWS),
        "seed": Whole(0, (-1,)),
        "out": Filled(np.zeros((2, 2))),
        "negligible": Real(0.0, (-0.1, 1.0, np.nan)),
    }


@call("Evidence.curvature_of_part")
def _(core: Any) -> Arguments:
    of_whole = CALLS["Evidence.curvature"](core)
    del of_whole["negligible"]
    starts = np.zeros(CLASSES, dtype=np.int64)
    wrong = [np.full(CLASSES, start) for start in (-1, ROWS, 2**62, 2**63 - 1)]
    return {
        "self": of_whole.pop("self"),
        "whole": Whole(ROWS, (0, -1)),
        "starts": Read(starts, (*wrong, starts[1:])),
        **of_whole,
    }


@call("Evidence.grams")
def _(core: Any) -> Arguments:
    return {
        "self": Instance(evidence(core)),
        "out": Filled(np.zeros((CLASSES, COLUMNS, COLUMNS))),
    }


@call("Evidence.gram_products")
def _(core: Any) -> Arguments:
    return {
        "self": Instance(evidence(core)),
        "vector": column_weights(),
        "out": Filled(np.zeros((CLASSES, COLUMNS))),
    }


@call("Evidence.squared_norms")
def _(core: Any) -> Arguments:
    return {"self": Instance(evidence(core)), "summed": Flag(False)}


@call("Evidence.margins")
def _(core: Any) -> Arguments:
    return {"self": Instance(evidence(core)), "direction": column_weights()}


def state(core: Any) -> Any:
    return core.ScoreState(evidence(core), random(COLUMNS))


@call("ScoreState.__init__")
def _(core: Any) -> Arguments:
    return {"evidence": Instance(evidence(core)), "weights": Read(random(COLUMNS))}


@call("ScoreState.loss")
def _(core: Any) -> Arguments:
    return {"self": Instance(state(core))}


@call("ScoreState.loss_if")
def _(core: Any) -> Arguments:
    return {
        "self": Instance(state(core)),
        "column": Whole(0, (-1, COLUMNS, *HUGE)),
        "delta": Real(0.5, (np.nan, np.inf)),
    }


CALLS["ScoreState.apply"] = CALLS["ScoreState.loss_if"]


@call("ScoreState.reset")
def _(core: Any) -> Arguments:
    return {"self": Instance(state(core)), "weights": Read(random(COLUMNS))}


def program(**rest: Kind) -> Arguments:
    size = 3
    low, high = np.zeros(size), np.ones(size)
    nan = np.array([0.0, np.nan, 0.0])
    return {
        "hessian": Read(np.eye(size)),
        "gradient": Read(random(size)),
        "cost": Read(np.ones(size)),
        "lower": Read(low, (high + 1, nan, low - 1)),
        "upper": Read(high, (low - 1, nan)),
        "power": Real(0.5, (0.0, -1.0, 2.5, np.nan)),
        "tolerance": tolerance(),
        "most_rounds": rounds(),
        **rest,
    }


@call("solve_power")
def _(core: Any) -> Arguments:
    return program(x=Filled(np.full(3, 0.5)))


@call("try_moves")
def _(core: Any) -> Arguments:
    return program(x=Read(np.full(3, 0.5)), out=Filled(np.zeros(3)))


@call("make_move")
def _(core: Any) -> Arguments:
    return program(k=Whole(0, (-1, 3, *HUGE)), x=Filled(np.full(3, 0.5)))


@call("solve_quadratic")
def _(core: Any) -> Arguments:
    size = 3
    low, high = np.zeros(size), np.ones(size)
    nan = np.array([0.0, np.nan, 0.0])
    return {
        "hessian": Read(np.eye(size)),
        "gradient": Read(random(size)),
        "target": Read(random(size)),
        "lower": Read(low, (high + 1, nan)),
        "upper": Read(high, (low - 1, nan)),
        "l1": penalty(),
        "l2": penalty(),
        "tolerance": tolerance(),
        "most_rounds": rounds(),
        "x": Filled(np.full(size, 0.5)),
        "factor": ReadOrNone(np.ones(size), (nan, low - 1)),
    }


def linear_rows(core: Any) -> Any:
    return core.LinearRows(*(kind.value for kind in CALLS["LinearRows.__init__"](core).values()))


@call("LinearRows.__init__")
def _(core: Any) -> Arguments:
    return {
        "numbers": Many([numbers(), numbers()]),
        "centers": Read(random(2)),
        "codes": Many([codes(), codes("int16")]),
        "shifts": Many([shift(), shift()]),
        "counts": Many([positive(CODES), Whole(CODES, (0, -1, *HUGE))]),
        "labels": labels(),
        "weights": weights(),
        "classes": Whole(CLASSES, (0, 1, -1, CLASSES - 1, 2**20 + 1, *HUGE)),
    }


COEFFICIENTS = 3 + 2 * CODES


def coefficients() -> Read:
    return Read(random(CLASSES, COEFFICIENTS))


@call("LinearRows.loss")
def _(core: Any) -> Arguments:
    return {
        "self": Instance(linear_rows(core)),
        "coefficients": coefficients(),
        "gradient": FilledOrNone(np.zeros((CLASSES, COEFFICIENTS))),
    }


@call("LinearRows.curvature")
def _(core: Any) -> Arguments:
    chosen = np.array([0, 2, 3, COEFFICIENTS + 1])
    wrong = [np.array(each) for each in ([0, 0, 1, 2], [1, 0, 2, 3], [-1, 0, 1, 2])]
    beyond = np.array([0, 1, 2, CLASSES * COEFFICIENTS])
    return {
        "self": Instance(linear_rows(core)),
        "coefficients": coefficients(),
        "enough": positive(ROWS),
        "chosen": Read(chosen, (*wrong, beyond)),
        "out": Filled(np.zeros((4, 4))),
        "negligible": penalty(),
    }


@call("LinearRows.curvature_of_part")
def _(core: Any) -> Arguments:
    of_whole = CALLS["LinearRows.curvature"](core)
    del of_whole["negligible"]
    return {
        "self": of_whole.pop("self"),
        "whole": Whole(ROWS, (0, -1, ROWS - 1)),
        "first": Whole(0, (-1, 1, *HUGE)),
        **of_whole,
    }


def linear_curvature(core: Any) -> Any:
    arguments = CALLS["LinearCurvature.__init__"](core).values()
    return core.LinearCurvature(*(kind.value for kind in arguments))


@call("LinearCurvature.__init__")
def _(core: Any) -> Arguments:
    return {
        "rows": Instance(linear_rows(core)),
        "coefficients": coefficients(),
        "cautious": Flag(True),
    }


@call("LinearCurvature.multiply")
def _(core: Any) -> Arguments:
    return {
        "self": Instance(linear_curvature(core)),
        "vector": coefficients(),
        "out": Filled(np.zeros((CLASSES, COEFFICIENTS))),
    }


@call("LinearCurvature.diagonal")
def _(core: Any) -> Arguments:
    return {
        "self": Instance(linear_curvature(core)),
        "squares": Filled(np.zeros((CLASSES, COEFFICIENTS))),
        "with_intercept": Filled(np.zeros((CLASSES, COEFFICIENTS))),
    }


@call("LinearRows.probabilities")
def _(core: Any) -> Arguments:
    return {
        "self": Instance(linear_rows(core)),
        "coefficients": coefficients(),
        "out": Filled(np.zeros((ROWS, CLASSES))),
    }


def path(core: Any) -> Any:
    return core.LinearPath(*(kind.value for kind in CALLS["LinearPath.__init__"](core).values()))


@call("LinearPath.__init__")
def _(core: Any) -> Arguments:
    size = COEFFICIENTS
    starts, places = np.arange(size + 1), np.arange(size)

    def changed(array: np.ndarray, place: int, value: int) -> np.ndarray:
        out = array.copy()
        out[place] = value
        return out

    outside = [changed(places, 2, value) for value in (-1, size, 2**40, -(2**63))]
    unsorted = [changed(starts, *change) for change in ((0, -1), (0, 1), (3, 2**40), (-1, 99))]
    negative = -np.ones((CLASSES, size))
    return {
        "rows": Instance(linear_rows(core)),
        "starts": Read(starts, (*unsorted, np.zeros(0, np.int64))),
        "places": Read(places, outside),
        "values": Read(np.ones(size)),
        "target": Read(np.zeros((CLASSES, size))),
        "factor": Read(np.ones((CLASSES, size)), (negative, np.nan * negative)),
        "start": Read(np.zeros((CLASSES, size))),
    }


@call("LinearPath.minimize")
def _(core: Any) -> Arguments:
    return {
        "self": Instance(path(core)),
        "l1": Real(0.1, (-1.0, np.nan, np.inf)),
        "l2": Real(0.1, (-1.0, np.nan, np.inf)),
        "tolerance": tolerance(),
        "max_passes": rounds(),
        "out": Filled(np.zeros((CLASSES, COEFFICIENTS))),
        "leader": InstanceOrNone(path(core)),
        "share": Real(0.5, (0.0, -1.0, np.nan, np.inf)),
    }


def evidence_curvature(core: Any) -> Any:
    return core.EvidenceCurvature(evidence(core), np.ones((CLASSES, COLUMNS)))


@call("EvidenceCurvature.__init__")
def _(core: Any) -> Arguments:
    return {"evidence": Instance(evidence(core)), "weights": Read(np.ones((CLASSES, COLUMNS)))}


@call("EvidenceCurvature.multiply")
def _(core: Any) -> Arguments:
    return {
        "self": Instance(evidence_curvature(core)),
        "vector": Read(np.ones((CLASSES, COLUMNS))),
        "out": Filled(np.zeros((CLASSES, COLUMNS))),
    }


@call("EvidenceCurvature.blocks")
def _(core: Any) -> Arguments:
    useful = len(evidence(core).useful)
    return {
        "self": Instance(evidence_curvature(core)),
        "out": Filled(np.zeros((CLASSES, useful, useful))),
        "tied": Flag(False),
    }


def evidence_path(core: Any) -> Any:
    return core.EvidencePath(evidence(core), 0.0, ROWS)


@call("EvidencePath.__init__")
def _(core: Any) -> Arguments:
    return {
        "evidence": Instance(evidence(core)),
        "target": Real(1.0, (np.nan, np.inf)),
        "enough": positive(ROWS),
    }


@call("EvidencePath.minimize")
def _(core: Any) -> Arguments:
    return {
        "self": Instance(evidence_path(core)),
        "l1": Real(0.1, (-1.0, np.nan, np.inf)),
        "l2": Real(0.1, (-1.0, np.nan, np.inf)),
        "tolerance": tolerance(),
        "max_passes": rounds(),
        "out": Filled(np.zeros((CLASSES, COLUMNS))),
        "leader": InstanceOrNone(evidence_path(core)),
        "share": Real(0.5, (0.0, -1.0, np.nan, np.inf)),
    }


def terms() -> Arguments:
    return {
        "lookups": Any1([Group([codes(), shift(), table()])]),
        "quadratics": Any1([Group([numbers(), Read(parabola())])]),
    }


@call("scan")
def _(core: Any) -> Arguments:
    return {
        **terms(),
        "judged": Kind([0, 1], ([1, 0], [0, 0], [-1], [3], [2**40])),
        "scores": Read(random(CLASSES, ROWS), (np.zeros((0, ROWS)),)),
        "labels": labels(),
        "weights": weights(),
        "leave_one_out": Flag(True),
        "with_log_loss": Flag(True),
        "curves": Any1([curve()]),
    }


@call("add_evidence")
def _(core: Any) -> Arguments:
    scores = Filled(random(CLASSES, ROWS), (np.zeros((0, ROWS)),))
    return {**terms(), "scores": scores, "curves": Any1([curve()])}


class CompleteCodes(Codes):
    """Codes that must all be in the table."""

    def mistakes(self):
        yield from super().mistakes()
        for code in (-1, CODES, 2**40, -(2**63)):
            wrong = self.value.astype("int64")
            wrong[-1] = code
            yield f"code {code}", wrong


@call("symmetrical_uncertainty")
def _(core: Any) -> Arguments:
    def column() -> Codes:
        return CompleteCodes(codes().value)

    sizes = (0, -1, CODES - 1, 2**26 + 1, *HUGE)
    return {
        "column": column(),
        "codes": Whole(CODES, sizes),
        "others": Many([column(), column()]),
        "other_codes": Many([Whole(CODES, sizes), Whole(CODES, sizes)]),
        "weights": weights(),
        "spread_missing": Flag(True),
    }


@call("scan_steps")
def _(core: Any) -> Arguments:
    level = (-1, LEVELS - STEPS, LEVELS, *HUGE)
    table = random(CODES, CLASSES, LEVELS)
    parameters = np.abs(random(5, CLASSES, LEVELS))
    return {
        "coded_columns": Many([codes()]),
        "shifts": Many([shift()]),
        "tables": Many([Read(table, (table[..., :STEPS].copy(), table[:0].copy()), free=(0, 2))]),
        "numeric_columns": Many([numbers()]),
        "parameters": Many([Read(parameters, (parameters[..., :STEPS].copy(),), free=(2,))]),
        "levels": Many([Whole(0, level), Whole(LEVELS - STEPS - 1, level)]),
        "labels": labels(),
        "weights": weights(),
        "scores": Read(random(ROWS, CLASSES), (np.zeros((ROWS, 0)),)),
        "log_loss": Flag(True),
        "tolerance": tolerance(),
        "out": Filled(np.zeros((2, STEPS))),
    }


class OneType(Codes):
    """Codes of one of the unsigned types, one after the other."""

    types = (*Codes.types, "int64", "int8", "uint64")


def additive_rows(core: Any) -> Any:
    return core.AdditiveRows(
        *(kind.value for kind in CALLS["AdditiveRows.__init__"](core).values())
    )


@call("AdditiveRows.__init__")
def _(core: Any) -> Arguments:
    none = np.zeros(0, np.uint8)
    classes = [np.arange(ROWS, dtype=np.int32) % CLASSES for _ in range(3)]
    classes[0][-1], classes[1][-1] = -1, CLASSES
    return {
        "kinds": Many([Whole(0, (1, 2, 3, -1)), Whole(1, (2, 3, -1)), Whole(2, (0, 1, 3, -1))]),
        "sizes": Many(
            [
                Whole(CODES, (0, -1, CODES - 1, *HUGE)),
                Whole(CODES + 1, (0, -1, CODES, *HUGE)),
                Whole(1, (0, 2, *HUGE)),
            ]
        ),
        "codes": Many([OneType(codes().value), OneType(codes("uint16").value), OneType(none)]),
        "values": Many([Read(np.zeros(0)), Read(np.full(ROWS, 0.5)), Read(random(ROWS))]),
        "labels": Read(classes[2], classes[:2]),
        "weights": weights(),
        "classes": Whole(CLASSES, (0, 1, -1, CLASSES - 1, 2**20 + 1, *HUGE)),
    }


PARAMETERS = 2 * CODES + 3


@call("AdditiveRows.scores")
def _(core: Any) -> Arguments:
    return {
        "self": Instance(additive_rows(core)),
        "parameters": Read(random(PARAMETERS, CLASSES)),
        "out": Filled(np.zeros((ROWS, CLASSES))),
    }


@call("AdditiveNewton.__init__")
def _(core: Any) -> Arguments:
    size = PARAMETERS - 1
    negative, nan = -np.ones(size), np.full(size, np.nan)
    return {
        "rows": Instance(additive_rows(core)),
        "penalty": Read(np.ones(size), (negative, nan)),
        "link": Read(np.zeros(size), (negative, nan, np.ones(size))),
        "target": Read(np.zeros((PARAMETERS, CLASSES))),
        "hold": Read(np.ones(CLASSES), (-np.ones(CLASSES), np.full(CLASSES, np.nan))),
        "runs": ReadOrNone(
            np.zeros((0, 3), np.int64), (np.array([[0, 2, 1]]), np.zeros((0, 2), np.int64))
        ),
    }


def newton(core: Any) -> Any:
    return core.AdditiveNewton(
        *(kind.value for kind in CALLS["AdditiveNewton.__init__"](core).values())
    )


@call("AdditiveNewton.minimize")
def _(core: Any) -> Arguments:
    return {
        "self": Instance(newton(core)),
        "lam": Real(0.1, (-1.0, np.nan, np.inf)),
        "tolerance": tolerance(),
        "most_steps": rounds(),
        "parameters": Filled(np.zeros((PARAMETERS, CLASSES))),
    }


@call("AdditiveNewton.objective")
def _(core: Any) -> Arguments:
    return {
        "self": Instance(newton(core)),
        "lam": Real(0.1, (-1.0, np.nan, np.inf)),
        "parameters": Read(random(PARAMETERS, CLASSES)),
        "gradient": FilledOrNone(np.zeros((PARAMETERS, CLASSES))),
    }


@call("pair_gains")
def _(core: Any) -> Arguments:
    pairs = [np.array([[0, 1], [1, 2]], np.int32) for _ in range(3)]
    pairs[0][1, 1], pairs[1][0, 0] = 3, -1
    sizes = (0, -1, CODES - 1, 257, *HUGE)
    return {
        "codes": Many([Read(codes().value) for _ in range(3)]),
        "sizes": Many([Whole(CODES, sizes) for _ in range(3)]),
        "pairs": Read(pairs[2], pairs[:2]),
        "slopes": Read(random(ROWS, CLASSES)),
        "bends": Read(np.abs(random(ROWS, CLASSES))),
        "out": Filled(np.zeros(2)),
    }


def boosting(core: Any) -> Any:
    out = core.PairBoosting(*(kind.value for kind in CALLS["PairBoosting.__init__"](core).values()))
    out.advance(3)
    return out


@call("PairBoosting.__init__")
def _(core: Any) -> Arguments:
    sizes = (0, -1, CODES - 1, 257, *HUGE)
    wrong_pairs = ([(0, 2)], [(1, 0)], [(0, 0)], [(-1, 0)], [(0,)], [None], [(0, 2**40)])
    setting = (-1.0, np.nan, np.inf)
    needed = Weights(np.full(ROWS, 0.5), (None, np.zeros(ROWS)))
    return {
        "columns": Many([Read(codes().value), Read(codes().value)]),
        "n_codes": Many([Whole(CODES, sizes), Whole(CODES, sizes)]),
        "ordered": Many([Flag(True), Flag(False)]),
        "pairs": Kind([(0, 1)], wrong_pairs),
        "labels": labels(),
        "classes": Whole(CLASSES, (0, 1, -1, CLASSES - 1, 2**20 + 1, *HUGE)),
        "weights": needed,
        "held_out": weights(),
        "leaves": Whole(4, (0, 1, -1, 2**10 + 1, *HUGE)),
        "l2": Real(1.0, setting),
        "least_weight": Real(1.0, setting),
        "rate": Real(0.1, (0.0, *setting)),
        "share": Real(0.5, (0.0, 1.1, *setting)),
        "order": Kind([1, 0], ([0, 0], [0, 2], [-1, 0], [0, 1, 2], [None, 0])),
        "seed": Whole(0, ()),
    }


@call("PairBoosting.advance")
def _(core: Any) -> Arguments:
    return {"self": Instance(boosting(core)), "rounds": Whole(1, (-1, *HUGE))}


@call("PairBoosting.scores")
def _(core: Any) -> Arguments:
    return {"self": Instance(boosting(core)), "out": Filled(np.zeros((ROWS, CLASSES)))}


class PlaceOrNone(Nothing, Whole):
    """A place, or None."""


@call("PairBoosting.table")
def _(core: Any) -> Arguments:
    return {
        "self": Instance(boosting(core)),
        "first": Whole(0, (-1, 1, 2, *HUGE)),
        "second": PlaceOrNone(1, (-1, 0, 2, *HUGE)),
        "rounds": Whole(1, (-1, 1000, *HUGE)),
        "out": Filled(np.zeros((CODES * CODES, CLASSES))),
    }
