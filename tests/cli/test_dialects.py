"""CSV files as they come: separators, numbers and letters of all kinds, in fit and in stream."""

from __future__ import annotations

import bz2
import codecs
import gzip
import json
import lzma
import shlex
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from command_line import TABLE, refused, rows_of, write
from lessnaive.cli.dialect import Dialect, find_separator
from lessnaive.cli.numbers import suggest
from lessnaive.cli.training import warn_of_traps

PLAIN = "size,price,kind,y\n1.5,1234.5,a,yes\n2.5,12,b,no\n-3.25,1000000,a,yes\n4,,b,no\n"
COMMANDS = pytest.mark.parametrize("command", ["fit", "stream"])


def learn(cli, command, name, content, *options):
    """Learn from a table; return the answer and the scorecard as plain data."""
    answer = cli(command, write(name, content), "--target", "y", "-o", "m.json", *options)
    card = json.loads(Path("m.json").read_text())["scorecard"] if answer.status == 0 else None
    return answer, card


@pytest.fixture
def same(cli):
    """Assert that a table is read like a plain one, without a word on stderr."""

    def compare(command, content, *options, name="t.csv", plain=PLAIN):
        _, expected = learn(cli, command, "plain.csv", plain)
        answer, found = learn(cli, command, name, content, *options)
        assert (answer.status, answer.err) == (0, "")
        assert found == expected

    return compare


@COMMANDS
@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_separator_is_found(same, command, separator):
    same(command, PLAIN.replace(",", separator))


@COMMANDS
@pytest.mark.parametrize("name", ["t.tsv", "t.tsv.gz"])
def test_tsv_is_known(same, command, name):
    """Even where more commas than tabs stand in the rows."""
    content = b'x\tc\ty\n1\t"a,b,c"\tyes\n2\td,e,f\tno\n'
    plain = 'x,c,y\n1,"a,b,c",yes\n2,"d,e,f",no\n'
    content = gzip.compress(content, mtime=0) if name.endswith("gz") else content
    same(command, content, name=name, plain=plain)


def test_which_separator_wins():
    assert find_separator(b"x;y\n1,5;2,5\n3,5;4,5\n") == ";"
    assert find_separator(b'"a;b",c\n1,2\n') == ","
    assert find_separator(b"a,b|c\n1|2\n3|4\n") == "|"
    assert find_separator(b"only\n1,2\n") == ","
    assert find_separator(b"") == ","
    assert find_separator(b'x;y\n"1\n2";3\n') == ";"


@COMMANDS
def test_an_option_overrides_what_is_found(cli, command):
    _, card = learn(cli, command, "t.csv", "a;b,y\n1;2,p\n3;4,q\n", "--separator", ",")
    assert [column["name"] for column in card["schema"]["columns"]] == ["a;b"]


@COMMANDS
def test_decimal_commas_and_thousands(same, command):
    content = "size;price;kind;y\n1,5;1.234,5;a;yes\n2,5;12;b;no\n-3,25;1.000.000;a;yes\n4;;b;no\n"
    same(command, content, "--decimal", ",", "--thousands", ".")
    content = PLAIN.replace("1.5,1234.5", '1.5,"1,234.5"').replace("1000000", '"1,000,000"')
    same(command, content, "--thousands", ",")
    for space in " \u00a0\u202f":
        content = PLAIN.replace("1234.5", f"1{space}234.5").replace("1000000", f"1{space}000 000")
        same(command, content, "--thousands", "space")
    content = PLAIN.replace("1234.5", "1'234.5").replace("1000000", "1'000'000")
    same(command, content, "--thousands", "'")


@COMMANDS
def test_units(same, command):
    content = PLAIN.replace("1234.5", "€ 1234.5").replace("1000000", "1000000 €")
    same(command, content, "--unit", "€")
    content = PLAIN.replace("1234.5", '"$1,234.5"').replace(",12,", ",+12%,")
    same(command, content, "--unit", "$", "--unit", "%", "--thousands", ",")
    same(command, PLAIN.replace("-3.25", "-€3.25").replace("1.5", "€1.5"), "--unit", "€")


@COMMANDS
def test_decimal_commas_in_the_weights(same, command):
    plain = "x,w,y\n1,0.5,a\n2,1.5,b\n"
    content = "x;w;y\n1;0,5;a\n2;1,5;b\n"
    same(command, content, "--decimal", ",", plain=plain)


@COMMANDS
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-8-sig"])
def test_encodings_with_a_mark(same, command, encoding):
    plain = TABLE.replace("a,", "é,").replace("b,", "日本,")
    mark = codecs.BOM_UTF16_LE if encoding == "utf-16-le" else b""
    same(command, mark + plain.encode(encoding), plain=plain)
    same(command, gzip.compress(mark + plain.encode(encoding)), plain=plain)


@COMMANDS
@pytest.mark.parametrize("encoding", ["cp1252", "utf-16-be", "utf-16-le"])
def test_encodings_that_are_named(same, command, encoding):
    plain = TABLE.replace("a,", "é,").replace("c,", "größe,")
    same(command, plain.encode(encoding), "--encoding", encoding, plain=plain)


