"""How a CSV file is written: what stands between cells, and how numbers and letters are."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Callable
from dataclasses import dataclass

from lessnaive.cli.errors import InputError

__all__ = [
    "ENCODING_HINT",
    "HEAD_BYTES",
    "MISSING",
    "Dialect",
    "binary_data",
    "check_dialect",
    "decoder",
    "find_separator",
]

#: What helps where a file is not in UTF-8.
ENCODING_HINT = "name its encoding, such as --encoding cp1252 for files of Excel in Western Europe"

#: Cells of a CSV file that mean a missing value.
MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None")
#: How much of a file tells its separator.
HEAD_BYTES = 1 << 16

# What packed files and those of Excel begin with.
_ARCHIVES = {
    b"PK\x03\x04": "a workbook of Excel or a zip archive: save the table as CSV, or unpack it",
    b"\xd0\xcf\x11\xe0": "a workbook of Excel: save the table as CSV",
    b"BZh": "packed by bzip2: unpack it, or pack it by gzip",
    b"\xfd7zXZ": "packed by xz: unpack it, or pack it by gzip",
    b"\x28\xb5\x2f\xfd": "packed by zstd: unpack it, or pack it by gzip",
}
_EXCEL_LINE = re.compile(rb"(?:\xef\xbb\xbf)?(\"?sep=.\"?)\r?\n")
_SEPARATORS = (",", ";", "\t", "|")
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_MOST_ROWS = 200


@dataclass(frozen=True)
class Dialect:
    """What the user has said of the way in which CSV files are written.

    Attributes
    ----------
    missing : tuple of str
        Cells that mean a missing value, besides the usual ones.
    separator : str or None
        What stands between two cells; None if each file tells.
    decimal : str
        What stands before the decimals of a number.
    thousands : str or None
        What stands between groups of three digits.
    units : tuple of str
        What may stand before or after a number, such as "€".
    encoding : str or None
        How letters are written as bytes; None is UTF-8, or UTF-16 if a file begins with its mark.
    """

    missing: tuple[str, ...] = ()
    separator: str | None = None
    decimal: str = "."
    thousands: str | None = None
    units: tuple[str, ...] = ()
    encoding: str | None = None

    def encoding_of(self, head: bytes) -> str:
        """Return the encoding of a file that begins with these bytes."""
        if self.encoding is not None:
            return self.encoding
        return "utf-16" if head.startswith(_UTF_16) else "utf-8"

    def separator_of(self, path: str, head: bytes) -> str:
        """Return the separator of a file, given its name and the text that it begins with.

        What no CSV file begins with is an error that says what to do about it.
        """
        _check_head("standard input" if path == "-" else path, head)
        if self.separator is not None:
            return self.separator
        if path.lower().removesuffix(".gz").endswith(".tsv"):
            return "\t"
        return find_separator(head)


def _check_head(name: str, head: bytes) -> None:
    """Say what a file is that is no CSV file, given what it begins with."""
    for mark, what in _ARCHIVES.items():
        if head.startswith(mark):
            raise InputError(f"{name} is not a CSV file, but {what}.")
    line = _EXCEL_LINE.match(head)
    if line is not None:
        raise InputError(
            f"{name} begins with the line {line[1].decode(errors='replace')!r}, which only Excel "
            "understands: remove this line."
        )


def check_dialect(dialect: Dialect) -> Dialect:
    """Return the dialect, or say which of its options do not fit together."""
    if dialect.decimal == dialect.thousands:
        raise InputError(
            f"--decimal and --thousands are both {dialect.decimal!r}: "
            + ("give --decimal ',' too." if dialect.decimal == "." else "give two characters.")
        )
    if dialect.decimal == dialect.separator:
        raise InputError(f"--decimal and --separator are both {dialect.decimal!r}.")
    if dialect.encoding is not None:
        try:
            "".encode(dialect.encoding)
        except LookupError:
            raise InputError(
                f"--encoding {dialect.encoding!r} is not known; such as 'cp1252' and 'utf-16' are."
            ) from None
    return dialect


def find_separator(head: bytes) -> str:
    r"""Find what stands between the cells of a CSV file, given its first bytes in UTF-8.

    It is the candidate that cuts most rows into as many cells as the header, and of those that do
    so equally well the one that makes most cells; a comma if the header has no candidate at all.

    Parameters
    ----------
    head : bytes
        The first bytes of the file.

    Returns
    -------
    str

    Examples
    --------
    >>> from lessnaive.cli.dialect import find_separator
    >>> find_separator(b"name;price\na, b;1,5\n"), find_separator(b"x|y\n1|2\n")
    (';', '|')
    """
    text = head.decode("utf-8-sig", errors="replace")
    if len(head) >= HEAD_BYTES:  # the last row may be cut
        text = text[: text.rfind("\n") + 1] or text
    best, found = (0.0, 1), ","
    for separator in _SEPARATORS:
        widths = _widths(text, separator)
        if widths and widths[0] > 1:
            regular = sum(width == widths[0] for width in widths) / len(widths)
            if (regular, widths[0]) > best:
                best, found = (regular, widths[0]), separator
    return found


def _widths(text: str, separator: str) -> list[int]:
    """Return the number of cells of each of the first rows."""
    widths = []
    try:
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator):
            if row:
                widths.append(len(row))
            if len(widths) == _MOST_ROWS:
                break
    except csv.Error:
        pass  # a later complaint names the line
    return widths


def decoder(encoding: str, name: str) -> Callable[[bytes, bool], bytes] | None:
    """Return what makes UTF-8 of bytes in an encoding, piece by piece; None if they are UTF-8.

    Parameters
    ----------
    encoding : str
        The encoding.
    name : str
        What the file is called in messages.

    Returns
    -------
    callable or None
        Takes some bytes, and whether they are the last.
    """
    if codecs.lookup(encoding).name == "utf-8":
        return None
    decoding = codecs.getincrementaldecoder(encoding)()

    def decode(data: bytes, final: bool) -> bytes:
        try:
            return decoding.decode(data, final).encode()
        except UnicodeError as error:
            reason = re.sub(r"^'[^']*' codec | in position [\d-]+", "", str(error))
            raise InputError(
                f"{name} is not text in {encoding} ({reason}): name another --encoding."
            ) from None

    return decode


def binary_data(name: str, line: int) -> InputError:
    """Return the error for a file that holds what no text holds."""
    return InputError(
        f"{name} is not a CSV file: it holds binary data, a NUL byte in line {line}; if it is "
        "UTF-16, use --encoding utf-16-le or utf-16-be."
    )
