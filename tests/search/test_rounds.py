"""Rounds of a search, in which margins are evaluated on all folds."""

import numpy as np
from sklearn.datasets import load_iris

from immax import IMMAXClassifierCV

X, Y = (part[:120] for part in load_iris(return_X_y=True))  # 50, 50 and 20 samples


def test_several_rounds_find_the_same_as_one(monkeypatch, capfd):
    search = IMMAXClassifierCV(
        n_margins=3, lams=[0.1, 0.01], cv=3, scoring="neg_log_loss", verbose=1
    )
    whole = search.fit(X, Y)
    table, coef = whole.cv_results_, whole.coef_
    assert capfd.readouterr().out.count("margins 1 to 5") == 3
    # The scores of two margins: 2 penalties, 120 test samples, 3 classes.
    monkeypatch.setattr("immax.search.rounds.MOST_ENTRIES", 2 * 2 * 120 * 3)
    parts = search.fit(X, Y)
    shown = capfd.readouterr().out
    for margins in ("margins 1 to 2", "margins 3 to 4", "margins 5 to 5"):
        assert shown.count(margins) == 3
    np.testing.assert_allclose(
        parts.cv_results_["mean_test_score"], table["mean_test_score"], rtol=1e-3
    )
    np.testing.assert_allclose(parts.coef_, coef, atol=1e-6)