@COMMANDS
def test_bytes_that_are_not_utf8_get_a_hint(cli, command):
    answer, _ = learn(cli, command, "t.csv", "x,y\ncafé,a\nb,b\n".encode("cp1252"))
    assert answer.status == 2
    assert "is not UTF-8 text" in answer.err
    assert "--encoding cp1252" in answer.err


@COMMANDS
def test_bytes_that_are_not_in_the_encoding(cli, command):
    content = "x,y\ncafé,a\nb,b\n".encode()
    answer, _ = learn(cli, command, "t.csv", content, "--encoding", "ascii")
    refused(
        answer,
        "t.csv is not text in ascii (can't decode byte 0xc3: ordinal not in range(128)): name "
        "another --encoding.",
    )


@COMMANDS
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("--encoding", "utf-9"),
            "--encoding 'utf-9' is not known; such as 'cp1252' and 'utf-16' are.",
        ),
        (
            ("--thousands", "."),
            "--decimal and --thousands are both '.': give --decimal ',' too.",
        ),
        (
            ("--thousands", "x"),
            "--thousands 'x' is none of: a comma, a point, an apostrophe, _, or the word space.",
        ),
        (
            ("--decimal", ",", "--separator", ","),
            "--decimal and --separator are both ','.",
        ),
    ],
)
def test_options_that_do_not_fit(cli, command, options, message):
    refused(learn(cli, command, "t.csv", TABLE, *options)[0], message)


@COMMANDS
@pytest.mark.parametrize(
    ("cells", "cell", "remedy"),
    [
        (["1,5", "2,75", "3", "4,0"], "1,5", "--decimal ','"),
        (["3", "1,234", "2,500", "12,000"], "1,234", "--thousands ','"),
        (["€ 12.00", "€ 3.50", "€ 7", "€ 8"], "€ 12.00", "--unit '€'"),
        (["$1,200.50", "$3.50", "$7", "$8"], "$1,200.50", "--thousands ',' --unit '$'"),
        (["1.234,5", "2,5", "7", "1.000"], "1.234,5", "--decimal ',' --thousands '.'"),
        (["12 %", "7 %", "100 %", "3 %"], "12 %", "--unit '%'"),
        (["1 234", "12 345", "1 000 000", "7"], "1 234", "--thousands space"),
    ],
)
def test_text_that_looks_like_numbers_is_told(cli, command, cells, cell, remedy):
    lines = [f"{x}|{y}" for x, y in zip(cells, ["p", "q", "p", "q"], strict=True)]
    content = "\n".join(["x|y", *lines, ""])
    answer, _ = learn(cli, command, "t.csv", content)
    assert answer.status == 0
    row = cells.index(cell) + 1
    assert answer.err == (
        f"lessnaive: warning: column 'x' is taken as text, but looks like numbers, such as "
        f"{cell!r} in row {row}: to read it as numbers, use {remedy}.\n"
    )
    # The remedy works.
    answer, card = learn(cli, command, "t.csv", content, *shlex.split(remedy))
    assert (answer.status, answer.err) == (0, "")
    assert card["schema"]["columns"][0]["kind"] == "number"


@COMMANDS
def test_text_that_does_not_look_like_numbers_is_not_told(cli, command):
    content = "code,name,day,y\nA12,x 1,2-3,p\nB7,y 2,4-5,q\n007,z 3,6-7,p\n"
    answer, _ = learn(cli, command, "t.csv", content)
    assert (answer.status, answer.err) == (0, "")
    content = "x;y\n1,5;p\n2,5;q\n"
    answer, _ = learn(cli, command, "t.csv", content, "--categorical", "x")
    assert (answer.status, answer.err) == (0, "")


def test_numbers_of_another_dialect_when_predicting(cli, well):
    well("fit", write("t.csv", PLAIN), "--target", "y", "-o", "m.json")
    expected = well("predict", "m.json", "t.csv")
    content = PLAIN.replace(",", ";").replace(".", ",")
    refused(
        cli("predict", "m.json", write("new.csv", content)),
        "column 'size' held numbers when the model was fitted, but row 1 holds '1,5': to read it "
        "as a number, use --decimal ','.",
    )
    assert well("predict", "m.json", "new.csv", "--decimal", ",") == expected


@COMMANDS
@pytest.mark.parametrize("end", ["\n", "", "\r\n"])
def test_a_newline_in_the_very_last_cell(cli, command, end):
    content = 'x,y,c\n1,p,a\n2,q,"b\nb"' + end
    answer, card = learn(cli, command, "t.csv", content)
    assert (answer.status, answer.err) == (0, "")
    assert card["terms"][1]["levels"] == ["a", "b\nb"]


