"""JSON text: strict where it is read, one line per row of numbers where it is written."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any, NoReturn

from lessnaive.exceptions import ModelFormatError
from lessnaive.plain import shown

__all__ = ["json_lines", "parse_json"]

# No double has more digits before its point; Python reads longer integers in quadratic time.
_MOST_DIGITS = 310

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
# Items of lists that are longer than this stand on one line each.
_LONG = 1000


# Bytes that Python takes for a list, a small object, and an entry of a large one.
_LIST, _OBJECT, _ENTRY = 72, 200, 150
_ENTRIES_OF_SMALL_OBJECTS = 5
# What these may take together: so many times the size of the text, and so many bytes.
_TIMES, _BYTES = 12, 30 << 20


def parse_json(data: bytes) -> Any:
    """Return the plain data that a JSON text in UTF-8 holds.

    Stricter than Python's own reader: no NaN or Infinity, no key twice in one object, no integers
    of hundreds of digits, no millions of empty lists. Whatever is wrong is a ModelFormatError.
    """
    _check_memory(data)
    try:
        return json.loads(
            data.decode(),
            object_pairs_hook=_object,
            parse_constant=_reject_constant,
            parse_int=_integer,
        )
    except UnicodeDecodeError as error:
        raise ModelFormatError(
            f"the file is damaged: byte {error.start} is not UTF-8 text."
        ) from None
    except json.JSONDecodeError as error:
        raise ModelFormatError(
            f"the file is damaged or cut short: {error.msg.removesuffix(' at')} at line "
            f"{error.lineno}, column {error.colno}."
        ) from None
    except RecursionError:
        raise ModelFormatError("lists or objects are nested too deeply.") from None


def _check_memory(data: bytes) -> None:
    """Refuse a text whose data would take many times as much memory as the text."""
    # What is opened and never closed is an error, and is never made.
    needed = _LIST * data.count(b"]") + _OBJECT * data.count(b"}")
    in_small_objects = _ENTRIES_OF_SMALL_OBJECTS * data.count(b"{")
    needed += _ENTRY * max(0, data.count(b'":') - in_small_objects)
    if needed > _TIMES * len(data) + _BYTES:
        raise ModelFormatError("the file holds too many lists or objects for its size.")


def json_lines(value: Any, indent: str = "") -> Iterator[str]:
    """Yield the JSON text of plain data, in pieces.

    A list or object without further ones in it stands on one line, and so does each item of a long
    list: that is many times faster to write.
    """
    inner = value.values() if isinstance(value, dict) else value
    if not isinstance(value, dict | list) or not any(isinstance(i, dict | list) for i in inner):
        yield _encode(value)
    elif isinstance(value, dict):
        yield from _object_lines(value, indent)
    elif all(isinstance(item, list) for item in value):
        yield _rows(value, indent)
    else:
        separator, is_long = "[", len(value) > _LONG
        for item in value:
            # Pieces are joined: there may be very many items, all of them small.
            text = _encode(item) if is_long else "".join(json_lines(item, indent + " "))
            yield f"{separator}\n{indent} {text}"
            separator = ","
        yield f"\n{indent}]"


def _object_lines(value: dict[str, Any], indent: str) -> Iterator[str]:
    separator = "{"
    for key, item in value.items():
        yield f"{separator}\n{indent} {_encode(key)}: "
        if isinstance(item, dict | list):
            yield from json_lines(item, indent + " ")
        else:
            yield _encode(item)
        separator = ","
    yield f"\n{indent}}}"


def _rows(value: list[list[Any]], indent: str) -> str:
    """Encode all rows at once, which is many times faster than one by one."""
    text = _encode(value)
    if '"' in text:
        return text  # the brackets that end a row may be part of a string
    rows = text[1:-1].replace("], [", f"],\n{indent} [")
    return f"[\n{indent} {rows}\n{indent}]"


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) < len(pairs):
        [(twice, _)] = Counter(key for key, _ in pairs).most_common(1)
        raise ModelFormatError(f"the key {shown(twice)} occurs twice in one object.")
    return out


def _reject_constant(name: str) -> NoReturn:
    raise ModelFormatError(f"{name} is not a number that JSON can hold.")


def _integer(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise ModelFormatError(f"an integer of {len(digits)} digits is too large.")
    return int(digits)
