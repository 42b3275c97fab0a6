"""Models as workbooks: a person types values, and formulas give the probabilities."""

from __future__ import annotations

from typing import Any

from lessnaive._version import __version__
from lessnaive.deploy.formulas import (
    InputColumn,
    Member,
    ModelFormulas,
    falls_short,
    formulas_of,
)
from lessnaive.deploy.xlsx_sheets import (
    BOLD,
    Block,
    ScoresSheet,
    StepsSheet,
    choices,
    column_letter,
    marked,
    new_workbook,
    put,
)
from lessnaive.scorecard.terms.formulas import (
    Cells,
    Codes,
    IntervalCodes,
    Lines,
    Parabolas,
    SpecialCodes,
    ValueCodes,
)
from lessnaive.table import Kind

__all__ = ["to_xlsx"]

# Columns that a model may use, and rows that may be filled in.
_MOST_COLUMNS, _MOST_ROWS = 60, 100_000
_INEXACT = 2**53
# Width of the columns of Inputs, in characters.
_WIDTH = 18
# Spreadsheets take numbers for equal whose difference, relative to them, is below a third of this.
_FUZZ = 1e-14
_DATES = "yyyy-mm-dd hh:mm:ss"


def to_xlsx(model: Any, rows: int = 20) -> Any:
    """Return a model as a workbook.

    Parameters
    ----------
    model : estimator or Scorecard
        A fitted classifier of lessnaive, or the scorecard of one, that uses at most 60 columns.
    rows : int, default=20
        The number of rows to fill in.

    Returns
    -------
    openpyxl.Workbook
        On the sheet "Inputs" values are typed, an empty cell being a missing one, and the predicted
        class and the probabilities stand beside them. "Scores" holds the tables, lines and
        parabolas of the model, and "Steps" what is computed on the way. Its method ``save`` writes
        it to a file.

    Examples
    --------
    >>> import lessnaive
    >>> X, y = [[1.0, "a"], [2.0, "b"], [4.0, "b"], [5.0, "b"]], [0, 0, 1, 1]
    >>> workbook = lessnaive.to_xlsx(lessnaive.NaiveBayes().fit(X, y))
    >>> workbook.sheetnames
    ['Inputs', 'Scores', 'Steps']
    >>> [cell.value for cell in workbook["Inputs"][1]]
    ['x0', 'x1', 'predicted', 'probability_0', 'probability_1']
    """
    if not 1 <= rows <= _MOST_ROWS:
        raise ValueError(f"rows must be from 1 to {_MOST_ROWS}, got {rows}.")
    formulas = formulas_of(model)
    used = [column for _, column in formulas.used_columns()]
    if len(used) > _MOST_COLUMNS:
        raise ValueError(
            f"The model uses {len(used)} columns, and a workbook is for {_MOST_COLUMNS} at most: "
            "fit a model that selects columns, such as SelectiveNB."
        )
    for column in used:
        _check_kind(column)
    workbook = new_workbook(("Inputs", "Scores", "Steps"), f"lessnaive {__version__}")
    scores, steps = ScoresSheet(workbook["Scores"]), StepsSheet(workbook["Steps"])
    classes = scores.add("classes", ["label"], [[label] for label in formulas.classes])
    terms = _Terms(formulas, scores, steps)
    outputs = _outputs(formulas, classes, terms)
    steps.write(rows)
    _fill_inputs(workbook["Inputs"], formulas, outputs, rows, terms)
    return workbook


def _outputs(formulas: ModelFormulas, classes: Block, terms: _Terms) -> list[str]:
    """Return the formulas of the predicted class and of the probabilities."""
    made = [_member(member, terms) for member in formulas.members]
    decisive, shares = made[0]
    if len(made) > 1:
        weights = [repr(member.weight) for member in formulas.members]
        by_class = zip(*(own for _, own in made), strict=True)
        mixed = [
            "+".join(f"{w}*{p}" for w, p in zip(weights, own, strict=True)) for own in by_class
        ]
        decisive = shares = terms.add_steps("probability of", mixed)
    span = f"{decisive[0]}:{decisive[-1].removeprefix('Steps!')}"
    predicted = f"INDEX({classes.column(1)},MATCH(MAX({span}),{span},0))"
    return [predicted, *shares]


