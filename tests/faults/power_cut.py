#!/usr/bin/env python3
"""What survives a power cut: shim.c logs every call that changes a file of the warehouse, with its bytes, and here the log is
played again on a disk that keeps only what was synced: contents as of an fsync of the file, names as of one of their folder.

    power_cut.py                 every call's order is checked; a seeded sample of cuts is started from
    power_cut.py --long          starts from ten times as many

1. Order. After every call, on the disk that lost all that was not synced, and on one that moreover wrote SQLite's files eagerly:
   each table's pointer leads to metadata, manifests, slice maps and data files that are there, whole. So everything that a
   commit names is durable, folders too, before SQLite writes the commit; and a hint never runs ahead of its pointer.
2. Cuts. At calls picked by the seed the warehouse is set back to what survived (all unsynced lost; or each unsynced change
   kept or lost by chance, files without their bytes among them): it must open, each day the old or the new one, and a run
   must lead to what a clean build gives. At the end of a command that ended well nothing may be lost at all.

One command runs as on a file system on which no file has two names: what is a second name elsewhere is a copy there.
"""
import contextlib
import json
import pathlib
import shutil
import sqlite3
import sys
import tempfile

import faults
from crash_points import Scene, corrected, garbage, rebuild, reshaped
from faults import Fault, must

DATABASE = ("oncemore.db", "oncemore.db-wal", "oncemore.db-journal")
CUTS = 8


class Inode:
    __slots__ = ("data", "durable")

    def __init__(self, data: bytes = b"", durable=None):
        self.data, self.durable = bytearray(data), durable


class Disk:
    """Names and contents as processes see them, and as they are after a power cut."""

    def __init__(self, root: pathlib.Path, template: pathlib.Path):
        self.root = root
        self.files: dict = {}
        self.folders: set = {root}
        self.pending: dict = {}
        if template.exists():
            self.folders.add(root / "warehouse")
            for path in template.rglob("*"):
                there = root / "warehouse" / path.relative_to(template)
                if path.is_dir():
                    self.folders.add(there)
                else:
                    data = path.read_bytes()
                    self.files[there] = Inode(data, data)
        # Folder -> name -> inode, or None for a folder.
        self.names = {folder: self.entries(folder) for folder in self.folders}

    def entries(self, folder: pathlib.Path) -> dict:
        found = {path.name: None for path in self.folders if path.parent == folder and path != folder}
        found.update((path.name, inode) for path, inode in self.files.items() if path.parent == folder)
        return found

    def apply(self, event) -> None:
        if event.kind == "rename":
            old, new = map(pathlib.Path, event.path.split("\t"))
            self.files[new] = self.files.pop(old)
            return
        if event.kind == "link":
            old, new = map(pathlib.Path, event.path.split("\t"))
            self.files[new] = self.files[old]
            return
        path = pathlib.Path(event.path)
        if event.kind == "mkdir":
            self.folders.add(path)
        elif event.kind == "create":
            self.files[path] = Inode()
        elif event.kind == "empty":
            self.files[path].data = bytearray()
        elif event.kind == "write":
            data = self.files[path].data
            if len(data) < event.offset:
                data.extend(bytes(event.offset - len(data)))
            data[event.offset:event.offset + len(event.data)] = event.data
        elif event.kind == "truncate":
            data = self.files[path].data
            del data[event.offset:]
            data.extend(bytes(event.offset - len(data)))
        elif event.kind == "unlink":
            self.files.pop(path, None)
            self.folders.discard(path)
        elif event.kind == "sync":
            is_folder = path in self.folders
            self.pending[event.number] = self.entries(path) if is_folder else bytes(self.files[path].data)
        elif event.kind == "synced":
            kept = self.pending.pop(event.number)
            if isinstance(kept, dict):
                self.names[path] = kept
            elif path in self.files:
                self.files[path].durable = kept

    def survivors(self, chance=None, eager: bool = False) -> dict:
        """Paths and contents after a cut; None for folders. With `chance` each unsynced change may have come through."""
        found: dict = {}

        def walk(folder: pathlib.Path) -> None:
            names = dict(self.names.get(folder, {}))
            now = self.entries(folder)
            if chance is not None:
                for name in set(names) | set(now):
                    if names.get(name, self) is not now.get(name, self) and chance.random() < 0.5:
                        names.pop(name, None)
                        if name in now:
                            names[name] = now[name]
            for name, inode in names.items():
                path = folder / name
                if inode is None:
                    found[path] = None
                    walk(path)
                    continue
                data = inode.durable or b""
                if chance is not None and bytes(inode.data) != data and chance.random() < 0.5:
                    data = bytes(inode.data)
                found[path] = data

        walk(self.root)
        if eager:
            for name in DATABASE:
                path = self.root / "warehouse" / name
                found.pop(path, None)
                if path in self.files:
                    found[path] = bytes(self.files[path].data)
        return found


def pointers(disk: Disk, survivors: dict, room: pathlib.Path) -> dict:
    """The pointers that SQLite finds after the cut; none where it has no tables yet."""
    there = {name: survivors.get(disk.root / "warehouse" / name) for name in DATABASE}
    shutil.rmtree(room, ignore_errors=True)
    room.mkdir()
    for name, data in there.items():
        if data is not None:
            (room / name).write_bytes(data)
    try:
        with contextlib.closing(sqlite3.connect(room / "oncemore.db")) as database:
            return faults.pointers_in(database)
    except sqlite3.Error as error:
        raise Fault(f"SQLite: {error}") from None


