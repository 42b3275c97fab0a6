"""Models as queries, run by databases."""

from __future__ import annotations

import sqlite3
from typing import Any

import numpy as np
import pandas as pd
import pytest

import lessnaive as ln
from deploy_cases import ATTACKS, FAMILY, fitted, rows_to_predict
from lessnaive.scorecard import Scorecard
from lessnaive.table import Kind
from term_cases import example_card, example_rows

sqlglot = pytest.importorskip("sqlglot")

from databases import DuckDB, SQLite, postgres_programs, postgres_server  # noqa: E402

from lessnaive.deploy.sql_dialects import DIALECTS  # noqa: E402

KEY = "key 'of\" it"


@pytest.fixture(scope="module")
def duckdb():
    pytest.importorskip("duckdb")
    return _loaded(DuckDB())


@pytest.fixture(scope="module")
def sqlite():
    try:
        sqlite3.connect(":memory:").execute("SELECT EXP(1.0)")
    except sqlite3.OperationalError:
        pytest.skip("this SQLite has no functions of mathematics")
    return _loaded(SQLite())


@pytest.fixture(scope="module")
def postgres():
    programs = postgres_programs()
    if programs is None:
        pytest.skip("PostgreSQL is not installed")
    with postgres_server(programs) as server:
        yield _loaded(server)


def _loaded(database: Any) -> Any:
    X = rows_to_predict()
    schema = fitted("NaiveBayes").scorecard_.schema
    kinds = dict(zip(schema.names, schema.kinds, strict=True))
    table = X.assign(**{KEY: np.arange(len(X), dtype=float)})
    database.load(table, {**kinds, KEY: Kind.NUMBER})
    return database


def check(database: Any, dialect: str, model: Any) -> None:
    X = rows_to_predict()
    rows = database.run(ln.to_sql(model, "data", dialect, keep=[KEY]))
    rows = sorted(rows, key=lambda row: float(row[0]))
    assert [float(row[0]) for row in rows] == list(range(len(X)))
    probabilities = np.array([row[2:] for row in rows], dtype=float)
    np.testing.assert_allclose(probabilities, model.predict_proba(X), rtol=0, atol=1e-9)
    assert [row[1] for row in rows] == model.predict(X).tolist()


@pytest.mark.parametrize("name", FAMILY)
def test_duckdb(name, duckdb):
    check(duckdb, "duckdb", fitted(name))


@pytest.mark.parametrize("name", FAMILY)
def test_sqlite(name, sqlite):
    check(sqlite, "sqlite", fitted(name))


@pytest.mark.parametrize("name", FAMILY)
def test_postgres(name, postgres):
    check(postgres, "postgres", fitted(name))


def test_nothing_was_dropped(duckdb, sqlite, postgres):
    """After all attacks, the table is there."""
    for database in (duckdb, sqlite, postgres):
        [[rows]] = database.run('SELECT COUNT(*) FROM "data"')
        assert int(rows) == len(rows_to_predict())


@pytest.mark.parametrize("dialect", DIALECTS)
def test_queries_are_single_selects(dialect):
    """Read again, a query of any dialect is one SELECT with the same names, values and labels."""
    model = fitted("LessNaiveClassifier")
    text = ln.to_sql(model, ["s", "da'ta\"; DROP TABLE t; --"], dialect)
    [tree] = sqlglot.parse(text, read=dialect)
    assert isinstance(tree, sqlglot.exp.Select)
    names = {identifier.name for identifier in tree.find_all(sqlglot.exp.Identifier)}
    wanted = {*model.scorecard_.schema.names, "s", "da'ta\"; DROP TABLE t; --", "predicted"}
    if dialect == "bigquery":  # where names have no points
        wanted = {name for name in wanted if "." not in name}
    assert wanted | {f"probability_{label}" for label in model.classes_} <= names
    strings = {node.this for node in tree.find_all(sqlglot.exp.Literal) if node.is_string}
    strings |= {node.this for node in tree.find_all(sqlglot.exp.National)}
    assert {*ATTACKS, *model.classes_} <= strings
    statements = {type(node) for node in tree.walk()}
    assert not statements & {sqlglot.exp.Drop, sqlglot.exp.Command}


def test_every_kind_of_term(duckdb):
    card, rows = example_card(), example_rows(300)
    table = pd.DataFrame(rows, columns=["x0", "x1", "x2", "x3"])
    table["x3"] = table["x3"].astype(float)
    kinds = dict(zip(table.columns, card.schema.kinds, strict=True))
    own = DuckDB()
    own.load(table, kinds)
    found = own.run(ln.to_sql(card))
    np.testing.assert_allclose(
        np.array([row[1:] for row in found], dtype=float), card.probability(rows), atol=1e-12
    )


