#!/usr/bin/env python3
"""Other engines on our tables: PyIceberg by the catalog, DuckDB by path, Polars; then somebody else's write, found and settled.

    ONCEMORE_BIN=target/release/oncemore python pyiceberg_check.py                 runs a week of examples/flights in a scratch folder
    ONCEMORE_BIN=target/release/oncemore python pyiceberg_check.py --project DIR   reads a project that was run; writes nothing into it

The week is that of 10 March 2013, whose Sunday has 23 hours. Prints what differs, and `N passed, N failed` at the end.
"""
import argparse
import json
import math
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from zoneinfo import ZoneInfo

import duckdb
import duckdb_extension_avro
import duckdb_extension_iceberg
import polars
import pyarrow as pa
import pyarrow.compute as pc
from pyiceberg.catalog import load_catalog
from pyiceberg.expressions import EqualTo

FLIGHTS = pathlib.Path(__file__).resolve().parents[2] / "examples" / "flights"
WEEK = ("2013-03-07", "2013-03-14")
ATTACKED = "2013-03-10"
NEW_YORK = ZoneInfo("America/New_York")
OWN = ("_interval_start", "_code_version")
os.environ.setdefault("POLARS_ICEBERG_PLANNER", "pyiceberg")

passed, failed = 0, 0


def check(name: str, holds: bool, detail: object = "") -> None:
    global passed, failed
    if holds:
        passed += 1
    else:
        failed += 1
        print(f"FAILED {name}: {detail}", file=sys.stderr)


def end() -> int:
    """What a script prints last, and its exit code."""
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


class Project:
    """A project's folder and the binary."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder.resolve()
        self.warehouse = self.folder / "warehouse"
        self.binary = os.path.abspath(os.environ.get("ONCEMORE_BIN", "target/release/oncemore"))

    def run(self, *args: str, ok: tuple = (0,)) -> subprocess.CompletedProcess:
        done = subprocess.run([self.binary, *args], cwd=self.folder, capture_output=True, text=True)
        if ok and done.returncode not in ok:
            raise SystemExit(f"oncemore {' '.join(args)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def start(self, *args: str) -> subprocess.Popen:
        return subprocess.Popen([self.binary, *args], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def rows(self, sql: str) -> list:
        return json.loads(self.run("query", sql, "--output", "json", "--limit", "0").stdout)["rows"]

    def query(self, sql: str) -> dict:
        return self.rows(sql)[0]

    def plan(self) -> dict:
        return json.loads(self.run("plan", "--output", "json").stdout)

    def catalog(self):
        database = self.warehouse / "oncemore.db"
        with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as con:
            (name,) = con.execute("SELECT DISTINCT catalog_name FROM iceberg_tables").fetchone()
        return load_catalog(name, type="sql", uri=f"sqlite:///{database}", warehouse=self.warehouse.as_uri())


def scratch() -> Project:
    """A week of the example in a folder of its own, run."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="oncemore-interop-"))
    shutil.copytree(FLIGHTS / "models", folder / "models")
    shutil.copytree(FLIGHTS / "data", folder / "data")
    text = (FLIGHTS / "oncemore.yml").read_text()
    for key, old, new in (("start", "2013-01-01", WEEK[0]), ("end", "2014-01-01", WEEK[1])):
        assert f"\n{key}: {old}" in text
        text = text.replace(f"\n{key}: {old}", f"\n{key}: {new}", 1)
    (folder / "oncemore.yml").write_text(text)
    project = Project(folder)
    project.run("run")
    return project


def figures(table: pa.Table) -> dict:
    """Rows and one figure a column: a sum, a number of letters, of trues, or of instants."""
    out = {"n": table.num_rows}
    for field in table.schema:
        if field.name in OWN:
            continue
        column, kind = table[field.name], field.type
        if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
            figure = pc.sum(column)
        elif pa.types.is_string(kind) or pa.types.is_large_string(kind):
            figure = pc.sum(pc.utf8_length(column))
        elif pa.types.is_boolean(kind):
            figure = pc.sum(column.cast(pa.int64()))
        elif pa.types.is_date(kind):
            figure = pc.sum(column.cast(pa.date32()).cast(pa.int32()).cast(pa.int64()))
        elif pa.types.is_timestamp(kind):
            figure = pc.sum(pc.divide(column.cast(pa.timestamp("us", kind.tz)).cast(pa.int64()), 1_000_000))
        else:
            continue
        out[field.name] = figure.as_py()
    return out


