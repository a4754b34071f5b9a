"""Oncemore, one process a step, driven as a user would: a project, `oncemore run`.

   ONCEMORE_BIN names the binary. The project's folder is BENCH_DIR itself, since a source can't lie outside of it;
   tables are in BENCH_DIR/out-oncemore. Nothing is audited and no key is declared, as no peer checks any.
     w1         backfill, grouped commits (the default)     w1_single  the same, each slice its own durable commit
     w2         one day again (--force)                     w3         nothing to do; w3_plan: `plan` of the same
     w4_load    first load of the keyed dimension, one slice of changes
     w4_prep    the same as 365 slices of changes           w4_100k, w4_1k  a feed of changes arrives, and is merged
     w4_again   the 1k feed once more (--force)             w4_row_1k, w4_row_100k  a hundred feeds, one after the other
     hist_prep  a history of 1 M keys, 5 M changes          hist       a day in its middle again, of 10,000 changed rows
     w5_prep    adds the mart and builds it                 w5         ten corrected days: `oncemore run` finds them
     plan       1,000 models x 1,000 slices, never run      flat_365, flat_8760   last ten single commits / first ten
   "work" is the time of the binary's whole process, its start included."""
import csv
import datetime as dt
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import time

import common as C

BIN = os.path.abspath(os.environ.get("ONCEMORE_BIN", "target/release/oncemore"))
ROOT = os.path.abspath(C.ROOT)
FCT, MART = "b.fct_orders", "b.mart"
# When each slice was published; see docs/commands.md, `query`.
STAMPS = "SELECT changed_at FROM {model}__slices ORDER BY changed_at"


def write(folder, path, text):
    """Writes a file of a project, where it differs: an untouched file costs nothing to check."""
    f = os.path.join(folder, path)
    os.makedirs(os.path.dirname(f), exist_ok=True)
    if not os.path.exists(f) or open(f).read() != text:
        open(f, "w").write(text)


def config(out):
    end = C.days()[-1] + dt.timedelta(days=1)
    return f"""name: bench
start: {C.START}
end: {end}
time_zone: UTC
warehouse: {out}
sources:
  raw.orders:
    path: raw/orders/day={{interval:%Y-%m-%d}}/part.parquet
    format: parquet
    time: order_ts
  dim.customers:
    path: dim/customers.parquet
    format: parquet
"""


def sliced(time_column, sql, interval="day"):
    return f"/* oncemore\nkind: slice\ninterval: {interval}\ntime: {time_column}\n*/\n{sql}\n"


def project(out="out-oncemore", mart=None):
    """The project; `mart`: True with, False without, None as it is."""
    write(ROOT, "oncemore.yml", config(out))
    where = "o.order_ts >= :interval_start AND o.order_ts < :interval_end"
    write(ROOT, "models/b/fct_orders.sql", sliced("day", C.fct_sql("raw.orders", "dim.customers", where, "/")))
    if mart:
        where = "day >= :interval_start AND day < :interval_end"
        write(ROOT, "models/b/mart.sql", sliced("day", C.MART_SQL.format(t=FCT, w=where)))
    elif mart is False and os.path.exists(os.path.join(ROOT, "models/b/mart.sql")):
        os.remove(os.path.join(ROOT, "models/b/mart.sql"))


def oncemore(*args, folder=ROOT, ok=(0,)):
    """Runs the binary; returns (seconds, stdout)."""
    start = time.perf_counter()
    run = subprocess.run([BIN, *args], cwd=folder, capture_output=True, text=True)
    took = time.perf_counter() - start
    if run.returncode not in ok:
        sys.exit(f"oncemore {' '.join(args)}: exit {run.returncode}\n{run.stdout[-1500:]}{run.stderr[-1500:]}")
    return took, run.stdout


def held():
    """MB that the largest of the binary's processes held; this one has fed DuckDB."""
    return dict(held_mb=round(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024))


def rows(sql, folder=ROOT):
    """The rows of `oncemore query` as lists, in the order of the columns; an object's keys are in that of the alphabet."""
    answer = json.loads(oncemore("query", sql, "--output", "json", folder=folder)[1])
    names = [c["name"] for c in answer["columns"]]
    return [[r[n] for n in names] for r in answer["rows"]]


def check(sql, table):
    return [int(x) for x in rows(sql.format(t=table))[0]]


def nothing_to_do():
    """[0] where `plan` agrees that nothing is to be done, else [-1], which the runner calls WRONG."""
    code = subprocess.run([BIN, "plan", "--exit-code"], cwd=ROOT, capture_output=True).returncode
    return [0] if code == 0 else [-1]


