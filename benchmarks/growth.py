"""How time and memory of a fit grow with the number of rows: in memory, streamed, on Dask.

    python benchmarks/growth.py [--rows 10000 100000 1000000 10000000] [--columns 20] [--quick]
        [--picture growth.svg]

The data are a folder of Parquet files. Every fit is a process of its own, which reads the files
itself; its processor seconds (with those of a Dask cluster inside it) and the peak of its resident
memory are shown, imports included in the memory only.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

WAYS = ("in memory", "streamed", "on Dask")
ROWS_PER_FILE = 250_000


def write_table(folder: Path, n_rows: int, columns: int) -> None:
    rng = np.random.default_rng(0)
    truth = rng.normal(size=columns) / columns**0.5
    for number, begin in enumerate(range(0, n_rows, ROWS_PER_FILE)):
        n = min(ROWS_PER_FILE, n_rows - begin)
        X = rng.normal(size=(n, columns))
        y = (3 * X @ truth - 3 + rng.logistic(size=n) > 0).astype(np.int64)
        frame = pd.DataFrame(X).add_prefix("x").assign(y=y)
        frame.to_parquet(folder / f"part{number:04}.parquet", row_group_size=50_000)


def fit(way: str, folder: Path) -> int:
    """Fit in one of the ways, and return the number of rounds."""
    if way == "in memory":
        from immax import IMMAXClassifier

        table = pd.read_parquet(folder)
        IMMAXClassifier().fit(table.drop(columns="y"), table["y"])
        return 0
    if way == "streamed":
        from immax.distributed import StreamIMMAXClassifier

        return StreamIMMAXClassifier().fit(folder, "y").n_rounds_
    import dask.dataframe as dd
    from distributed import Client

    from immax.distributed import DaskIMMAXClassifier

    with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=":0"):
        table = dd.read_parquet(folder)
        features = [name for name in table.columns if name != "y"]
        return DaskIMMAXClassifier().fit(table[features], table["y"]).n_rounds_


def run_one(way: str, folder: Path) -> None:
    from immax.evaluation.environment import peak_memory

    fit(way, folder.parent / "warm")  # imports, and compiled functions
    begin = time.process_time()
    rounds = fit(way, folder)
    print(json.dumps([time.process_time() - begin, peak_memory(), rounds]))


def draw(measured: dict[str, list[tuple[int, float, float]]], path: Path) -> None:
    """Draw processor seconds and peak memory against the number of rows."""
    import matplotlib
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3.4), layout="constrained")
    panels = figure.subplots(1, 2)
    for way, points in measured.items():
        rows, seconds, memory = zip(*points, strict=True)
        panels[0].loglog(rows, seconds, marker="o", label=way)
        panels[1].loglog(rows, memory, marker="o", label=way)
    for panel, label in zip(panels, ("processor seconds", "peak memory, MiB"), strict=True):
        panel.set(xlabel="rows", ylabel=label)
        panel.grid(alpha=0.3)
    panels[0].legend()
    with matplotlib.rc_context({"svg.hashsalt": "immax"}):
        figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[10**k for k in range(4, 8)])
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--quick", action="store_true", help="10,000 and 100,000 rows")
    parser.add_argument("--picture", type=Path, help="draw the figures into this file")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        run_one(options.one[0], Path(options.one[1]))
        return
    rows = [10_000, 100_000] if options.quick else options.rows
    entries = sum(rows) * options.columns / 1e8
    memory, disk = 1 + 8 * max(rows) * options.columns * 8 / 2**30, 1.3 * entries
    print(
        f"about {0.3 * len(rows) + 2 * entries:.0f} minutes on an idle core, up to {memory:.0f} "
        f"GiB of memory and {disk:.0f} GiB on the disk",
        flush=True,
    )
    print("| rows | fit | processor seconds | peak MiB | rounds |")
    print("| --- | --- | --- | --- | --- |")
    measured: dict[str, list[tuple[int, float, float]]] = {way: [] for way in WAYS}
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "warm").mkdir()
        write_table(Path(name) / "warm", 1000, options.columns)
        for n_rows in rows:
            folder = Path(name) / str(n_rows)
            folder.mkdir()
            write_table(folder, n_rows, options.columns)
            for way in WAYS:
                command = [sys.executable, __file__, "--one", way, str(folder)]
                done = subprocess.run(command, capture_output=True, text=True, check=True)
                seconds, peak, rounds = json.loads(done.stdout.splitlines()[-1])
                measured[way].append((n_rows, seconds, peak))
                print(
                    f"| {n_rows:,} | {way} | {seconds:.2f} | {peak:.0f} | {rounds or ''} |",
                    flush=True,
                )
    if options.picture:
        draw(measured, options.picture)


if __name__ == "__main__":
    main()