def test_scores_far_apart_are_probabilities(sqlite, postgres):
    """Exponentials of differences neither overflow nor underflow."""
    X = pd.DataFrame({ATTACKS[0]: [0.0, 1e4, 2e4, np.nan]})
    model = ln.NaiveBayes(numeric="gaussian").fit(
        pd.DataFrame({ATTACKS[0]: [1.0, 2.0, 3.0, 4.0]}), ["a", "a", "b", "b"]
    )
    wanted = model.predict_proba(X)
    assert (wanted.max(axis=1) == 1).any()
    card = Scorecard("Far", *_parts(model))
    for database, dialect in ((sqlite, "sqlite"), (postgres, "postgres")):
        query = ln.to_sql(card, "far", dialect, keep=["n"])
        values = ", ".join(f"({n}, {x if x == x else 'NULL'})" for n, x in enumerate(X[ATTACKS[0]]))
        name = '"' + ATTACKS[0] + '"'
        query = query.replace(
            "WITH inputs", f'WITH "far"("n", {name}) AS (VALUES {values}), inputs'
        )
        rows = sorted(database.run(query))
        found = np.array([row[2:] for row in rows], dtype=float)
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12)


def _parts(model: Any) -> tuple[Any, ...]:
    card = model.scorecard_
    return card.schema, card.classes, card.intercept, card.terms


def test_ties_go_to_the_first_class(sqlite):
    model = ln.NaiveBayes().fit(pd.DataFrame({"x": list("abab")}), ["v", "v", "u", "u"])
    query = ln.to_sql(model, "t", "sqlite")
    query = query.replace("WITH inputs", "WITH t(x) AS (VALUES ('a'), (NULL), ('new')), inputs")
    assert sqlite.run(query) == [("u", 0.5, 0.5)] * 3


def test_labels_of_all_types(sqlite):
    X = pd.DataFrame({"x": list("abab")})
    for labels in ([3, 3, -4, -4], [5.0, 5.0, -1.0, -1.0], [True, True, False, False]):
        model = ln.NaiveBayes().fit(X, labels)
        query = ln.to_sql(model, "t", "sqlite")
        query = query.replace("WITH inputs", "WITH t(x) AS (VALUES ('a')), inputs")
        [[label, *_]] = sqlite.run(query)
        assert label == model.predict(X[:1])[0]


def test_truth_values_are_bits_in_sql_server():
    """Where TRUE and FALSE are no values."""
    model = ln.NaiveBayes().fit(pd.DataFrame({"x": list("abab")}), [True, True, False, False])
    query = ln.to_sql(model, dialect="tsql")
    assert "THEN CAST(0 AS BIT) ELSE CAST(1 AS BIT) END AS [predicted]" in query
    assert "THEN FALSE ELSE TRUE END" in ln.to_sql(model, dialect="snowflake")


@pytest.mark.parametrize("table", ["inputs", "Codes", "scores", "best", "source", "data"])
def test_tables_may_be_called_as_parts_of_the_query(table):
    model = fitted("average" if table == "best" else "NaiveBayes")
    X, schema = rows_to_predict()[:50], model.scorecard_.schema
    for database, dialect in ((SQLite(), "sqlite"), (DuckDB(), "duckdb")):
        database.load(X, dict(zip(schema.names, schema.kinds, strict=True)))
        if table != "data":
            database.connection.execute(f'ALTER TABLE "data" RENAME TO "{table}"')
        found = [row[1:] for row in database.run(ln.to_sql(model, table, dialect))]
        np.testing.assert_allclose(found, model.predict_proba(X), rtol=0, atol=1e-9)


def test_a_column_that_the_table_lacks_is_an_error(sqlite):
    """SQLite would take a quoted name that stands alone for text."""
    model = ln.NaiveBayes().fit(pd.DataFrame({"x": list("abab")}), [0, 0, 1, 1])
    with pytest.raises(sqlite3.OperationalError, match=r"no such column: source\.x"):
        sqlite.run(ln.to_sql(model, "data", "sqlite"))


def test_what_no_database_holds_is_refused():
    X = pd.DataFrame({"x": pd.Series([1, "a", 1, "b"], dtype=object)})
    model = ln.NaiveBayes().fit(X, [0, 0, 1, 1])
    with pytest.raises(ValueError, match="Column 'x' held text and numbers when the model was fit"):
        ln.to_sql(model)
    X = pd.DataFrame({"id": pd.Series([2**60, 2**60 + 1] * 2)})
    model = ln.NaiveBayes(categorical_features="all").fit(X, [0, 0, 1, 1])
    with pytest.raises(ValueError, match=r"Column 'id' has integers from 2\*\*53 on as names"):
        ln.to_sql(model)


def test_wrong_options_are_refused():
    model = fitted("NaiveBayes")
    with pytest.raises(ValueError, match="dialect must be one of duckdb, postgres, sqlite, bigq"):
        ln.to_sql(model, dialect="oracle")
    with pytest.raises(ValueError, match="keep names 'predicted', which is a column of the pred"):
        ln.to_sql(model, keep=["predicted"])
    with pytest.raises(ValueError, match="table must be one name, or two or three with points"):
        ln.to_sql(model, "a.b.c.d")
