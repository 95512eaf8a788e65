"""Rows in parts of this process, in the place of those of a cluster."""

from itertools import pairwise

import numpy as np
from scipy import sparse
from sklearn.datasets import make_classification

from immax.distributed.raw_parts import encode_part, read_part
from immax.distributed.reduction import add_all


class LocalParts:
    """Parts in a list; ``keeps_scores`` is chosen by the test."""

    def __init__(self, parts, keeps_scores=True):
        self.parts, self.keeps_scores, self.n_rounds = list(parts), keeps_scores, 0

    def reduce(self, function, *args):
        self.n_rounds += 1
        return add_all([function(part, *args) for part in self.parts])

    def encoded(self, encoding):
        return LocalParts([encode_part(part, encoding) for part in self.parts], self.keeps_scores)


def rows(c, n=3000, d=8, sparse_rows=False, seed=0):
    """Return features and labels of c unequal classes, sorted so that parts lack classes."""
    X, y = make_classification(
        n,
        d,
        n_informative=d - 2,
        n_classes=c,
        n_clusters_per_class=1,
        weights=[0.6] + [0.4 / (c - 1)] * (c - 2),
        class_sep=0.7,
        random_state=seed,
    )
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    if sparse_rows:
        X = sparse.csr_matrix(np.where(np.abs(X) < 1, 0, X))
    return X, y


def cut(X, y, weight=None, parts=4, keeps_scores=True):
    """Return rows as parts that are not encoded yet; the second one is empty."""
    cuts = np.linspace(0, len(y), parts).astype(int)
    cuts = np.insert(cuts, 1, cuts[1])
    made = [
        read_part(number, X[a:b], y[a:b], None if weight is None else weight[a:b])
        for number, (a, b) in enumerate(pairwise(cuts))
    ]
    return LocalParts(made, keeps_scores)
