"""What the fault scripts share: a small project of every kind, its corrections, the binary, a clean build to compare with,
and a reader of Iceberg metadata of its own that tells which files a table names. Standard library only.

Everything random comes from one seed, which each script prints; `--seed N` replays it as far as the machine's timing allows.
"""
import argparse
import contextlib
import datetime
import json
import os
import pathlib
import random
import re
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time
import zlib

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
FIRST, DAYS = datetime.date(2024, 1, 28), 8
ITEMS = 9

PROJECT = """\
name: faults
start: 2024-01-28
end: 2024-02-05
variables: {factor: %d}
sources:
  raw.events:
    path: data/events/{interval:%%Y-%%m-%%d}.csv
    time: at
    columns: {id: BIGINT, at: TIMESTAMP, item: TEXT, amount: BIGINT, op: TEXT, nr: INTEGER}
"""
MODELS = {
    "silver/daily.sql": """\
/* oncemore
kind: slice
interval: day
time: at
key: [id]
*/
SELECT id, at, item, amount, op
  FROM raw.events
 WHERE at >= :interval_start AND at < :interval_end
""",
    "gold/monthly.sql": """\
/* oncemore
kind: slice
interval: month
time: month
key: [month, item]
*/
SELECT date_trunc('month', at) AS month, item, count(*) AS n, sum(amount * :factor) AS amount
  FROM silver.daily
 WHERE at >= :interval_start AND at < :interval_end
 GROUP BY 1, 2
""",
    "gold/totals.sql": """\
/* oncemore
kind: full
key: [item]
*/
SELECT item, count(*) AS n, sum(amount * :factor) AS amount FROM silver.daily GROUP BY item
""",
    "gold/items.sql": """\
/* oncemore
kind: merge
interval: day
time: at
key: [item]
order_by: [at, id]
deleted: op = 'gone'
*/
SELECT item, amount, at, id, op
  FROM raw.events
 WHERE at >= :interval_start AND at < :interval_end
""",
    "gold/prices.sql": """\
/* oncemore
kind: history
interval: day
time: at
key: [item]
order_by: [id]
track: [amount]
deleted: op = 'gone'
*/
SELECT item, amount, at, id, op
  FROM raw.events
 WHERE at >= :interval_start AND at < :interval_end AND nr = 1
""",
}
# What `query` shows of every table, and of the stamps.
QUERIES = {
    "silver.daily": "SELECT id, at, item, amount, op FROM silver.daily",
    "gold.monthly": "SELECT month, item, n, amount FROM gold.monthly",
    "gold.totals": "SELECT item, n, amount FROM gold.totals",
    "gold.items": "SELECT * FROM gold.items",
    "gold.items__changes": "SELECT * FROM gold.items__changes",
    "gold.prices": "SELECT * FROM gold.prices",
    "gold.prices__changes": "SELECT * FROM gold.prices__changes",
    "slices": 'SELECT model, "interval", rows, fingerprint, code_version FROM oncemore.slices',
}


class Fault(Exception):
    """Something that must hold does not."""


def must(holds: object, what: str) -> None:
    if not holds:
        raise Fault(what)


# ---- arguments and reports ---------------------------------------------------------------------------------------

