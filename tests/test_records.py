"""Where the records of CSV text end, against Python's own reader and Arrow's."""

from __future__ import annotations

import csv
import io

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import csv as arrow_csv

from lessnaive import _core


def records(text, *, is_end=True):
    data = text.encode()
    ends, lines, nexts, cells, is_open = _core.find_records(data, ",", is_end)
    line = nexts[-1] if len(nexts) else 0
    starts = [0, *ends.tolist()][: len(ends)]
    parts = [data[a:b].decode() for a, b in zip(starts, ends.tolist(), strict=True)]
    return parts, lines.tolist(), cells.tolist(), line, is_open


@pytest.mark.parametrize(
    ("text", "parts", "lines", "cells", "line", "is_open"),
    [
        ("", [], [], [], 0, False),
        ("a", ["a"], [0], [1], 0, False),
        ("a,b\n", ["a,b\n"], [0], [2], 1, False),
        ("a\r\nb\rc\n", ["a\r\n", "b\r", "c\n"], [0, 1, 2], [1, 1, 1], 3, False),
        ("\n\r\n\ra,b", ["\n\r\n\ra,b"], [3], [2], 3, False),
        ("a\n\n", ["a\n"], [0], [1], 1, False),
        ('"a,""\n",b\nc\n', ['"a,""\n",b\n', "c\n"], [0, 2], [2, 1], 3, False),
        ('5" pipe,x\ny\n', ['5" pipe,x\n', "y\n"], [0, 1], [2, 1], 2, False),
        ('"a"b"c,d\n', ['"a"b"c,d\n'], [0], [2], 1, False),
        ('a\n"b\nc', ["a\n"], [0], [1], 1, True),
        ('a,"', [], [], [], 0, True),
        (",,\n", [",,\n"], [0], [3], 1, False),
    ],
)
def test_records(text, parts, lines, cells, line, is_open):
    assert records(text) == (parts, lines, cells, line, is_open)


@pytest.mark.parametrize("text", ["a", "a\r", '"a', '"a"', "\r"])
def test_the_end_of_a_piece_may_not_be_the_end(text):
    assert records(text, is_end=False)[0] == []
    assert records("x\n" + text, is_end=False)[:3] == (["x\n"], [0], [1])


@given(st.text(alphabet='ab,"\r\n', max_size=40))
def test_records_are_those_of_python_and_of_arrow(text):
    parts, lines, cells, _, is_open = records(text)
    if is_open:
        return
    expected = [row for row in csv.reader(io.StringIO(text, newline="")) if row]
    assert cells == [len(row) for row in expected]
    for place, (part, row) in enumerate(zip(parts, expected, strict=True)):
        assert next(r for r in csv.reader(io.StringIO(part, newline="")) if r) == row
        empty = len(part) - len(part.lstrip("\r\n"))
        before = "".join(parts[:place]) + part[:empty]
        assert lines[place] == len(before.encode().splitlines())
    width = len(expected[0]) if expected else 0
    if any(len(row) != width for row in expected) or not expected:
        return
    options = arrow_csv.ReadOptions(column_names=[str(j) for j in range(width)])
    kinds = arrow_csv.ConvertOptions(column_types={str(j): pa.string() for j in range(width)})
    table = arrow_csv.read_csv(
        io.BytesIO(text.encode()),
        options,
        arrow_csv.ParseOptions(newlines_in_values=True),
        kinds,
    )
    assert table.num_rows == len(expected)


@given(st.text(alphabet='ab,"\r\n', max_size=40), st.integers(0, 40))
def test_pieces_give_the_same_records(text, cut):
    """What is left of a first piece, with the second one behind it, continues where it ended."""
    head, tail = text[:cut], text[cut:]
    parts, lines, cells, line, _ = records(head, is_end=False)
    rest = head[sum(map(len, parts)) :] + tail
    more, more_lines, more_cells, end, is_open = records(rest)
    whole = records(text)
    assert (parts + more, cells + more_cells) == (whole[0], whole[2])
    assert lines + [line + later for later in more_lines] == whole[1]
    assert (line + end, is_open) == whole[3:]
