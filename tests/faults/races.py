#!/usr/bin/env python3
"""Who may land: ten processes on a slice that is still empty, a runner that was stopped for too long, a request that comes again.

    races.py            a seeded sample of moments to stop at
    races.py --long     every moment

Ten at once: one snapshot, each row once. SIGSTOP comes before the N-th call that changes a file of the tables (shim.c); meanwhile
the file is corrected and another runner publishes the slice; then SIGCONT: what the stopped one has is not to land over the
newer rows, and it ends with 4 (or 7: `input moved`) and says why. A retry under an old `--request` stays behind a newer one.
"""
import json
import os
import pathlib
import re
import signal
import sys
import time

import faults
from faults import FIRST, Project, must

DAY = str(FIRST)
SLICE = ("run", "silver.daily", "--interval", DAY)
SAMPLE = 8


def scene(folder: pathlib.Path, seed: int) -> Project:
    project = Project(folder, seed)
    project.deliver(FIRST, [[1, f"{DAY} 01:00:00", "item1", 10, "set"], [2, f"{DAY} 02:00:00", "item2", 20, "set"]])
    if has_claims():
        file = project.folder / "oncemore.yml"
        file.write_text(file.read_text() + "limits: {lease: 1 second}\n")
    return project


def has_claims() -> bool:
    return faults.knows("claims")


def amounts(project: Project) -> list:
    rows = project.query(f"SELECT id, amount FROM silver.daily WHERE at < TIMESTAMP '{DAY} 23:59:59' ORDER BY id")
    return [(row["id"], row["amount"]) for row in rows]


def snapshots(project: Project) -> int:
    """Of the table; a slice without rows needs none."""
    metadata = faults.pointers(project).get("silver.daily")
    return len(json.loads(metadata.read_text()).get("snapshots", [])) if metadata else 0


def corrected(project: Project, amount: int) -> None:
    project.deliver(FIRST, [[1, f"{DAY} 01:00:00", "item1", amount, "set"], [3, f"{DAY} 03:00:00", "item3", 30, "set"]])


def ten_at_once(folder: pathlib.Path, seed: int, number: int) -> None:
    project = scene(folder / f"ten-{number}", seed)
    if number % 2:
        # The table is there, the slice is not.
        project.run("run", "silver.daily", "--interval", "2024-01-29")
    before = snapshots(project)
    wait = ("--wait", "60s") if number % 3 else ()
    running = [project.start(*SLICE, *wait) for _ in range(10)]
    ended = [faults.end(process) for process in running]
    codes = sorted(code for code, _ in ended)
    must(set(codes) <= {0, 4} and 0 in codes, f"codes {codes}: {[said[-400:] for code, said in ended if code not in (0, 4)]}")
    must(amounts(project) == [(1, 10), (2, 20)], f"rows {amounts(project)}")
    must(snapshots(project) == before + 1, f"{snapshots(project)} snapshots, {before} before: {codes}")
    project.run(*SLICE)
    project.run("gc", "--older-than", "0s")
    faults.no_orphans(project)
    print(f"ten at once: codes {codes}", flush=True)


def stopped(folder: pathlib.Path, seed: int, number: int, calls: int) -> None:
    project = scene(folder / f"stopped-{number}", seed)
    library = faults.shim(folder)
    project.run("run", "silver.daily", "--interval", "2024-01-29")
    log = project.folder / "log"
    # SQLite's own calls are left out: who is stopped in a transaction keeps everybody waiting, as with any database.
    env = faults.below(library, project.warehouse / "silver", stop=number, log=log)
    old = project.start(*SLICE, "--jobs", "1", env=env)
    if not wait_for_stop(old):
        must(number > calls * 0.8, f"not stopped at call {number} of {calls}")
        faults.end(old)
        return
    corrected(project, 99)
    if has_claims():
        time.sleep(1.1)
    new = project.run(*SLICE, "--wait", "30s")
    os.kill(old.pid, signal.SIGCONT)
    code, said = faults.end(old)
    must(code in (0, 4, 7), faults.told(SLICE, code, said))
    if code == 4:
        must(re.search("later request|closed against|being worked on|superseded", said), f"it does not say why: {said}")
    if code == 7:
        must("moved" in said, f"it does not say why: {said}")
    must(amounts(project) == [(1, 99), (3, 30)], f"stopped at {number}, exit {code}: rows {amounts(project)}\n{said}\n{new.stderr}")
    project.run("run", "silver.daily", "--interval", DAY)
    must(amounts(project) == [(1, 99), (3, 30)], "the next run")
    project.run("gc", "--older-than", "0s")
    faults.no_orphans(project)
    if code != 0:
        line = next(line for line in said.splitlines() if "silver.daily" in line or "moved" in line)
        print(f"stopped at call {number} of {calls}: exit {code}: {line}", flush=True)


def wait_for_stop(process) -> bool:
    """False where it ended instead."""
    for _ in range(3_000):
        state = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        if state in "Tt":
            return True
        if state == "Z":
            return False
        time.sleep(0.01)
    faults.kill(process)
    return False


def an_old_request_again(folder: pathlib.Path, seed: int) -> None:
    project = scene(folder / "request", seed)
    project.run(*SLICE)
    corrected(project, 50)
    # The old request dies before it publishes.
    log = project.folder / "log"
    env = faults.below(faults.shim(folder), project.warehouse / "silver", kill=3, log=log)
    ended = project.run(*SLICE, "--request", "old", ok=None, env=env)
    must(ended.returncode == -9, f"not killed: exit {ended.returncode}")
    corrected(project, 60)
    project.run(*SLICE, "--request", "newer")
    must(amounts(project) == [(1, 60), (3, 30)], "the newer request")
    corrected(project, 70)
    again = project.run(*SLICE, "--request", "old", ok=None)
    must(again.returncode == 4, f"the old request again: {faults.told(SLICE, again.returncode, again.stdout, again.stderr)}")
    must("later request" in again.stderr or "superseded" in again.stderr, f"it does not say why: {again.stderr}")
    must(amounts(project) == [(1, 60), (3, 30)], "the old request changed the slice")
    project.run(*SLICE)
    must(amounts(project) == [(1, 70), (3, 30)], "a request of its own")


def main() -> int:
    args = faults.arguments(__doc__)
    folder, report = faults.scratch(args), faults.Report()
    for number in range(12 if args.long else 3):
        report.case(f"ten at once, {number}", ten_at_once, folder, args.seed, number)
    counted = scene(folder / "counted", args.seed)
    counted.run("run", "silver.daily", "--interval", "2024-01-29")
    log = folder / "log"
    counted.run(*SLICE, "--jobs", "1", env=faults.below(faults.shim(folder), counted.warehouse / "silver", log=log))
    calls = max(event.number for event in faults.events(log))
    every = list(range(1, calls + 1))
    for number in every if args.long else sorted(counted.random.sample(every, min(SAMPLE, calls))):
        report.case(f"stopped at call {number} of {calls}", stopped, folder, args.seed, number, calls)
    report.case("an old request again", an_old_request_again, folder, args.seed)
    return faults.done(args, folder, report)


if __name__ == "__main__":
    sys.exit(main())
