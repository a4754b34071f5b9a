#!/usr/bin/env python3
"""Runs the experiments of the rule pages: each shows that the fault its rule names makes two runs differ.

    python3 crates/lint/tests/experiments.py [OM201 ...]

Needs the Python package `duckdb`; nothing is installed here. Experiments for PostgreSQL run through `psql`
when ONCEMORE_POSTGRES holds a connection string, and are named as not run otherwise.

An experiment is a block ```sql duckdb experiment``` in the section `## Shown by experiment`, in parts:

    -- setup     tables and rows before the first run
    -- run       the task
    -- change    optional: the source is corrected; the task must end as if it had always been so
    -- perturb   optional, instead of change: what must not matter at all (other clock, other order of rows)
    -- neighbour optional, instead of change: the same task for another interval; the order must not matter
    -- show      the query whose rows are compared

Worlds, each in a database of its own:

    none of the three       once:  setup run show              again:   setup run run show
    change                  clean: setup change run show       re-run:  setup run change run show
    perturb                 once:  setup run show              other:   setup perturb run show
                                                               re-run:  setup run perturb run show
    neighbour               before: setup run neighbour show   after:   setup neighbour run show
                                                               re-run:  setup run neighbour run show

A line `-- crash` inside the run: where a world runs twice, the first run ends there, as if the connection were lost (what
is not committed is rolled back). A reader in between belongs into the change.

The block must end in different rows, or in an error in one world only. A second block, tagged `repaired`, must end
in the same rows everywhere, without an error. One line per rule; the exit code is 1 when something is not shown.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

PARTS = ("setup", "run", "change", "perturb", "neighbour", "show")
BLOCK = re.compile(r"^```sql (duckdb|postgres) experiment( repaired)?\n(.*?)^```$", re.M | re.S)
CRASH = re.compile(r"^-- crash[ \t]*$", re.M)
LOST_CONNECTION = "ROLLBACK;"
MARK = re.compile(r"^-- (%s)[ \t]*$" % "|".join(PARTS), re.M)


class Malformed(Exception):
    """The page is wrong, not the rule."""


def parts_of(text):
    pieces = MARK.split(text)
    if pieces[0].strip():
        raise Malformed("text before the first part")
    parts = {}
    for name, body in zip(pieces[1::2], pieces[2::2]):
        if name in parts:
            raise Malformed(f"part `-- {name}` twice")
        parts[name] = body
    for name in ("run", "show"):
        if name not in parts:
            raise Malformed(f"no part `-- {name}`")
    if len(parts.keys() & {"change", "perturb", "neighbour"}) > 1:
        raise Malformed("more than one of `-- change`, `-- perturb` and `-- neighbour`")
    return parts


def worlds_of(parts):
    if "change" in parts:
        return {"clean": ("setup", "change", "run"), "re-run": ("setup", "run", "change", "run")}
    if "perturb" in parts:
        return {
            "once": ("setup", "run"),
            "other": ("setup", "perturb", "run"),
            "re-run": ("setup", "run", "perturb", "run"),
        }
    if "neighbour" in parts:
        return {
            "before": ("setup", "run", "neighbour"),
            "after": ("setup", "neighbour", "run"),
            "re-run": ("setup", "run", "neighbour", "run"),
        }
    return {"once": ("setup", "run"), "again": ("setup", "run", "run")}


def in_duckdb(steps, show):
    import duckdb

    connection = duckdb.connect(":memory:")
    try:
        # One thread: what differs must differ because of the rows' order, not because of luck.
        connection.execute("SET threads = 1")
        for step in steps:
            if step == LOST_CONNECTION:
                try:
                    connection.execute(step)
                except duckdb.TransactionException:
                    pass  # Nothing was open: all of it is committed.
            elif step.strip():
                connection.execute(step)
        return sorted(map(repr, connection.execute(show).fetchall()))
    except duckdb.Error as error:
        return ["error: " + str(error).splitlines()[0]]
    finally:
        connection.close()


def in_postgres(steps, show):
    schema = f"oncemore_experiment_{os.getpid()}"
    script = "\n".join(
        [f"DROP SCHEMA IF EXISTS {schema} CASCADE; CREATE SCHEMA {schema}; SET search_path = {schema};"]
        + list(steps)
        + ["\\o", "\\t on", show]
    )
    command = ["psql", "-X", "-q", "-A", "-v", "ON_ERROR_STOP=1", os.environ["ONCEMORE_POSTGRES"]]
    # What the steps print is no result: it goes nowhere until the query that shows.
    done = subprocess.run(command, input="\\o /dev/null\n" + script, capture_output=True, text=True, check=False)
    drop = f"DROP SCHEMA IF EXISTS {schema} CASCADE"
    subprocess.run(command, input=drop, capture_output=True, text=True, check=False)
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if "ERROR" in line] or ["psql failed"]
        return ["error: " + said[0]]
    return sorted(line for line in done.stdout.splitlines() if line)


def texts_of(steps, parts):
    """The SQL of a world's steps, in order."""
    texts = [parts.get(step, "") for step in steps]
    if steps.count("run") == 2 and CRASH.search(parts["run"]):
        first = steps.index("run")
        texts[first : first + 1] = [CRASH.split(parts["run"])[0], LOST_CONNECTION]
    return texts


