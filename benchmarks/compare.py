"""``immax compare`` from end to end against the sum of its fits.

python benchmarks/compare.py [--samples 50000] [--features 30] [--methods weights,immax]

Fits run on all cores, so that the whole may take less than their sum. The rest is overhead:
reading, preprocessing, scoring, drawing and writing.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pandas as pd
from sklearn.datasets import make_classification


def main() -> None:
    """Print the time of each method and the overhead."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=50_000)
    parser.add_argument("--features", type=int, default=30)
    parser.add_argument("--methods", default="weights,threshold,under,smote,immax,xgb")
    options = parser.parse_args()
    X, y = make_classification(
        options.samples,
        options.features,
        n_informative=options.features // 2,
        weights=[0.95],
        random_state=0,
    )
    frame = pd.DataFrame(X, columns=[f"x{k}" for k in range(options.features)]).assign(y=y)
    with tempfile.TemporaryDirectory() as folder:
        frame.to_parquet(Path(folder, "data.parquet"))
        command = [sys.executable, "-m", "immax", "compare", "data.parquet", "--target", "y"]
        command += ["--methods", options.methods, "--json"]
        start = time.perf_counter()
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
        total = time.perf_counter() - start
    content = json.loads(done.stdout)
    fits = content["seconds_folds"] + content["seconds_refit"]
    print(f"{options.samples} x {options.features}, {options.methods}")
    for row in content["rows"]:
        print(f"    {row['title']:24} {row['seconds']:7.1f} s in five folds")
    print(f"    refit of the models      {content['seconds_refit']:7.1f} s")
    print(f"    from end to end          {total:7.1f} s")
    print(f"    that is {total / fits:.2f} times the sum of the fits")


if __name__ == "__main__":
    main()
