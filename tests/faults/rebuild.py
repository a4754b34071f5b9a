#!/usr/bin/env python3
"""`oncemore rebuild`, killed and raced: models get another key, order, kind, interval length, zone or type of a column, and
their tables are built anew beside the old ones.

    rebuild.py                  60 kills, 18 races
    rebuild.py --long           1,000 kills, 120 races
    rebuild.py --kills 200 --races 0 --seed 7 --python VENV/bin/python

Kills: one or two `rebuild`, beside them `run`, `gc`, `resolve` or `ledger rebuild`, each killed at a random moment, again and
again, while a file is corrected or the shape changes once more. `run` must refuse the model and name the command. For as long
as the plan does so the old table is there as it was: rows by `query`, the same files with the same bytes by path, the same rows
by PyIceberg (with `--python`); afterwards it is the new one, whole. Each case ends with a clean build's rows and stamps, then
`gc`, and no file, folder or table is left over.

Races: rebuilds at once; a `run` that was stopped (SIGSTOP before its N-th call that changes a file: shim.c) while a rebuild
swapped the tables; a rebuild that was stopped while another one swapped them over a corrected file. What was stopped never
lands on what is newer.
"""
import os
import pathlib
import re
import signal
import sys
import time

import faults
from crash_points import rebuild
from faults import Fault, must
from races import wait_for_stop
from shapes import TARGETS, OtherReader, Shaped, by_path, misfits, theirs


def add(parser) -> None:
    parser.add_argument("--kills", type=int, default=None)
    parser.add_argument("--races", type=int, default=None)
    parser.add_argument("--python", default=None, help="a Python with PyIceberg, to read the tables by path")


# ---- kills -------------------------------------------------------------------------------------------------------

