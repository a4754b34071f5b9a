#!/usr/bin/env python3
"""Every crash point of the real binary: a process is killed before the N-th call that changes a file of the warehouse, for
N = 1, 2, ... until it comes through; and after it. The calls are those of shim.c: create, write, sync, rename, remove, folder.

    crash_points.py              a seeded sample of points
    crash_points.py --long       all of them, before and after

What is killed: the first run into an empty folder; a run over corrected files (slices, month, full table, merge and history in
one go); the same under other code; `gc` with files to remove and dead attempts to fence; `ledger rebuild` with the file gone;
`rebuild` of a merge with another key, of slices of another length, of a history that becomes slices, and one that was killed
before and goes on under corrected files. After each: the tables can be read, each day is the old or the new one, and what is
built anew is the old table or the new one; then one run to the end, everything as in a clean build; `gc`; no file that no table
names.
"""
import dataclasses
import json
import pathlib
import sys

import faults
from faults import DAYS, FIRST, must
from shapes import Shaped

RUN = ("run", "--yes", "--jobs", "1")
SAMPLE = 12


class Scene:
    """A warehouse as it is before a command, the command, and what must come of it."""

    def __init__(self, name: str, command: tuple, folder: pathlib.Path, seed: int):
        self.name, self.command = name, command
        self.project = Shaped(folder / name / "project", seed, rows=8)
        self.template, self.folder = folder / name / "template", folder / name
        self.library = faults.shim(folder)
        self.old: dict = {}
        self.new: dict = {}
        # Of a model that is built anew: its rows before.
        self.built = command[1] if command[0] == "rebuild" else None
        self.standing: list = []
        self.calls = 0

    def freeze(self) -> None:
        """Keeps the warehouse as it is now; counts the command's calls by a run that nothing stops."""
        faults.copy(self.project.warehouse, self.template)
        self.old = self.days() if self.template.exists() else {}
        self.new = self.project.clean_build(self.folder / "clean")
        if self.built:
            self.standing = self.rows_of_built()
        log = self.folder / "log"
        self.project.run(*self.command, env=faults.below(self.library, self.project.warehouse, log=log))
        self.calls = max(event.number for event in faults.events(log))
        self.at_rest()
        log.unlink()

    def restore(self) -> None:
        faults.copy(self.template, self.project.warehouse)

    def rows_of_built(self) -> list:
        return self.project.shown(self.project.queries()[self.built])

    def days(self) -> dict:
        """Rows by day, as a reader sees them; none before there is a table."""
        days: dict = {}
        asked = self.project.run("query", faults.QUERIES["silver.daily"], "--output", "json", "--limit", "0", ok=None)
        if asked.returncode != 0:
            # Nothing is there yet: said plainly, not as a fault.
            must(not self.old and asked.returncode in (2, 3, 4, 7), f"a reader failed: {faults.told(('query',), asked.returncode, asked.stderr)}")
            return {}
        for row in json.loads(asked.stdout)["rows"]:
            days.setdefault(row["at"][:10], []).append(json.dumps(row, sort_keys=True))
        return {day: sorted(rows) for day, rows in days.items()}

    def at_rest(self) -> None:
        self.project.settle()
        differ = faults.differences(self.project.tables(), self.new)
        must(not differ, f"not what a clean build gives\n{differ}")
        faults.hints(self.project)
        self.project.run("gc", "--older-than", "0s")
        faults.no_orphans(self.project)

    def readable(self) -> None:
        """Right after the crash: whole tables, each day the old one or the new one."""
        if (self.project.warehouse / "oncemore.db").exists():
            faults.integrity(self.project)
            faults.whole(self.project)
        new: dict = {}
        for row in self.new["silver.daily"]:
            new.setdefault(json.loads(row)["at"][:10], []).append(row)
        found = self.days()
        for day in set(found) | set(new) | set(self.old):
            rows = found.get(day, [])
            must(rows in (self.old.get(day, []), sorted(new.get(day, []))), f"a reader sees a {day} that never was: {rows}")
        if self.built:
            # Until the swap the plan says that it is to be built anew; the one changes with the other.
            is_old = self.built in self.project.misfits()
            rows = self.rows_of_built()
            must(rows == (self.standing if is_old else self.new[self.built]),
                 f"{self.built} is {'the old' if is_old else 'a new'} table, and a reader sees {rows}")

    def point(self, number: int, after: bool) -> None:
        self.restore()
        kill = {"kill_after" if after else "kill": number}
        ended = self.project.run(*self.command, ok=None, env=faults.below(self.library, self.project.warehouse, **kill))
        # Threads come in another order now and then, and the last calls may be fewer.
        must(ended.returncode == -9 or (ended.returncode == 0 and number > self.calls * 0.8),
             f"not killed: {faults.told(self.command, ended.returncode, ended.stdout, ended.stderr)}")
        if self.command[0] != "ledger":
            self.readable()
        else:
            # Without a ledger nothing can be read; the rebuild that was killed is begun again.
            self.project.run("ledger", "rebuild")
        self.at_rest()


