"""Fit and predict a Parquet table that is larger than the memory that is allowed.

    python benchmarks/streaming.py [--gib 10] [--limit-gib 1] [--address-space]

A table of 50 columns of random numbers is written to a folder of Parquet files. ``immax fit`` and
``immax predict`` then run in processes whose data are limited (``RLIMIT_DATA``, all memory that
they write to). With ``--address-space`` the libraries that they map count too (``RLIMIT_AS``);
PyTorch alone takes half a GiB of it where it is installed and a model file is read. For each the
seconds, the processor seconds and the peak of the resident memory are printed.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
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
        pq.write_table(table, folder / f"part{number:04}.parquet", row_group_size=50_000)


def run_limited(kind: int, limit: int, *arguments: object) -> tuple[dict[str, float], str]:
    """Run the command in a process of limited memory, and return what it took."""
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "ARROW_DEFAULT_MEMORY_POOL": "system",
        "MALLOC_ARENA_MAX": "1",  # arenas of threads take address space that they do not use
        "NUMBA_NUM_THREADS": "1",
    }
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "immax", *map(str, arguments)],
        env=environment,
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(kind, (limit, limit)),
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(done.stderr)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    taken = {
        "seconds": time.perf_counter() - begin,
        "processor seconds": processor,
        "peak MiB": after.ru_maxrss / 2**10,
    }
    return taken, done.stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gib", type=float, default=10.0)
    parser.add_argument("--limit-gib", type=float, default=1.0)
    parser.add_argument("--address-space", action="store_true")
    parser.add_argument("--folder", type=Path, default=None)
    parser.add_argument("--search-rows", type=int, default=20_000)
    options = parser.parse_args()
    n_rows = int(options.gib * GIB / (8 * COLUMNS))
    limit = int(options.limit_gib * GIB)
    kind = resource.RLIMIT_AS if options.address_space else resource.RLIMIT_DATA
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder, model = Path(name) / "table", Path(name) / "model.skops"
        folder.mkdir()
        write_table(folder, n_rows)
        size = sum(file.stat().st_size for file in folder.iterdir()) / GIB
        print(f"{n_rows:,} rows x {COLUMNS}, {size:.2f} GiB of Parquet, limit {limit / GIB:g} GiB")
        fit = ["fit", folder, "-t", "y", "-o", model, "--folds", 3, "--json"]
        rows = ["--search-rows", options.search_rows]
        for label, arguments in (
            ("fit", [*fit, *rows]),
            ("predict", ["predict", model, folder, "-o", Path(name) / "predictions"]),
        ):
            taken, output = run_limited(kind, limit, *arguments)
            figures = ", ".join(f"{value:.1f} {unit}" for unit, value in taken.items())
            print(f"{label}: {figures}")
            if label == "fit":
                print("   ", json.loads(output))
        predicted = sum(
            pq.read_metadata(file).num_rows for file in (Path(name) / "predictions").iterdir()
        )
        print(f"predictions for {predicted:,} rows")


if __name__ == "__main__":
    main()
