"""Oncemore, one process a step, driven as a user would: a project, `oncemore run`.

   ONCEMORE_BIN names the binary. The project's folder is BENCH_DIR itself, since a source can't lie outside of it;
   tables are in BENCH_DIR/out-oncemore. Nothing is audited and no key is declared, as no peer checks any.
     w1         backfill, grouped commits (the default)     w1_single  the same, each slice its own durable commit
     w2         one day again (--force)                     w3         nothing to do; w3_plan: `plan` of the same
     w5_prep    adds the mart and builds it                 w5         ten corrected days: `oncemore run` finds them
     plan       1,000 models x 1,000 slices, never run      flat_365, flat_8760   last ten single commits / first ten
   "work" is the time of the binary's whole process, its start included."""
import csv
import datetime as dt
import json
import os
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
