#!/usr/bin/env python3
"""Other engines on tables that `oncemore rebuild` built anew: PyIceberg by the catalog, DuckDB by path, row by row; and readers
that had the old table open.

    ONCEMORE_BIN=target/release/oncemore python rebuild_check.py

A merge gets another key, a history becomes a merge, a merge a table of slices, days become 12 hours; each is killed halfway once.
Prints what differs, and `N passed, N failed` at the end.
"""
import pathlib
import shutil
import sys
import time

import pyarrow as pa
import pyiceberg_check as interop
from pyiceberg.exceptions import NoSuchTableError
from pyiceberg_check import FOLDED, OWN, Project, check, duck, model

MERGE, HISTORY = FOLDED.values()
SLICE = "kind: slice\ninterval: day\ntime: at"
CASES = (
    ("gold.keyed", MERGE, MERGE.replace("[region, k]", "[k]")),
    ("gold.kept", HISTORY, MERGE),
    ("gold.cut", MERGE, SLICE),
    ("gold.halves", SLICE, SLICE.replace("day", "720 minutes")),
    ("gold.dated", MERGE, HISTORY),
)


def rows(table: pa.Table) -> list:
    """All rows without our own columns, in an order that depends on them alone."""
    names = sorted(set(table.column_names) - set(OWN))
    return sorted(tuple(str(value) for value in row.values()) for row in table.select(names).to_pylist())


def ours(project: Project, name: str) -> list:
    """What `oncemore query` shows, as `rows` gives it."""
    shown = project.rows(f"SELECT * FROM {name}")

    def spelled(key: str, value) -> str:
        is_time = value is not None and key in ("at", "valid_from", "valid_to")
        return f"{value.removesuffix('Z').replace('T', ' ')}+00:00" if is_time else str(value)

    return sorted(tuple(spelled(key, row[key]) for key in sorted(row)) for row in shown)


def by_path(con, project: Project, name: str) -> list:
    folder = project.warehouse / name.replace(".", "/")
    return rows(con.sql(f"SELECT * FROM iceberg_scan('{folder}')").to_arrow_table())


class Reader:
    """One who had the table open before it was built anew."""

    def __init__(self, project: Project, name: str):
        self.name, self.table = name, project.catalog().load_table(name)
        self.scan = self.table.scan()
        self.metadata = pathlib.Path(self.table.metadata_location.removeprefix("file://"))
        self.rows = rows(self.table.scan().to_arrow())

    def reads_the_old(self, con, when: str) -> None:
        check(f"{self.name}, open before, {when}: PyIceberg", rows(self.scan.to_arrow()) == self.rows)
        read = rows(con.sql(f"SELECT * FROM iceberg_scan('{self.metadata}')").to_arrow_table())
        check(f"{self.name}, open before, {when}: DuckDB", read == self.rows, (len(read), len(self.rows)))

    def turns_over(self, project: Project) -> None:
        """It looks again: the same table, other rows."""
        table = self.table.refresh()
        check(f"{self.name}: PyIceberg looks again", rows(table.scan().to_arrow()) == ours(project, self.name))


def killed(project: Project, name: str) -> bool:
    """A rebuild that is killed once it has published two slices or three; whether it was."""
    child = project.start("rebuild", name, "--yes", "--single-commits", "--jobs", "1")
    hint = project.warehouse / f"{name.replace('.', '/')}__rebuild" / "metadata" / "version-hint.text"
    while child.poll() is None and not (hint.exists() and int(hint.read_text().split("-")[0]) >= 3):
        time.sleep(0.001)
    child.kill()
    child.communicate()
    return name in [found["model"] for found in project.plan()["rebuilds"]]


def is_there(project: Project, name: str) -> bool:
    try:
        project.catalog().load_table(name)
    except NoSuchTableError:
        return False
    return True


def built_anew(project: Project, name: str, head: str) -> bool:
    """Whether it was killed on its way."""
    con = duck()
    reader = Reader(project, name)
    check(f"{name} has rows", reader.rows and reader.rows == ours(project, name))
    uuid = reader.table.metadata.table_uuid
    model(project, name, head)
    was_killed = killed(project, name)
    if was_killed:
        reader.reads_the_old(con, "the rebuild killed")
        check(f"{name}, killed: PyIceberg", rows(project.catalog().load_table(name).scan().to_arrow()) == reader.rows)
        check(f"{name}, killed: DuckDB", by_path(con, project, name) == reader.rows)
    project.run("rebuild", name, "--yes")
    expected = ours(project, name)
    table = project.catalog().load_table(name)
    check(f"{name}: the table keeps its id", table.metadata.table_uuid == uuid)
    check(f"{name}: PyIceberg", rows(table.scan().to_arrow()) == expected)
    read = by_path(con, project, name)
    check(f"{name}: DuckDB by path", read == expected, (len(read), len(expected)))
    reader.reads_the_old(con, "swapped")
    # With time for readers, as is usual.
    project.run("gc")
    reader.reads_the_old(con, "swapped and cleaned up")
    reader.turns_over(project)
    check(f"{name}: the rebuild is no table any more", not is_there(project, f"{name}__rebuild"))
    return was_killed


def main() -> int:
    project = interop.folded({name: head for name, head, _ in CASES}, keys=3_000)
    try:
        kills = [built_anew(project, name, head) for name, _, head in CASES]
        print(f"{len(kills)} tables built anew, {sum(kills)} of them killed halfway")
        check("nothing left to do", project.run("plan", "--exit-code", ok=()).returncode == 0)
        interop.read_all(project)
        expected = {name: ours(project, name) for name, _, _ in CASES}
        project.run("gc", "--older-than", "0s")
        left = [str(path) for path in project.warehouse.rglob("*__rebuild*")]
        check("gc leaves nothing of a rebuild", not left, left)
        for name, rows_before in expected.items():
            check(f"{name} after gc: PyIceberg", rows(project.catalog().load_table(name).scan().to_arrow()) == rows_before)
            check(f"{name} after gc: DuckDB", by_path(duck(), project, name) == rows_before)
        # The next days come as ever.
        project.run("run", "--interval", "2025-03-05", "--force", "--yes")
        interop.read_all(project)
    finally:
        shutil.rmtree(project.folder, ignore_errors=True)
    return interop.end()


if __name__ == "__main__":
    sys.exit(main())
