"""What the searches share: choices, tables and pictures."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

from immax import IMMAXClassifierCV

SMALL = {"n_margins": 4, "lams": [1e-3, 1e-1]}


@pytest.fixture(scope="module")
def binary():
    return make_classification(
        500, 8, n_informative=5, weights=[0.85], class_sep=0.7, flip_y=0.05, random_state=0
    )


def test_one_seed_one_result_whatever_the_jobs(binary):
    X, y = binary
    first = IMMAXClassifierCV(**SMALL, random_state=3).fit(X, y)
    for n_jobs in (1, 2):
        again = IMMAXClassifierCV(**SMALL, random_state=3, n_jobs=n_jobs).fit(X, y)
        np.testing.assert_array_equal(
            again.cv_results_["mean_test_score"], first.cv_results_["mean_test_score"]
        )
        np.testing.assert_array_equal(again.coef_, first.coef_)


def test_the_table_has_a_row_for_every_cell(binary):
    model = IMMAXClassifierCV(**SMALL, cv=3).fit(*binary)
    table = model.cv_results_
    # Four powers and the theory's, two values of lambda, two rules.
    assert {len(column) for column in table.values()} == {20}
    folds = np.stack([table[f"split{k}_test_score"] for k in range(3)], axis=1)
    np.testing.assert_allclose(table["mean_test_score"], folds.mean(axis=1))
    np.testing.assert_allclose(table["std_test_score"], folds.std(axis=1))
    order = np.argsort(-table["mean_test_score"])
    assert table["rank_test_score"][order[0]] == 1
    assert (np.diff(table["rank_test_score"][order]) >= 0).all()
    assert table["near_best"][table["rank_test_score"] == 1].all()
    for row, cell in enumerate(table["params"]):
        assert cell["lam"] == table["param_lam"][row]
        assert cell["rule"] == table["param_rule"][row]
        assert tuple(cell["parameters"]) == table["param_parameters"][row]
    assert (table["mean_fit_time"] > 0).all()
    assert (table["mean_score_time"] > 0).all()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # matplotlib's own
def test_a_picture_of_the_search(binary, tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    X, y = binary
    model = IMMAXClassifierCV(lams=[1e-3, 1e-2, 1e-1]).fit(X, y)
    ax = model.plot()
    labels = {text.get_text() for text in ax.get_legend().get_texts()}
    assert labels == {"within a standard error", "chosen", "theory"}
    scores = [float(patch.get_gid().rsplit(": ", 1)[1]) for patch in ax.patches]
    assert len(scores) == 30
    assert max(scores) == pytest.approx(model.cv_results_["mean_test_score"].max(), abs=1e-4)
    ax.figure.savefig(tmp_path / "search.png")
    matplotlib.pyplot.close(ax.figure)
    with pytest.raises(ValueError, match="not been fitted"):
        IMMAXClassifierCV().plot()
    with pytest.raises(ValueError, match="at most 20 points"):
        IMMAXClassifierCV(family="free", lams=[0.1], n_margins=25, cv=2).fit(X, y).plot()


def test_a_search_takes_the_attributes_of_another_final_fit(binary):
    X, y = binary
    search = IMMAXClassifierCV(**SMALL, cv=2).fit(X[:200], y[:200])
    before = search.coef_
    search.best_estimator_.fit(X, y)
    search.take_fit()
    assert not np.array_equal(search.coef_, before)
    np.testing.assert_array_equal(search.coef_, search.best_estimator_.coef_)
    np.testing.assert_array_equal(search.margins_, search.best_estimator_.margins_)


def test_a_search_without_a_final_fit_forgets_an_earlier_one(binary):
    X, y = binary
    search = IMMAXClassifierCV(**SMALL, cv=2).fit(X, y)
    search.set_params(refit=False).fit(X[:, :4], y)
    with pytest.raises(AttributeError, match="refit=False"):
        search.predict(X[:, :4])
    assert not hasattr(search, "coef_")
    assert not hasattr(search, "best_estimator_")
