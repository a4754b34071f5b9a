#!/usr/bin/env python3
"""`kill -9` at random moments, over and over: one, two and four processes at once on the same, adjacent and overlapping
intervals, with `gc`, `resolve` and `ledger rebuild` thrown in, while files are corrected and code changes in between.

    kill_loop.py                 200 kills
    kill_loop.py --long          2,000 kills
    kill_loop.py --kills 50 --seed 7 --python VENV/bin/python

Every few rounds everything is run to its end and compared with a clean build in another folder, row by row and stamp by stamp;
then `gc` must leave just the files that metadata name. Beside each round a reader asks for the daily rows: each day must be
that of one delivery, whole. With `--python` (one that has PyIceberg) all tables are read by it at the end.
"""
import datetime
import json
import pathlib
import subprocess
import sys
import time

import faults
from faults import DAYS, FIRST, Fault, Project, must

AFTER = FIRST + datetime.timedelta(DAYS)


def add(parser) -> None:
    parser.add_argument("--kills", type=int, default=None)
    parser.add_argument("--python", default=None, help="a Python with PyIceberg, to read all tables at the end")


class Loop:
    def __init__(self, args, folder: pathlib.Path):
        self.args, self.folder = args, folder
        self.project = Project(folder / "project", args.seed)
        self.random = self.project.random
        self.kills = self.rounds = self.lived = self.compared = self.reads = 0
        self.by_command: dict = {}
        self.compacts = faults.has_flag("gc", "--compact")
        # What each day held since all was last run to the end: any of it may be seen.
        self.seen = {day: [rows] for day, rows in self.project.days.items()}
        self.pace = 0.4

    # ---- one round

    def deeds(self) -> list:
        """Commands of a round."""
        count = self.random.choice([1, 2, 2, 4])
        cut = FIRST + datetime.timedelta(self.random.randrange(1, DAYS))
        beyond = min(AFTER, cut + datetime.timedelta(2))
        both = [("--from", str(FIRST), "--to", str(beyond)), ("--from", str(cut), "--to", str(AFTER))]
        shape = self.random.choice(["same", "same", "adjacent", "overlapping"])
        if shape == "adjacent":
            both = [("--from", str(FIRST), "--to", str(cut)), ("--from", str(cut), "--to", str(AFTER))]
        deeds = []
        for place in range(count):
            chance = self.random.random()
            if place > 0 and chance < 0.12:
                deeds.append(("gc", "--older-than", self.random.choice(["0s", "0s", "1h"])))
            elif place > 0 and chance < 0.18 and self.compacts:
                deeds.append(("gc", "--compact", "--older-than", "0s"))
            elif place > 0 and chance < 0.24:
                deeds.append(("resolve",))
            elif place > 0 and chance < 0.30:
                deeds.append(("ledger", "rebuild"))
            else:
                deed = ["run", "--yes", "--stale-parents", "ok"]
                deed += [] if shape == "same" else both[place % 2]
                deed += ["--force"] if self.random.random() < 0.25 else []
                deed += ["--single-commits"] if self.random.random() < 0.2 else []
                deed += ["--jobs", self.random.choice("124")] if self.random.random() < 0.3 else []
                deeds.append(tuple(deed))
        if count == 1 and self.random.random() < 0.3:
            deeds = [self.random.choice([("gc", "--older-than", "0s"), ("resolve",), ("ledger", "rebuild")])]
        return deeds

    def round(self) -> None:
        self.rounds += 1
        for _ in range(self.random.choice([0, 1, 1, 2])):
            day = self.project.correct()
            self.seen[day].append(self.project.days[day])
        if self.random.random() < 0.1:
            self.project.set_factor(self.project.factor + 1)  # a former one would be held as older code
        deeds = self.deeds()
        # Four share two processors: each takes longer, and is killed later.
        pace = self.pace * max(1.0, len(deeds) / 2)
        moments = []
        for deed in deeds:
            short = deed[0] != "run"
            moments.append(None if self.random.random() < 0.1 else self.random.uniform(0, pace * (0.3 if short else 1.0)))
        running = list(zip(moments, deeds))
        is_read = self.random.random() < 0.3
        if is_read:
            running.append((None, ("query", "--output", "json", "--limit", "0", faults.QUERIES["silver.daily"])))
        ends = faults.at_once(self.project, running)
        for at, deed, (code, said) in zip(moments, deeds, ends):
            self.ended(deed, code, said, deeds)
            # Other work on the machine comes and goes: about two of three are to be killed, at all stages.
            if at is not None and deed[0] == "run":
                self.pace = min(5.0, self.pace * 1.05) if code == -9 else max(0.05, self.pace * 0.9)
        if is_read:
            self.read(*ends[-1], any("0s" in deed for deed in deeds))

    def ended(self, deed: tuple, code: int, said: str, beside: list) -> None:
        if code == -9:
            self.kills += 1
            self.by_command[deed[0]] = self.by_command.get(deed[0], 0) + 1
            return
        self.lived += 1
        # 0 done, 4 somebody else was first: all that may come of this.
        fine = {0, 4} if len(beside) > 1 else {0}
        must(code in fine, f"round {self.rounds}, beside {beside}: {faults.told(deed, code, said)}")

    def read(self, code: int, said: str, beside_gc: bool) -> None:
        if code != 0 or not said.startswith("{"):
            # With `--older-than 0s` files of a snapshot that is being read may go; and the first run makes the tables.
            must(beside_gc or self.compared == 0 or code in (0, 4), f"round {self.rounds}: {faults.told(('query',), code, said)}")
            return
        days: dict = {}
        for row in json.loads(said)["rows"]:
            days.setdefault(row["at"][:10], []).append((row["id"], row["at"], row["item"], row["amount"], row["op"]))
        for day, versions in self.seen.items():
            found = sorted(days.get(str(day), []))
            known = [sorted((i, at.replace(" ", "T"), item, amount, op) for i, at, item, amount, op in rows) for rows in versions]
            must(found in known or (not found and self.compared == 0), f"round {self.rounds}: a reader saw a {day} that never was: {found}")
        self.reads += 1

    # ---- at rest

    def compare(self) -> None:
        project = self.project
        project.settle()
        faults.whole(project)
        faults.hints(project)
        faults.same_as_clean(project, self.folder / "clean")
        faults.integrity(project)
        project.run("gc", "--older-than", "0s")
        faults.no_orphans(project)
        project.nothing_to_do()
        self.seen = {day: [rows] for day, rows in project.days.items()}
        self.compared += 1

    def all(self) -> None:
        wanted = self.args.kills or (2_000 if self.args.long else 200)
        self.project.run("run", "--yes", "--interval", str(FIRST), "--stale-parents", "ok")

        def forced() -> None:
            self.project.run("run", "--yes", "--force")
        self.pace = faults.median_seconds(forced, 3) * 0.8
        print(f"a run takes {self.pace:.2f} s", flush=True)
        told = 0
        while self.kills < wanted:
            for _ in range(self.random.randrange(2, 6)):
                self.round()
            self.compare()
            if self.kills - told >= 100:
                told = self.kills
                print(f"{self.kills} kills in {self.rounds} rounds", flush=True)

    def pyiceberg(self) -> None:
        project = self.project
        project.settle()
        script = pathlib.Path(__file__).with_name("other_engine.py")
        ended = subprocess.run([self.args.python, script, project.folder], capture_output=True, text=True)
        must(ended.returncode == 0, f"other engines: {ended.stdout}{ended.stderr}")
        print(f"other engines on the tables: {ended.stdout.strip()}")


def main() -> int:
    args = faults.arguments(__doc__, add)
    folder, report = faults.scratch(args), faults.Report()
    loop = Loop(args, folder)
    began = time.monotonic()
    try:
        fine = report.case(f"kill loop, seed {args.seed}", loop.all)
    finally:
        print(f"{loop.kills} kills ({loop.by_command}) in {loop.rounds} rounds, {loop.lived} processes lived; "
              f"{loop.compared} comparisons with a clean build, {loop.reads} reads beside; {time.monotonic() - began:.0f} s")
    if fine and args.python:
        report.case("PyIceberg reads all tables", loop.pyiceberg)
    return faults.done(args, folder, report)


if __name__ == "__main__":
    sys.exit(main())
