"""Databases that run queries: DuckDB, SQLite, and a PostgreSQL server of the tests' own."""

from __future__ import annotations

import csv
import io
import os
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd

from lessnaive.table import Kind
from other_programs import environment


def quoted(name: str) -> str:
    """A name as these three databases write it."""
    return '"' + name.replace('"', '""') + '"'


def plain(value: Any) -> Any:
    """A cell as drivers take it."""
    if value is None or value is pd.NaT or value != value:
        return None
    return value.isoformat(sep=" ") if isinstance(value, pd.Timestamp) else value


class DuckDB:
    """DuckDB in memory."""

    def __init__(self) -> None:
        import duckdb

        self.connection = duckdb.connect()

    def load(self, table: pd.DataFrame, kinds: dict[str, Kind]) -> None:
        import pyarrow as pa

        types = {Kind.TEXT: pa.string(), Kind.BOOLEAN: pa.bool_(), Kind.NUMBER: pa.float64()}
        types[Kind.DATETIME] = pa.timestamp("us")
        arrow = pa.table(
            {
                name: pa.array(
                    [None if plain(v) is None else v for v in table[name]], types[kinds[name]]
                )
                for name in table.columns
            }
        )
        self.connection.register("arrow", arrow)
        self.connection.execute('CREATE OR REPLACE TABLE "data" AS SELECT * FROM arrow')

    def run(self, query: str) -> list[tuple[Any, ...]]:
        rows: list[tuple[Any, ...]] = self.connection.execute(query).fetchall()
        return rows


class SQLite:
    """SQLite in memory."""

    def __init__(self) -> None:
        self.connection = sqlite3.connect(":memory:")

    def load(self, table: pd.DataFrame, kinds: dict[str, Kind]) -> None:
        columns = ", ".join(map(quoted, table.columns))
        self.connection.execute(f'CREATE TABLE "data" ({columns})')
        marks = ", ".join("?" * table.shape[1])
        rows = [tuple(map(plain, row)) for row in table.itertuples(index=False)]
        self.connection.executemany(f'INSERT INTO "data" VALUES ({marks})', rows)

    def run(self, query: str) -> list[tuple[Any, ...]]:
        return self.connection.execute(query).fetchall()


class Postgres:
    """A PostgreSQL server, reached by its own client."""

    TYPES: ClassVar = {
        Kind.TEXT: "text",
        Kind.BOOLEAN: "boolean",
        Kind.NUMBER: "double precision",
        Kind.DATETIME: "timestamp",
    }

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def _psql(self, text: str) -> str:
        path = self._folder / "query.sql"
        path.write_text(text, "utf-8")
        done = subprocess.run(
            f"psql -XqtvON_ERROR_STOP=1 --csv -h {self._folder} -U postgres -f {path}".split(),
            capture_output=True,
            env=environment(PGCLIENTENCODING="UTF8"),
        )
        assert done.returncode == 0, done.stderr.decode()[-2000:]
        return done.stdout.decode()

    def load(self, table: pd.DataFrame, kinds: dict[str, Kind]) -> None:
        columns = ", ".join(f"{quoted(n)} {self.TYPES[kinds[n]]}" for n in table.columns)
        rows = ([plain(v) for v in row] for row in table.itertuples(index=False))
        # A cell that is not quoted is NULL, one that is may be empty.
        lines = [",".join("" if v is None else quoted(str(v)) for v in row) for row in rows]
        self._psql(
            f'DROP TABLE IF EXISTS "data";\nCREATE TABLE "data" ({columns});\n'
            f'COPY "data" FROM STDIN WITH (FORMAT csv);\n' + "\n".join(lines) + "\n\\.\n"
        )

    def run(self, query: str) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in csv.reader(io.StringIO(self._psql(query), newline=""))]


def postgres_programs() -> Path | None:
    """The folder of the server's programs, which Debian does not put on the path."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    known = shutil.which("initdb")
    if shutil.which("psql") is None or not (found or known):
        return None
    return found[-1].parent if found else Path(str(known)).parent


@contextmanager
def postgres_server(programs: Path) -> Iterator[Postgres]:
    """Start a server that listens to a socket in a folder of its own, and stop it in the end."""
    folder = Path(tempfile.mkdtemp(prefix="lessnaive-postgres-"))
    # The server refuses to be run by root.
    user = {"user": "postgres"} if os.geteuid() == 0 else {}
    if user:
        shutil.chown(folder, "postgres")

    def run(program: str, *arguments: str) -> None:
        command = [str(programs / program), "-D", str(folder / "data"), *arguments]
        subprocess.run(
            command, check=True, cwd=folder, stdout=subprocess.DEVNULL, env=environment(), **user
        )

    run("initdb", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
    options = f"-c listen_addresses='' -c unix_socket_directories='{folder}' -c fsync=off"
    log = str(folder / "log")
    try:
        run("pg_ctl", "-w", "-o", options, "-l", log, "start")
        yield Postgres(folder)
    finally:
        run("pg_ctl", "-m", "immediate", "stop")
        shutil.rmtree(folder, ignore_errors=True)
