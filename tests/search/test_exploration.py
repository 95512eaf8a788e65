"""Which points of a family are evaluated."""

import numpy as np
from sklearn.datasets import load_digits, make_classification
from sklearn.preprocessing import scale

from immax import IMMAXClassifierCV
from immax.datasets import long_tailed
from immax.search import PowerFamily, SharedTailFamily
from immax.search.exploration import explore_family
from immax.search.results import CellResults

COUNTS = np.array([500.0, 120.0, 40.0])


def evaluator(score, log=None):
    """Score points by a function, as if by one penalty, one rule and one test."""

    def evaluate(points):
        if log is not None:
            log.extend(points)
        results = CellResults.empty(len(points), 1, 1)
        results.scores[:, 0, 0, 0] = [score(point) for point in points]
        results.totals[:] = results.scores[..., 0]
        return results

    return evaluate


def test_all_combinations_if_the_budget_allows():
    points, results = explore_family(PowerFamily(), COUNTS, 7, evaluator(np.sum), 7)
    values = [*np.linspace(-0.5, 1, 7), 1 / 3]  # the grid, and the theory's margins
    np.testing.assert_allclose(np.ravel(points), values)
    np.testing.assert_allclose(results.scores.ravel(), values)


class Cube:
    """A family whose three parameters are the margins themselves."""

    def margins(self, parameters, counts):
        return np.asarray(parameters)

    def centre(self, counts):
        return np.full(3, 2.0)

    def plain(self, counts):
        return np.full(3, 1.0)

    def axes(self, counts, n):
        return [np.arange(1.0, n + 1)] * 3


def test_passes_over_one_parameter_at_a_time_find_a_separable_optimum():
    log, best = [], np.array([5.0, 3.0, 4.0])
    score = evaluator(lambda point: -np.sum((point - best) ** 2), log)
    points, results = explore_family(Cube(), COUNTS, 5, score, 124)
    assert len(points) == len(log) == len(results.scores) < 40
    np.testing.assert_array_equal(points, log)
    np.testing.assert_array_equal(points[:2], [[2, 2, 2], [1, 1, 1]])
    np.testing.assert_array_equal(points[int(results.scores.argmax())], best)
    assert len({tuple(point) for point in points}) == len(points)


def test_the_number_of_points_is_bounded():
    for most in (3, 4, 9):
        points, results = explore_family(Cube(), COUNTS, 5, evaluator(np.sum), most)
        assert len(points) == len(results.scores) == most


def test_balanced_classes_have_one_margin_to_try():
    X, y = make_classification(200, 4, random_state=0)
    y = np.tile([0, 1], 100)
    model = IMMAXClassifierCV(lams=[0.1], rule="score").fit(X, y)
    assert len(model.cv_results_["params"]) == 1


def test_large_families_are_searched_in_passes():
    X, y = load_digits(return_X_y=True)
    keep = long_tailed(y, 10, random_state=0)
    X, y = scale(X[keep])[::2], y[keep][::2]
    model = IMMAXClassifierCV(
        family=SharedTailFamily(n_groups=3), n_margins=4, lams=[1e-2], cv=2, budget=40, rule="score"
    ).fit(X, y)
    tried = len(model.cv_results_["params"])
    assert 2 < tried <= 20
    assert len(model.best_parameters_) == 3
    full = IMMAXClassifierCV(
        family=SharedTailFamily(n_groups=2), n_margins=4, lams=[1e-2], cv=2, rule="score"
    ).fit(X, y)
    assert len(full.cv_results_["params"]) >= 10
