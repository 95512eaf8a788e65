"""What methods need to know, and how they are tuned."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from immax import IMMAXClassifierCV
from immax.decisions import BalancedAccuracy, DecisionClassifierCV, FBeta
from immax.evaluation.aim_search import AimSearch, PerAim
from immax.evaluation.held_out_scorer import score_by_metric
from immax.evaluation.metrics import METRICS
from immax.evaluation.selection import LAMS, Selection
from immax.evaluation.setting import Setting

Y = np.repeat([0, 1], [40, 8])


def setting(**selection):
    return Setting(Selection(**selection), {}, 0, Y)


def test_penalties_of_scikit_learn_are_those_of_lambda():
    own = setting(lams=(0.1, 0.01))
    assert own.lams == [0.1, 0.01]
    assert own.Cs == pytest.approx([1 / (2 * 0.1 * 48), 1 / (2 * 0.01 * 48)])
    assert setting().lams == list(LAMS)


def test_folds_are_no_more_than_the_rarest_class_has_samples():
    few = Setting(Selection(folds=5), {}, 0, np.repeat([0, 1], [40, 3]))
    assert few.splitter().n_splits == 3
    assert len(setting(folds=4, use_folds=2).cv()) == 2


def test_scorers_by_the_name_of_a_metric():
    assert setting(scoring="neg_log_loss").scorer == "neg_log_loss"
    assert setting(scoring="accuracy").scorer == "accuracy"
    scorer = setting(scoring="f1").scorer
    assert scorer.func == METRICS["f1"].score
    np.testing.assert_array_equal(scorer.keywords["counts"], setting().class_counts())
    assert setting(scoring="f1").aim == FBeta()
    assert setting(scoring="recall_macro").aim == "recall_macro"


def test_a_search_is_for_a_scorer_or_for_all_aims():
    model, grid = LogisticRegression(), {"C": [1.0]}
    assert isinstance(setting().search(model, grid), GridSearchCV)
    assert isinstance(setting(aims=("f1", "mcc")).search(model, grid), AimSearch)
    decided = setting(scoring="f1").search(model, grid, decide=True)
    assert isinstance(decided, DecisionClassifierCV)
    assert decided.aim == FBeta()


def test_what_has_nothing_to_tune_serves_all_aims():
    model = LogisticRegression()
    assert setting().fixed(model) is model
    assert isinstance(setting(aims=("f1",)).fixed(model), AimSearch)


def test_one_classifier_or_one_for_each_aim():
    asked = []

    def make(scorer):
        asked.append(scorer and scorer.name)
        return IMMAXClassifierCV(n_margins=1, lams=[0.1], cv=2)

    assert isinstance(setting().for_each_aim(make), IMMAXClassifierCV)
    both = setting(aims=("f1", "balanced_accuracy")).for_each_aim(make)
    assert isinstance(both, PerAim)
    both.fit(np.random.default_rng(0).normal(size=(48, 2)), Y)
    assert asked == [None, "f1", "balanced_accuracy"]


def test_searches_of_margins_are_told_their_aim():
    own = setting(scoring="accuracy")
    assert own.purpose(None) == {"scoring": "accuracy"}
    balanced, ece = (
        score_by_metric(METRICS[name], own.class_counts()) for name in ("balanced_accuracy", "ece")
    )
    assert own.purpose(balanced) == {"aim": BalancedAccuracy()}
    assert own.purpose(ece) == {"scoring": "accuracy"}


def test_a_comparison_decides_for_one_aim_whatever_the_method():
    scorer = score_by_metric(METRICS["f1"], np.bincount(Y))
    own = Setting(Selection(), {}, 0, Y, decided_for=scorer, balanced=True)
    assert own.scorers == (scorer,)
    search = own.search(LogisticRegression(), {"C": [1.0]})
    assert (search.decide, search.calibrate, search.balanced) == (True, True, True)
    plan = setting(aims=("f1",)).search(LogisticRegression(), {"C": [1.0]})
    assert (plan.decide, plan.calibrate, plan.balanced) == (False, False, False)
