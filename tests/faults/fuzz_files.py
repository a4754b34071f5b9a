#!/usr/bin/env python3
"""Damaged files, read by the real binary: project, models, sources, metadata, manifests, slice maps, rows, catalog, notes.

    fuzz_files.py                    40 seconds
    fuzz_files.py --long             10 minutes
    fuzz_files.py --seed 7 --only 123   case 123 of that seed, and what the command said

Each case damages one file and runs one command: it must end within 20 s, with a documented exit code other than 70, less than
1 GB of memory, no panic, and an error in words where it fails. Cases depend on the seed and their number alone.
"""
import pathlib
import random
import re
import resource
import shutil
import subprocess
import sys
import time

import faults
from faults import FIRST, Fault, Project, must

GB = 1 << 30
CODES = {0, 1, 2, 3, 4, 5, 6, 7}
READS = [("check",), ("plan",), ("status", "--why"), ("explain", "silver.daily", str(FIRST)), ("resolve",),
         ("query", "SELECT count(*), sum(id) FROM silver.daily"), ("query", "SELECT * FROM gold.items"),
         ("query", "SELECT * FROM gold.prices"), ("query", "SELECT * FROM oncemore.slices"),
         ("query", "SELECT * FROM oncemore.attempts"), ("diff", "silver.daily"), ("ledger", "show"),
         ("query", "SELECT * FROM raw.events"), ("lint",)]
WRITES = [("run", "--yes"), ("run", "--yes", "--force"), ("gc", "--older-than", "0s"), ("ledger", "rebuild")]
NUMBERS = [b"0", b"-1", b"1", b"255", b"2147483648", b"9223372036854775807", b"18446744073709551616", b"1e999", b"null", b'""', b"[]"]
TEXTS = [b"\0", b"\xff\xfe", b"\n", b"'", b'"', b"{", b"}", b"[", b"*/", b"/*", b"--", b"&a *a", b"../", b"%", b":", b"9" * 400,
         "é".encode(), "\u202e".encode(), b"SELECT ", b" FROM ", b"(" * 300, b"- " * 200]


def damage(data: bytes, chance: random.Random, is_text: bool) -> tuple:
    """One to three changes of a file, and what they are called."""
    names = []
    for _ in range(chance.choice([1, 1, 1, 2, 3])):
        kind = chance.choice(["flip", "cut", "drop", "double", "insert", "number", "zeros", "swap", "empty"] + ["number", "insert"] * is_text)
        at = chance.randrange(len(data) + 1)
        length = min(chance.choice([1, 2, 4, 8, 30, 200]), len(data) - at)
        if kind == "flip" and data:
            at = min(at, len(data) - 1)
            data = data[:at] + bytes([data[at] ^ (1 << chance.randrange(8))]) + data[at + 1:]
        elif kind == "cut":
            data = data[:at]
        elif kind == "drop":
            data = data[:at] + data[at + length:]
        elif kind == "double":
            data = data[:at] + data[at:at + length] * chance.choice([2, 3, 50]) + data[at + length:]
        elif kind == "insert":
            data = data[:at] + chance.choice(TEXTS) + data[at:]
        elif kind == "number":
            found = list(re.finditer(rb"-?\d+", data))
            if found:
                one = chance.choice(found)
                data = data[:one.start()] + chance.choice(NUMBERS) + data[one.end():]
        elif kind == "zeros":
            data = data[:at] + bytes(length) + data[at + length:]
        elif kind == "swap" and len(data) > 2:
            other = chance.randrange(len(data))
            low, high = sorted((at, other))
            data = data[high:] + data[low:high] + data[:low]
        elif kind == "empty" and chance.random() < 0.2:
            data = b""
        names.append(kind)
    return data, "+".join(names)


