#!/usr/bin/env python3
"""A disk that is full, read only, or answers EIO: while rows are staged, while metadata are written, in SQLite's transaction.

    full_disk.py            a seeded sample of the calls that can fail
    full_disk.py --long     every one, once and for good

Wherever it fails: no panic, an exit code of the documented ones, a text that names what could not be done and what is left; the
slice as it was, or the new one where the command says so; and with space again one run leads to what a clean build gives.
Three ways: a small tmpfs (as root), a limit on the size of files (RLIMIT_FSIZE), and shim.c, which makes the N-th call fail.
"""
import errno
import os
import pathlib
import resource
import shutil
import subprocess
import sys

import faults
from crash_points import Scene, corrected, rebuild, reshaped
from faults import must

SAMPLE = 10
WORDS = {
    errno.ENOSPC: ("No space left", "disk is full", "database or disk is full", "disk I/O error"),
    errno.EIO: ("Input/output error", "disk I/O error"),
    errno.EROFS: ("Read-only file system", "readonly database", "disk I/O error", "unable to open database"),
}
# 4 conflict or out of reach, 6 unknown, 7 task failed; 3 where the project's folder itself can't be used.
CODES = {0, 3, 4, 6, 7}


def said_well(command, ended: subprocess.CompletedProcess, words: tuple) -> None:
    """An error of the documented kind, that names its cause."""
    text = ended.stdout + ended.stderr
    must(ended.returncode in CODES, f"exit code: {faults.told(command, ended.returncode, text)}")
    must("panicked" not in text and "internal error" not in text, f"a bug: {faults.told(command, ended.returncode, text)}")
    if ended.returncode != 0:
        must(any(word in text for word in words), f"it does not name the cause {words}: {faults.told(command, ended.returncode, text)}")


class Failing(Scene):
    def one(self, number: int, code: int, sticky: bool, short: bool) -> None:
        self.restore()
        env = faults.below(self.library, self.project.warehouse, fail=number, errno=code, sticky=int(sticky), short=int(short))
        ended = self.project.run(*self.command, ok=None, env=env)
        said_well(self.command, ended, WORDS[code])
        self.readable()
        if ended.returncode == 0 and not sticky:
            # What failed was a hint, or was done again: then nothing is missing.
            self.project.nothing_to_do()
        self.at_rest()


def mounted(folder: pathlib.Path, size: str) -> bool:
    folder.mkdir(parents=True, exist_ok=True)
    return subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], capture_output=True).returncode == 0


def a_full_tmpfs(folder: pathlib.Path, seed: int, spare: int) -> None:
    """The warehouse on a tmpfs on which `spare` bytes are left."""
    scene = Scene(f"tmpfs-{spare}", ("run", "--yes"), folder, seed)
    project, warehouse = scene.project, scene.project.warehouse
    must(mounted(warehouse, "64m"), "mount")
    try:
        corrected(scene)
        old, scene.new = scene.days(), project.clean_build(scene.folder / "clean")
        scene.old = old
        ballast = warehouse / "ballast"
        left = shutil.disk_usage(warehouse).free
        ballast.write_bytes(bytes(left - spare))
        ended = project.run(*scene.command, ok=None)
        said_well(scene.command, ended, WORDS[errno.ENOSPC])
        must(ended.returncode != 0 or spare > 100_000, "it ended well on a full disk")
        scene.readable()
        ballast.unlink()
        scene.at_rest()
        print(f"tmpfs with {spare} bytes left: exit {ended.returncode}: {first_line(ended)}", flush=True)
        # Read only, as a whole.
        project.correct()
        subprocess.run(["mount", "-o", "remount,ro", warehouse], check=True)
        was = project.tables()
        for command in (scene.command, ("run", "--yes", "--force"), ("gc", "--older-than", "0s"), ("ledger", "rebuild"), ("resolve",)):
            ended = project.run(*command, ok=None)
            said_well(command, ended, WORDS[errno.EROFS])
        must(project.tables() == was, "a read-only disk changed")
        subprocess.run(["mount", "-o", "remount,rw", warehouse], check=True)
        scene.new = project.clean_build(scene.folder / "clean")
        scene.at_rest()
    finally:
        subprocess.run(["umount", "-l", warehouse], check=False)


def first_line(ended: subprocess.CompletedProcess) -> str:
    lines = (ended.stderr + ended.stdout).splitlines()
    return next((line for line in lines if "failed" in line or "error" in line), lines[0] if lines else "")


def short_files(folder: pathlib.Path, seed: int, limit: int) -> None:
    """No file may grow beyond `limit` bytes: EFBIG, after a part of the bytes was written."""
    scene = Scene(f"limit-{limit}", ("run", "--yes"), folder, seed)
    corrected(scene)
    scene.old, scene.new = scene.days(), scene.project.clean_build(scene.folder / "clean")

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        # The signal's default would end the process; a full disk sends none.
        import signal
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    ended = subprocess.run(scene.project.command(*scene.command), capture_output=True, text=True, preexec_fn=limited, timeout=120)
    said_well(scene.command, ended, ("File too large", "disk I/O error", "disk is full"))
    scene.readable()
    scene.at_rest()
    print(f"files up to {limit} bytes: exit {ended.returncode}: {first_line(ended)}", flush=True)


def main() -> int:
    args = faults.arguments(__doc__)
    folder, report = faults.scratch(args), faults.Report()
    probe = folder / "probe"
    can_mount = os.geteuid() == 0 and mounted(probe, "1m")
    if can_mount:
        subprocess.run(["umount", probe], check=True)
        for spare in (0, 4_096, 20_000, 60_000, 200_000)[:: 1 if args.long else 2]:
            report.case(f"tmpfs with {spare} bytes left, seed {args.seed}", a_full_tmpfs, folder, args.seed, spare)
    else:
        print("skipped: mounting a tmpfs is not allowed here")
    for limit in (500, 2_000, 6_000, 40_000, 90_000)[:: 1 if args.long else 2]:
        report.case(f"files up to {limit} bytes, seed {args.seed}", short_files, folder, args.seed, limit)
    for name, command, prepare in [("first", ("run", "--yes", "--jobs", "1"), lambda scene: None),
                                   ("corrected", ("run", "--yes", "--jobs", "1"), corrected),
                                   ("swap", rebuild("gold.items"), reshaped("gold.items", key="item, op"))]:
        scene = Failing(f"failing-{name}", command, folder, args.seed)
        prepare(scene)
        scene.freeze()
        random = scene.project.random
        every = [(number, code, sticky) for number in range(1, scene.calls + 1) for code in WORDS for sticky in (False, True)]
        for number, code, sticky in every if args.long else sorted(random.sample(every, SAMPLE)):
            short = code == errno.ENOSPC and random.random() < 0.5
            what = f"{name}: call {number} of {scene.calls} fails with {errno.errorcode[code]}{' for good' if sticky else ''}"
            report.case(f"{what}, seed {args.seed}", scene.one, number, code, sticky, short)
            if report.failed >= 8:
                return faults.done(args, folder, report)
    return faults.done(args, folder, report)


if __name__ == "__main__":
    sys.exit(main())
