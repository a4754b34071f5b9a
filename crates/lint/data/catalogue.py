"""Writes functions/*-catalogue.txt and functions/*-pure.txt from the catalogues of engines.

    python catalogue.py postgres      psql on the path, PGHOST, PGPORT, PGUSER, PGDATABASE set; a database that may
                                      get the extensions uuid-ossp, pgcrypto and dblink
    python catalogue.py duckdb        package duckdb
    python catalogue.py datafusion    package datafusion
    python catalogue.py clickhouse    package chdb

An engine says which functions are not decided by their arguments, but not what else decides them: that is said here, by
name or by pattern. `*-catalogue.txt` holds what is said of functions that the engine has and calls unstable; what is
unstable and of no class here stands there as a remark. `*-pure.txt` holds what the engine calls decided by arguments:
only a test reads it, to find entries that are wrong. Not run in CI; the first line of each file names the version.
"""

import re
import subprocess
import sys
import textwrap
from collections import defaultdict
from pathlib import Path

FOLDER = Path(__file__).parent / "functions"

# By engine and class: names and patterns, of which those count that the engine calls unstable. The first that fits wins.
CLASSES = {
    "postgres": {
        "clock": r"now|age|timeofday|(transaction|statement|clock)_timestamp|pg_(postmaster_start|conf_load)_time"
        r"|pg_last_xact_replay_timestamp|pg_stat_get_snapshot_timestamp",
        "random": r"random.*|setseed|gen_random_(uuid|bytes)|gen_salt|uuid_generate_v(1|1mc|4)|uuidv.*"
        r"|pgp_(sym|pub)_encrypt(_bytea)?",
        "identity": r"nextval|currval|lastval|setval|currtid2|pg_nextoid|lo_creat|pg_sequence_last_value"
        r"|(txid|pg)_(current|snapshot).*(xact|txid|snapshot).*|txid_current|pg_xact_commit_timestamp.*"
        r"|pg_last_committed_xact|txid_status|pg_xact_status",
        "session": r"current_.*|session_user|getpgusername|set_config|inet_(client|server)_.*|version"
        r"|pg_(backend_pid|my_temp_schema|is_other_temp_schema|trigger_depth|client_encoding|listening_channels"
        r"|blocking_pids|jit_available|is_in_recovery|has_role|get_userbyid|show_all_settings)|has_.*_privilege"
        r"|.*_is_visible|row_security_active|getdatabaseencoding|get_current_ts_config|dblink_current_query",
        "external": r"dblink|dblink_(exec|fetch|get_result)|pg_read_.*|pg_ls_.*|pg_stat_file|lo_(get|export|import)|loread"
        r"|(query|table|schema|database|cursor)_to_xml.*",
    },
    "duckdb": {
        "clock": r"now|today|ago|age|get_current_time(stamp)?|current_(date|localtime(stamp)?)|transaction_timestamp"
        r"|pg_(postmaster_start|conf_load)_time",
        "random": r"random|setseed|uuid.*|gen_random_uuid",
        "identity": r"nextval|currval|setval|txid_current|current_(query|transaction|connection)_id",
        "session": r"current_.*|session_user|user|getvariable|in_search_path|inet_.*|pg_my_temp_schema",
        "external": r"read_.*|glob|parquet_(scan|schema|.*metadata)|sniff_csv",
    },
    "datafusion": {
        "clock": r"now|today|current_(date|time|timestamp)",
        "random": r"random|rand|uuid",
        "session": r"input_file_name",
        "identity": r"file_row_index",
    },
    "clickhouse": {
        "clock": r"now(64|inblock|inblock64)?|today|yesterday|utc_?timestamp|current_(date|timestamp)|curdate|localtime(stamp)?"
        r"|initial_?query_?start_?time|.*uptime",
        "random": r"rand.*|generate(uuid|ulid|snowflake|random).*|datetimetouuidv7|fuzz.*|arrayshuffle|arraypartialshuffle"
        r"|arrayrandomsample|obfuscate.*",
        "identity": r"generateserialid|row_?number.*|block.*|transactionid|runningconcurrency|shard(num|count)",
        "session": r"current_?(user|database|schemas|profiles|roles|query_?id|handler|requesturl)|(session_)?user|database|schema"
        r"|(full)?hostname|fqdn|getsetting.*|getmacro|(server)?timezone|serveruuid|(initial_?)?query_?id|connection_?id"
        r"|version|revision|(enabled|default)(profiles|roles)|tcpport|displayname|getserver.*|auth.*user|buildid|chdb",
        "external": r"dict(get|has|is).*|joinget.*|file|filesystem.*|ai[a-z]+|naivebayes.*|zookeeper.*",
    },
}

# What the engine has only as a query of its own that says nothing of stability, taken as unstable.
TABLE_FUNCTIONS = {"duckdb": r"read_.*|glob|parquet_(scan|schema|.*metadata)|sniff_csv"}