class Fuzz:
    def __init__(self, args, folder: pathlib.Path):
        self.args, self.folder = args, folder
        self.project = Project(folder / "project", args.seed, rows=8)
        self.project.run("run", "--yes")
        self.project.correct()
        self.project.run("run", "--yes")
        # The log of the catalog goes into its file, so that damage to that is damage.
        self.project.correct()
        self.template = folder / "template"
        shutil.copytree(self.project.folder, self.template)
        self.groups: dict = {}
        shutil.rmtree(self.project.folder)
        shutil.copytree(self.template, self.project.folder)
        for path in sorted(self.project.folder.rglob("*")):
            if path.is_file() and not path.name.endswith("-shm"):
                self.groups.setdefault(self.group(path), []).append(path)
        self.codes: dict = {}
        self.largest = 0

    def group(self, path: pathlib.Path) -> str:
        name = path.name
        for end in (".metadata.json", "-m.avro", ".parquet", ".csv", ".sql", ".yml", ".db", "-wal", "version-hint.text"):
            if name.endswith(end):
                return end.strip(".-")
        if name.startswith("om-map"):
            return "slice map"
        if name.startswith("snap-"):
            return "manifest list"
        return path.parent.name

    def heads(self, group: str) -> list:
        """Files of a group; of metadata those that count."""
        if group == "metadata.json":
            return list(faults.pointers(self.project).values())
        return self.groups[group]

    def case(self, number: int, say: bool = False) -> None:
        chance = random.Random(f"{self.args.seed}-{number}")
        group = chance.choice(sorted(self.groups))
        path = chance.choice(sorted(self.heads(group)))
        is_text = group in ("metadata.json", "csv", "sql", "yml", ".sources", ".codes", "version-hint.text")
        data, how = damage(path.read_bytes(), chance, is_text)
        command = chance.choice(WRITES if chance.random() < 0.4 else READS)
        writes = command in WRITES or command[0] == "resolve"
        old = path.read_bytes()
        path.write_bytes(data)
        what = f"case {number}: {path.relative_to(self.project.folder)} ({how}), oncemore {' '.join(command)}"
        try:
            self.judge(what, command, say)
        except Fault:
            kept = self.folder / f"case-{number}"
            shutil.copytree(self.project.folder, kept)
            raise
        finally:
            if writes:
                shutil.rmtree(self.project.folder)
                shutil.copytree(self.template, self.project.folder)
            else:
                path.write_bytes(old)
                # Whoever reads may put the catalog's log into its file.
                for there in (self.template / "warehouse").glob("oncemore.db*"):
                    shutil.copy(there, self.project.warehouse)

    def judge(self, what: str, command: tuple, say: bool) -> None:
        def limits() -> None:
            resource.setrlimit(resource.RLIMIT_AS, (6 * GB, 6 * GB))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        process = subprocess.Popen(self.project.command(*command), stdout=subprocess.DEVNULL if not say else None,
                                   stderr=subprocess.PIPE, preexec_fn=limits, start_new_session=True)
        began = time.monotonic()
        try:
            _, error = process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            faults.kill(process)
            process.communicate()
            raise Fault(f"{what}: no end after 20 s") from None
        took = time.monotonic() - began
        # The largest of all children so far.
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
        grew, self.largest = peak > max(self.largest, GB), max(self.largest, peak)
        code, text = process.returncode, error.decode(errors="replace")
        self.codes[code] = self.codes.get(code, 0) + 1
        if say:
            print(f"{what}: exit {code}, {took:.1f} s\n{text}")
        must(code in CODES, f"{what}: exit {code}\n{text[-1500:]}")
        must("panicked" not in text, f"{what}: a panic\n{text[-1500:]}")
        must(not grew, f"{what}: {peak >> 20} MB of memory")
        must(code in (0, 1) or len(text.strip()) > 10, f"{what}: exit {code} without a word")


def zero(data: bytes, start: int, stop: int) -> bytes:
    start, stop, _ = slice(start, stop).indices(len(data))
    return data[:start] + bytes(stop - start) + data[stop:]


# What once ended as "a bug of ours", or worse: files of a group, damage, command.
FOUND = [
    ("parquet", lambda data: zero(data, -8, None), ("run", "--yes", "--force")),
    ("parquet", lambda data: data[:len(data) // 2], ("run", "--yes", "--force")),
    ("parquet", lambda data: data[len(data) // 3:] + data[:len(data) // 3], ("query", "SELECT sum(amount) FROM silver.daily")),
]


def found(fuzz: Fuzz, place: int) -> None:
    group, change, command = FOUND[place]
    for path in fuzz.groups[group]:
        path.write_bytes(change(path.read_bytes()))
    try:
        fuzz.judge(f"all files {group}, oncemore {' '.join(command)}", command, False)
    finally:
        shutil.rmtree(fuzz.project.folder)
        shutil.copytree(fuzz.template, fuzz.project.folder)


def add(parser) -> None:
    parser.add_argument("--seconds", type=float, default=None)
    parser.add_argument("--only", type=int, default=None)


def main() -> int:
    args = faults.arguments(__doc__, add)
    folder, report = faults.scratch(args), faults.Report()
    fuzz = Fuzz(args, folder)
    if args.only is not None:
        report.case(f"case {args.only}", fuzz.case, args.only, True)
        return faults.done(args, folder, report)
    for place in range(len(FOUND)):
        report.case(f"found before, {place}", found, fuzz, place)
    until = time.monotonic() + (args.seconds or (600 if args.long else 40))
    number = 0
    while time.monotonic() < until and report.failed < 25:
        report.case(f"seed {args.seed}", fuzz.case, number)
        number += 1
    print(f"{number} damaged files; exit codes {dict(sorted(fuzz.codes.items()))}; at most {fuzz.largest >> 20} MB")
    return faults.done(args, folder, report)


if __name__ == "__main__":
    sys.exit(main())
