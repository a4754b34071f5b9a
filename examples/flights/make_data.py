#!/usr/bin/env python3
"""Makes the daily files of this example from the three large files of nycflights13.

    python3 make_data.py FOLDER

FOLDER holds flights.csv.gz, weather.csv.gz, planes.csv.gz, airports.csv.gz and airlines.csv. Flights and weather are
delivered as one file a local New York day, by the columns year, month and day; every line keeps its bytes, and the lines
of a day keep their order. The other three are copied as they are.

There is a file for every day of 2013. The weather stops on 30 December at 18:00, so the file of 31 December holds only
the column names: it was delivered and has no rows, which is something else than a file that has not arrived.

Only Python's standard library is used. The files are the same, byte for byte, however often this runs (with one version
of zlib; another one may compress differently, and the rows are the same still).
"""
import datetime as dt
import gzip
import pathlib
import shutil
import sys

YEAR = 2013
HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE / "data"


def write_gz(path: pathlib.Path, text: bytes) -> None:
    """Writes one gzip member without name and time, so that equal rows are equal files."""
    with open(path, "wb") as raw, gzip.GzipFile(filename="", mode="wb", fileobj=raw, compresslevel=9, mtime=0) as out:
        out.write(text)


def split(source: pathlib.Path, name: str) -> int:
    """Splits one file into `data/<name>/<day>.csv.gz`; returns the number of rows."""
    with gzip.open(source, "rb") as lines:
        header = next(lines)
        columns = header.decode().strip().split(",")
        year, month, day = (columns.index(c) for c in ("year", "month", "day"))
        days: dict[dt.date, list[bytes]] = {dt.date(YEAR, 1, 1) + dt.timedelta(n): [] for n in range(365)}
        rows = 0
        for line in lines:
            if b'"' in line:
                raise SystemExit(f"{source}: a quoted field; this script splits at plain commas")
            cells = line.split(b",")
            if len(cells) != len(columns):
                raise SystemExit(f"{source}: {len(cells)} fields instead of {len(columns)}: {line!r}")
            days[dt.date(int(cells[year]), int(cells[month]), int(cells[day]))].append(line)
            rows += 1
    folder = DATA / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for date, kept in days.items():
        write_gz(folder / f"{date}.csv.gz", header + b"".join(kept))
    return rows


def main() -> None:
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    source = pathlib.Path(sys.argv[1])
    for name in ("flights", "weather"):
        print(f"{name}: {split(source / f'{name}.csv.gz', name)} rows in 365 files")
    for name in ("airlines.csv", "airports.csv.gz", "planes.csv.gz"):
        shutil.copyfile(source / name, DATA / name)
        print(f"{name}: copied")


if __name__ == "__main__":
    main()
