"""Search spaces for Optuna."""

import optuna
import pytest
from sklearn.datasets import make_classification

from immax.boosting import (
    IMMAXCatBoostClassifier,
    IMMAXLGBMClassifier,
    IMMAXXGBClassifier,
    suggest_boosting,
)

ESTIMATORS = {
    "xgboost": (IMMAXXGBClassifier, {"n_estimators": 20, "n_jobs": 1}),
    "lightgbm": (IMMAXLGBMClassifier, {"n_estimators": 20, "verbose": -1, "n_jobs": 1}),
    "catboost": (
        IMMAXCatBoostClassifier,
        {"iterations": 20, "verbose": False, "thread_count": 1, "allow_writing_files": False},
    ),
}


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("library", ESTIMATORS)
def test_suggestions_are_parameters_of_the_estimator(library):
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    X, y = make_classification(300, 10, n_informative=6, weights=[0.9], random_state=0)
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    kind, fixed = ESTIMATORS[library]
    model = kind(**{**fixed, **suggest_boosting(study.ask(), library)})
    assert model.fit(X, y).score(X, y) > 0.7


def test_an_unknown_library_is_refused():
    with pytest.raises(ValueError, match="library must be one of"):
        suggest_boosting(None, "sklearn")
