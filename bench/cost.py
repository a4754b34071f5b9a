#!/usr/bin/env python3
"""What durability costs: W1 as single commits, with its syncs and with a shim under it that answers each sync at once.

   ONCEMORE_BIN names the binary, BENCH_DIR the data of gen.py. The two are taken in alternation; needs `cc`.
   What claims and the ledger's rows cost beside the syncs is measured by
       cargo bench --workspace --locked --bench claims
   as time for a batch of 128 slices, of which W1 has three."""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def once(shim):
    env = dict(os.environ)
    if shim:
        env["LD_PRELOAD"] = str(shim)
    done = subprocess.run([sys.executable, HERE / "peer_oncemore.py", "w1_single"], env=env, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stdout + done.stderr)
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("BENCH ")]
    return json.loads(line.removeprefix("BENCH "))["inner"]


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--rounds", type=int, default=3)
    args = ap.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        shim = pathlib.Path(scratch) / "nosync.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", shim, HERE / "nosync.c"], check=True)
        with_syncs, without = [], []
        for number in range(args.rounds):
            for shimmed in ((False, True) if number % 2 == 0 else (True, False)):
                took = once(shim if shimmed else None)
                (without if shimmed else with_syncs).append(took)
                print(f"{'without' if shimmed else 'with   '} syncs {took:.2f} s   load {os.getloadavg()[0]:.1f}", flush=True)
    a, b = statistics.median(with_syncs), statistics.median(without)
    print(f"median {a:.2f} s with, {b:.2f} s without: syncs are {100 * (a - b) / a:.1f} % of W1")


if __name__ == "__main__":
    main()