def figures_sql(schema: pa.Schema, table: str) -> str:
    """The same figures, asked of `oncemore query` and of DuckDB alike."""
    parts = ["count(*) AS n"]
    for field in schema:
        name, kind = field.name, field.type
        if name in OWN:
            continue
        if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
            figure = f'sum("{name}")'
        elif pa.types.is_string(kind) or pa.types.is_large_string(kind):
            figure = f'sum(character_length("{name}"))'
        elif pa.types.is_boolean(kind):
            figure = f'sum(CASE WHEN "{name}" THEN 1 WHEN NOT "{name}" THEN 0 END)'
        elif pa.types.is_date(kind):
            figure = f"sum(CAST(date_part('epoch', \"{name}\") AS BIGINT) / 86400)"
        elif pa.types.is_timestamp(kind):
            figure = f"sum(CAST(date_part('epoch', \"{name}\") AS BIGINT))"
        else:
            continue
        parts.append(f'{figure} AS "{name}"')
    return f"SELECT {', '.join(parts)} FROM {table}"


def same(a: dict, b: dict) -> bool:
    """Equal figures; sums of floats to the last few bits, as each engine adds up in its own order."""
    def equal(x, y):
        if x is None or y is None:
            return x is y
        return math.isclose(float(x), float(y), rel_tol=1e-9, abs_tol=1e-9)
    return a.keys() == b.keys() and all(equal(a[k], b[k]) for k in a)


def duck() -> duckdb.DuckDBPyConnection:
    """DuckDB with its Iceberg extension, both from packages: nothing is fetched. Avro first, Iceberg needs it."""
    con = duckdb.connect()
    con.execute("SET TimeZone = 'UTC'")
    for package, name in ((duckdb_extension_avro, "avro"), (duckdb_extension_iceberg, "iceberg")):
        (path,) = pathlib.Path(package.__file__).parent.glob(f"extensions/v*/{name}.duckdb_extension")
        con.execute(f"LOAD '{path}'")
    return con


def read_all(project: Project) -> None:
    """Each table by every reader, against `oncemore query`."""
    catalog, con = project.catalog(), duck()
    tables = [t for (space,) in catalog.list_namespaces() for t in catalog.list_tables(space)]
    check("there are tables", len(tables) > 0)
    for identifier in sorted(tables):
        name = ".".join(identifier)
        table = catalog.load_table(identifier)
        arrow = table.scan().to_arrow()
        if name.endswith("__slices"):
            check(f"{name} by PyIceberg", arrow.num_rows > 0)
            continue
        for column in OWN:
            check(f"{name} has {column}", column in arrow.column_names)
        read = figures(arrow)
        # What is kept beside a folded table is no table of `query`: the readers are witnesses of each other.
        beside = name.endswith(("__dated", "__deleted"))
        ours = read if beside else project.query(figures_sql(arrow.schema, name))
        check(f"{name} by PyIceberg", same(read, ours), (read, ours))
        by_path = con.sql(figures_sql(arrow.schema, f"iceberg_scan('{table.location().removeprefix('file://')}')"))
        read = dict(zip(by_path.columns, by_path.fetchone()))
        check(f"{name} by DuckDB", same(read, ours), (read, ours))
        rows = polars.scan_iceberg(table).select(polars.len()).collect().item()
        check(f"{name} by Polars", rows == ours["n"], (rows, ours["n"]))


def overwrite(project: Project, model: str) -> tuple[int, int]:
    """Somebody else's write: the slice of one day, two rows short. Returns its rows before and after."""
    table = project.catalog().load_table(model)
    starts = table.scan(selected_fields=("_interval_start",)).to_arrow()["_interval_start"]
    (start,) = {s for s in starts.to_pylist() if s.astimezone(NEW_YORK).date().isoformat() == ATTACKED}
    where = EqualTo("_interval_start", start.isoformat())
    rows = table.scan(row_filter=where).to_arrow()
    table.overwrite(rows.slice(2), overwrite_filter=where)
    return rows.num_rows, rows.num_rows - 2


def in_slice(project: Project, model: str) -> int:
    return int(project.query(f"SELECT count(*) AS n FROM {model} WHERE flight_date = DATE '{ATTACKED}'")["n"])


def named(project: Project, *command: str) -> bool:
    """Whether a command names the slice that was written into."""
    done = project.run(*command, ok=())
    text = done.stdout + done.stderr
    return "silver.flights" in text and ATTACKED in text


