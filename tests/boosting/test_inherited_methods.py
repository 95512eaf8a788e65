"""Every public method of the three base classes is accounted for.

A method or property that a new version of a library adds is in none of the lists, and fails here:
it may take scores for log-odds. Then it belongs into one of the lists, with a test if it is ours.
"""

import pytest
from catboost import CatBoostClassifier
from lightgbm import LGBMClassifier
from xgboost import XGBClassifier

from immax.boosting import IMMAXCatBoostClassifier, IMMAXLGBMClassifier, IMMAXXGBClassifier
from immax.boosting.catboost_predictions import REFUSED

REQUESTS = {  # of scikit-learn's metadata routing
    "get_metadata_routing",
    "set_decision_function_request",
    "set_fit_request",
    "set_predict_proba_request",
    "set_predict_request",
    "set_score_request",
}
# Ours: defined in this package, and tested.
OURS = {
    XGBClassifier: {"classes_", "fit", "get_xgb_params", "load_model", "predict", "predict_proba"}
    | {"save_model", "score"},
    LGBMClassifier: {"decision_function", "fit", "predict", "predict_proba", "score"},
    CatBoostClassifier: {
        "best_score_",
        "classes_",
        "eval_metrics",
        "evals_result_",
        "fit",
        "get_best_score",
        "get_evals_result",
        "get_feature_importance",
        "get_param",
        "get_params",
        "load_model",
        "predict",
        "predict_log_proba",
        "predict_proba",
        "save_model",
        "score",
        "set_params",
        "staged_predict",
        "staged_predict_log_proba",
        "staged_predict_proba",
        *REFUSED,
    },
}
# Right as they are, because they call what is ours: metrics of the link, and accuracy of `predict`.
THROUGH_OURS = {
    XGBClassifier: {"best_iteration", "best_score", "evals_result"},
    LGBMClassifier: {"best_iteration_", "best_score_", "evals_result_"},
    CatBoostClassifier: {"best_iteration_", "get_best_iteration", "plot_predictions"},
}
# About trees, features, scores and parameters, neither probabilities nor labels.
INDEPENDENT = {
    XGBClassifier: {
        "apply",
        "coef_",
        "feature_importances_",
        "feature_names_in_",
        "get_booster",
        "get_num_boosting_rounds",
        "get_params",
        "intercept_",
        "n_features_in_",
        "set_params",
    },
    LGBMClassifier: {
        "booster_",
        "classes_",  # which fit sets
        "feature_importances_",
        "feature_name_",
        "feature_names_in_",
        "get_params",
        "n_classes_",
        "n_estimators_",
        "n_features_",
        "n_features_in_",
        "n_iter_",
        "objective_",
        "set_params",
    },
    CatBoostClassifier: {
        "calc_leaf_indexes",
        "copy",
        "drop_unused_features",
        "feature_importances_",
        "feature_names_",
        "get_all_params",
        "get_borders",
        "get_cat_feature_indices",
        "get_embedding_feature_indices",
        "get_leaf_values",
        "get_leaf_weights",
        "get_metadata",
        "get_n_features_in",
        "get_scale_and_bias",
        "get_sklearn_estimator_xfail_checks",
        "get_test_eval",  # scores
        "get_test_evals",
        "get_text_feature_indices",
        "get_tree_leaf_counts",
        "is_fitted",
        "iterate_leaf_indexes",
        "learning_rate_",
        "n_features_in_",
        "plot_tree",
        "random_seed_",
        "save_borders",
        "set_feature_names",
        "set_leaf_values",
        "set_scale_and_bias",
        "shrink",
        "tree_count_",
    },
}
ESTIMATORS = {
    XGBClassifier: IMMAXXGBClassifier,
    LGBMClassifier: IMMAXLGBMClassifier,
    CatBoostClassifier: IMMAXCatBoostClassifier,
}
# Of older or newer versions of a library.
NOT_IN_EVERY_VERSION = {"decision_function", "set_decision_function_request", *REQUESTS}
NOT_IN_EVERY_VERSION |= {"get_sklearn_estimator_xfail_checks"}


@pytest.mark.parametrize("base", ESTIMATORS)
def test_every_public_method_is_accounted_for(base):
    public = {name for name in dir(base) if not name.startswith("_")}
    lists = (REQUESTS, OURS[base], THROUGH_OURS[base], INDEPENDENT[base])
    known = set().union(*lists)
    assert not public - known, f"new in {base.__name__}: {sorted(public - known)}"
    assert not known - public - NOT_IN_EVERY_VERSION
    assert sum(map(len, lists)) == len(known)


@pytest.mark.parametrize("base", ESTIMATORS)
def test_what_is_ours_is_defined_here(base):
    for name in sorted(OURS[base]):
        owner = next(one for one in ESTIMATORS[base].__mro__ if name in vars(one))
        assert owner.__module__.startswith("immax."), name


@pytest.mark.parametrize("base", ESTIMATORS)
def test_the_rest_is_the_librarys(base):
    names = THROUGH_OURS[base] | INDEPENDENT[base]
    for name in names & set(dir(base)):
        owner = next(one for one in ESTIMATORS[base].__mro__ if name in vars(one))
        assert not owner.__module__.startswith("immax."), name
