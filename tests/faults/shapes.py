"""A project whose models become what their stored rows can't follow: another key, order, kind, interval length or zone, another
type of a column. `oncemore rebuild` is for that; the scripts that stop it on its way share what is here.
"""
import dataclasses
import hashlib
import json
import pathlib
import subprocess

import faults
from faults import Project, must

TARGETS = ("silver.daily", "gold.items", "gold.prices")
FOLDED = ("merge", "history")
INTERVALS = ("day", "day", "720 minutes", "240 minutes", "week", "month")
ENDINGS = ("__changes", "__deleted", "__dated")


@dataclasses.dataclass(frozen=True)
class Shape:
    """What of a model decides how its rows are stored."""

    kind: str
    interval: str = "day"
    zone: str = "UTC"
    key: str = "item"
    order: str = "at, id"
    deleted: bool = True
    flag: bool = False
    # Of no weight for rows; code that goes back to what it was would be held as older code.
    number: int = 0

    def text(self, model: str) -> str:
        """The model's file."""
        head = [f"kind: {self.kind}"]
        if self.kind != "full":
            head += [f"interval: {self.interval}", f"time_zone: {self.zone}", "time: at"]
        if self.kind in FOLDED:
            order = self.order.removeprefix("at, ") if self.kind == "history" else self.order
            head += [f"key: [{self.key}]", f"order_by: [{order}]"]
            head += ["deleted: op" if self.flag else "deleted: op = 'gone'"] if self.deleted else []
        op = "op = 'gone' AS op" if self.flag else "op"
        where = [f"id > {-self.number}", *(["nr = 1"] if model == "gold.prices" else [])]
        where += ["at >= :interval_start AND at < :interval_end"] if self.kind != "full" else []
        text = "/* oncemore\n" + "\n".join(head) + f"\n*/\nSELECT id, at, item, amount, {op}\n  FROM raw.events\n"
        return f"{text} WHERE {' AND '.join(where)}\n"

    def follows(self, old: "Shape") -> bool:
        """Whether rows that are stored as `old` says can become what this says, by a run."""
        same = (self.kind, self.flag) == (old.kind, old.flag)
        if self.kind != "full":
            same = same and (self.interval, self.zone) == (old.interval, old.zone)
        if self.kind in FOLDED:
            same = same and (self.key, self.order) == (old.key, old.order)
        return same


FIRST = {
    "silver.daily": Shape("slice"),
    "gold.items": Shape("merge"),
    "gold.prices": Shape("history"),
}


