"""Slices of ten times the memory that a run is given: what the process held, and that the rows are those of plenty.

A slice sorted and audited, one aggregated into half as many groups, one joined from two sides of the full size, and
the diff of two versions; each in a process of its own, whose largest resident set the system tells.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

ROW_BYTES = 8 + 8 + 8 + 4 + 96  # two numbers, a double, and 96 characters with their place
COPIES = 64

SETTINGS = """name: big
sources:
  raw.seeds:
    path: data/seeds.csv
    columns: {{id: BIGINT}}
"""

ROWS = """/* oncemore
kind: full
key: [id]
audits:
  - not_null: [text]
*/
SELECT (s.id * {copies} + v.n) * 1299709 % {prime} AS id, s.id AS seed, CAST(s.id AS DOUBLE) / 7 + v.n AS x,
       repeat(md5(CAST(s.id * {copies} + v.n AS TEXT)), 3) AS text
  FROM raw.seeds AS s
 CROSS JOIN (VALUES {values}) AS v(n)
"""

GROUPS = """/* oncemore
kind: full
key: [pair]
*/
SELECT id / 2 AS pair, sum(x) AS x, avg(x) AS mean, max(text) AS text, count(*) AS rows FROM big.rows GROUP BY id / 2
"""

JOINED = """/* oncemore
kind: full
key: [id]
audits:
  - relationship: {{columns: [id], to: big.rows}}
*/
SELECT a.id, a.text, b.x, b.text AS other FROM big.rows AS a JOIN big.rows AS b ON b.id = {prime} - 1 - a.id
"""


def prime_above(number):
    """The first prime above: multiplying by another one modulo it shuffles the keys."""
    while any(number % divisor == 0 for divisor in range(2, int(number**0.5) + 1)):
        number += 1
    return number


def write(folder, rows):
    seeds = rows // COPIES
    values = ", ".join(f"({number})" for number in range(COPIES))
    words = {"copies": COPIES, "prime": prime_above(seeds * COPIES + 1), "values": values}
    for path, text in [("oncemore.yml", SETTINGS), ("models/big/rows.sql", ROWS), ("models/big/groups.sql", GROUPS), ("models/big/joined.sql", JOINED)]:
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text.format(**words))
    (folder / "data").mkdir()
    (folder / "data/seeds.csv").write_text("id\n" + "".join(f"{number}\n" for number in range(seeds)))


def run(binary, folder, *arguments):
    """Output, seconds of wall and processor, and the largest resident set in MB."""
    start = time.monotonic()
    child = subprocess.Popen([binary, *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    output = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.monotonic() - start
    if status:
        raise SystemExit(f"{arguments} ended with {os.waitstatus_to_exitcode(status)}")
    return output, wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss // 1024


def prints(binary, folder):
    query = "SELECT model, rows, fingerprint FROM oncemore.slices"
    return json.loads(run(binary, folder, "query", query, "--output", "json")[0])["rows"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", default=os.environ.get("ONCEMORE_BIN", "target/release/oncemore"))
    parser.add_argument("--memory-mb", type=int, default=256)
    parser.add_argument("--times", type=float, default=10)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only-sort", action="store_true", help="the first step alone")
    parser.add_argument("--no-plenty", action="store_true", help="do not compute the rows once more with 8 GB")
    parser.add_argument("--folder", type=pathlib.Path, default=None)
    given = parser.parse_args()
    binary = os.path.abspath(given.binary)
    rows = int(given.memory_mb * given.times * (1 << 20) / ROW_BYTES)
    base = given.folder or pathlib.Path(tempfile.mkdtemp(prefix="memory-"))
    little, plenty = base / "little", base / "plenty"
    write(little, rows)
    memory = ["--memory", f"{given.memory_mb}MB"]
    print(f"{rows:,} rows, {rows * ROW_BYTES >> 20:,} MB in memory, --memory {given.memory_mb}MB, --jobs {given.jobs}")
    print(f"{'step':<32} {'seconds':>8} {'cpu':>8} {'held MB':>8}")

    def step(name, *arguments):
        output, wall, cpu, held = run(binary, little, *arguments, *memory)
        print(f"{name:<32} {wall:8.1f} {cpu:8.1f} {held:8}", flush=True)
        return output

    jobs = ["--jobs", str(given.jobs)]
    step("nothing (`plan`)", "plan")
    step("sorted by key, unique, not null", "run", "big.rows", *jobs)
    if given.only_sort:
        shutil.rmtree(base)
        return
    step("aggregated", "run", "big.groups", *jobs)
    step("joined, its keys looked up", "run", "big.joined", *jobs)
    found = prints(binary, little)
    model = little / "models/big/rows.sql"
    model.write_text(model.read_text().replace("+ v.n AS x", "+ v.n + CASE WHEN s.id % 100 = 0 THEN 1 ELSE 0 END AS x"))
    step("again, a row in a hundred changed", "run", "big.rows", *jobs)
    diff = json.loads(step("diff", "diff", "big.rows", "--output", "json"))
    print("diff:", {key: diff[key] for key in ["gone", "new", "changed", "same"]})
    shutil.rmtree(little)
    if not given.no_plenty:
        write(plenty, rows)
        _, wall, cpu, held = run(binary, plenty, "run", "--memory", "8GB", "--jobs", "1")
        print(f"{'all three with 8 GB':<32} {wall:8.1f} {cpu:8.1f} {held:8}")
        print("rows are the same" if prints(binary, plenty) == found else "ROWS DIFFER")
    shutil.rmtree(base)


if __name__ == "__main__":
    main()