def foreign_write(project: Project) -> None:
    model = "silver.flights"
    check("nothing to do before", project.run("plan", "--exit-code", ok=()).returncode == 0)
    before, after = overwrite(project, model)
    check("status names the slice", named(project, "status", "--why"))
    check("plan names the slice", named(project, "plan"))
    check("plan names it in JSON", named(project, "plan", "--output", "json"))
    check("a run fails over it", project.run("run", ok=()).returncode == 4)
    check("a run leaves it alone", in_slice(project, model) == after)

    project.run("accept", model, "--interval", ATTACKED, "--adopt", "--because", "two double reports taken out by hand")
    check("adopted: the rows are theirs", in_slice(project, model) == after)
    project.run("run")
    check("adopted: nothing is left to do", project.run("plan", "--exit-code", ok=()).returncode == 0)
    flights = int(project.query(f"SELECT sum(flights) AS n FROM gold.carrier_day WHERE flight_date = DATE '{ATTACKED}'")["n"])
    check("adopted: its readers follow", flights == after, (flights, after))

    overwrite(project, model)
    check("a second write is found", named(project, "status", "--why"))
    project.run("run", "--replace-foreign")
    project.run("run")                                  # what reads it may be left to the next run
    check("replaced: the rows are ours", in_slice(project, model) == before, (in_slice(project, model), before))
    check("replaced: nothing is left to do", project.run("plan", "--exit-code", ok=()).returncode == 0)
    read_all(project)


def policy(project: Project, word: str) -> None:
    """Says in oncemore.yml what a run does about somebody else's write."""
    config = project.folder / "oncemore.yml"
    lines = [line for line in config.read_text().splitlines() if not line.startswith("foreign:")]
    config.write_text("\n".join([lines[0], f"foreign: {word}", *lines[1:]]) + "\n")


def policies(project: Project) -> None:
    """The same write under each policy."""
    model = "silver.flights"
    carriers = f"SELECT sum(flights) AS n FROM gold.carrier_day WHERE flight_date = DATE '{ATTACKED}'"

    policy(project, "error")
    before, after = overwrite(project, model)
    done = project.run("run", ok=())
    check("error: a run fails", done.returncode == 4, done.returncode)
    check("error: it names the slice and the ways out", all(
        part in done.stderr for part in (f"{model} {ATTACKED}", "slice unchanged", "--adopt --because", "--replace-foreign")),
        done.stderr)
    check("error: the rows are theirs", in_slice(project, model) == after)

    policy(project, "warn")
    done = project.run("run", ok=())
    check("warn: a run does not fail", done.returncode == 0, done.stderr)
    check("warn: it names the slice", f"warning: {model} {ATTACKED}: somebody else wrote into it" in done.stderr, done.stderr)
    check("warn: the rows are theirs", in_slice(project, model) == after)
    check("warn: it stays known", named(project, "status", "--why"))

    policy(project, "adopt")
    done = project.run("run", ok=())
    check("adopt: a run takes it", done.returncode == 0 and "taken for ours as it is" in done.stderr, done.stderr)
    check("adopt: the rows are theirs", in_slice(project, model) == after)
    check("adopt: nothing is left to do", project.run("plan", "--exit-code", ok=()).returncode == 0)
    flights = int(project.query(carriers)["n"])
    check("adopt: its readers follow", flights == after, (flights, after))
    stamp = project.query(f"SELECT origin FROM {model}__slices WHERE \"interval\" = '{ATTACKED}'")
    check("adopt: the stamp says why", "foreign: adopt" in json.dumps(stamp), stamp)

    policy(project, "error")
    project.run("run", model, "--interval", ATTACKED, "--force")
    project.run("run")
    check("computed again: the rows are ours", in_slice(project, model) == before)


def set_back(project: Project) -> None:
    """Somebody sets a table back to the snapshot before, which is somebody else's too."""
    model = "silver.flights"
    before = in_slice(project, model)
    table = project.catalog().load_table(model)
    parent = table.current_snapshot().parent_snapshot_id
    table.manage_snapshots().rollback_to_snapshot(parent).commit()
    check("set back: status names it", named(project, "status", "--why"))
    there = in_slice(project, model)
    done = project.run("run", "--force", "--yes", model, "--interval", ATTACKED, ok=())
    check("set back: a run fails over it", done.returncode == 4 and f"{model} {ATTACKED}: somebody else wrote into it" in done.stderr,
          done.stderr)
    check("set back: nothing is written", in_slice(project, model) == there)
    project.run("run", model, "--replace-foreign", "--force", "--yes", "--interval", ATTACKED)
    project.run("run")
    check("set back: computed again", in_slice(project, model) == before, (in_slice(project, model), before))
    check("set back: nothing is left to do", project.run("plan", "--exit-code", ok=()).returncode == 0)
    read_all(project)


