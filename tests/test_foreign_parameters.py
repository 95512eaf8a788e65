"""Parameters of other libraries that are typed by habit."""

import inspect
import pickle

import pytest
from sklearn.base import clone

from immax import IMMAXSVC, IMMAXSVCCV, BaselineClassifier, IMMAXClassifier, IMMAXClassifierCV


@pytest.mark.parametrize(
    ("make", "name", "instead"),
    [
        (IMMAXClassifier, "class_weight", "weights="),
        (IMMAXClassifier, "C", "lam"),
        (IMMAXClassifierCV, "class_weight", "aim="),
        (IMMAXClassifierCV, "C", "lams="),
        (IMMAXClassifierCV, "Cs", "lams="),
        (IMMAXClassifierCV, "lam", "lams="),
        (IMMAXSVC, "class_weight", "weights="),
        (IMMAXSVC, "probability", "calibrated=True"),
        (IMMAXSVCCV, "class_weight", "aim="),
        (IMMAXSVCCV, "C", "Cs="),
        (BaselineClassifier, "class_weight", "method='rw'"),
        (BaselineClassifier, "C", "lam"),
    ],
)
def test_the_error_says_what_to_use(make, name, instead):
    with pytest.raises(TypeError, match=f"{make.__name__} has no parameter '{name}'.*{instead}"):
        make(**{name: 1})


@pytest.mark.parametrize("make", [IMMAXClassifier, IMMAXClassifierCV, IMMAXSVC, IMMAXSVCCV])
def test_nothing_else_changes(make):
    with pytest.raises(TypeError, match="unexpected keyword argument 'nonsense'"):
        make(nonsense=1)
    own = list(inspect.signature(make.__init__).parameters)[1:]
    assert list(inspect.signature(make).parameters) == own
    model = make()
    assert clone(model).get_params() == model.get_params()
    assert pickle.loads(pickle.dumps(model)).get_params() == model.get_params()