class Loop:
    def __init__(self, args, folder: pathlib.Path):
        self.args, self.folder = args, folder
        self.project = Shaped(folder / "project", args.seed)
        self.random = self.project.random
        self.other = OtherReader(args.python) if args.python else None
        self.kills = self.cases = self.killed_after_swap = self.resumed = self.refused = self.reads = 0
        self.pace = 0.3
        self.model = ""
        # The shape that the table in its place has, its rows, and what its readers by path find.
        self.stored = None
        self.old: list = []
        self.old_files: dict = {}
        # Rows that a swap may bring: a clean build's, of the files as they are, and as they were when a rebuild began.
        self.new: list = []
        # A run that went on over a corrected file, or under code that rows can follow, may have been killed between slices.
        self.is_mixed = self.must_rebuild = self.swapped = False

    def rows(self) -> list:
        return self.project.shown(f"SELECT * FROM {self.model}")

    def built(self) -> list:
        """The model's rows as a clean build has them."""
        clean = self.folder / "clean"
        self.project.clean_build(clean)
        beside = Shaped.__new__(Shaped)
        beside.folder = clean
        return beside.shown(f"SELECT * FROM {self.model}")

    # ---- one case

    def reshape(self) -> None:
        """Another shape over the table as it is now."""
        project = self.project
        self.old, self.old_files, self.is_mixed = self.rows(), by_path(project, self.model), False
        must(self.old_files["rows"] == len(self.old), f"{self.old_files['rows']} rows by path, {len(self.old)} by query")
        shape = project.another(self.model)
        project.reshape(self.model, shape)
        self.new = [self.built()]
        self.must_rebuild = not shape.follows(self.stored)

    def refuse(self) -> None:
        """What `run`, `plan` and `status` say of a table that is to be built anew."""
        ended = self.project.run("run", "--yes", ok=(3,))
        must(f"`oncemore rebuild {self.model}`" in ended.stderr, f"it does not name the command: {ended.stderr}")
        ended = self.project.run("run", self.model, "--yes", "--force", ok=(3,))
        must("slice unchanged" in ended.stderr, f"it does not say how the slice is: {ended.stderr}")
        plan = self.project.run("plan").stdout
        must("rebuild needed" in plan and f"`oncemore rebuild {self.model}`" in plan, f"the plan does not name it: {plan}")
        self.refused += 1

    def deeds(self) -> list:
        """A rebuild, and what goes on beside it."""
        def one() -> tuple:
            deed = ["rebuild", self.model, "--yes"]
            # One after the other: then there is something to go on with.
            deed += ["--single-commits"] if self.random.random() < 0.7 else []
            deed += ["--jobs", self.random.choice("1124")] if self.random.random() < 0.7 else []
            deed += ["--again"] if self.random.random() < 0.05 else []
            return tuple(deed)

        chance = self.random.random()
        if chance < 0.4:
            return [one()]
        if chance < 0.55:
            return [one(), (*one(), "--wait", "60s")] if chance < 0.5 else [one(), one()]
        if chance < 0.75:
            run = ["run", "--yes", "--stale-parents", "ok", *self.random.choice(((), (), ("--force",), (self.model, "--force")))]
            return [one(), tuple(run)] if chance < 0.7 else [one(), one(), tuple(run)]
        if chance < 0.9:
            return [one(), ("gc", *self.random.choice((("--compact",), ())), "--older-than", self.random.choice(("0s", "0s", "1h")))]
        return [one(), self.random.choice((("resolve",), ("ledger", "rebuild")))]

    def attack(self) -> None:
        deeds = self.deeds()
        pace = self.pace * (1.0 if len(deeds) == 1 else 1.5)
        # A rebuild that has not begun leaves nothing to go on with.
        earliest = [0.2 if deed[0] == "rebuild" else 0.0 for deed in deeds]
        moments = [None if self.random.random() < 0.08 else self.random.uniform(first, 1.0) * pace for first in earliest]
        # Beside a clean-up that leaves readers no time, what a reader by path has opened may go.
        meanwhile = None if any("0s" in deed for deed in deeds) else self.read_beside
        self.swapped = False
        ends = faults.at_once(self.project, list(zip(moments, deeds)), meanwhile)
        for at, deed, (code, said) in zip(moments, deeds, ends):
            self.ended(deed, code, said, deeds)
            if at is not None and deed[0] == "rebuild":
                self.pace = min(5.0, self.pace * 1.05) if code == -9 else max(0.03, self.pace * 0.9)

    def ended(self, deed: tuple, code: int, said: str, beside: list) -> None:
        told = f"{self.project.shapes[self.model]}, beside {beside}: {faults.told(deed, code, said)}"
        if "are ready" in said:
            self.resumed += 1
        if deed[0] == "run":
            self.is_mixed = self.is_mixed or not self.must_rebuild or len(self.new) > 1
        if code == -9:
            self.kills += 1
            return
        self.swapped = self.swapped or deed[0] == "rebuild" and code == 0
        # 0 done, 4 somebody else was first; 3 the run's refusal.
        fine = {0} if len(beside) == 1 else {0, 4} if deed[0] != "run" else {0, 3, 4}
        must(code in fine, told)
        must(code != 3 or f"`oncemore rebuild {self.model}`" in said, told)
        must(deed[0] != "rebuild" or code != 0 or "swapped: " in said, told)

    def read_beside(self) -> None:
        """A reader by path, at any moment: the hint leads to files that are there."""
        try:
            found = by_path(self.project, self.model)
        except FileNotFoundError as error:
            raise Fault(f"a reader by path, beside a rebuild: {error}") from None
        self.reads += 1
        must(found == self.old_files or found["rows"] >= 0, "less than no rows")

    def look(self) -> None:
        """After a kill: the old table as it was, or the new one whole, by every reader."""
        project, plan = self.project, self.project.plan()
        unfinished = any(found["model"] == self.model for found in plan["rebuilds"])
        is_held = self.model in misfits(plan)
        rows, files = self.rows(), by_path(project, self.model)
        if is_held:
            must(self.must_rebuild, f"{self.model} is held, and its rows can follow {project.shapes[self.model]}")
            must(rows == self.old, f"the old table is not what it was: {len(rows)} rows, {len(self.old)} before")
            must(files == self.old_files, f"by path the old table is not what it was: {files}, before {self.old_files}")
        elif not self.is_mixed:
            may_be = self.new if self.must_rebuild else [self.old, *self.new]
            must(rows in may_be, f"{self.model} is neither old nor new: {rows[:2]} and more, {len(rows)} in all")
        # A kill between the swap and its hint leaves readers by path with the old table, until the next commit.
        is_behind = files == self.old_files
        if self.must_rebuild and not is_held:
            self.killed_after_swap += not self.swapped
            # From now on what is there is of this shape.
            self.stored, self.must_rebuild = project.shapes[self.model], False
            if not is_behind:
                self.old, self.old_files = rows, files
        faults.whole(project)
        if self.other and not self.is_mixed and self.random.random() < 0.5:
            shown = self.other.rows(project, self.model)
            must(shown == theirs(self.old if is_behind else rows), f"PyIceberg reads {len(shown)} rows by path, {len(rows)} are there")
        if unfinished and self.random.random() < 0.3:
            for command in ("plan", "status"):
                said = project.run(command)
                must(f"a rebuild of {self.model} is unfinished" in said.stdout + said.stderr, f"{command} does not say so: {said}")

    def case(self) -> None:
        project = self.project
        self.cases += 1
        self.model = self.random.choice(TARGETS)
        self.stored = project.shapes[self.model]
        self.reshape()
        if self.must_rebuild and self.random.random() < 0.3:
            self.refuse()
        for _ in range(self.random.choice((1, 2, 3, 4, 5))):
            if len(self.new) == 1 and self.random.random() < 0.15:
                project.correct()
                self.new.append(self.built())
            elif self.random.random() < 0.08:
                self.reshape()
            self.attack()
            self.look()
        self.compare()

    def compare(self) -> None:
        project = self.project
        project.settle()
        project.reshaped.clear()
        faults.whole(project)
        faults.hints(project)
        faults.same_as_clean(project, self.folder / "clean")
        faults.integrity(project)
        project.run("gc", "--older-than", "0s")
        faults.no_orphans(project)
        project.nothing_built()
        project.nothing_to_do()

    def all(self) -> None:
        wanted = self.args.kills if self.args.kills is not None else 1_000 if self.args.long else 60
        self.project.run("run", "--yes")
        told = 0
        while self.kills < wanted:
            self.case()
            if self.kills - told >= 100:
                told = self.kills
                print(f"{self.kills} kills in {self.cases} cases", flush=True)