class Shaped(Project):
    """A project whose models change their shape."""

    def __init__(self, folder: pathlib.Path, seed: int, rows: int = 14):
        super().__init__(folder, seed, rows)
        self.shapes: dict = {}
        self.count = 0
        # Models that may have to be built anew: of no others a plan may say so.
        self.reshaped: set = set()
        for model, shape in FIRST.items():
            self.reshape(model, shape)
        self.reshaped.clear()

    def reshape(self, model: str, shape: Shape) -> None:
        self.shapes[model] = shape
        self.reshaped.add(model)
        schema, name = model.split(".")
        (self.folder / f"models/{schema}/{name}.sql").write_text(shape.text(model))

    def another(self, model: str) -> Shape:
        """A shape that the model has not, by chance; now and then the one that it has."""
        random, old = self.random, self.shapes[model]
        if random.random() < 0.1:
            return old
        while True:
            changed = {}
            for field in random.sample(("kind", "interval", "key", "order", "deleted", "flag", "zone"), random.choice((1, 1, 2))):
                changed[field] = {
                    "kind": lambda: random.choice(("merge", "history", "slice", "full")),
                    "interval": lambda: random.choice(INTERVALS),
                    "zone": lambda: random.choice(("UTC", "Asia/Tokyo")),
                    "key": lambda: random.choice(("item", "id", "item, op")),
                    "order": lambda: random.choice(("at, id", "at, amount, id", "id")),
                    "deleted": lambda: not old.deleted,
                    "flag": lambda: not old.flag,
                }[field]()
            new = dataclasses.replace(old, **changed)
            # What reads silver.daily wants its columns and its rows by time.
            if model == "silver.daily":
                new = dataclasses.replace(new, kind="slice", flag=False)
            if new.text(model) != old.text(model):
                self.count += 1
                return dataclasses.replace(new, number=self.count)

    def queries(self) -> dict:
        """Tables of changes are there where a model is folded from them; of slices the columns that a shape leaves alone."""
        folded = {model for model in self.folded_models()}
        found = {}
        for name, sql in faults.QUERIES.items():
            model = name.removesuffix("__changes")
            if name == model or model in folded:
                found[name] = sql
        return found

    def folded_models(self) -> list:
        """By their files: a copy of the project has no more than these."""
        found = []
        for path in (self.folder / "models").glob("*/*.sql"):
            if any(f"kind: {kind}\n" in path.read_text() for kind in FOLDED):
                found.append(f"{path.parent.name}.{path.stem}")
        return found

    # ---- the command

    def plan(self) -> dict:
        return json.loads(self.run("plan", "--output", "json").stdout)

    def misfits(self) -> set:
        """Models whose tables are to be built anew, by the plan."""
        return misfits(self.plan())

    def settle(self) -> None:
        """To the end, rebuilds too."""
        self.run("resolve")
        plan = self.plan()
        for model in sorted(misfits(plan) | {found["model"] for found in plan["rebuilds"]}):
            must(model in self.reshaped, f"{model} is to be built anew, and has not changed")
            self.run("rebuild", model, "--yes")
        self.run("run", "--yes")
        self.nothing_to_do()

    def nothing_built(self) -> None:
        """After `gc`: nothing is known of a rebuild, and no folder is left of one."""
        must(not self.plan()["rebuilds"], "a rebuild is unfinished")
        known = sorted(name for name in faults.pointers(self) if "__rebuild" in name)
        left = sorted(str(path.relative_to(self.warehouse)) for path in self.warehouse.rglob("*__rebuild*"))
        must(not known and not left, f"left of a rebuild: {known}, {left}")
        # Tables beside a model that is folded no more are gone, too.
        for name in faults.pointers(self):
            model = next((name.removesuffix(ending) for ending in ENDINGS if name.endswith(ending)), None)
            must(model is None or model in self.folded_models(), f"{name} is there, and {model} is not folded")


def misfits(plan: dict) -> set:
    return {held["model"] for held in plan["held"] if held["hold"]["hold"] == "rebuild"}


def by_path(project: Project, model: str) -> dict:
    """What a reader by path finds who knows no catalog: data files of the snapshot that the hint leads to, with a digest of
    their bytes and their rows, those that delete files take away counted off."""
    folder = project.warehouse / model.replace(".", "/") / "metadata"
    metadata = json.loads((folder / f"{(folder / 'version-hint.text').read_text()}.metadata.json").read_text())
    snapshots = {snapshot["snapshot-id"]: snapshot for snapshot in metadata.get("snapshots", [])}
    snapshot = snapshots.get(metadata.get("current-snapshot-id"))
    files, rows = {}, 0
    for manifest in faults.Avro.records(faults.local(snapshot["manifest-list"])) if snapshot else []:
        for entry in faults.Avro.records(faults.local(manifest["manifest_path"])):
            if entry["status"] != 2:
                file = entry["data_file"]
                path = faults.local(file["file_path"])
                files[str(path)] = hashlib.sha256(path.read_bytes()).hexdigest()
                rows += file["record_count"] if file["content"] == 0 else -file["record_count"]
    return {"files": files, "rows": rows}


def spelled(value) -> str:
    """A value as we and other engines spell it: times to the second, without zone."""
    if value is None or isinstance(value, (bool, int)):
        return str(value)
    text = value.isoformat() if hasattr(value, "isoformat") else str(value)
    return text.removesuffix("+00:00").removesuffix("Z")


class OtherReader:
    """PyIceberg, by path, in a process that stays: it takes its time to begin."""

    def __init__(self, python: str):
        script = pathlib.Path(__file__).with_name("other_engine.py")
        self.process = subprocess.Popen([python, script, "--by-path"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def rows(self, project: Project, model: str) -> list:
        """All rows, as `theirs` spells ours."""
        print(project.warehouse / model.replace(".", "/"), file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        must(answer, f"PyIceberg can't read {model} by path")
        return sorted(json.dumps(row, sort_keys=True) for row in json.loads(answer))

    def end(self) -> None:
        self.process.stdin.close()
        self.process.wait()


def theirs(rows: list) -> list:
    """Rows of ours as another reader spells them."""
    return sorted(json.dumps({key: spelled(value) for key, value in json.loads(row).items()}, sort_keys=True) for row in rows)
