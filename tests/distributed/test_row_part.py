"""Parts of rows: products, blocks, and what they remember."""

import pickle
import sys

import numpy as np
import pytest
from scipy import sparse

from immax.distributed import row_part
from immax.distributed.row_losses import IMMAXRows
from immax.distributed.row_part import RowPart

X = np.random.default_rng(0).normal(size=(30, 4))
Y = np.arange(30) % 2
LOSS = IMMAXRows("logistic", "auto", np.ones(2), np.full(2, 1 / 30))


def part(features=X):
    return RowPart(features, Y, np.ones(30), np.arange(30), np.arange(30) % 3)


@pytest.mark.parametrize("features", [X, np.asfortranarray(X), sparse.csr_matrix(X)])
@pytest.mark.parametrize("m", [1, 3])
def test_products(features, m):
    W, R = np.ones((m, 4)), np.ones((m, 30))
    np.testing.assert_allclose(part(features).products(W), W @ X.T)
    np.testing.assert_allclose(part(features).transposed_products(R), R @ X)


def test_a_part_forgets_when_it_moves():
    own = part()
    own.remember({"a": np.ones(3)})
    kept = own.risk(LOSS, name="fit")
    assert own.risk(LOSS, name="fit") is kept
    again = pickle.loads(pickle.dumps(own))
    assert not again.known
    assert again.risk(LOSS, name="fit") is not kept
    assert sys.getsizeof(own) >= X.nbytes


def test_blocks_are_the_part(monkeypatch):
    monkeypatch.setattr(row_part, "MOST_SCORES", 1)
    monkeypatch.setattr("immax.distributed.row_part.max", lambda a, b: 7, raising=False)
    blocks = list(part().blocks(1))
    assert [len(block) for block in blocks] == [7, 7, 7, 7, 2]
    np.testing.assert_array_equal(np.concatenate([block.X for block in blocks]), X)
    np.testing.assert_array_equal(
        np.concatenate([block.folds for block in blocks]), np.arange(30) % 3
    )


def test_kept_blocks_remember_their_scores(monkeypatch):
    monkeypatch.setattr(row_part, "CACHED_BYTES", 1)
    X = np.random.default_rng(0).normal(size=(2500, 3))
    y = np.arange(2500) % 2
    part = RowPart(X, y, np.ones(2500), np.arange(2500))
    blocks = part.kept_blocks()
    assert [len(block) for block in blocks] == [1024, 1024, 452]
    assert all(block.X.base is X for block in blocks)
    assert part.kept_blocks() is blocks
    blocks[0].remember({"here": y[None]})
    copy = pickle.loads(pickle.dumps(part))
    assert not copy.kept_blocks()[0].known
    in_rows = RowPart(sparse.csr_matrix(X), y, np.ones(2500), np.arange(2500))
    assert in_rows.kept_blocks() == [in_rows]


def test_rows_of_a_fold_are_left_out():
    scores = np.random.default_rng(1).normal(size=(30, 1))
    kept = np.arange(30) % 3 != 1
    whole = part().risk(LOSS, left_out=1).value(scores)
    own = RowPart(X[kept], Y[kept], np.ones(20), np.arange(20))
    assert whole == pytest.approx(own.risk(LOSS).value(scores[kept]))