@COMMANDS
def test_an_integer_target_with_many_values_is_questioned(cli, command):
    content = "x,y\n" + "".join(f"{i % 7},{i % 31}\n" for i in range(310))
    answer, _ = learn(cli, command, "t.csv", content)
    assert answer.status == 0
    assert answer.err == (
        "lessnaive: warning: the target 'y' looks like a number: it has 31 different values, each "
        "of which is taken as a class; if it is a quantity, bin it first.\n"
    )
    content = "x,y\n" + "".join(f"{i % 7},{i % 30}\n" for i in range(310))
    assert learn(cli, command, "t.csv", content)[0].err == ""


@COMMANDS
def test_nul_bytes_are_refused(cli, command):
    """Wherever they are, by the same rule."""
    content = b"x,y\n" + b"1,a\n2,b\n" * 20_000 + b"3\0,a\n"
    answer, _ = learn(cli, command, "t.csv", content)
    assert answer.status == 2
    assert "NUL byte" in answer.err
    assert "line" in answer.err
    assert "40002" in answer.err
    answer, _ = learn(cli, command, "t.csv", b"x\0,y\n1,a\n2,b\n")
    refused(
        answer,
        "t.csv is not a CSV file: it holds binary data, a NUL byte in line 1; if it is UTF-16, use "
        "--encoding utf-16-le or utf-16-be.",
    )


def test_rows_with_nul_bytes_can_be_left_out_of_streams(cli):
    content = b"x,c,y\n1,k,a\n2,k\0,b\n3,k,b\n"
    answer, card = learn(cli, "stream", "t.csv", content, "--skip-bad-rows")
    assert answer.status == 0
    assert "1 bad row left out; the first is line 3 of t.csv: a NUL byte" in answer.out
    assert card["terms"][1]["levels"] == ["k"]


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (("--target", "y", "--target", "x"), "--target"),
        (("--target", "y", "--decimal", ",", "--decimal", "."), "--decimal"),
        (("--target", "y", "-o", "a.json"), "--output"),
    ],
)
@COMMANDS
def test_an_option_given_twice_is_an_error(cli, command, arguments, option):
    answer = cli(command, write("t.csv", TABLE), "-o", "m.json", *arguments)
    refused(answer, f"{option} is given twice: give it once.")
    assert not Path("m.json").exists()


@COMMANDS
def test_columns_without_a_value_are_left_out_with_one_warning(cli, well, command):
    content = "x,u,y,v\n1,,a,NA\n2,,b,\n3,NA,a,\n4,,b,\n"
    answer, _ = learn(cli, command, "t.csv", content)
    assert answer.status == 0
    expected = (
        "lessnaive: warning: Columns 'u', 'v' have no values, every row is missing: left out.\n"
    )
    if command == "fit":
        assert answer.err == expected
        assert cli("evaluate", "t.csv", "--target", "y", "--cv", "2").err == expected
    probabilities = well("predict", "m.json", "t.csv")
    filled = content.replace("1,,a,NA", "1,word,a,7")
    assert well("predict", "m.json", write("filled.csv", filled)) == probabilities
    assert len(rows_of(probabilities)) == 4


def test_nothing_is_suggested_for_a_column_without_values():
    assert suggest(pa.chunked_array([[None, None]], type=pa.string()), Dialect()) is None


def test_columns_of_names_are_looked_at_once(monkeypatch):
    """Each way to write numbers was tried on each column, which took most of the time of a fit."""
    looks = []
    match = pc.match_substring_regex

    def counted(column, pattern):
        looks.append(pattern)
        return match(column, pattern)

    monkeypatch.setattr(pc, "match_substring_regex", counted)
    names = pa.chunked_array([["v1", "A12"], [None, "b 3 c"]])
    warn_of_traps(pa.table({"code": names, "kind": names}), [], Dialect())
    assert len(looks) == 1


@COMMANDS
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"sep=;\nx;y\n1;a\n", "begins with the line 'sep=;', which only Excel understands: "),
        (b'\xef\xbb\xbf"sep=,"\r\nx,y\r\n', "begins with the line '\"sep=,\"', which only "),
        (b"PK\x03\x04\x14\x00", "is not a CSV file, but a workbook of Excel or a zip archive: "),
        (b"\xd0\xcf\x11\xe0\x00", "is not a CSV file, but a workbook of Excel: save the table"),
        (
            bz2.compress(b"x,y\n"),
            "is not a CSV file, but packed by bzip2: unpack it, or pack it",
        ),
        (lzma.compress(b"x,y\n"), "is not a CSV file, but packed by xz: unpack it, or pack it by"),
        (b"\x28\xb5\x2f\xfd\x00", "is not a CSV file, but packed by zstd: unpack it, or pack it"),
    ],
)
def test_files_that_are_something_else(cli, command, content, message):
    write("t.csv", content)
    answer = cli(command, "t.csv", "--target", "y", "-o", "m.json")
    assert answer.status == 2
    assert answer.err.startswith(f"lessnaive: t.csv {message}")


@COMMANDS
def test_the_ending_of_a_name_may_be_in_capitals(same, command):
    content = b"x\tc\ty\n1\ta,b,c\tyes\n2\td,e,f\tno\n"
    same(command, content, name="T.TSV", plain='x,c,y\n1,"a,b,c",yes\n2,"d,e,f",no\n')