def arguments(text: str, add=None) -> argparse.Namespace:
    """The flags that all scripts have; prints the seed."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--long", action="store_true", help="the long form, for releases")
    parser.add_argument("--keep", action="store_true", help="keep the folder also where all went well")
    if add:
        add(parser)
    args = parser.parse_args()
    if args.seed is None:
        args.seed = random.SystemRandom().randrange(1_000_000)
    print(f"{pathlib.Path(sys.argv[0]).name}: seed {args.seed}", flush=True)
    return args


class Report:
    """Counts what passed; a script ends with `N passed, M failed`, which `.ci/run` adds up."""

    def __init__(self) -> None:
        self.passed, self.failed = 0, 0

    def case(self, name: str, work, *rest) -> bool:
        try:
            work(*rest)
        except Fault as fault:
            self.failed += 1
            print(f"FAILED {name}: {fault}", file=sys.stderr, flush=True)
            return False
        self.passed += 1
        return True

    def end(self) -> int:
        print(f"{self.passed} passed, {self.failed} failed")
        return 1 if self.failed else 0


def scratch(args: argparse.Namespace) -> pathlib.Path:
    return pathlib.Path(tempfile.mkdtemp(prefix=f"oncemore-faults-{args.seed}-"))


def done(args: argparse.Namespace, folder: pathlib.Path, report: Report) -> int:
    if report.failed or args.keep:
        print(f"kept: {folder}", file=sys.stderr)
    else:
        shutil.rmtree(folder, ignore_errors=True)
    return report.end()


def binary() -> str:
    return os.path.abspath(os.environ.get("ONCEMORE_BIN", REPOSITORY / "target/release/oncemore"))


# ---- the project -------------------------------------------------------------------------------------------------

class Project:
    """A folder with the project, and the binary in it."""

    def __init__(self, folder: pathlib.Path, seed: int, rows: int = 14):
        self.folder, self.random, self.rows = folder, random.Random(seed), rows
        self.factor, self.next_id, self.days = 1, 0, {}
        for path, text in MODELS.items():
            file = folder / "models" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        (folder / "data/events").mkdir(parents=True)
        self.set_factor(1)
        for place in range(DAYS):
            self.deliver(FIRST + datetime.timedelta(place), self.fresh_rows(FIRST + datetime.timedelta(place)))

    @property
    def warehouse(self) -> pathlib.Path:
        return self.folder / "warehouse"

    def set_factor(self, factor: int) -> None:
        """Another variable: other code of the two models that use it."""
        self.factor = factor
        (self.folder / "oncemore.yml").write_text(PROJECT % factor)

    def fresh_rows(self, day: datetime.date) -> list:
        rows = []
        for _ in range(self.random.randrange(self.rows + 1)):
            self.next_id += 1
            at = f"{day} {self.random.randrange(24):02}:{self.random.randrange(60):02}:00"
            item, op = f"item{self.random.randrange(ITEMS)}", "gone" if self.random.random() < 0.15 else "set"
            rows.append([self.next_id, at, item, self.random.randrange(100), op])
        return rows

    def deliver(self, day: datetime.date, rows: list) -> None:
        """Replaces a day's file, as a careful sender does."""
        seen, lines = set(), ["id,at,item,amount,op,nr"]
        for row in rows:
            lines.append(",".join(map(str, row)) + (",2" if row[2] in seen else ",1"))
            seen.add(row[2])
        path = self.folder / f"data/events/{day}.csv"
        fresh = path.with_suffix(".part")
        fresh.write_text("\n".join(lines) + "\n")
        fresh.replace(path)
        self.days[day] = rows

    def correct(self) -> datetime.date:
        """Changes one day: values, a row less, a row more, all anew, none, or the same rows in another order."""
        day = self.random.choice(list(self.days))
        rows = [list(row) for row in self.days[day]]
        kind = self.random.randrange(6)
        if kind == 0 and rows:
            self.random.choice(rows)[3] = self.random.randrange(100)
        elif kind == 1 and rows:
            rows.pop(self.random.randrange(len(rows)))
        elif kind == 2:
            rows = []
        elif kind == 3:
            self.random.shuffle(rows)
        elif kind == 4 and rows:
            row = self.random.choice(rows)
            row[4] = "gone" if row[4] == "set" else "set"
        else:
            rows = self.fresh_rows(day)
        self.deliver(day, rows)
        return day

    # ---- the binary

    def command(self, *args: str) -> list:
        return [binary(), *args, "--project", str(self.folder)]

    def run(self, *args: str, ok=(0,), timeout: float = 120, prefix=(), env=None) -> subprocess.CompletedProcess:
        try:
            ended = subprocess.run([*prefix, *self.command(*args)], capture_output=True, text=True, timeout=timeout,
                                   errors="replace", env={**os.environ, **(env or {})})
        except subprocess.TimeoutExpired:
            raise Fault(f"oncemore {' '.join(args)}: no end after {timeout} s") from None
        must(ok is None or ended.returncode in ok, told(args, ended.returncode, ended.stdout, ended.stderr))
        return ended

    def start(self, *args: str, prefix=(), env=None) -> subprocess.Popen:
        return subprocess.Popen([*prefix, *self.command(*args)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                errors="replace", start_new_session=True, env={**os.environ, **(env or {})})

    def query(self, sql: str) -> list:
        return json.loads(self.run("query", sql, "--output", "json", "--limit", "0").stdout)["rows"]

    def settle(self) -> None:
        """To the end: what open attempts came to, what is due, nothing left."""
        self.run("resolve")
        self.run("run", "--yes")
        self.nothing_to_do()

    def nothing_to_do(self) -> None:
        plan = self.run("plan", "--exit-code", ok=None)
        must(plan.returncode == 0, f"work is left after a run: exit {plan.returncode}\n{plan.stdout}{plan.stderr}")

    def tables(self) -> dict:
        """All rows of all tables, in an order that depends on them alone."""
        return {name: self.shown(sql) for name, sql in self.queries().items()}

    def queries(self) -> dict:
        """What shows every table that the project has."""
        return QUERIES

    def shown(self, sql: str) -> list:
        return sorted(json.dumps(row, sort_keys=True) for row in self.query(sql))

    def clean_build(self, folder: pathlib.Path) -> dict:
        """The tables that one run makes of the same files in another folder."""
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.folder, folder, ignore=lambda at, names: ["warehouse"] if pathlib.Path(at) == self.folder else [])
        clean = type(self).__new__(type(self))
        clean.folder = folder
        clean.run("run", "--yes")
        return clean.tables()