def _member(member: Member, terms: _Terms) -> tuple[list[str], list[str]]:
    """Add the steps of a scorecard; return the cells of its scores and of its probabilities."""
    intercept = terms.add_scores("intercept", [member.intercept.tolist()])
    sums = [[intercept.cell(c)] for c in range(1, len(terms.labels) + 1)]
    for term in member.terms:
        terms.title = term.name
        parts = terms.add_steps(f"{term.name}:", term.formula.accept(terms))
        for own, part in zip(sums, parts, strict=True):
            own.append(part)
    totals = terms.add_steps("score of", ["+".join(own) for own in sums])
    highest = terms.add_step("highest score", f"MAX({','.join(totals)})")
    odds = terms.add_steps("odds of", [f"EXP({own}-{highest})" for own in totals])
    total = terms.add_step("sum of odds", "+".join(odds))
    return totals, terms.add_steps("probability of", [f"{own}/{total}" for own in odds])


class _Terms:
    """What terms add to the score of each class, as formulas, in which {row} is a row's number."""

    def __init__(self, formulas: ModelFormulas, scores: ScoresSheet, steps: StepsSheet) -> None:
        self.labels = [str(label) for label in formulas.classes]
        self.title = ""
        self.lists: dict[int, str] = {}
        self.add_step = steps.add
        self._scores = scores
        self._columns = formulas.columns
        self._codes: dict[str, str] = {}
        self._numbers: dict[int, str] = {}
        self._cells = {
            place: f"Inputs!${column_letter(number)}{{row}}"
            for number, (place, _) in enumerate(formulas.used_columns(), start=1)
        }

    def add_scores(self, title: str, rows: list[list[Any]], *before: str) -> Block:
        """Write a block with a column for each class, after other columns."""
        return self._scores.add(title, [*before, *self.labels], rows)

    def add_steps(self, title: str, formulas: list[str]) -> list[str]:
        """Add a step for each class; return their cells."""
        both = zip(self.labels, formulas, strict=True)
        return [self.add_step(f"{title} {label}", formula) for label, formula in both]

    def _x(self, column: int) -> str:
        """Return the cell of a number: dates are seconds, and booleans 0 and 1."""
        cell, own = self._cells[column], self._columns[column]
        if own.kind not in (Kind.DATETIME, Kind.BOOLEAN):
            return cell
        if column not in self._numbers:
            is_date = own.kind is Kind.DATETIME
            number = f"ROUND(({cell}-25569)*86400,6)" if is_date else f"N({cell})"
            self._numbers[column] = self.add_step(own.name, number)
        return self._numbers[column]

    def _absent(self, column: int) -> str:
        return f"ISBLANK({self._cells[column]})"

    def _code(self, codes: Codes) -> str:
        """Return the cell of a code, which is made if there is none yet."""
        key = repr(codes)
        if key not in self._codes:
            found = f"IF({self._absent(codes.column)},0,{codes.accept(self)})"
            name = self._columns[codes.column].name
            self._codes[key] = self.add_step(f"{name}: number", found)
        return self._codes[key]

    def values(self, codes: ValueCodes) -> str:
        """Look a value up: text with capitals and all, which MATCH takes no notice of."""
        column, unseen = self._columns[codes.column], len(codes.groups) + 1
        pairs = [[v, code] for code, group in enumerate(codes.groups, start=1) for v in group]
        if any(isinstance(v, int) and abs(v) >= _INEXACT for v, _ in pairs):
            raise ValueError(
                f"Column {column.name!r} has integers from 2**53 on as names, which are no "
                "doubles: convert it to text, and fit the model again."
            )
        if not pairs:
            return str(unseen)
        block = self._scores.add(f"{column.name}: numbers", ["value", "number"], pairs)
        known, numbers = block.column(1), block.column(2)
        self.lists.setdefault(codes.column, known)
        if column.kind is Kind.TEXT:
            found = f"SUMPRODUCT(EXACT({known},{self._cells[codes.column]})*{numbers})"
            return f"IF({found}=0,{unseen},{found})"
        place = f"MATCH({self._x(codes.column)},{known},0)"
        return f"IFERROR(INDEX({numbers},{place}),{unseen})"

    def intervals(self, codes: IntervalCodes) -> str:
        """Count the edges below."""
        if not codes.edges:
            return "1"
        column = self._columns[codes.column]
        rows = [[_told_apart(edge)] for edge in codes.edges]
        edges = self._scores.add(f"{column.name}: edges", ["up to"], rows)
        return f"1+SUMPRODUCT(1*({edges.column(1)}<{self._x(codes.column)}))"

    def special(self, codes: SpecialCodes) -> str:
        """Look for the special values first."""
        column = self._columns[codes.column]
        rows = [[value, code] for code, value in enumerate(codes.special, len(codes.edges) + 2)]
        block = self._scores.add(f"{column.name}: special values", ["value", "number"], rows)
        place = f"MATCH({self._x(codes.column)},{block.column(1)},0)"
        interval = self.intervals(IntervalCodes(codes.column, codes.edges))
        return f"IFERROR(INDEX({block.column(2)},{place}),{interval})"

    def cells(self, formula: Cells) -> list[str]:
        """Look scores up."""
        *sizes, n_classes = formula.scores.shape
        rows = formula.scores.reshape(-1, n_classes).tolist()
        block = self.add_scores(f"{self.title}: scores", rows)
        place = self._code(formula.codes[0])
        for codes, size in zip(formula.codes[1:], sizes[1:], strict=True):
            place = f"({place})*{size}+{self._code(codes)}"
        return [f"INDEX({block.column(c)},{place}+1)" for c in range(1, n_classes + 1)]

    def lines(self, formula: Lines) -> list[str]:
        """Draw lines: a missing value has a line of its own, at no distance."""
        n_classes, code = len(self.labels), self._code(formula.codes)
        offsets = [formula.missing.tolist(), *formula.offset.tolist()]
        slopes = [[0.0] * n_classes, *formula.slope.tolist()]
        offset = self.add_scores(f"{self.title}: scores at anchors", offsets)
        rows = [[a, *own] for a, own in zip([0.0, *formula.anchors], slopes, strict=True)]
        slope = self.add_scores(f"{self.title}: scores per unit", rows, "anchor")
        x, anchor = self._x(formula.codes.column), slope.column(1)
        away = self.add_step(
            f"{self.title}: distance", f"IF({code}=0,0,{x}-INDEX({anchor},{code}+1))"
        )
        return [
            f"INDEX({offset.column(c)},{code}+1)+INDEX({slope.column(c + 1)},{code}+1)*{away}"
            for c in range(1, n_classes + 1)
        ]

    def parabolas(self, formula: Parabolas) -> list[str]:
        """Draw parabolas."""
        names = ("offset", "center", "factor", "weight", "missing")
        rows = [[name, *getattr(formula, name).tolist()] for name in names]
        block = self.add_scores(f"{self.title}: parabolas", rows, "parameter")
        x, absent = self._x(formula.column), self._absent(formula.column)
        out = []
        for c in range(2, len(self.labels) + 2):
            offset, center, factor, weight, missing = (block.cell(c, row) for row in range(5))
            fall = f"{weight}*(({x}-{center})*{factor})^2"
            out.append(f"IF({absent},{missing},{offset}-{fall})")
        return out


