"""Families for other counts than those of the data."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

from immax import IMMAXSVC, IMMAXSVCCV, IMMAXClassifier, IMMAXClassifierCV
from immax.margins import class_radii, theory_margins
from immax.search import CountedFamily, PowerFamily
from immax.search.families import FAMILIES, resolve_family

COUNTS = np.array([500, 120, 40, 9])


@pytest.mark.parametrize("name", FAMILIES)
def test_counts_of_the_original_sample(name):
    """After resampling all classes have one size: the original counts can be given."""
    family = CountedFamily(name, counts=tuple(COUNTS))
    even = np.full(4, 500)
    plain = resolve_family(name)
    np.testing.assert_allclose(
        family.margins(family.centre(even), even), plain.margins(plain.centre(COUNTS), COUNTS)
    )
    for own, expected in zip(family.box(even), plain.box(COUNTS), strict=True):
        np.testing.assert_allclose(own, expected)
    np.testing.assert_allclose(family.plain(even), plain.plain(COUNTS))
    np.testing.assert_allclose(family.axes(even, 3)[0], plain.axes(COUNTS, 3)[0])


def test_radii_are_a_weight_of_the_counts():
    radii = (1.0, 2.0, 0.5, 3.0)
    for name in ("power", "box", "free"):
        family = CountedFamily(name, radii=radii)
        rho = family.margins(family.centre(COUNTS), COUNTS)
        np.testing.assert_allclose(rho, theory_margins(COUNTS, radii))
    with pytest.raises(ValueError, match="family's radii of class 1 is 0"):
        CountedFamily("power", radii=(1.0, 0.0)).centre([5, 5])
    with pytest.raises(ValueError, match="family's counts must have an entry for each of the 3"):
        CountedFamily("power", counts=(1.0, 2.0)).centre([5, 5, 5])


def test_weights_are_those_of_the_given_counts():
    family = CountedFamily("weighted", counts=(900, 100), radii=(1.0, 5.0))
    expected = resolve_family("weighted").weights([0, 1], [900, 100])
    np.testing.assert_allclose(family.weights([0, 1], [500, 500]), expected)
    assert len(family.grid([500, 500], 3)) == len(resolve_family("weighted").grid([1, 1], 3))
    np.testing.assert_allclose(CountedFamily("power").weights([1.0], [5, 6]), 1)


def data():
    X, y = make_classification(200, 4, weights=[0.8], random_state=0)
    X[y == 1] *= 3
    return X, y


def test_searches_and_machines_use_radii():
    X, y = data()
    radii = class_radii(np.linalg.norm(X, axis=1), y, 2)
    theory = theory_margins(np.bincount(y), radii)
    family = PowerFamily(values=(1 / 3,))
    search = IMMAXClassifierCV(family=family, lams=[1e-2], cv=3, use_radii=True, one_se=False)
    search.fit(X, y)
    rows = [np.allclose(rho, theory) for rho in search.cv_results_["margins"]]
    assert any(rows)
    np.testing.assert_allclose(IMMAXClassifier(use_radii=True).fit(X, y).margins_, theory)
    machine = IMMAXSVC("linear", use_radii=True).fit(X, y)
    np.testing.assert_allclose(machine.margins_, theory)
    gram = IMMAXSVC("precomputed", use_radii=True).fit(X @ X.T, y)
    np.testing.assert_allclose(gram.margins_, theory)
    plain = IMMAXSVC("rbf", use_radii=True).fit(X, y)  # all norms are one
    np.testing.assert_allclose(plain.margins_, theory_margins(np.bincount(y)))
    machines = IMMAXSVCCV("linear", family=family, Cs=[1.0], cv=3, use_radii=True).fit(X, y)
    assert any(np.allclose(rho, theory) for rho in machines.cv_results_["margins"])


def test_radii_of_zero_are_refused():
    X, y = data()
    X[y == 1] = 0
    for model in (
        IMMAXClassifier(use_radii=True),
        IMMAXClassifierCV(use_radii=True, lams=[1.0], cv=2),
        IMMAXSVC("linear", use_radii=True),
    ):
        with pytest.raises(ValueError, match="radii of class 1 is 0"):
            model.fit(X, y)


def test_a_pipeline_that_resamples():
    imblearn = pytest.importorskip("imblearn")
    from imblearn.over_sampling import RandomOverSampler
    from imblearn.pipeline import make_pipeline

    assert imblearn
    X, y = data()
    counts = np.bincount(y)
    seen = make_pipeline(RandomOverSampler(random_state=0), IMMAXClassifier()).fit(X, y)
    np.testing.assert_allclose(seen[-1].margins_, 1)  # what the classifier sees is balanced
    family = CountedFamily(PowerFamily(values=(1 / 3,)), counts=tuple(counts))
    search = IMMAXClassifierCV(family=family, lams=[1e-2], cv=3)
    model = make_pipeline(RandomOverSampler(random_state=0), search).fit(X, y)
    rows = model[-1].cv_results_["margins"]
    assert any(np.allclose(rho, theory_margins(counts)) for rho in rows)