def told(args, code: int, *output: str) -> str:
    text = "".join(part for part in output if part)
    return f"oncemore {' '.join(args)}: exit {code}\n{text[-3000:]}"


def differences(ours: dict, clean: dict) -> str:
    """Where two sets of tables differ; empty where they do not."""
    lines = []
    for name in clean:
        lost, more = list(clean[name]), []
        for row in ours.get(name, []):
            if row in lost:
                lost.remove(row)
            else:
                more.append(row)
        if lost or more:
            lines.append(f"{name}: {len(lost)} rows lost, {len(more)} doubled or stale; lost {lost[:2]}, more {more[:2]}")
    return "\n".join(lines)


def same_as_clean(project: Project, beside: pathlib.Path) -> None:
    differ = differences(project.tables(), project.clean_build(beside))
    must(not differ, f"not what a clean build gives\n{differ}")


def integrity(project: Project) -> None:
    with database_of(project) as database:
        (found,) = database.execute("PRAGMA integrity_check").fetchone()
    must(found == "ok", f"integrity_check: {found}")


# ---- which files the tables name ---------------------------------------------------------------------------------

class Avro:
    """Reads Avro object files: what Iceberg's manifests and their lists are."""

    def __init__(self, data: bytes):
        self.data, self.at = data, 0

    def take(self, count: int) -> bytes:
        must(0 <= count <= len(self.data) - self.at, "an Avro file ends too early")
        self.at += count
        return self.data[self.at - count:self.at]

    def long(self) -> int:
        value, shift = 0, 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return (value >> 1) ^ -(value & 1)

    def blocks(self):
        while count := self.long():
            if count < 0:
                count, _ = -count, self.long()
            yield from range(count)

    def value(self, schema, named: dict):
        if isinstance(schema, list):
            return self.value(schema[self.long()], named)
        if isinstance(schema, str) and schema in named:
            schema = named[schema]
        kind = schema["type"] if isinstance(schema, dict) else schema
        if isinstance(kind, (dict, list)):
            return self.value(kind, named)
        if isinstance(schema, dict) and "name" in schema:
            named[schema["name"]] = schema
        if kind == "record":
            return {field["name"]: self.value(field["type"], named) for field in schema["fields"]}
        if kind == "array":
            return [self.value(schema["items"], named) for _ in self.blocks()]
        if kind == "map":
            return {self.take(self.long()).decode(): self.value(schema["values"], named) for _ in self.blocks()}
        if kind == "fixed":
            return self.take(schema["size"])
        if kind in ("string", "bytes"):
            found = self.take(self.long())
            return found.decode() if kind == "string" else found
        if kind in ("int", "long"):
            return self.long()
        if kind == "boolean":
            return self.take(1) == b"\1"
        if kind == "float":
            return struct.unpack("<f", self.take(4))[0]
        if kind == "double":
            return struct.unpack("<d", self.take(8))[0]
        must(kind == "null", f"an Avro type that this reader has not: {kind}")
        return None

    @classmethod
    def records(cls, path: pathlib.Path, read=pathlib.Path.read_bytes) -> list:
        file = cls(read(path))
        must(file.take(4) == b"Obj\1", f"{path} is no Avro file")
        meta = file.value({"type": "map", "values": "bytes"}, {})
        marker, schema = file.take(16), json.loads(meta["avro.schema"])
        rows = []
        while file.at < len(file.data):
            count, block = file.long(), file.take(file.long())
            block = zlib.decompress(block, -15) if meta.get("avro.codec") == b"deflate" else block
            part, named = cls(block), {}
            rows += [part.value(schema, named) for _ in range(count)]
            must(file.take(16) == marker, f"{path}: a block has no end")
        return rows


