"""How long an editor waits: from didChange of one file to its publishDiagnostics, over stdio.

    python3 lsp.py --bin ../target/release/oncemore [--changes 200] [--lines 300] [--around 50] [--dbt]

A folder is written with one file of so many lines and others around it, whose definitions of tables count. Each change
puts one more character into the file, as typing does; the next is sent when the answer is there. With `--dbt` the
folder is a dbt project, which is looked at as a whole.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile
import time


def statement(number):
    return f"""
DELETE FROM mart.day_{number} WHERE day >= :start AND day < :end;
INSERT INTO mart.day_{number} (day, shop_id, amount, first_at)
SELECT o.day, o.shop_id, sum(o.amount) AS amount, min(o.sold_at) AS first_at
  FROM raw.order_{number} AS o
  JOIN ref.shop AS s ON s.shop_id = o.shop_id
 WHERE o.day >= :start AND o.day < :end AND s.is_open
 GROUP BY o.day, o.shop_id;
"""


def model(number):
    return f"""
part_{number} AS (
  SELECT day, shop_id, sum(amount) AS amount,
         row_number() OVER (PARTITION BY shop_id ORDER BY day) AS n
    FROM {{{{ ref('base_{number % 40}') }}}}
   WHERE day >= '{{{{ var("start") }}}}'
   GROUP BY day, shop_id
)"""


def texts(args):
    """The file that is edited, and the files around it, by path."""
    if not args.dbt:
        parts = []
        while sum(part.count("\n") for part in parts) < args.lines:
            parts.append(statement(len(parts)))
        around = {
            f"ddl/order_{at}.sql": f"CREATE TABLE raw.order_{at} (order_id int PRIMARY KEY, day date, shop_id int, "
            "amount numeric, sold_at timestamp);\n" + statement(at + 1000)
            for at in range(args.around)
        }
        return "load.sql", "".join(parts), around
    parts = []
    while sum(part.count("\n") for part in parts) < args.lines:
        parts.append(model(len(parts)))
    last = len(parts) - 1
    head = "{{ config(materialized='incremental', unique_key='shop_id') }}\nWITH"
    text = head + ",".join(parts) + f"\nSELECT * FROM part_{last}\n"
    around = {
        "dbt_project.yml": "name: shop\nprofile: shop\nmodel-paths: [models]\n",
        "profiles.yml": "shop:\n  outputs:\n    dev:\n      type: postgres\n",
    }
    for at in range(args.around):
        around[f"models/base_{at}.sql"] = "{{ config(materialized='table') }}\nSELECT day, shop_id, amount FROM raw.t\n"
    return "models/edited.sql", text, around


class Client:
    def __init__(self, command, folder):
        self.process = subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def send(self, **message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def read(self):
        length = 0
        while (line := self.process.stdout.readline().strip()):
            name, value = line.split(b":")
            length = int(value) if name.lower() == b"content-length" else length
        return json.loads(self.process.stdout.read(length))

    def until(self, wanted):
        while not wanted(message := self.read()):
            pass
        return message


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", default="oncemore")
    parser.add_argument("--changes", type=int, default=200)
    parser.add_argument("--lines", type=int, default=300)
    parser.add_argument("--around", type=int, default=50)
    parser.add_argument("--dbt", action="store_true")
    args = parser.parse_args()
    binary = str(pathlib.Path(args.bin).resolve()) if "/" in args.bin else args.bin
    with tempfile.TemporaryDirectory() as folder:
        path, text, around = texts(args)
        for name, content in {path: text, **around}.items():
            place = pathlib.Path(folder, name)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(content)
        uri = pathlib.Path(folder, path).as_uri()
        client = Client([binary, "lsp"], folder)
        client.send(id=1, method="initialize", params={"capabilities": {}, "rootUri": pathlib.Path(folder).as_uri()})
        client.until(lambda message: message.get("id") == 1)
        client.send(method="initialized", params={})
        begun = time.perf_counter()
        document = {"uri": uri, "languageId": "sql", "version": 1, "text": text}
        client.send(method="textDocument/didOpen", params={"textDocument": document})
        published = "textDocument/publishDiagnostics"
        first = client.until(lambda message: message.get("method") == published)
        opened = time.perf_counter() - begun
        waits, found = [], len(first["params"]["diagnostics"])
        for version in range(2, args.changes + 2):
            # One more column name, one more character each time.
            changed = text.replace("amount", "amount" + "x" * (version % 20), 1)
            begun = time.perf_counter()
            client.send(
                method="textDocument/didChange",
                params={"textDocument": {"uri": uri, "version": version}, "contentChanges": [{"text": changed}]},
            )
            answer = client.until(lambda message: message.get("method") == published)
            waits.append(time.perf_counter() - begun)
            assert answer["params"]["version"] == version, answer["params"]
        client.send(id=2, method="shutdown")
        client.until(lambda message: message.get("id") == 2)
        client.send(method="exit")
        client.process.wait(10)
    waits.sort()
    of = lambda share: waits[min(len(waits) - 1, int(len(waits) * share))] * 1e3
    print(
        f"{text.count(chr(10))} lines, {len(around)} files around, {found} findings: opened in {opened * 1e3:.1f} ms; "
        f"{len(waits)} changes: median {statistics.median(waits) * 1e3:.1f} ms, 95th {of(0.95):.1f} ms, most {waits[-1] * 1e3:.1f} ms"
    )


if __name__ == "__main__":
    main()
