"""Standalone programs: one file of Python or JavaScript that predicts, and needs nothing else."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from lessnaive._version import __version__
from lessnaive.deploy.formulas import formulas_of

__all__ = ["javascript_engine", "scorecard_json", "to_javascript", "to_python"]

_PYTHON_END = '''

# The model: columns, classes, and what each value adds to the score of each class.
MODEL = json.loads(
    r\'\'\'
{data}
\'\'\'
)
_SCORER = Scorer(MODEL)
CLASSES = _SCORER.classes
predict_proba = _SCORER.predict_proba
predict = _SCORER.predict
explain = _SCORER.explain


def main() -> int:
    """Score CSV from standard input, and write CSV to standard output."""
    source = io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8-sig", newline="")
    target = io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8", newline="")
    try:
        score_csv(_SCORER, source, target)
        target.flush()
    except BrokenPipeError:
        sys.stdout = None
        return 0
    except (ValueError, csv.Error) as error:
        target.flush()
        print(f"Error: {{error}}.", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
'''
_PYTHON_START = '''"""A {model} as a program that needs nothing but Python 3.10 or newer.

Made by lessnaive {version}. In Python:

    from this_file import predict_proba
    predict_proba({{"column": value, ...}})  # the probability of each class

On a command line, for CSV with the names of the columns in its first line:

    python this_file.py < rows.csv > predictions.csv
"""
'''
_JAVASCRIPT = """\
// A {model} as an ES module that needs nothing else. Made by lessnaive {version}.
//
//   import {{ predictProba }} from "./this_file.mjs";
//   predictProba({{"column": value, ...}})  // the probability of each class, as classes has them

{engine}
// The model: columns, classes, and what each value adds to the score of each class.
const scorer = lessnaiveScorer(
{data}
);
export const {{ classes, columns, predictProba, predict, scores, explain }} = scorer;
"""
# JSON in which no text ends a literal of Python, a comment or a <script> element.
_ESCAPES = {"'": "\\u0027", "<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "/": "\\/"}


def scorecard_json(model: Any) -> str:
    """Return the formulas of a model as JSON, the data that the standalone programs read.

    It is plain ASCII, and in it no name, value or label can end a ``<script>`` element, a comment
    or a literal: what it may be put into.

    Parameters
    ----------
    model : estimator or Scorecard
        A fitted classifier of lessnaive, or the scorecard of one.

    Returns
    -------
    str
        See :meth:`~lessnaive.deploy.formulas.ModelFormulas.to_plain`.
    """
    plain = formulas_of(model).to_plain()
    members = plain.pop("members")
    lines = [f"{_json(key)}: {_json(value)}" for key, value in plain.items()]
    lines.append(f'"members": [{",".join(map(_member, members))}]')
    return "{" + ",\n".join(lines) + "}"


def javascript_engine() -> str:
    """Return the function ``lessnaiveScorer`` as JavaScript, the same for all models.

    ``lessnaiveScorer(data)``, where data is what :func:`scorecard_json` returns, gives an object
    with the methods ``predictProba``, ``predict``, ``scores`` and ``explain`` of a row. It is the
    code that :func:`~lessnaive.to_javascript` writes; a page may have it once for several models.

    Returns
    -------
    str
    """
    return files("lessnaive.deploy").joinpath("scorer.js").read_text("utf-8")


def to_javascript(model: Any) -> str:
    """Return a model as an ES module without dependencies, for browsers and node.

    Parameters
    ----------
    model : estimator or Scorecard
        A fitted classifier of lessnaive, or the scorecard of one.

    Returns
    -------
    str
        The module. It exports ``classes``, ``columns``, ``predictProba(row)``, ``predict(row)``,
        ``scores(row)`` and ``explain(row)``, where a row is an object, and null, undefined and NaN
        are missing.

    See Also
    --------
    lessnaive.deploy.javascript_engine : The code alone.
    lessnaive.deploy.scorecard_json : The data alone.

    Examples
    --------
    >>> import lessnaive
    >>> X, y = [[1.0, "a"], [2.0, "b"], [4.0, "b"], [5.0, "b"]], [0, 0, 1, 1]
    >>> text = lessnaive.to_javascript(lessnaive.NaiveBayes().fit(X, y))
    >>> text.splitlines()[-1]
    'export const { classes, columns, predictProba, predict, scores, explain } = scorer;'
    """
    return _JAVASCRIPT.format(
        model=_title(model),
        version=__version__,
        engine=javascript_engine(),
        data=scorecard_json(model),
    )


def to_python(model: Any) -> str:
    """Return a model as one file of Python that needs the standard library alone.

    Parameters
    ----------
    model : estimator or Scorecard
        A fitted classifier of lessnaive, or the scorecard of one.

    Returns
    -------
    str
        The file. It has ``predict_proba(row)``, ``predict(row)`` and ``explain(row)``, where a row
        is a dictionary, and None and NaN are missing; run as a program, it scores CSV from
        standard input.

    Examples
    --------
    >>> import lessnaive
    >>> X, y = [[1.0, "a"], [2.0, "b"], [4.0, "b"], [5.0, "b"]], [0, 0, 1, 1]
    >>> model = lessnaive.NaiveBayes().fit(X, y)
    >>> program = {"__name__": "program"}
    >>> exec(lessnaive.to_python(model), program)
    >>> {label: round(p, 6) for label, p in program["predict_proba"]({"x0": 3, "x1": "b"}).items()}
    {0: 0.375, 1: 0.625}
    >>> model.predict_proba([[3.0, "b"]]).round(6)
    array([[0.375, 0.625]])
    """
    engine = files("lessnaive.deploy").joinpath("scorer.py").read_text("utf-8")
    _, _, code = engine.partition("from __future__ import annotations\n\n")
    start = _PYTHON_START.format(model=_title(model), version=__version__)
    start += "\nfrom __future__ import annotations\n\nimport io\nimport json\nimport sys\n"
    return start + code + _PYTHON_END.format(data=scorecard_json(model))


def _title(model: Any) -> str:
    name = formulas_of(model).model
    return name if name.isascii() and name.isidentifier() else "model"


def _member(member: dict[str, Any]) -> str:
    terms = member.pop("terms")
    head = _json(member)[:-1]
    return f'\n{head}, "terms": [\n' + ",\n".join(map(_json, terms)) + "\n]}"


def _json(value: Any) -> str:
    text = json.dumps(value, allow_nan=False)
    for character, escape in _ESCAPES.items():
        text = text.replace(character, escape)
    return text