def _fill_inputs(
    sheet: Any, formulas: ModelFormulas, outputs: list[str], rows: int, terms: _Terms
) -> None:
    """Write the names of the columns, cells to fill in, and what comes of them."""
    used = list(formulas.used_columns())
    names = [own.name for _, own in used]
    names += ["predicted", *(f"probability_{label}" for label in formulas.classes)]
    for number, name in enumerate(names, start=1):
        put(sheet.cell(1, number), name).font = BOLD
        sheet.column_dimensions[column_letter(number)].width = _WIDTH
    for number, (place, own) in enumerate(used, start=1):
        cells = marked(sheet, number, rows, _DATES if own.kind is Kind.DATETIME else None)
        if place in terms.lists and own.kind is not Kind.BOOLEAN:
            choices(sheet, cells, terms.lists[place])
    for row in range(2, rows + 2):
        for number, formula in enumerate(outputs, start=len(used) + 1):
            sheet.cell(row, number).value = "=" + formula.replace("{row}", str(row))
    sheet.freeze_panes = "A2"


def _told_apart(edge: float) -> float:
    """Return an edge that a number of 15 digits above it is above in a spreadsheet too."""
    return edge - _FUZZ * abs(edge) if falls_short(edge) else edge


def _check_kind(column: InputColumn) -> None:
    if column.kind in (Kind.MIXED, Kind.EMPTY):
        raise ValueError(
            f"Column {column.name!r} held {column.kind.plural} when the model was fitted, which "
            "cannot be told apart in a workbook: convert it to text or numbers, and fit the model "
            "again."
        )