def corrected(scene: Scene) -> None:
    scene.project.run("run", "--yes")
    for _ in range(3):
        scene.project.correct()


def other_code(scene: Scene) -> None:
    corrected(scene)
    scene.project.set_factor(2)


def garbage(scene: Scene) -> None:
    """Snapshots that are over, and files of attempts that died."""
    project = scene.project
    project.run("run", "--yes")
    for number in (110, 190, 230):
        project.correct()
        project.run("run", "--yes", "--force", ok=None, env=faults.below(scene.library, project.warehouse, kill=number))
    project.run("run", "--yes")


def lost_ledger(scene: Scene) -> None:
    corrected(scene)
    scene.project.run("run", "--yes")
    for file in scene.project.warehouse.glob("oncemore.db*"):
        file.unlink()


def reshaped(model: str, **shape):
    """A model whose table can't follow what it becomes."""
    def prepare(scene: Scene) -> None:
        scene.project.run("run", "--yes")
        scene.project.reshape(model, dataclasses.replace(scene.project.shapes[model], **shape))
    return prepare


def half_built(scene: Scene) -> None:
    """A rebuild that was killed, and files that changed since."""
    reshaped("gold.items", key="item, op", order="id")(scene)
    ended = scene.project.run("rebuild", "gold.items", "--single-commits", "--jobs", "1", ok=None,
                              env=faults.below(scene.library, scene.project.warehouse, kill=200))
    must(ended.returncode == -9 and scene.project.plan()["rebuilds"], f"not killed on its way: exit {ended.returncode}")
    scene.project.correct()


def rebuild(model: str) -> tuple:
    return ("rebuild", model, "--yes", "--jobs", "1")


SCENES = [
    ("first", RUN, lambda scene: None),
    ("corrected", RUN, corrected),
    ("other-code", (*RUN, "--single-commits"), other_code),
    ("gc", ("gc", "--older-than", "0s"), garbage),
    ("ledger", ("ledger", "rebuild"), lost_ledger),
    ("swap-merge", rebuild("gold.items"), reshaped("gold.items", key="item, op")),
    ("swap-slices", rebuild("silver.daily"), reshaped("silver.daily", interval="720 minutes")),
    ("swap-kind", rebuild("gold.prices"), reshaped("gold.prices", kind="slice")),
    ("swap-on", rebuild("gold.items"), half_built),
]


def main() -> int:
    args = faults.arguments(__doc__)
    folder, report = faults.scratch(args), faults.Report()
    points = 0
    for name, command, prepare in SCENES:
        scene = Scene(name, command, folder, args.seed)
        prepare(scene)
        scene.freeze()
        every = [(number, after) for number in range(1, scene.calls + 1) for after in (False, True)]
        chosen = every if args.long else sorted(scene.project.random.sample(every, min(SAMPLE, len(every))))
        for number, after in chosen:
            what = f"{scene.name}: killed {'after' if after else 'before'} call {number} of {scene.calls}, seed {args.seed}"
            report.case(what, scene.point, number, after)
            points += 1
            if report.failed >= 5:
                return faults.done(args, folder, report)
        print(f"{scene.name}: {len(chosen)} of {len(every)} points, {scene.calls} calls", flush=True)
    print(f"{points} crash points over {DAYS} days from {FIRST}")
    return faults.done(args, folder, report)


if __name__ == "__main__":
    sys.exit(main())