def local(location: str) -> pathlib.Path:
    return pathlib.Path(re.sub("^file:/*", "/", location))


def named_files(metadata_file: pathlib.Path, read=pathlib.Path.read_bytes) -> set:
    """All files that a table's metadata leads to, itself among them."""
    folder = metadata_file.parent
    metadata = json.loads(read(metadata_file))
    found = {metadata_file}
    found |= {local(entry["metadata-file"]) for entry in metadata.get("metadata-log", [])}
    maps = {metadata["properties"].get("oncemore.slice-map")}
    for snapshot in metadata.get("snapshots", []):
        maps.add(snapshot["summary"].get("oncemore.slice-map"))
        lists = local(snapshot["manifest-list"])
        found.add(lists)
        for manifest in Avro.records(lists, read):
            path = local(manifest["manifest_path"])
            if path not in found:
                found.add(path)
                # Status 2: a file that the snapshot no longer holds.
                found |= {local(entry["data_file"]["file_path"]) for entry in Avro.records(path, read) if entry["status"] != 2}
    for name in maps - {None}:
        found.add(folder / name)
        found |= {folder / page for page in pages(folder / name, read)}
    return found


def pages(path: pathlib.Path, read) -> set:
    """Files that hold pages of a slice map: its root, whose place is in the last 16 bytes, names them."""
    data = read(path)
    must(data.startswith(b"OMSLICE1"), f"{path} is no slice map")
    (root,) = struct.unpack("<Q", data[-16:-8])
    return {name.decode() for name in re.findall(rb"om-map-\d+-[0-9a-f]{32}\.bin", data[root:-16])}


def pointers(project: Project) -> dict:
    with database_of(project) as database:
        return pointers_in(database)


def pointers_in(database: sqlite3.Connection) -> dict:
    """Tables and their metadata files; none where there are no tables yet."""
    if not database.execute("SELECT count(*) FROM sqlite_master WHERE name = 'iceberg_tables'").fetchone()[0]:
        return {}
    rows = database.execute("SELECT table_namespace || '.' || table_name, metadata_location FROM iceberg_tables")
    return {name: local(location) for name, location in rows}


@contextlib.contextmanager
def database_of(project: Project):
    """The catalog as a copy, so that looking changes nothing, also where nothing can be written."""
    with tempfile.TemporaryDirectory() as room:
        for file in project.warehouse.glob("oncemore.db*"):
            if not file.name.endswith("-shm"):
                shutil.copy(file, room)
        with contextlib.closing(sqlite3.connect(pathlib.Path(room) / "oncemore.db")) as database:
            yield database


def whole(project: Project) -> set:
    """Every file that a table names is there; all of these."""
    named = set()
    for name, pointer in pointers(project).items():
        must(pointer.exists(), f"{name}: its metadata file {pointer.name} is not there")
        # Older metadata files may have been pushed out; nothing reads them.
        log = {local(entry["metadata-file"]) for entry in json.loads(pointer.read_text()).get("metadata-log", [])}
        reached = named_files(pointer)
        missing = sorted(str(path) for path in reached - log if not path.exists())
        must(not missing, f"{name}: files are missing: {missing}")
        named |= reached
    return named


def hints(project: Project) -> None:
    """At rest: readers by path see what readers of the catalog see."""
    for name, pointer in pointers(project).items():
        hint = pointer.with_name("version-hint.text")
        found = hint.read_text() if hint.exists() else None
        must(f"{found}.metadata.json" == pointer.name, f"{name}: the hint names {found}, the catalog {pointer.name}")