def check_order(disk: Disk, survivors: dict, room: pathlib.Path, what: str) -> int:
    def read(path: pathlib.Path) -> bytes:
        data = survivors.get(path)
        must(data is not None, f"{what}: the pointer leads to {path.relative_to(disk.root)}, which is not durable")
        inode = disk.files.get(path)
        must(inode is None or data == bytes(inode.data), f"{what}: {path.relative_to(disk.root)} is durable in part")
        return data

    found = pointers(disk, survivors, room)
    for pointer in found.values():
        log = {faults.local(entry["metadata-file"]) for entry in json.loads(read(pointer)).get("metadata-log", [])}
        for path in faults.named_files(pointer, read) - log - {pointer}:
            read(path)
    return len(found)


def check_hint(disk: Disk, event, survivors: dict, room: pathlib.Path) -> None:
    """A hint is written once the pointer that it names has moved for good."""
    path = pathlib.Path(event.path.split("\t")[-1])
    stem = bytes(disk.files[path].data).decode()
    known = {}
    for name, pointer in pointers(disk, survivors, room).items():
        known[pointer.parent] = int(pointer.name.split("-")[0])
    version = int(stem.split("-")[0])
    must(known.get(path.parent, -1) >= version, f"call {event.number}: the hint names {stem}, and its pointer is not durable")


def check_rename(disk: Disk, event) -> None:
    """A file that takes the name of a data file is durable by then: who finds the name later believes it."""
    path = pathlib.Path(event.path.split("\t")[-1])
    inode = disk.files[path]
    must(inode.durable == bytes(inode.data), f"call {event.number}: {path.relative_to(disk.root)} has its name before its bytes are durable")


class Cut(Scene):
    """A command whose calls are known, and cuts between them; `layer` is what the file system below lacks."""

    def __init__(self, name: str, command: tuple, folder: pathlib.Path, seed: int, **layer):
        super().__init__(name, command, folder, seed)
        self.layer = layer

    def record(self) -> list:
        """Its calls, on a warehouse as it was before."""
        self.restore()
        log = self.folder / "power.log"
        self.project.run(*self.command, env=faults.below(self.library, self.project.folder, log=log, **self.layer))
        seen = faults.events(log)
        log.unlink()
        return [event for event in seen if "/spill" not in event.path]

    def order(self, seen: list) -> None:
        room = pathlib.Path(tempfile.mkdtemp(prefix="cut-", dir=self.folder)) / "room"
        disk, checked = Disk(self.project.folder, self.template), 0
        for event in seen:
            disk.apply(event)
            name = event.path.rsplit("/", 1)[-1]
            if event.kind == "rename" and name == "version-hint.text":
                check_hint(disk, event, disk.survivors(), room)
            elif event.kind == "rename" and name.endswith(".parquet"):
                check_rename(disk, event)
            # What is durable changes with syncs; what SQLite may have written eagerly with its writes.
            if event.kind in ("synced", "unlink"):
                checked += check_order(disk, disk.survivors(), room, f"after call {event.number} ({event.kind} {name})")
            if name in DATABASE and event.kind in ("write", "unlink", "truncate"):
                checked += check_order(disk, disk.survivors(eager=True), room, f"SQLite written eagerly, call {event.number}")
        print(f"{self.name}: {len(seen)} calls, {checked} pointers looked at", flush=True)

    def start_from(self, survivors: dict) -> None:
        shutil.rmtree(self.project.warehouse, ignore_errors=True)
        for path, data in survivors.items():
            if data is None:
                path.mkdir(parents=True, exist_ok=True)
            elif self.project.warehouse in path.parents:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)

    def cut(self, seen: list, place: int, by_chance: bool) -> None:
        disk = Disk(self.project.folder, self.template)
        for event in seen[:place]:
            disk.apply(event)
        self.start_from(disk.survivors(self.project.random if by_chance else None))
        self.readable()
        if place == len(seen):
            differ = faults.differences(self.project.tables(), self.new)
            must(not differ, f"the command had ended, and its work is lost\n{differ}")
        self.at_rest()


def main() -> int:
    args = faults.arguments(__doc__)
    folder, report = faults.scratch(args), faults.Report()
    run = ("run", "--yes", "--jobs", "1")
    swap = (rebuild("gold.items"), reshaped("gold.items", key="item, op"))
    scenes = [("first", run, lambda scene: None, {}), ("corrected", run, corrected, {}), ("gc", ("gc", "--older-than", "0s"), garbage, {}),
              ("swap", *swap, {}), ("swap-by-copies", *swap, {"no_links": 1})]
    for name, command, prepare, layer in scenes:
        scene = Cut(name, command, folder, args.seed, **layer)
        prepare(scene)
        scene.freeze()
        seen = scene.record()
        report.case(f"{name}: order, seed {args.seed}", scene.order, seen)
        random = scene.project.random
        cuts = [(len(seen), False)]
        cuts += [(random.randrange(len(seen)), random.random() < 0.5) for _ in range(CUTS * (10 if args.long else 1))]
        for place, by_chance in cuts:
            how = "some unsynced changes kept" if by_chance else "all unsynced changes lost"
            report.case(f"{name}: cut after {place} of {len(seen)} records, {how}, seed {args.seed}", scene.cut, seen, place, by_chance)
            if report.failed >= 5:
                return faults.done(args, folder, report)
    return faults.done(args, folder, report)


if __name__ == "__main__":
    sys.exit(main())
