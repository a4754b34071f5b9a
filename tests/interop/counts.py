#!/usr/bin/env python3
"""The counts and sums that the tables of examples/flights must have, taken by DuckDB straight from the delivered files.

    python counts.py                        recomputes them and compares with examples/flights/expected.json
    python counts.py --write                writes that file anew
    python counts.py --project FOLDER       also asks `oncemore query` of that project and compares (ONCEMORE_BIN names the
                                            binary); with --rows-only just the numbers of rows, as while the planted bug
                                            of the demo is in place: it changes delays, not rows

`query` below never looks at a model: it says in other words what the table should hold.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys

import duckdb

FLIGHTS = pathlib.Path(__file__).resolve().parents[2] / "examples" / "flights"
EXPECTED = FLIGHTS / "expected.json"

# model: (query on the files, the same figures from the table). The first figure is always the number of rows.
CHECKS = {
    "silver.flights": (
        "SELECT count(*) AS n, sum(arr_delay) AS arr_delay, sum(distance) AS miles, count(*) FILTER (dep_time IS NULL) AS cancelled, "
        "sum(epoch(time_hour)::BIGINT % 86400 + minute * 60) AS seconds FROM flights",
        "SELECT count(*) AS n, sum(arr_delay) AS arr_delay, sum(distance) AS miles, "
        "sum(CASE WHEN status = 'cancelled' THEN 1 ELSE 0 END) AS cancelled, "
        "sum(CAST(date_part('hour', scheduled_at) AS BIGINT) * 3600 + CAST(date_part('minute', scheduled_at) AS BIGINT) * 60) AS seconds "
        "FROM silver.flights"),
    "silver.weather": (
        "SELECT count(*) AS n, count(DISTINCT (origin, time_hour)) AS keys, sum(hour) AS hours FROM weather",
        "SELECT count(*) AS n, count(DISTINCT concat(origin, time_hour)) AS keys, sum(local_hour) AS hours FROM silver.weather"),
    "gold.airlines": (
        "SELECT count(*) AS n, sum(length(name)) AS letters FROM airlines",
        "SELECT count(*) AS n, sum(length(airline)) AS letters FROM gold.airlines"),
    "gold.airports": (
        "SELECT count(*) AS n, sum(alt) AS feet FROM airports",
        "SELECT count(*) AS n, sum(altitude_feet) AS feet FROM gold.airports"),
    "gold.planes": (
        "SELECT count(*) AS n, sum(seats) AS seats FROM planes",
        "SELECT count(*) AS n, sum(seats) AS seats FROM gold.planes"),
    "gold.carrier_day": (
        "SELECT count(DISTINCT (year, month, day, carrier)) AS n, count(*) AS flights, count(*) FILTER (arr_delay >= 15) AS late, "
        "sum(arr_delay) AS arr_delay FROM flights",
        "SELECT count(*) AS n, sum(flights) AS flights, sum(late) AS late, sum(arr_delay_minutes) AS arr_delay FROM gold.carrier_day"),
    "gold.departure_hour": (
        "SELECT count(DISTINCT (origin, time_hour)) AS n, count(*) AS scheduled, count(dep_time) AS departed FROM flights",
        "SELECT count(*) AS n, sum(scheduled) AS scheduled, sum(departed) AS departed FROM gold.departure_hour"),
    "gold.delays_by_weather": (
        "SELECT count(DISTINCT (f.year, f.month, f.day, f.origin, CASE WHEN w.origin IS NULL THEN 0 WHEN w.visib < 3 THEN 1 "
        "WHEN w.precip > 0 THEN 2 WHEN w.wind_speed >= 20 THEN 3 ELSE 4 END)) AS n, count(*) AS flights, "
        "count(*) FILTER (w.origin IS NULL) AS no_report FROM flights AS f LEFT JOIN weather AS w USING (origin, time_hour)",
        "SELECT count(*) AS n, sum(flights) AS flights, sum(CASE WHEN weather = 'no report' THEN flights ELSE 0 END) AS no_report "
        "FROM gold.delays_by_weather"),
    "gold.plane_day": (
        "SELECT count(DISTINCT (year, month, day, tailnum)) AS n, count(*) AS legs, sum(air_time) AS air_minutes, "
        "sum(distance * seats) AS seat_miles FROM flights LEFT JOIN (SELECT tailnum, seats FROM planes) USING (tailnum) "
        "WHERE arr_delay IS NOT NULL",
        "SELECT count(*) AS n, sum(legs) AS legs, sum(air_minutes) AS air_minutes, sum(seat_miles) AS seat_miles FROM gold.plane_day"),
    "gold.route_month": (
        "SELECT count(DISTINCT (month, origin, dest)) AS n, count(*) AS flights, count(DISTINCT (month, origin, dest, carrier)) AS carriers "
        "FROM flights",
        "SELECT count(*) AS n, sum(flights) AS flights, sum(carriers) AS carriers FROM gold.route_month"),
    "gold.carrier_month": (
        "SELECT count(DISTINCT (month, carrier)) AS n, count(*) AS flights, sum(arr_delay) AS arr_delay FROM flights",
        "SELECT count(*) AS n, sum(flights) AS flights, sum(arr_delay_minutes) AS arr_delay FROM gold.carrier_month"),
    "gold.plane_last": (
        "SELECT count(*) AS n, sum(flight) AS flights, count(DISTINCT day) AS days FROM (SELECT flight, make_date(year, month, day) AS day, "
        "row_number() OVER (PARTITION BY tailnum ORDER BY time_hour + to_minutes(minute) DESC, origin DESC, flight DESC) AS place "
        "FROM flights WHERE dep_time IS NOT NULL AND tailnum IS NOT NULL) WHERE place = 1",
        "SELECT count(*) AS n, sum(flight) AS flights, count(DISTINCT flight_date) AS days FROM gold.plane_last"),
    "gold.route_carrier": (
        "WITH flown AS (SELECT month, origin, dest, carrier, count(*) AS n FROM flights WHERE arr_delay IS NOT NULL GROUP BY ALL), "
        "most AS (SELECT month, origin, dest, carrier FROM flown "
        "QUALIFY row_number() OVER (PARTITION BY month, origin, dest ORDER BY n DESC, carrier) = 1), "
        "changes AS (SELECT *, lag(carrier) OVER (PARTITION BY origin, dest ORDER BY month) AS before FROM most) "
        "SELECT count(*) AS n, count(DISTINCT (origin, dest)) AS routes, sum(month) AS months FROM changes "
        "WHERE carrier IS DISTINCT FROM before",
        "SELECT count(*) AS n, sum(CASE WHEN is_current THEN 1 ELSE 0 END) AS routes, "
        "sum(CAST(date_part('month', valid_from) AS BIGINT)) AS months FROM gold.route_carrier"),
    "gold.airline_year": (
        "SELECT count(DISTINCT carrier) AS n, count(*) AS flights, count(DISTINCT carrier) * (count(DISTINCT carrier) + 1) // 2 AS places "
        "FROM flights",
        "SELECT count(*) AS n, sum(flights) AS flights, sum(place) AS places FROM gold.airline_year"),
}


COLUMNS = {
    "flights": "year:INT month:INT day:INT dep_time:INT sched_dep_time:INT dep_delay:INT arr_time:INT sched_arr_time:INT arr_delay:INT "
               "carrier:TEXT flight:INT tailnum:TEXT origin:TEXT dest:TEXT air_time:INT distance:INT hour:INT minute:INT time_hour:TIMESTAMPTZ",
    "weather": "origin:TEXT year:INT month:INT day:INT hour:INT temp:DOUBLE dewp:DOUBLE humid:DOUBLE wind_dir:INT wind_speed:DOUBLE "
               "wind_gust:DOUBLE precip:DOUBLE pressure:DOUBLE visib:DOUBLE time_hour:TIMESTAMPTZ",
    "airlines": "carrier:TEXT name:TEXT",
    "airports": "faa:TEXT name:TEXT lat:DOUBLE lon:DOUBLE alt:INT tz:INT dst:TEXT tzone:TEXT",
    "planes": "tailnum:TEXT year:INT type:TEXT manufacturer:TEXT model:TEXT engines:INT seats:INT speed:INT engine:TEXT",
}


def files() -> duckdb.DuckDBPyConnection:
    """Tables of the delivered files."""
    con = duckdb.connect()
    con.execute("SET TimeZone = 'UTC'")
    for name, columns in COLUMNS.items():
        path = FLIGHTS / "data" / (f"{name}/*.csv.gz" if name in ("flights", "weather") else f"{name}.csv" + ".gz" * (name != "airlines"))
        types = dict(c.split(":") for c in columns.split())
        con.execute(f"CREATE TABLE {name} AS FROM read_csv('{path}', auto_detect = false, delim = ',', quote = '\"', header = true, "
                    f"nullstr = ['', 'NA'], columns = {types})")
    return con


def local_days(con: duckdb.DuckDBPyConnection) -> None:
    """The claim that the filters on `time_hour` rest on: it selects exactly the rows of the local day, each day."""
    for name in ("flights", "weather"):
        wrong = con.execute(f"""
            WITH day AS (SELECT unnest(generate_series(DATE '2013-01-01', DATE '2013-12-31', INTERVAL 1 DAY))::DATE AS d),
                 slice AS (SELECT d, d::TIMESTAMP AT TIME ZONE 'America/New_York' AS lo, (d + 1)::TIMESTAMP AT TIME ZONE 'America/New_York' AS hi FROM day)
            SELECT d, count(t.origin) AS by_instant, (SELECT count(*) FROM {name} AS x WHERE make_date(x.year, x.month, x.day) = d) AS by_columns,
                   count(t.origin) FILTER (make_date(t.year, t.month, t.day) <> d) AS strangers
              FROM slice LEFT JOIN {name} AS t ON t.time_hour >= lo AND t.time_hour < hi
             GROUP BY d HAVING by_instant <> by_columns OR strangers > 0""").fetchall()
        assert not wrong, f"{name}: {wrong[:3]}"


def recompute(con: duckdb.DuckDBPyConnection) -> dict:
    out = {}
    for model, (query, _) in CHECKS.items():
        cur = con.execute(query)
        names = [c[0] for c in cur.description]
        out[model] = {"query": query, "expected": dict(zip(names, (int(v) for v in cur.fetchone())))}
    return out


def ask(binary: str, project: str, sql: str) -> dict:
    """One row of `oncemore query`; figures may come as numbers or as text (a wide sum)."""
    run = subprocess.run([binary, "query", sql, "--output", "json"], cwd=project, capture_output=True, text=True)
    if run.returncode:
        raise SystemExit(f"oncemore query failed with {run.returncode}: {run.stderr}\n{sql}")
    answer = json.loads(run.stdout)
    rows = answer["rows"] if isinstance(answer, dict) else answer
    return {name: int(value) for name, value in rows[0].items()}


def main() -> int:
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--write", action="store_true")
    ap.add_argument("--project")
    ap.add_argument("--rows-only", action="store_true")
    args = ap.parse_args()
    con = files()
    local_days(con)
    now = recompute(con)
    if args.write:
        EXPECTED.write_text(json.dumps(now, indent=2) + "\n")
    kept = json.loads(EXPECTED.read_text())
    failed = [f"{m}: files say {now[m]['expected']}, expected.json {kept.get(m, {}).get('expected')}" for m in now
              if now[m]["expected"] != kept.get(m, {}).get("expected")]
    passed = len(now) - len(failed)
    if args.project:
        binary = os.environ.get("ONCEMORE_BIN", "oncemore")
        for model, (_, ours) in CHECKS.items():
            want = kept[model]["expected"]
            if args.rows_only:
                want, ours = {"n": want["n"]}, f"SELECT count(*) AS n FROM {model}"
            got = ask(binary, args.project, ours)
            if got == want:
                passed += 1
            else:
                failed.append(f"{model}: the table says {got}, the files {want}")
    for line in failed:
        print(line, file=sys.stderr)
    print(f"{passed} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
