#!/usr/bin/env python3
"""PyIceberg on every table of a project, those beside folded tables too: `other_engine.py PROJECT`, with ONCEMORE_BIN.

Of tables that `oncemore query` shows, the rows must be the same; all must be read. `other_engine.py --by-path` reads names of
tables' folders, a line each, and answers each with a line: the rows that the table has for who knows no catalog.
"""
import json
import os
import pathlib
import subprocess
import sys

from pyiceberg.catalog import load_catalog
from pyiceberg.table import StaticTable

from shapes import spelled

SHOWN = ("silver.daily", "gold.monthly", "gold.totals", "gold.items", "gold.items__changes", "gold.prices", "gold.prices__changes")
OWN = ("_interval_start", "_code_version")


def by_path() -> int:
    for line in sys.stdin:
        metadata = pathlib.Path(line.strip()) / "metadata"
        hint = (metadata / "version-hint.text").read_text()
        rows = StaticTable.from_metadata(str(metadata / f"{hint}.metadata.json")).scan().to_arrow().to_pylist()
        print(json.dumps([{key: spelled(value) for key, value in row.items() if key not in OWN} for row in rows]), flush=True)
    return 0


def main() -> int:
    if sys.argv[1:] == ["--by-path"]:
        return by_path()
    project = pathlib.Path(sys.argv[1]).resolve()
    warehouse = project / "warehouse"
    catalog = load_catalog("default", type="sql", uri=f"sqlite:///{warehouse}/oncemore.db", warehouse=warehouse.as_uri())
    tables = sorted(".".join(table) for (space,) in catalog.list_namespaces() for table in catalog.list_tables(space))
    missing = set(SHOWN) - set(tables)
    assert not missing, f"the catalog lacks {missing}"
    rows = 0
    for name in tables:
        read = catalog.load_table(name).scan().to_arrow().to_pylist()
        rows += len(read)
        if name not in SHOWN:
            continue
        asked = subprocess.run([os.environ["ONCEMORE_BIN"], "query", f"SELECT * FROM {name}", "--project", project, "--output", "json",
                                "--limit", "0"], capture_output=True, text=True, check=True)
        ours = sorted(sorted((key, spelled(value)) for key, value in row.items()) for row in json.loads(asked.stdout)["rows"])
        theirs = sorted(sorted((key, spelled(value)) for key, value in row.items() if key not in OWN) for row in read)
        assert ours == theirs, f"{name}: {len(ours)} rows here, {len(theirs)} by PyIceberg; {ours[:1]}, {theirs[:1]}"
    print(f"PyIceberg: {len(tables)} tables, {rows} rows")
    return 0


if __name__ == "__main__":
    sys.exit(main())