def outcome(engine, text):
    """Rows per world."""
    parts = parts_of(text)
    execute = in_duckdb if engine == "duckdb" else in_postgres
    return {world: execute(texts_of(steps, parts), parts["show"]) for world, steps in worlds_of(parts).items()}


def brief(rows):
    text = ", ".join(rows[:4]) + (", …" if len(rows) > 4 else "")
    return text if len(text) <= 120 else text[:119] + "…"


def judge(engine, repaired, text):
    """(holds, words)"""
    rows = outcome(engine, text)
    distinct = {tuple(r) for r in rows.values()}
    errors = [w for w, r in rows.items() if r and r[0].startswith("error: ")]
    if len(errors) == len(rows) or (repaired and errors):
        return False, f"{errors[0]}: {rows[errors[0]][0]}"
    if repaired:
        if len(distinct) == 1:
            return True, "repaired: the same"
        return False, "repaired, yet differs: " + "; ".join(f"{w}: {brief(r)}" for w, r in rows.items())
    if len(distinct) == 1:
        return False, "no divergence: " + brief(next(iter(rows.values())))
    first, *rest = rows.items()
    other = next(item for item in rest if item[1] != first[1])
    return True, f"differs: {first[0]}: {brief(first[1])} | {other[0]}: {brief(other[1])}"


def check(page):
    """(failed, line) of one rule page, or None when it has no experiment and needs none."""
    text = page.read_text(encoding="utf-8")
    rule = page.stem
    head = next((line for line in text.splitlines()[1:] if line.strip()), "")
    blocks = BLOCK.findall(text)
    if not blocks:
        if head.startswith("error"):
            return True, f"{rule}: FAILED: an error-level rule without an experiment"
        return None
    if all(repaired for _, repaired, _ in blocks):
        return True, f"{rule}: FAILED: only a repaired block"
    failed, words = False, []
    for engine, repaired, body in blocks:
        if engine == "postgres" and not os.environ.get("ONCEMORE_POSTGRES"):
            words.append("postgres: not run (ONCEMORE_POSTGRES is not set)")
            continue
        try:
            holds, said = judge(engine, bool(repaired), body)
        except Malformed as error:
            holds, said = False, f"malformed: {error}"
        failed = failed or not holds
        words.append(said if holds else "FAILED: " + said)
    return failed, f"{rule}: " + "; ".join(words)


def main(names):
    folder = pathlib.Path(__file__).resolve().parent.parent / "rules"
    pages = sorted(folder.glob("OM*.md"))
    if names:
        pages = [p for p in pages if p.stem in names]
        for missing in sorted(set(names) - {p.stem for p in pages}):
            print(f"{missing}: FAILED: no such page")
            return 1
    failures = 0
    # Experiments may write files: not where the caller stands.
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        results = [check(page) for page in pages]
        os.chdir(folder)
    for result in results:
        if result:
            failed, line = result
            failures += failed
            print(line)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