# ---- races -------------------------------------------------------------------------------------------------------

class Race:
    """A project with a table that is to be built anew, or may be."""

    def __init__(self, folder: pathlib.Path, seed: int, number: int):
        self.folder, self.library = folder, faults.shim(folder)
        self.project = Shaped(folder / f"race-{number}", seed + number, rows=8)
        file = self.project.folder / "oncemore.yml"
        file.write_text(file.read_text() + "limits: {lease: 1 second}\n")
        self.random = self.project.random
        self.model = TARGETS[number % len(TARGETS)]
        self.project.run("run", "--yes")

    def reshape(self) -> None:
        shape = self.project.shapes[self.model]
        while shape.follows(self.project.shapes[self.model]):
            shape = self.project.another(self.model)
        self.project.reshape(self.model, shape)

    def ends(self) -> None:
        """As a clean build, and nothing is left."""
        project = self.project
        project.settle()
        faults.same_as_clean(project, self.folder / "clean")
        faults.hints(project)
        project.run("gc", "--older-than", "0s")
        faults.no_orphans(project)
        project.nothing_built()


def at_once(folder: pathlib.Path, seed: int, number: int) -> None:
    """Rebuilds side by side: of one model, some of which wait for the others; a run beside."""
    race = Race(folder, seed, number)
    project, model = race.project, race.model
    race.reshape()
    deeds = [("rebuild", model, "--yes", "--wait", "60s") if race.random.random() < 0.5 else ("rebuild", model, "--yes")
             for _ in range(race.random.choice((2, 3, 6)))]
    deeds += [("run", "--yes")] if race.random.random() < 0.5 else []
    ends = faults.at_once(project, [(None, deed) for deed in deeds])
    for deed, (code, said) in zip(deeds, ends):
        must(code in ((0, 4) if deed[0] == "rebuild" else (0, 3, 4)), f"beside {deeds}: {faults.told(deed, code, said)}")
        must(deed[0] != "rebuild" or code != 0 or "swapped: " in said, faults.told(deed, code, said))
    must(any(deed[0] == "rebuild" and code == 0 for deed, (code, _) in zip(deeds, ends)), f"none ended well: {ends}")
    must(model not in project.misfits(), "one ended well, and the table is to be built anew still")
    race.ends()
    print(f"{len(deeds)} at once on {model}: codes {[code for code, _ in ends]}", flush=True)


