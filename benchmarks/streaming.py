"""Fit and predict a Parquet table that is larger than the memory that is allowed.

    python benchmarks/streaming.py [--gib 10] [--limit-gib 1] [--data] [--quick]

A table of 50 columns of random numbers is written to a folder of Parquet files. ``immax fit`` and
``immax predict`` then run in processes whose address space is limited (``RLIMIT_AS``): all memory
that they have asked for, the files of libraries that they map, and the stacks of threads. With
``--data`` only what they write to counts (``RLIMIT_DATA``). For each the seconds, the processor
seconds and the peak of the resident memory are printed. ``--quick`` takes a table of 0.25 GiB, and
the same limit.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

COLUMNS = 50
ROWS_PER_FILE = 500_000
GIB = 2**30


def write_table(folder: Path, n_rows: int) -> None:
    rng = np.random.default_rng(0)
    truth = rng.normal(size=COLUMNS) / COLUMNS**0.5
    names = [f"x{place}" for place in range(COLUMNS)]
    for number, begin in enumerate(range(0, n_rows, ROWS_PER_FILE)):
        n = min(ROWS_PER_FILE, n_rows - begin)
        X = rng.normal(size=(n, COLUMNS))
        y = np.where(3 * X @ truth - 3 + rng.logistic(size=n) > 0, "yes", "no")
        table = pa.table([*X.T, y], names=[*names, "y"])
        file = folder / f"part{number:04}.parquet"
        pq.write_table(table, file, row_group_size=50_000, use_dictionary=["y"])


def run_limited(
    kind: int, limit: int, folder: Path, *arguments: object
) -> tuple[dict[str, float], str]:
    """Run the command in a process of limited memory, and return what it took."""
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "ARROW_DEFAULT_MEMORY_POOL": "system",
        "TMPDIR": str(folder),
        "MALLOC_ARENA_MAX": "1",  # arenas of threads take address space that they do not use
        "NUMBA_NUM_THREADS": "1",
    }
    begin = time.perf_counter()
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "immax", *map(str, arguments)],
            env=environment,
            stdout=output,
            stderr=errors,
            preexec_fn=lambda: resource.setrlimit(kind, (limit, limit)),
        )
        _, status, usage = os.wait4(process.pid, 0)  # of this process alone
        process.returncode = os.waitstatus_to_exitcode(status)
        for file in (output, errors):
            file.seek(0)
        if process.returncode:
            sys.exit(errors.read() or f"the command ended with {process.returncode}")
        text = output.read()
    taken = {
        "seconds": time.perf_counter() - begin,
        "processor seconds": usage.ru_utime + usage.ru_stime,
        "peak MiB": usage.ru_maxrss / 2**10,
    }
    return taken, text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gib", type=float, default=10.0)
    parser.add_argument("--limit-gib", type=float, default=1.0)
    parser.add_argument("--data", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--folder", type=Path, default=None)
    parser.add_argument("--search-rows", type=int, default=20_000)
    options = parser.parse_args()
    gib = 0.25 if options.quick else options.gib
    n_rows = int(gib * GIB / (8 * COLUMNS))
    limit = int(options.limit_gib * GIB)
    kind = resource.RLIMIT_DATA if options.data else resource.RLIMIT_AS
    needed = 2.2 * gib + 1  # the table, the features of a fit, and predictions
    free = shutil.disk_usage(options.folder or tempfile.gettempdir()).free / GIB
    print(f"about {1 + 1.5 * gib:.0f} minutes on an idle core, {needed:.0f} GiB on the disk")
    if free < needed:
        sys.exit(f"there are {free:.0f} GiB left: name another folder with --folder")
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder, model = Path(name) / "table", Path(name) / "model.skops"
        folder.mkdir()
        write_table(folder, n_rows)
        size = sum(file.stat().st_size for file in folder.iterdir()) / GIB
        what = "data" if options.data else "address space"
        print(
            f"{n_rows:,} rows x {COLUMNS}, {size:.2f} GiB of Parquet, {what} limited to "
            f"{limit / GIB:g} GiB",
            flush=True,
        )
        fit = ["fit", folder, "-t", "y", "-o", model, "--folds", 3, "--json"]
        rows = ["--search-rows", options.search_rows]
        for label, arguments in (
            ("fit", [*fit, *rows]),
            ("predict", ["predict", model, folder, "-o", Path(name) / "predictions"]),
        ):
            taken, output = run_limited(kind, limit, Path(name), *arguments)
            figures = ", ".join(f"{value:.1f} {unit}" for unit, value in taken.items())
            print(f"{label}: {figures}", flush=True)
            if label == "fit":
                print("   ", json.loads(output))
        predicted = sum(
            pq.read_metadata(file).num_rows for file in (Path(name) / "predictions").iterdir()
        )
        print(f"predictions for {predicted:,} rows")


if __name__ == "__main__":
    main()