def swap():
    for d in C.corrected_days():
        x = C.raw_file(d)
        y = x.replace(os.sep + "raw" + os.sep, os.sep + "raw_corrected" + os.sep)
        os.rename(x, x + ".t"), os.rename(y, x), os.rename(x + ".t", y)


def flat(n, interval):
    """n slices of one row each, each a commit of its own; what the last ten cost against the first ten."""
    folder = os.path.join(ROOT, f"out-oncemore-flat-{n}")
    shutil.rmtree(folder, ignore_errors=True)
    start = dt.datetime(2025, 1, 1)
    step = dt.timedelta(days=1) if interval == "day" else dt.timedelta(hours=1)
    write(folder, "oncemore.yml", f"""name: flat
start: 2025-01-01
end: 2026-01-01
time_zone: UTC
warehouse: warehouse
sources:
  raw.ticks:
    path: ticks.csv
    format: csv
    time: ts
    columns:
      ts: TIMESTAMPTZ
      n: BIGINT
""")
    with open(os.path.join(folder, "ticks.csv"), "w", newline="") as f:
        w = csv.writer(f)
        w.writerow(("ts", "n"))
        w.writerows(((start + i * step).strftime("%Y-%m-%dT%H:%M:%SZ"), i) for i in range(n))
    sql = "SELECT ts, n FROM raw.ticks WHERE ts >= :interval_start AND ts < :interval_end"
    write(folder, "models/b/ticks.sql", sliced("ts", sql, interval))
    took, _ = oncemore("run", "--single-commits", "--jobs", "1", folder=folder)
    counted = rows("SELECT count(*), CAST(sum(n) AS BIGINT) FROM b.ticks", folder)
    assert [int(x) for x in counted[0]] == [n, n * (n - 1) // 2], counted
    at = [dt.datetime.fromisoformat(str(r[0]).replace("Z", "+00:00")) for r in rows(STAMPS.format(model="b.ticks"), folder)]
    each = [(b - a).total_seconds() for a, b in zip(at, at[1:])]
    first, last = statistics.mean(each[:10]), statistics.mean(each[-10:])
    early, late = statistics.median(each[:50]), statistics.median(each[-50:])       # steadier than ten commits where others use the disk
    C.emit(took, parts=dict(first_ten_ms=round(first * 1e3, 2), last_ten_ms=round(last * 1e3, 2), ratio=round(last / first, 2),
                            first_fifty_median_ms=round(early * 1e3, 2), last_fifty_median_ms=round(late * 1e3, 2), median_ratio=round(late / early, 2),
                            median_ms=round(statistics.median(each) * 1e3, 2)))


def plan(models=1000, slices=1000):
    """Models in three layers over one source, none of them run yet."""
    folder = os.path.join(ROOT, "out-oncemore-plan")
    shutil.rmtree(folder, ignore_errors=True)
    start = dt.date(2022, 1, 1)
    write(folder, "oncemore.yml", f"""name: wide
start: {start}
end: {start + dt.timedelta(days=slices)}
time_zone: UTC
warehouse: warehouse
sources:
  raw.ticks:
    path: ticks.csv
    format: csv
    time: day
    columns:
      day: DATE
      n: BIGINT
""")
    write(folder, "ticks.csv", "day,n\n" + "".join(f"{start + dt.timedelta(days=i)},{i}\n" for i in range(slices)))
    for m in range(models):
        source = "raw.ticks" if m < 10 else f"b.m{m // 10:04}"
        sql = f"SELECT day, n + {m} AS n FROM {source} WHERE day >= :interval_start AND day < :interval_end"
        write(folder, f"models/b/m{m:04}.sql", sliced("day", sql))
    took, _ = oncemore("plan", folder=folder, ok=(0, 2))
    C.emit(took)


DIM, HIST = "b.dim_big", "b.prices"
DIM_COLUMNS = "k, name, country, balance_cents, version, dt"


def keyed(folder, first, days, head, columns, model):
    """A project of changes, a file a day below `feed`; returns its folder."""
    folder = os.path.join(ROOT, folder)
    os.makedirs(os.path.join(folder, "feed"), exist_ok=True)
    end = first + dt.timedelta(days=days)
    write(folder, "oncemore.yml", f"""name: keyed
start: {first}
end: {end}
time_zone: UTC
warehouse: warehouse
sources:
  raw.feed:
    path: feed/{{interval:%Y-%m-%d}}.parquet
    format: parquet
    time: dt
""")
    where = "dt >= :interval_start AND dt < :interval_end"
    write(folder, f"models/b/{model}.sql", f"/* oncemore\n{head}\n*/\nSELECT {columns} FROM raw.feed WHERE {where}\n")
    return folder


def dim(folder, first, days):
    head = "kind: merge\ninterval: day\ntime: dt\nkey: [k]\norder_by: [version]"
    return keyed(folder, first, days, head, DIM_COLUMNS, "dim_big")


def feed(folder, day, sql):
    """Writes a day's file; it is there at once, as a delivery would be."""
    f = os.path.join(folder, "feed", f"{day}.parquet")
    C.duck().execute(f"COPY ({sql}) TO '{f}.part' (FORMAT parquet)")
    os.rename(f + ".part", f)
    return day


DIM_YEAR = 365
DIM_FIRST = C.START + dt.timedelta(days=1 - DIM_YEAR)           # the year's last day is that of base.parquet


def dim_year(days=DIM_YEAR):
    return dim("out-oncemore-dim", DIM_FIRST, days)


def dim_feed(folder, day, source):
    """The feed of that name as changes of `day`."""
    return feed(folder, day, f"SELECT * REPLACE (DATE '{day}' AS dt) FROM read_parquet('{C.p('big', source)}')")


def in_a_row(size, times=100):
    """Feeds that come one after the other, each merged by a process of its own; nine of ten rows are of keys that are there."""
    folder = dim_year(DIM_YEAR + 2 + 2 * times)
    first = DIM_FIRST + dt.timedelta(days=DIM_YEAR + 2 + (times if size > 1000 else 0))
    n, = C.duck().execute(f"SELECT count(*) FROM read_parquet('{C.p('big', 'base.parquet')}')").fetchone()
    size = max(10, min(size, n // 100))
    up, took = size * 9 // 10, []
    for i in range(times):
        day, v = first + dt.timedelta(days=i), 10 + i + (times if size > 1000 else 0)
        sql = (f"SELECT k, 'customer ' || k AS name, 'DE' AS country, CAST(hash(k + {v}) % 1000000 AS BIGINT) AS balance_cents, CAST({v} AS BIGINT) AS version, "
               f"DATE '{day}' AS dt FROM (SELECT CAST(i * {n // up} + {v} % {n // up} AS BIGINT) AS k FROM range({up}) t(i) "
               f"UNION ALL SELECT {n} + {v} * 10000000 + i FROM range({size - up}) t(i))")
        feed(folder, day, sql)
        took.append(oncemore("run", DIM, "--interval", str(day), folder=folder)[0])
    rows_now = [int(x) for x in rows(f"SELECT count(*), count(DISTINCT k) FROM {DIM}", folder)[0]]
    assert rows_now[0] == rows_now[1], rows_now
    ten = min(10, times)
    C.emit(took[-1], parts=dict(first_ten=round(statistics.mean(took[:ten]), 3), last_ten=round(statistics.mean(took[-ten:]), 3),
                                median=round(statistics.median(took), 3), most=round(max(took), 3)))


HIST_FIRST, HIST_DAYS = dt.date(2025, 1, 1), 100


def history():
    head = "kind: history\ninterval: day\ntime: dt\nkey: [k]\norder_by: [version]"
    return keyed("out-oncemore-hist", HIST_FIRST, HIST_DAYS, head, "k, price, note, version, dt", "prices")


def hist_feed(folder, day, keys, changes, version=0):
    """Changes of a day; each key has five in a hundred days."""
    at, per = (day - HIST_FIRST).days, changes // HIST_DAYS
    new = f"CASE WHEN i < 10000 AND {version} > 0 THEN {version} ELSE 0 END"
    return feed(folder, day, f"SELECT CAST((i * 20 + {at} % 20) % {keys} AS BIGINT) AS k, CAST(hash(i * 131 + {at} + 7 * ({new})) % 100000 AS BIGINT) AS price, "
                             f"'note ' || (i % 1000) AS note, CAST({new} AS BIGINT) AS version, DATE '{day}' AS dt FROM range({per}) t(i)")


cmd = sys.argv[1]
if cmd in ("w1", "w1_single"):
    out = "out-oncemore" if cmd == "w1" else "out-oncemore-single"
    shutil.rmtree(os.path.join(ROOT, out), ignore_errors=True)
    project(out, mart=False)
    t, _ = oncemore("run", *(["--single-commits"] if cmd == "w1_single" else []))
    fp = check(C.FP_FCT, FCT)
    size = sum(os.path.getsize(os.path.join(r, f)) for r, _, fs in os.walk(os.path.join(ROOT, out)) for f in fs) / 1e6
    project()
    C.emit(t, fp, mb=round(size))
elif cmd == "w2":
    project()
    t, _ = oncemore("run", FCT, "--interval", str(C.one_day()), "--force")
    C.emit(t, check(C.FP_FCT, FCT) if "--check" in sys.argv else None)
elif cmd in ("w3", "w3_plan"):
    project()
    t, _ = oncemore("run" if cmd == "w3" else "plan")
    C.emit(t, nothing_to_do())
elif cmd == "w4_load":
    shutil.rmtree(C.p("out-oncemore-dim-one"), ignore_errors=True)
    f = dim("out-oncemore-dim-one", C.START, 1)
    dim_feed(f, C.START, "base.parquet")
    t, _ = oncemore("run", folder=f)
    memory = held()
    C.emit(t, [int(x) for x in rows(C.FP_DIM.format(t=DIM), f)[0]], parts=memory)
elif cmd == "w4_prep":
    shutil.rmtree(C.p("out-oncemore-dim"), ignore_errors=True)
    f, c = dim_year(), C.duck()
    c.execute(f"CREATE TABLE b AS FROM read_parquet('{C.p('big', 'base.parquet')}')")
    for i in range(DIM_YEAR):
        day = DIM_FIRST + dt.timedelta(days=i)
        c.execute(f"COPY (SELECT * REPLACE (DATE '{day}' AS dt) FROM b WHERE k % {DIM_YEAR} = {i}) TO '{f}/feed/{day}.parquet' (FORMAT parquet)")
    t, _ = oncemore("run", folder=f)
    memory = held()
    C.emit(t, [int(x) for x in rows(C.FP_DIM.format(t=DIM), f)[0]], parts=memory)
elif cmd in ("w4_100k", "w4_1k", "w4_again"):
    f = dim_year(DIM_YEAR + 2)
    day = C.START + dt.timedelta(days=1 if cmd == "w4_100k" else 2)
    if cmd != "w4_again":
        dim_feed(f, day, f"changes_{cmd[3:]}.parquet")
    t, _ = oncemore("run", DIM, "--interval", str(day), *(["--force"] if cmd == "w4_again" else []), folder=f)
    memory = held()
    C.emit(t, [int(x) for x in rows(C.FP_DIM.format(t=DIM), f)[0]], parts=memory)
elif cmd in ("w4_row_1k", "w4_row_100k"):
    in_a_row(int(cmd[7:-1]) * 1000)
elif cmd == "hist_prep":
    shutil.rmtree(C.p("out-oncemore-hist"), ignore_errors=True)
    f = history()
    keys = int(os.environ.get("BENCH_HIST_KEYS", "1000000"))
    for i in range(HIST_DAYS):
        hist_feed(f, HIST_FIRST + dt.timedelta(days=i), keys, 5 * keys)
    t, _ = oncemore("run", folder=f)
    counted = [int(x) for x in rows(f"SELECT count(*), count(DISTINCT k) FROM {HIST}", f)[0]]
    C.emit(t, parts=dict(stretches=counted[0], keys=counted[1]))
elif cmd == "hist":
    f = history()
    keys = int(os.environ.get("BENCH_HIST_KEYS", "1000000"))
    day, version = HIST_FIRST + dt.timedelta(days=HIST_DAYS // 2), int(time.time()) % 1_000_000
    hist_feed(f, day, keys, 5 * keys, version)
    t, _ = oncemore("run", HIST, "--interval", str(day), folder=f)
    C.emit(t)
elif cmd == "w5_prep":
    project(mart=True)
    t, _ = oncemore("run")
    C.emit(t, check(C.FP_MART, MART))
elif cmd == "w5":
    project(mart=True)
    if check(C.FP_MART, MART) == json.load(open(C.p("ref.json")))["w5"]:      # a round before: back to the uncorrected days, off the clock
        swap()
        try:
            oncemore("run")
        finally:
            swap()
    t, _ = oncemore("run")
    C.emit(t, check(C.FP_MART, MART))
elif cmd == "plan":
    plan()
elif cmd == "flat_365":
    flat(365, "day")
elif cmd == "flat_8760":
    flat(8760, "hour")
else:
    sys.exit(f"peer_oncemore does not know {cmd}")