def stopped(folder: pathlib.Path, seed: int, number: int, is_run: bool) -> None:
    """A run or a rebuild that is stopped at one of its calls, while another rebuild swaps the tables."""
    race = Race(folder, seed, number)
    project, model = race.project, race.model
    command = ("run", model, "--yes", "--force", "--jobs", "1") if is_run else rebuild(model)
    under = project.warehouse / model.split(".")[0]
    before = folder / "before"
    if not is_run:
        race.reshape()
    faults.copy(project.warehouse, before)
    log = folder / "log"
    project.run(*command, env=faults.below(race.library, under, log=log))
    calls = max(event.number for event in faults.events(log))
    log.unlink()
    faults.copy(before, project.warehouse)
    # SQLite's own calls are left out: who is stopped in a transaction keeps everybody waiting.
    place = race.random.randrange(1, calls + 1)
    old = project.start(*command, env=faults.below(race.library, under, stop=place))
    if not wait_for_stop(old):
        must(place > calls * 0.8, f"not stopped at call {place} of {calls}")
        faults.end(old)
        return
    project.correct()
    time.sleep(1.1)
    clean = project.clean_build(folder / "clean")
    new = project.run(*rebuild(model), "--wait", "30s", ok=(0, 4))
    if new.returncode == 4:
        # Stopped while one of its threads was writing the catalog, its signs of life maybe: then everybody waits, and is told.
        must("stopped" in new.stderr and f"`kill -9 {old.pid}`" in new.stderr, f"it does not say who is in the way: {new.stderr}")
        faults.kill(old)
        faults.end(old)
        race.ends()
        return
    must("swapped: " in new.stderr, f"not swapped: {new.stderr}")
    if race.random.random() < 0.5:
        project.run("gc", "--older-than", "0s")
    os.kill(old.pid, signal.SIGCONT)
    code, said = faults.end(old)
    what = f"stopped at call {place} of {calls}, {faults.told(command, code, said)}"
    must(code in (0, 4, 7), what)
    must(code != 4 or re.search("later request|closed against|being worked on|superseded|another rebuild", said),
         f"it does not say why: {what}")
    must(code != 7 or "moved" in said, f"it does not say why: {what}")
    rows = project.shown(project.queries()[model])
    must(rows == clean[model], f"what was stopped came over the newer table: {rows[:3]}, {what}")
    race.ends()
    print(f"{' '.join(command[:2])} stopped at call {place} of {calls}: exit {code}", flush=True)


def main() -> int:
    args = faults.arguments(__doc__, add)
    folder, report = faults.scratch(args), faults.Report()
    loop, began = Loop(args, folder), time.monotonic()
    try:
        report.case(f"rebuilds killed, seed {args.seed}", loop.all)
    finally:
        print(f"{loop.kills} kills in {loop.cases} cases; {loop.resumed} went on where one was stopped, {loop.killed_after_swap} were "
              f"killed after they had swapped, {loop.refused} runs refused, {loop.reads} reads by path beside; "
              f"{time.monotonic() - began:.0f} s")
    if loop.other:
        loop.other.end()
    races = args.races if args.races is not None else 120 if args.long else 18
    for number in range(races):
        work, *rest = [(at_once,), (stopped, True), (stopped, False)][number // len(TARGETS) % 3]
        what = f"race {number}: {work.__name__} {rest}, seed {args.seed}"
        report.case(what, work, folder, args.seed, number, *rest)
        if report.failed >= 5:
            break
    return faults.done(args, folder, report)


if __name__ == "__main__":
    sys.exit(main())
