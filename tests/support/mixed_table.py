"""A small table of numbers, categories and missing values, with imbalanced classes."""

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification


def mixed_table(n=240, classes=2, seed=0, names=("no", "yes", "perhaps")):
    X, y = make_classification(
        n,
        5,
        n_informative=4,
        n_redundant=0,
        n_classes=classes,
        weights=[0.75] + [0.25 / (classes - 1)] * (classes - 1),
        random_state=seed,
    )
    frame = pd.DataFrame(X, columns=list("abcde"))
    frame["colour"] = np.random.default_rng(seed).choice(["red", "green"], n)
    frame.loc[::9, "a"] = np.nan
    return frame, pd.Series(np.array(names)[y])
