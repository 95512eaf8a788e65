"""A table with columns of every kind, and the labels of a rare illness."""

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification


def patients(n=400, seed=0):
    X, y = make_classification(
        n, 4, n_informative=3, n_redundant=0, weights=[0.85], class_sep=1.5, random_state=seed
    )
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(X, columns=["height", "weight", "age", "dose"])
    frame["patient_id"] = np.arange(1000, 1000 + n)
    frame["sex"] = rng.choice(["f", "m"], n)
    frame["smoker"] = rng.random(n) < 0.3
    frame["seen"] = pd.date_range("2024-01-01", periods=n).strftime("%Y-%m-%d")
    frame["note"] = [f"patient number {i} said a great deal of things that day" for i in range(n)]
    frame["clinic"] = "north"
    frame.loc[::11, "age"] = np.nan
    frame.loc[::13, "sex"] = None
    frame["ill"] = np.where(y == 1, "yes", "no")
    return frame