def no_orphans(project: Project) -> None:
    """After `gc`: files on disk are files that metadata name."""
    named = whole(project) | {pointer.with_name("version-hint.text") for pointer in pointers(project).values()}
    on_disk = {path for path in project.warehouse.rglob("*") if path.is_file()}
    known = re.compile(r"\.(sources|codes)/\.[0-9a-f]{32}|oncemore\.db(-wal|-shm)?|\.sources/[a-z].*\.json|\.codes/[a-z].*\.json")
    orphans = sorted(str(path.relative_to(project.warehouse)) for path in on_disk - named
                     if not known.fullmatch(str(path.relative_to(project.warehouse))))
    must(not orphans, f"orphans after gc: {orphans[:10]} ({len(orphans)} in all)")


# ---- processes ---------------------------------------------------------------------------------------------------

def end(process: subprocess.Popen, timeout: float = 120) -> tuple:
    """Waits; the code and what was said. One that does not end is a fault."""
    try:
        said, _ = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        kill(process)
        said, _ = process.communicate()
        raise Fault(f"{' '.join(process.args)}: no end after {timeout} s\n{said[-2000:]}") from None
    return process.returncode, said


def kill(process: subprocess.Popen) -> None:
    """`kill -9` of the process and of all that it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def at_once(project: Project, deeds: list, meanwhile=None) -> list:
    """Starts commands side by side and kills each after its seconds (None: it lives); how they ended, in order."""
    began = time.monotonic()
    running = [(began + after if after is not None else None, project.start(*deed)) for after, deed in deeds]
    for at, process in sorted(running, key=lambda one: one[0] or 0):
        while at is not None and time.monotonic() < at and process.poll() is None:
            if meanwhile:
                meanwhile()
            time.sleep(max(0.0, min(0.01 if meanwhile else 1.0, at - time.monotonic())))
        if at is not None and process.poll() is None:
            kill(process)
    return [end(process) for _, process in running]


def has_flag(command: str, flag: str) -> bool:
    """Whether this build knows a flag, by its own help."""
    return flag in subprocess.run([binary(), command, "--help"], capture_output=True, text=True).stdout


def median_seconds(work, times: int = 5) -> float:
    taken = []
    for _ in range(times):
        began = time.monotonic()
        work()
        taken.append(time.monotonic() - began)
    return sorted(taken)[times // 2]


# ---- the layer below -------------------------------------------------------------------------------------------------

def shim(folder: pathlib.Path) -> pathlib.Path:
    """The layer of shim.c, compiled."""
    library = folder / "shim.so"
    if not library.exists():
        source = pathlib.Path(__file__).with_name("shim.c")
        made = subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, source, "-ldl", "-lpthread"],
                              capture_output=True, text=True)
        must(made.returncode == 0, f"cc: {made.stderr}")
    return library


def below(library: pathlib.Path, under: pathlib.Path, **settings) -> dict:
    """The environment of a process on top of the layer: `below(lib, folder, kill=3)`."""
    env = {"LD_PRELOAD": str(library), "SHIM_UNDER": str(under)}
    return env | {f"SHIM_{name.upper()}": str(value) for name, value in settings.items()}


class Event:
    """A call that the layer saw."""

    __slots__ = ("kind", "number", "offset", "path", "data")

    def __init__(self, kind: str, number: int, offset: int, path: str, data: bytes):
        self.kind, self.number, self.offset, self.path, self.data = kind, number, offset, path, data


def events(log: pathlib.Path) -> list:
    """The layer's log."""
    data, at, found = log.read_bytes(), 0, []
    while at < len(data):
        end_of_line = data.index(b"\n", at)
        kind, number, offset, length, path = data[at:end_of_line].decode(errors="surrogateescape").split(" ", 4)
        at = end_of_line + 1 + int(length)
        found.append(Event(kind, int(number), int(offset), path, data[end_of_line + 1:at]))
    return found


def copy(source: pathlib.Path, to: pathlib.Path) -> None:
    """A folder as another one is; Iceberg holds full paths, so that a warehouse must come back to its place."""
    shutil.rmtree(to, ignore_errors=True)
    if source.exists():
        shutil.copytree(source, to)


def knows(command: str) -> bool:
    """Whether this build has a command, by its own help."""
    return f"\n  {command} " in subprocess.run([binary(), "--help"], capture_output=True, text=True).stdout