KEYS, CHANGED, DAYS = 40_000, 300, 12


FEED = "SELECT k, region, price, gone, at FROM raw.feed WHERE at >= :interval_start AND at < :interval_end"
FOLDED = {
    "gold.prices": "kind: merge\norder_by: [at]\ndeleted: gone\ninterval: day\ntime: at\nkey: [region, k]",
    "gold.price_history": "kind: history\ndeleted: gone\ninterval: day\ntime: at\nkey: [region, k]",
}


def model(project: Project, name: str, head: str) -> None:
    """Writes a model over the feed."""
    path = project.folder / "models" / f"{name.replace('.', '/')}.sql"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"/* oncemore\n{head}\n*/\n{FEED}\n")


def folded(models: dict = FOLDED, keys: int = KEYS) -> Project:
    """Models over a feed, a merge and a history where nothing is said; of so many keys that a day's changes delete rows of
    files instead of writing these anew."""
    project = Project(pathlib.Path(tempfile.mkdtemp(prefix="oncemore-interop-")))
    feed = project.folder / "feed"
    feed.mkdir()
    (project.folder / "oncemore.yml").write_text("""name: folded
start: 2025-03-01
end: 2025-03-13
time_zone: UTC
warehouse: warehouse
sources:
  raw.feed:
    path: feed/{interval:%Y-%m-%d}.csv
    format: csv
    time: at
    columns: {k: BIGINT, region: VARCHAR, price: BIGINT, gone: BOOLEAN, at: TIMESTAMPTZ}
""")
    for name, head in models.items():
        model(project, name, head)
    for day in range(DAYS):
        changed = range(keys) if day == 0 else [(day * 7919 + i * 101) % (keys + 500) for i in range(CHANGED)]
        lines = [f"{k},{'ab'[k % 2]},{k * 31 % 1000 + day},{'true' if day and k % 9 == 0 else 'false'},2025-03-{day + 1:02}T00:00:{k % 60:02}Z" for k in changed]
        (feed / f"2025-03-{day + 1:02}.csv").write_text("k,region,price,gone,at\n" + "\n".join(lines) + "\n")
    # One after the other, as days come.
    for day in range(DAYS):
        project.run("run", "--interval", f"2025-03-{day + 1:02}")
    return project


def delete_files(project: Project, name: str) -> int:
    return project.catalog().load_table(name).inspect.delete_files().num_rows


def folded_tables(project: Project) -> None:
    names = tuple(FOLDED)
    for name in names:
        check(f"{name} has delete files", delete_files(project, name) > 0)
    read_all(project)
    project.run("run", "--interval", "2025-03-05", "--force")
    feed = project.folder / "feed" / "2025-03-05.csv"
    feed.write_text("\n".join(feed.read_text().splitlines()[:-40]) + "\n")
    project.run("run")
    read_all(project)
    before = [project.query(f"SELECT count(*) AS n, sum(price) AS p FROM {name}") for name in names]
    project.run("gc", "--compact", "--older-than", "0s")
    for name in names:
        check(f"{name} has no delete files once it is compact", delete_files(project, name) == 0)
    after = [project.query(f"SELECT count(*) AS n, sum(price) AS p FROM {name}") for name in names]
    check("compacted: the same rows", before == after, (before, after))
    check("compacted: nothing to do", project.run("plan", "--exit-code", ok=()).returncode == 0)
    read_all(project)


def main() -> int:
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--project", type=pathlib.Path)
    args = ap.parse_args()
    if args.project:
        read_all(Project(args.project))
    else:
        project = scratch()
        try:
            read_all(project)
            foreign_write(project)
            policies(project)
            set_back(project)
        finally:
            shutil.rmtree(project.folder, ignore_errors=True)
        project = folded()
        try:
            folded_tables(project)
        finally:
            shutil.rmtree(project.folder, ignore_errors=True)
    return end()


if __name__ == "__main__":
    sys.exit(main())