def postgres():
    """Names, numbers of arguments (None: any) and stability, by pg_proc."""

    def ask(sql):
        done = subprocess.run(
            ["psql", "-X", "-At", "-F", "\t", "-c", sql], capture_output=True, text=True, check=True
        )
        return [line.split("\t") for line in done.stdout.splitlines()]

    for extension in ("uuid-ossp", "pgcrypto", "dblink"):
        ask(f'CREATE EXTENSION IF NOT EXISTS "{extension}"')
    rows = ask(
        """SELECT proname, pronargs, pronargdefaults, provariadic <> 0, provolatile
           FROM pg_proc
           WHERE prokind = 'f'
             AND prorettype::regtype::text NOT IN ('internal', 'trigger', 'event_trigger', 'cstring')
             AND prorettype::regtype::text !~ '_handler$'
             AND NOT proargtypes::regtype[]::text[] && ARRAY['internal', 'cstring']
             AND proname !~ '^binary_upgrade_'"""
    )
    found = []
    for name, count, defaults, variadic, volatility in rows:
        arities = [None] if variadic == "t" else range(int(count) - int(defaults), int(count) + 1)
        found += [(name, arity, volatility == "i") for arity in arities]
    return "PostgreSQL " + ask("SHOW server_version")[0][0].split()[0], found


def duckdb():
    """By duckdb_functions(); macros are unstable where what they call is."""
    import duckdb as engine

    rows = engine.sql(
        """SELECT lower(function_name), CASE WHEN varargs IS NULL THEN len(parameters) END,
                  function_type, stability, coalesce(macro_definition, '')
           FROM duckdb_functions() WHERE function_type NOT IN ('pragma', 'table_macro')"""
    ).fetchall()
    tables = re.compile(TABLE_FUNCTIONS["duckdb"])
    calls = re.compile(r"[a-z_]*(?:current|session)_[a-z_]+|\bnow\b|\buuid\b|\brandom\b|pg_my_temp_schema")
    found = []
    for name, arity, kind, stability, macro in rows:
        if kind == "table":
            found.append((name, None, tables.fullmatch(name) is None))
        elif kind == "macro":
            constant = name in ("current_user", "session_user", "user", "current_role") or name.startswith("inet_")
            found.append((name, arity, not (constant or calls.search(macro))))
        elif re.fullmatch(r"\w+", name):
            found.append((name, arity, stability == "CONSISTENT"))
    return "DuckDB " + engine.__version__, found


def datafusion():
    """By information_schema.routines, which does not count arguments reliably."""
    import datafusion as engine

    context = engine.SessionContext(engine.SessionConfig().with_information_schema(True))
    table = context.sql(
        "SELECT DISTINCT routine_name, is_deterministic FROM information_schema.routines WHERE function_type <> 'TABLE'"
    ).to_pydict()
    rows = zip(table["routine_name"], table["is_deterministic"])
    return "DataFusion " + engine.__version__, [(name, None, stable) for name, stable in rows]


def clickhouse():
    """By system.functions; names are compared without regard to case here."""
    import chdb

    def ask(sql):
        return [line.split("\t") for line in str(chdb.query(sql, "TabSeparated")).splitlines()]

    columns = {row[0] for row in ask("SELECT name FROM system.columns WHERE database = 'system' AND table = 'functions'")}
    column = next((name for name in ("deterministic", "is_deterministic") if name in columns), None)
    stable = f"ifNull({column}, 1)" if column else "1"
    rows = ask(f"SELECT lower(name), {stable} FROM system.functions WHERE NOT is_aggregate")
    return "ClickHouse " + ask("SELECT version()")[0][0], [(name, None, flag == "1") for name, flag in rows]


def words(found, wanted):
    """`name` where it holds with any number of arguments, else `name/n`."""
    by_name = defaultdict(lambda: (set(), set()))
    for name, arity, stable in found:
        by_name[name][stable].add(arity)
    for name in sorted(by_name):
        unstable, stable = by_name[name]
        mine, other = (stable, unstable) if wanted else (unstable, stable)
        if not mine:
            continue
        if not other:
            few = sorted(arity for arity in mine if arity is not None)
            # A name of several classes of arguments is unstable with any of them.
            yield f"{name}/0" if mine == {0} else name, name, few
        elif None not in mine and None not in other:
            for arity in sorted(mine - other):
                yield f"{name}/{arity}", name, [arity]


def wrapped(head, names):
    """`head: name name …`, head repeated on each line."""
    return [f"{head}: {line}" for line in textwrap.wrap(" ".join(names), 112, break_long_words=False, break_on_hyphens=False)]


def main():
    engines = {"postgres": postgres, "duckdb": duckdb, "datafusion": datafusion, "clickhouse": clickhouse}
    if len(sys.argv) != 2 or sys.argv[1] not in engines:
        sys.exit(__doc__)
    engine = sys.argv[1]
    version, found = engines[engine]()
    patterns = {key: re.compile(value, re.IGNORECASE) for key, value in CLASSES[engine].items()}
    classes, rest = defaultdict(list), []
    for word, name, _ in words(found, wanted=False):
        key = next((key for key, pattern in patterns.items() if pattern.fullmatch(name)), None)
        (rest if key is None else classes[key]).append(word)
    head = f"# {version}. Made by data/catalogue.py, do not edit."
    lines = [head]
    for key in patterns:
        lines += wrapped(key, classes[key])
    lines += wrapped("# unstable, and of no class", rest)
    (FOLDER / f"{engine}-catalogue.txt").write_text("\n".join(lines) + "\n")
    pure = [word for word, _, _ in words(found, wanted=True)]
    (FOLDER / f"{engine}-pure.txt").write_text("\n".join([head, *wrapped("pure", pure)]) + "\n")
    sizes = ", ".join(f"{len(classes[key])} {key}" for key in patterns)
    sys.stderr.write(f"{version}: {len({name for name, _, _ in found})} functions: {sizes}, {len(rest)} of no class\n")


if __name__ == "__main__":
    main()
